//! What a query means, read off its syntax tree: which of its references carry its rows, what a delta in
//! their place must look like, and where its columns come from.
//!
//! Boundary: pure. Trees come in as JSON, names and functions through what the caller knows of them.

mod feeds;
mod fetch;
mod finding;
mod functions;
mod index;
mod lateral;
mod lineage;
mod names;
mod nodes;
mod push;
mod query;
mod renames;
mod rewrite;
mod rowwise;
mod shape;
mod terms;
mod views;

pub use fetch::{
    DeclaredType, FetchArgument, FetchColumn, FetchQuery, LibCall, LibFacts, check_lib_calls, lib_calls,
    read_fetch_query, types_query, unreadable,
};
pub use finding::SqlFinding;
pub use functions::Functions;
pub use lineage::{Catalog, Relation, column_lineage};
pub use names::{LakeTable, Named, Names};
pub use push::check_push_query;
pub use query::{Drivers, Query};
pub use renames::renamed_columns;
pub use rewrite::same_meaning;
pub use rowwise::sees_other_rows;
pub use terms::Term;
pub use views::in_schema;
