//! Writes a model's result into its table, a file per kind, inside a transaction that it is given.
//!
//! Boundary: never begins, commits or rolls back; decides nothing about whether a model runs. SQL that
//! depends on a model's shape is built here and nowhere else.

mod comments;
mod error;
mod evolution;
mod result;
mod table;

pub use error::MaterializeError;
pub use evolution::Evolution;
pub use result::{ModelResult, build_result, drop_result};
pub use table::{TableWrite, Written, write_table};
