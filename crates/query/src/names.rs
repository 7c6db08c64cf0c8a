//! What a query's names stand for: the caller knows.

use model::SyntaxTree;
use types::Target;

/// What a table reference stands for.
#[derive(Debug, Clone, PartialEq)]
pub enum Named {
    /// A table of the lake.
    Table(LakeTable),
    /// A view of the lake: its SELECT, complete and [in its schema](crate::in_schema), and its columns, if it
    /// gives them other names than its SELECT does.
    View {
        /// The SELECT.
        tree: SyntaxTree,
        /// The columns.
        columns: Vec<String>,
    },
    /// Anything that has no change feed: a file, a table of another database.
    Foreign,
    /// A table or view that should be in the lake, and of which nothing is known.
    Unknown,
}

/// A table of the lake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LakeTable {
    /// Schema and name.
    pub target: Target,
    /// Its columns, in order; none if they are not known.
    pub columns: Vec<String>,
}

/// What the caller knows of names.
pub trait Names {
    /// What a reference stands for that names no CTE.
    fn table(&self, catalog: Option<&str>, schema: Option<&str>, name: &str) -> Named;

    /// Whether a table function may read tables of the lake: a macro, or SQL in a text.
    fn reads_lake(&self, function: &str) -> bool;
}
