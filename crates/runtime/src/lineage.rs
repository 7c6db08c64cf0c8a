//! The column lineage of a model's result, and the renames that it shows (chapter 02 §5.1 and §7.1).

use engine::{EngineParser, LakeFacts, Rows};
use model::SqlParser;
use plan::{LastCommit, Names, Resolved};
use query::{Catalog, Functions, Relation, column_lineage, in_schema, renamed_columns};
use types::{Column, ColumnLineage, Target};

use crate::Session;
use crate::planning::PlannedModel;

/// What lineage is read with.
pub(crate) struct LineageScope<'a> {
    pub session: &'a Session,
    pub names: &'a Names,
    pub functions: &'a Functions,
    pub facts: &'a LakeFacts,
}

impl LineageScope<'_> {
    /// The lineage of the output columns; none for a statement without a tree.
    pub(crate) fn of(&self, planned: &PlannedModel, columns: &[Column]) -> Vec<ColumnLineage> {
        let Ok(tree) = &planned.tree else { return Vec::new() };
        column_lineage(tree, &names_of(columns), self, self.functions)
    }

    /// The columns now: the transaction's own view of the table.
    fn columns(&self, target: &Target) -> Option<Vec<String>> {
        let table = target.qualified(&self.session.lake);
        let described = self.session.connection.query(&format!("SELECT column_name FROM (DESCRIBE {table})"));
        described.ok().map(text_column)
    }
}

impl Catalog for LineageScope<'_> {
    fn relation(&self, catalog: Option<&str>, schema: Option<&str>, name: &str) -> Relation {
        let Some(Resolved::Lake(name)) = self.names.resolve(catalog, schema, name) else { return Relation::Unknown };
        let key = name.to_lowercase();
        let known = match (self.facts.views.get(&key), self.facts.tables.get(&key)) {
            (Some(view), _) => {
                let tree = EngineParser(&self.session.connection).trees(&[&view.sql]).pop().and_then(Result::ok);
                let tree =
                    tree.map(|tree| in_schema(&tree, &view.schema, &|schema, name| self.names.has(schema, name)));
                let columns = self.columns(&Target::new(&view.schema, &view.name));
                columns.zip(tree).map(|(columns, tree)| Relation::View { name, columns, tree })
            }
            (None, Some(table)) => {
                let columns = self.columns(&Target::new(&table.schema, &table.name));
                columns.map(|columns| Relation::Table { name, columns })
            }
            (None, None) => None,
        };
        known.unwrap_or(Relation::Unknown)
    }
}

/// Columns that come under another name than at the last commit: old and new.
pub(crate) fn renames(last: Option<&LastCommit>, new: &[ColumnLineage], columns: &[Column]) -> Vec<(String, String)> {
    let Some(last) = last else { return Vec::new() };
    renamed_columns(&last.column_lineage, new, &names_of(&last.columns), &names_of(columns))
}

fn names_of(columns: &[Column]) -> Vec<String> {
    columns.iter().map(|column| column.name.clone()).collect()
}

/// The first column of rows, as texts.
pub(crate) fn text_column(rows: Rows) -> Vec<String> {
    rows.into_values().filter_map(|mut row| row.swap_remove(0).into_text()).collect()
}
