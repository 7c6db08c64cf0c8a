//! Whether each row of a query comes from one row of its driving reference: only then does a delta give
//! each key the row that the whole query gives it (chapter 02 §4.4).

use model::SyntaxTree;
use serde_json::Value;

use crate::Functions;
use crate::index::TableRef;
use crate::nodes::{class, flag, kind, list, text, visit};
use crate::shape::{Side, side};

pub(crate) struct RowWise<'a> {
    pub tree: &'a Value,
    pub refs: &'a [TableRef],
    pub functions: &'a Functions,
}

impl RowWise<'_> {
    /// What of the query at `pointer`, on the way to its driving references, looks at several rows.
    pub(crate) fn broken_by(&self, pointer: &str) -> Option<&'static str> {
        let node = self.tree.pointer(pointer)?;
        match kind(node) {
            "SELECT_NODE" => self.select(node).or_else(|| self.from(&format!("{pointer}/from_table"))),
            "SET_OPERATION_NODE" => match (text(node, "setop_type"), flag(node, "setop_all")) {
                (Some("UNION" | "UNION_BY_NAME"), true) => {
                    self.broken_by(&format!("{pointer}/left")).or_else(|| self.broken_by(&format!("{pointer}/right")))
                }
                (Some("UNION" | "UNION_BY_NAME"), _) => Some("UNION"),
                (Some("EXCEPT"), _) => Some("EXCEPT"),
                _ => Some("INTERSECT"),
            },
            _ => Some("recursive query"),
        }
    }

    fn select(&self, node: &Value) -> Option<&'static str> {
        let modified = list(node, "modifiers").iter().find_map(|modifier| match kind(modifier) {
            "DISTINCT_MODIFIER" => Some("DISTINCT"),
            "ORDER_MODIFIER" => None,
            _ => Some("LIMIT"),
        });
        let is_set = |key: &str| node.get(key).is_some_and(|value| !value.is_null());
        let grouped = ["group_expressions", "group_sets"].iter().any(|key| !list(node, key).is_empty())
            || text(node, "aggregate_handling").is_some_and(|handling| handling != "STANDARD_HANDLING");
        let named = [
            (grouped, "GROUP BY"),
            (is_set("having"), "HAVING"),
            (is_set("qualify"), "QUALIFY"),
            (is_set("sample"), "sample"),
        ];
        let named = named.into_iter().find(|(is_there, _)| *is_there).map(|(_, name)| name);
        let list = node.get("select_list").and_then(|list| looks_around(list, self.functions));
        modified.or(named).or(list)
    }

    fn from(&self, pointer: &str) -> Option<&'static str> {
        let node = self.tree.pointer(pointer)?;
        match kind(node) {
            "JOIN" => match side(node) {
                Side::Inner | Side::Left | Side::Filter | Side::Nearest => self.from(&format!("{pointer}/left")),
                Side::Right => self.from(&format!("{pointer}/right")),
                Side::Full => Some("FULL JOIN"),
                Side::Positional => Some("POSITIONAL JOIN"),
            },
            "SUBQUERY" => self.broken_by(&format!("{pointer}/subquery/node")),
            "BASE_TABLE" => {
                let cte = self.refs.iter().find(|known| known.pointer == pointer).and_then(|known| known.cte.as_ref());
                cte.and_then(|body| self.broken_by(body))
            }
            "PIVOT" => Some("PIVOT"),
            _ => None,
        }
    }
}

/// What of the expressions in a tree, subqueries left out, makes one value of several rows or looks at others.
pub fn sees_other_rows(tree: &SyntaxTree, functions: &Functions) -> Option<&'static str> {
    looks_around(tree.0.pointer("/statements/0/node/select_list")?, functions)
}

/// The same for the expressions below a node.
pub(crate) fn looks_around(node: &Value, functions: &Functions) -> Option<&'static str> {
    let mut found = None;
    visit(node, &mut |node| {
        match class(node) {
            "SUBQUERY" => return false,
            "WINDOW" => found = found.or(Some("window function")),
            "FUNCTION" if text(node, "function_name").is_some_and(|name| functions.is_aggregate(name)) => {
                found = found.or(Some("aggregate"));
            }
            _ => {}
        }
        true
    });
    found
}
