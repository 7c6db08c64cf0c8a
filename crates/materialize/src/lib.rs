//! Writes a model's result into its table, a file per kind, inside a transaction that it is given.
//!
//! Boundary: never begins, commits or rolls back; decides nothing about whether a model runs. SQL that
//! depends on a model's shape is built here and nowhere else.

mod append;
mod comments;
mod error;
mod evolution;
mod hints;
mod keys;
mod lossless;
mod masking;
mod merge;
mod of_model;
mod output;
mod refill;
mod result;
mod scd2;
mod tracked;
mod write;

pub use error::MaterializeError;
pub use evolution::Evolution;
pub use hints::Layout;
pub use keys::check_unique_in_query;
pub use masking::mask_present;
pub use of_model::{key_columns, kind_write, layout, output_place};
pub use output::{Output, check_output};
pub use result::{ModelResult, ResultRows, build_result, build_shared, drop_result};
pub use write::{KindWrite, Rebuild, RetypedKey, WriteRequest, Written, write_model};
