//! What the lake tells of past runs: its commits, and the registry of last ones. A handful of queries, whatever the
//! number of models and snapshots. Nothing is written.

mod commits;
mod history;

pub use commits::{Moment, RunRecord};
pub use history::{History, history};
