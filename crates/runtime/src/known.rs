//! What a model's transaction knows of the names in its query, for deltas and for lineage.

use engine::{LakeFacts, LakeView};
use model::SyntaxTree;
use plan::{Names, Resolved};
use query::{Functions, in_schema};
use types::Target;

use crate::Session;

/// Where names are looked up.
pub(crate) struct Known<'a> {
    pub session: &'a Session,
    pub names: &'a Names,
    pub functions: &'a Functions,
    pub facts: &'a LakeFacts,
}

/// What a name stands for.
pub(crate) enum Found<'a> {
    /// A view of the lake, under the name that `depends` lists.
    View(String, &'a LakeView),
    /// A table of the lake, the same way.
    Table(String, Target),
    /// A name of the lake that the facts do not have; a table that this run has made is one.
    Unknown(String),
    /// Nothing of the lake.
    Foreign,
}

impl Known<'_> {
    pub(crate) fn find(&self, catalog: Option<&str>, schema: Option<&str>, name: &str) -> Found<'_> {
        let Some(Resolved::Lake(name)) = self.names.resolve(catalog, schema, name) else { return Found::Foreign };
        let key = name.to_lowercase();
        match (self.facts.views.get(&key), self.facts.tables.get(&key)) {
            (Some(view), _) => Found::View(name, view),
            (None, Some(table)) => Found::Table(name, Target::new(&table.schema, &table.name)),
            (None, None) => Found::Unknown(name),
        }
    }

    /// The columns of a table or view, as the transaction sees it; `None` if they cannot be read.
    pub(crate) fn columns(&self, target: &Target) -> Option<Vec<String>> {
        let sql = format!("SELECT column_name FROM (DESCRIBE {})", target.qualified(&self.session.lake));
        let rows = self.session.connection.query(&sql).ok()?;
        Some(rows.into_values().filter_map(|mut row| row.swap_remove(0).into_text()).collect())
    }

    /// A view's tree with a schema for every table of it.
    pub(crate) fn in_schema(&self, tree: &SyntaxTree, view: &LakeView) -> SyntaxTree {
        in_schema(tree, &view.schema, &|schema, name| self.names.has(schema, name))
    }
}
