//! What a query means, read off its syntax tree: which of its references carry its rows, what a delta in
//! their place must look like, and where its columns come from.
//!
//! Boundary: pure. Trees come in as JSON, names and functions through what the caller knows of them.

mod functions;
mod lineage;
mod renames;

pub use functions::Functions;
pub use lineage::{Catalog, Relation, column_lineage};
pub use renames::renamed_columns;
