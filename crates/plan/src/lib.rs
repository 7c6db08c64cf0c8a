//! Models and recorded facts in; order and run types out.
//!
//! Boundary: pure. No connection and no file: facts are handed in, syntax trees come through the model
//! room's `SqlParser`.

mod dag;
mod decision;
mod dependencies;

pub use dag::{Cycle, cycles, order};
pub use decision::{DecisionError, DependencyState, LastCommit, ModelFacts, decide};
pub use dependencies::{Names, Resolved, depends_on, read_by_macros};
