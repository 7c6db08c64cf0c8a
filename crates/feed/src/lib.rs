//! What changed in a table of the lake between two snapshots, as SQL.
//!
//! Boundary: knows tables and snapshots, not models; runs inside a transaction that it is given.

mod columns;
mod delta;
mod narrow;
mod window;

pub use delta::{Delta, TempNames};
pub use window::{Method, Window};
