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
mod masking;
mod moment;
mod nested;
mod row_text;
mod scalar;
mod shape;
mod sql;

use lib_functions::Refusal;

pub use bad_value::BadValue;
pub use carriers::Carriers;
pub use check::{FoundBadValue, find_bad_value};
pub use column::Column;
pub use converter::Converter;
pub use described::{columns_argument, described_columns};
pub use error::FetchError;
pub use job::{Fetch, Fetched, Staged};
pub use masking::PageMasker;
pub use row_text::{ROW_FORMAT, placed_rows, typed_rows};
pub use sql::select_list;

/// What could be written, or why not.
type Written<T = ()> = Result<T, Refusal>;
