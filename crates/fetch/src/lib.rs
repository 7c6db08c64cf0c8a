//! Rows that a lib function returned become typed rows of the lake.
//!
//! Boundary: knows the engine, the state and lib functions; not models.

mod bad_value;
mod blob;
mod carriers;
mod check;
mod clock;
mod column;
mod converter;
mod decimal;
mod described;
mod duration;
mod error;
mod float;
mod guard;
mod integer;
mod job;
mod json_check;
mod json_write;
mod keys;
mod moment;
mod nested;
mod refusal;
mod row_text;
mod scalar;
mod shape;
mod sql;

pub use bad_value::BadValue;
pub use carriers::Carriers;
pub use check::{FoundBadValue, find_bad_value};
pub use column::Column;
pub use converter::Converter;
pub use described::columns_argument;
pub use error::FetchError;
pub use job::{Fetch, Fetched, Staged};
pub use row_text::{placed_rows, typed_rows};
pub use sql::{page_query, select_list};
