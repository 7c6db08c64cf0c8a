//! Which references pass through an aggregate on their way to an output column (chapter 02 §4.4): the lineage of the
//! query, with a table of its own for each reference.

use std::collections::BTreeSet;

use model::SyntaxTree;
use serde_json::Value;

use crate::index::TableRef;
use crate::lineage::aggregated_tables;
use crate::rewrite::rewrite;
use crate::{Catalog, Functions, LakeTable, Relation, Term};

/// The references to tables of the lake that reach the output through an aggregate.
pub(crate) fn aggregated(
    tree: &Value,
    refs: &[TableRef],
    tables: &[Option<LakeTable>],
    functions: &Functions,
) -> BTreeSet<usize> {
    let of_lake: BTreeSet<usize> = (0..tables.len()).filter(|&at| tables[at].is_some()).collect();
    let all = Term { deltas: of_lake.clone(), ..Term::default() };
    let numbered = rewrite(tree, refs, &all, &|at, _| at.to_string());
    match aggregated_tables(&SyntaxTree(numbered), &Numbered(tables), functions) {
        Some(found) => found.iter().filter_map(|number| number.parse().ok()).collect(),
        // What cannot be told counts: a row too many is seen, one too few is not.
        None => of_lake,
    }
}

/// References as tables: their numbers are their names.
struct Numbered<'a>(&'a [Option<LakeTable>]);

impl Catalog for Numbered<'_> {
    fn relation(&self, catalog: Option<&str>, _: Option<&str>, name: &str) -> Relation {
        let at = name.parse::<usize>().ok().filter(|_| catalog == Some("temp"));
        match at.and_then(|at| self.0.get(at)?.as_ref()) {
            Some(table) => Relation::Table { name: name.to_owned(), columns: table.columns.clone() },
            None => Relation::Unknown,
        }
    }
}
