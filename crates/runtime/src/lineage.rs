//! The column lineage of a model's result, and the renames that it shows (chapter 02 §5.1 and §7.1).

use engine::EngineParser;
use model::SqlParser;
use plan::LastCommit;
use query::{Catalog, Relation, column_lineage, renamed_columns};
use types::{Column, ColumnLineage, Target, undotted};

use crate::known::{Found, Known};
use crate::planning::PlannedModel;

/// The lineage of a model's output columns; none for a statement without a tree.
pub(crate) fn lineage(known: &Known<'_>, planned: &PlannedModel, columns: &[Column]) -> Vec<ColumnLineage> {
    let Ok(tree) = &planned.tree else { return Vec::new() };
    column_lineage(tree, &names_of(columns), known, known.functions)
}

impl Catalog for Known<'_> {
    fn relation(&self, catalog: Option<&str>, schema: Option<&str>, name: &str) -> Relation {
        let relation = match self.find(catalog, schema, name) {
            Found::View(name, view) => {
                let tree = EngineParser(&self.session.connection).trees(&[&view.sql]).pop().and_then(Result::ok);
                let columns = self.columns(&Target::new(&view.schema, &view.name));
                columns.zip(tree).map(|(columns, tree)| {
                    let tree = self.in_schema(&tree, view);
                    Relation::View { name, columns, tree }
                })
            }
            Found::Table(name, target) => self.columns(&target).map(|columns| Relation::Table { name, columns }),
            // The facts of a first run are older than the tables that it has made.
            Found::Unknown(name) if self.names.tables.contains_key(&name.to_lowercase()) => undotted(&name)
                .and_then(|(schema, table)| self.columns(&Target::new(schema, table)))
                .map(|columns| Relation::Table { name, columns }),
            Found::Unknown(_) | Found::Foreign => None,
        };
        relation.unwrap_or(Relation::Unknown)
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
