//! Views become derived tables, so that what they read can be replaced (chapter 02 §4.4).

use serde_json::{Value, json};

use crate::index::{TableRef, table_refs};
use crate::rewrite::unqualify;
use crate::{Named, Names};

/// Views within views are followed so far; one that names itself ends here.
const DEPTH_MAX: usize = 16;

/// The tree with every view that it names expanded, from the inside of each.
pub(crate) fn expand_views(tree: &Value, names: &dyn Names) -> Value {
    let mut tree = tree.clone();
    for _ in 0..DEPTH_MAX {
        let views: Vec<(TableRef, Value)> =
            table_refs(&tree).into_iter().filter_map(|known| view(known, names)).collect();
        if views.is_empty() {
            break;
        }
        for (reference, query) in views {
            expand(&mut tree, &reference, &query);
        }
    }
    tree
}

fn view(known: TableRef, names: &dyn Names) -> Option<(TableRef, Value)> {
    if known.cte.is_some() {
        return None;
    }
    match names.table(known.catalog.as_deref(), known.schema.as_deref(), &known.name) {
        Named::View(tree) => Some((known, qualified(&tree.0))),
        _ => None,
    }
}

/// The view's query; tables without a schema get theirs, or a CTE around the view could take their place.
fn qualified(tree: &Value) -> Value {
    let mut tree = tree.clone();
    for known in table_refs(&tree) {
        if known.cte.is_none()
            && known.schema.is_none()
            && let Some(node) = tree.pointer_mut(&known.pointer)
        {
            node["schema_name"] = json!("main");
        }
    }
    tree.pointer("/statements/0/node").cloned().unwrap_or_default()
}

fn expand(tree: &mut Value, reference: &TableRef, query: &Value) {
    let Some(node) = tree.pointer_mut(&reference.pointer) else { return };
    let alias = match node["alias"].as_str() {
        Some(alias) if !alias.is_empty() => alias.to_owned(),
        _ => {
            let name = reference.name.clone();
            unqualify(tree, reference);
            name
        }
    };
    if let Some(node) = tree.pointer_mut(&reference.pointer) {
        let (sample, columns) = (node["sample"].clone(), node["column_name_alias"].clone());
        *node = json!({
            "type": "SUBQUERY", "alias": alias, "sample": sample, "query_location": u64::MAX,
            "subquery": {"node": query, "named_param_map": []}, "column_name_alias": columns,
        });
    }
}
