//! Edits of a tree: other relations in the place of references, joins of another side, empty branches; and
//! whether what the engine made of an edited tree still says the same.

use model::SyntaxTree;
use serde_json::{Value, json};

use crate::index::TableRef;
use crate::nodes::{class, kind, list, text, visit_mut};
use crate::shape::Side;
use crate::terms::Term;

/// The tree with a term's edits. Every pointer is one of the tree as it was: no edit moves another's node.
pub(crate) fn rewrite(tree: &Value, refs: &[TableRef], term: &Term, relation: &dyn Fn(usize, bool) -> String) -> Value {
    let mut tree = tree.clone();
    let replaced = term.deltas.iter().map(|&at| (at, true)).chain(term.befores.iter().map(|&at| (at, false)));
    for (at, is_delta) in replaced {
        replace(&mut tree, &refs[at], &relation(at, is_delta));
    }
    for (pointer, side) in &term.joins {
        if let Some(node) = tree.pointer_mut(pointer) {
            node["join_type"] = json!(match side {
                Side::Left => "LEFT",
                Side::Right => "RIGHT",
                _ => "INNER",
            });
        }
    }
    for pointer in &term.empty {
        if let Some(node) = tree.pointer_mut(pointer) {
            *node = without_rows(node);
        }
    }
    visit_mut(&mut tree, &mut keep_doubles);
    tree
}

fn replace(tree: &mut Value, reference: &TableRef, relation: &str) {
    let Some(node) = tree.pointer(&reference.pointer) else { return };
    let alias = text(node, "alias").map(str::to_owned);
    if alias.is_none() {
        unqualify(tree, reference);
    }
    if let Some(node) = tree.pointer_mut(&reference.pointer) {
        node["catalog_name"] = json!("temp");
        node["schema_name"] = json!("main");
        node["table_name"] = json!(relation);
        node["alias"] = json!(alias.unwrap_or_else(|| reference.name.clone()));
    }
}

/// Takes the schema from columns that name the reference with it: a relation of another schema, under the
/// old name alone, is about to take its place.
pub(crate) fn unqualify(tree: &mut Value, reference: &TableRef) {
    let Some(select) = enclosing_select(tree, &reference.pointer) else { return };
    let schema = reference.schema.clone().unwrap_or_else(|| "main".into());
    let Some(node) = tree.pointer_mut(&select) else { return };
    visit_mut(node, &mut |node| {
        if class(node) != "COLUMN_REF" {
            return;
        }
        let Some(names) = node.get_mut("column_names").and_then(Value::as_array_mut) else { return };
        let is = |at: usize, expected: &str| {
            names.get(at).and_then(Value::as_str).is_some_and(|name: &str| name.eq_ignore_ascii_case(expected))
        };
        // [schema, table, column], or the same behind a catalog.
        let start = (0..2).find(|&at| names.len() > at + 2 && is(at, &schema) && is(at + 1, &reference.name));
        if let Some(start) = start {
            names.drain(..=start);
        }
    });
}

/// The innermost SELECT around a pointer.
fn enclosing_select(tree: &Value, pointer: &str) -> Option<String> {
    let mut around = pointer;
    while let Some((outer, _)) = around.rsplit_once('/') {
        around = outer;
        if tree.pointer(around).is_some_and(|node| kind(node) == "SELECT_NODE") {
            return Some(around.to_owned());
        }
    }
    None
}

/// `SELECT * FROM (query) WHERE false`: the branch keeps its names and types.
fn without_rows(query: &Value) -> Value {
    let constant = json!({
        "class": "CONSTANT", "type": "VALUE_CONSTANT", "alias": "", "query_location": u64::MAX,
        "value": {"type": {"id": "VARCHAR", "type_info": null}, "is_null": false, "value": "f"},
    });
    json!({
        "type": "SELECT_NODE", "modifiers": [], "cte_map": {"map": []},
        "select_list": [{
            "class": "STAR", "type": "STAR", "alias": "", "query_location": u64::MAX, "relation_name": "",
            "exclude_list": [], "replace_list": [], "columns": false, "expr": null,
            "qualified_exclude_list": [], "rename_list": [],
        }],
        "from_table": {
            "type": "SUBQUERY", "alias": "__ondatra_none", "sample": null, "query_location": u64::MAX,
            "subquery": {"node": query, "named_param_map": []}, "column_name_alias": [],
        },
        "where_clause": cast(&constant, "BOOLEAN"),
        "group_expressions": [], "group_sets": [], "aggregate_handling": "STANDARD_HANDLING",
        "having": null, "sample": null, "qualify": null,
    })
}

fn cast(child: &Value, type_name: &str) -> Value {
    json!({
        "class": "CAST", "type": "OPERATOR_CAST", "alias": "", "query_location": u64::MAX, "child": child,
        "cast_type": {"id": type_name, "type_info": null}, "try_cast": false,
    })
}

/// The engine writes a DOUBLE constant so that it reads it back as a DECIMAL: here it becomes a cast.
fn keep_doubles(node: &mut Value) {
    let is_double = class(node) == "CONSTANT"
        && node.pointer("/value/type/id").and_then(Value::as_str) == Some("DOUBLE")
        && node.pointer("/value/is_null").and_then(Value::as_bool) != Some(true);
    if !is_double {
        return;
    }
    let Some(number) = node.pointer("/value/value").filter(|value| value.is_number()).map(Value::to_string) else {
        return;
    };
    let mut constant = node.take();
    let alias = constant["alias"].take();
    constant["alias"] = json!("");
    constant["value"] = json!({"type": {"id": "VARCHAR", "type_info": null}, "is_null": false, "value": number});
    *node = cast(&constant, "DOUBLE");
    node["alias"] = alias;
}

/// Whether two trees say the same: everything but positions is equal. The engine writes a list of values in
/// FROM with one derived table around it more than it reads.
pub fn same_meaning(left: &SyntaxTree, right: &SyntaxTree) -> bool {
    canonical(&left.0) == canonical(&right.0)
}

fn canonical(tree: &Value) -> Value {
    let mut tree = tree.clone();
    // From the outside in, so a derived table around another is taken away first.
    visit_mut(&mut tree, &mut |node| {
        while let Some(inner) = values_inside(node) {
            *node = inner;
        }
        if let Some(map) = node.as_object_mut() {
            map.remove("query_location");
        }
    });
    tree
}

/// The list of values in `(SELECT * FROM (VALUES …) AS x) AS x`.
fn values_inside(node: &Value) -> Option<Value> {
    if kind(node) != "SUBQUERY" {
        return None;
    }
    let from = node.pointer("/subquery/node/from_table")?;
    let is_list = kind(from) == "EXPRESSION_LIST" && from.get("alias") == node.get("alias");
    let is_plain = list(node, "column_name_alias").is_empty();
    (is_list && is_plain).then(|| from.clone())
}
