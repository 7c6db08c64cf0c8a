//! Every table reference of a query with its place in the tree, and the CTE that it names, if it does.

use serde_json::Value;

use crate::nodes::{child, kind, list, text};

/// A reference to a table by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableRef {
    /// JSON pointer of its node.
    pub pointer: String,
    /// Catalog, if named.
    pub catalog: Option<String>,
    /// Schema, if named.
    pub schema: Option<String>,
    /// Name.
    pub name: String,
    /// Pointer of the query that it stands for, where it names a CTE.
    pub cte: Option<String>,
}

/// All references, in tree order.
pub(crate) fn table_refs(tree: &Value) -> Vec<TableRef> {
    let mut found = Vec::new();
    walk(tree, "", &Vec::new(), &mut found);
    found
}

/// Visible CTEs, innermost last: lower-case name and pointer of the body.
type Scope = Vec<(String, String)>;

fn walk(node: &Value, pointer: &str, scope: &Scope, found: &mut Vec<TableRef>) {
    match node {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                walk(item, &format!("{pointer}/{at}"), scope, found);
            }
        }
        Value::Object(map) => {
            if kind(node) == "BASE_TABLE" {
                found.extend(table_ref(node, pointer, scope));
            }
            let inner = walk_ctes(node, pointer, scope, found);
            for (key, child) in map.iter().filter(|(key, _)| key.as_str() != "cte_map") {
                walk(child, &format!("{pointer}/{key}"), &inner, found);
            }
        }
        _ => {}
    }
}

/// Walks the bodies of `WITH`, each seeing only its earlier siblings, and itself if it is recursive.
fn walk_ctes(node: &Value, pointer: &str, scope: &Scope, found: &mut Vec<TableRef>) -> Scope {
    let mut scope = scope.clone();
    let entries = child(node, "cte_map").map_or(&[][..], |ctes| list(ctes, "map"));
    for (at, entry) in entries.iter().enumerate() {
        let value = format!("{pointer}/cte_map/map/{at}/value");
        let body = format!("{value}/query/node");
        let named = text(entry, "key").map(|name| (name.to_lowercase(), body));
        let recursive = entry.pointer("/value/query/node").is_some_and(|body| kind(body) == "RECURSIVE_CTE_NODE");
        let mut own = scope.clone();
        own.extend(named.clone().filter(|_| recursive));
        walk(&entry["value"], &value, &own, found);
        scope.extend(named);
    }
    scope
}

fn table_ref(node: &Value, pointer: &str, scope: &Scope) -> Option<TableRef> {
    let name = text(node, "table_name")?;
    let part = |key: &str| text(node, key).map(str::to_owned);
    let (catalog, schema) = (part("catalog_name"), part("schema_name"));
    let key = name.to_lowercase();
    let is_bare = catalog.is_none() && schema.is_none();
    let cte = scope.iter().rev().find(|(known, _)| is_bare && *known == key).map(|(_, body)| body.clone());
    Some(TableRef { pointer: pointer.to_owned(), catalog, schema, name: name.to_owned(), cte })
}
