//! Derived tables that make one value of the rows that belong to a row beside them, as LATERAL allows: over
//! a delta they would give a value for every row, be it of nothing.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::Functions;
use crate::index::TableRef;
use crate::nodes::{class, kind, list, text, visit};
use crate::rowwise::looks_around;

pub(crate) struct Laterals<'a> {
    pub tree: &'a Value,
    pub refs: &'a [TableRef],
    /// Columns of a reference, none if they are not known.
    pub columns: &'a dyn Fn(usize) -> Vec<String>,
    pub functions: &'a Functions,
}

impl Laterals<'_> {
    /// Whether the derived table at `pointer` is such a one.
    pub(crate) fn is_correlated(&self, pointer: &str) -> bool {
        let Some(query) = self.tree.pointer(&format!("{pointer}/subquery/node")) else { return false };
        let is_grouped = !list(query, "group_expressions").is_empty() || !list(query, "group_sets").is_empty();
        let aggregates = query.get("select_list").and_then(|list| looks_around(list, self.functions)).is_some();
        kind(query) == "SELECT_NODE" && !is_grouped && aggregates && self.names_others(query, pointer)
    }

    /// Whether a column inside is none of the tables inside, as far as these are known.
    fn names_others(&self, query: &Value, pointer: &str) -> bool {
        let prefix = format!("{pointer}/");
        let inside = (0..self.refs.len()).filter(|&at| self.refs[at].pointer.starts_with(&prefix));
        let (mut tables, mut columns, mut all_known) = (BTreeSet::new(), BTreeSet::new(), true);
        for at in inside {
            tables.insert(self.refs[at].name.to_lowercase());
            let known = (self.columns)(at);
            all_known &= !known.is_empty();
            columns.extend(known.into_iter().map(|name| name.to_lowercase()));
        }
        visit(query, &mut |node| {
            tables.extend(text(node, "alias").map(str::to_lowercase));
            columns.extend(list(node, "column_name_alias").iter().filter_map(Value::as_str).map(str::to_lowercase));
            true
        });
        let mut found = false;
        visit(query, &mut |node| {
            if class(node) == "COLUMN_REF" {
                let names: Vec<String> =
                    list(node, "column_names").iter().filter_map(Value::as_str).map(str::to_lowercase).collect();
                found |= match &names[..] {
                    [name] => all_known && !columns.contains(name) && !tables.contains(name),
                    [first, rest @ ..] => {
                        let behind_schema = rest.len() > 1 && tables.contains(&rest[0]);
                        !tables.contains(first) && !columns.contains(first) && !behind_schema
                    }
                    [] => false,
                };
            }
            true
        });
        found
    }
}
