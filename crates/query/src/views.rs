//! Views become derived tables, so that what they read can be replaced (chapter 02 §4.4).

use model::SyntaxTree;
use serde_json::{Value, json};

use crate::index::{TableRef, table_refs};
use crate::nodes::list;
use crate::rewrite::named;
use crate::{Named, Names};

/// Views within views are followed so far; one that names itself ends here.
const DEPTH_MAX: usize = 16;

/// The tree with every view that it names expanded, from the inside of each.
pub(crate) fn expand_views(tree: &Value, names: &dyn Names) -> Value {
    let mut tree = tree.clone();
    for _ in 0..DEPTH_MAX {
        let views: Vec<View> = table_refs(&tree).into_iter().filter_map(|known| view(known, names)).collect();
        if views.is_empty() {
            break;
        }
        for view in views {
            expand(&mut tree, &view);
        }
    }
    tree
}

/// A reference to a view, and what stands behind it.
struct View {
    reference: TableRef,
    query: Value,
    columns: Vec<String>,
}

fn view(reference: TableRef, names: &dyn Names) -> Option<View> {
    if reference.cte.is_some() {
        return None;
    }
    match names.table(reference.catalog.as_deref(), reference.schema.as_deref(), &reference.name) {
        Named::View { tree, columns } => {
            let query = tree.0.pointer("/statements/0/node").cloned().unwrap_or_default();
            Some(View { reference, query, columns })
        }
        _ => None,
    }
}

/// A view's query with a schema for every table that it names without one, as the engine finds it: the view's
/// own, if that has such a table, else `main`. A CTE around the view cannot take its place then.
pub fn in_schema(tree: &SyntaxTree, schema: &str, is_known: &dyn Fn(&str, &str) -> bool) -> SyntaxTree {
    let mut tree = tree.0.clone();
    for known in table_refs(&tree) {
        if known.cte.is_some() || known.schema.is_some() || known.catalog.is_some() {
            continue;
        }
        let found = if is_known(schema, &known.name) { schema } else { "main" };
        // What is nowhere in the lake may be a file.
        if let (true, Some(node)) = (is_known(found, &known.name), tree.pointer_mut(&known.pointer)) {
            node["schema_name"] = json!(found);
        }
    }
    SyntaxTree(tree)
}

fn expand(tree: &mut Value, view: &View) {
    let alias = named(tree, &view.reference);
    let Some(node) = tree.pointer_mut(&view.reference.pointer) else { return };
    // Names given where the view is used come before its own.
    let given = list(node, "column_name_alias").to_vec();
    let own = view.columns.iter().skip(given.len()).map(|name| json!(name));
    let columns: Vec<Value> = given.iter().cloned().chain(own).collect();
    let sample = node["sample"].clone();
    *node = json!({
        "type": "SUBQUERY", "alias": alias, "sample": sample, "query_location": u64::MAX,
        "subquery": {"node": view.query, "named_param_map": []}, "column_name_alias": columns,
    });
}
