//! Edits of a tree: other relations in the place of references, joins of another side, empty branches; and
//! whether what the engine made of an edited tree still says the same.

use model::SyntaxTree;
use serde_json::{Value, json};

use crate::index::{TableRef, table_refs};
use crate::nodes::{class, kind, list, text, visit_mut};
use crate::terms::{JoinEdit, Term};

/// The tree with a term's edits. Every pointer is one of the tree as it was: no edit moves the node of one
/// that comes after it.
pub(crate) fn rewrite(tree: &Value, refs: &[TableRef], term: &Term, relation: &dyn Fn(usize, bool) -> String) -> Value {
    let mut tree = tree.clone();
    let replaced: Vec<(usize, bool)> =
        term.deltas.iter().map(|&at| (at, true)).chain(term.befores.iter().map(|&at| (at, false))).collect();
    let aliases: Vec<String> = replaced.iter().map(|&(at, _)| named(&mut tree, &refs[at])).collect();
    for (&(at, _), alias) in replaced.iter().zip(aliases) {
        set(&mut tree, &refs[at].pointer, "alias", &alias);
    }
    let whole = tree.clone();
    for (at, is_delta) in replaced {
        let pointer = &refs[at].pointer;
        set(&mut tree, pointer, "catalog_name", "temp");
        set(&mut tree, pointer, "schema_name", "main");
        set(&mut tree, pointer, "table_name", &relation(at, is_delta));
    }
    // Inner joins first: an outer one may move them.
    for (pointer, edit) in term.joins.iter().rev() {
        if let (Some(node), Some(whole)) = (tree.pointer_mut(pointer), whole.pointer(pointer)) {
            edit_join(node, whole, *edit);
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

fn set(tree: &mut Value, pointer: &str, key: &str, text: &str) {
    if let Some(node) = tree.pointer_mut(pointer) {
        node[key] = json!(text);
    }
}

/// `whole` is the join with both operands as they are now.
fn edit_join(node: &mut Value, whole: &Value, edit: JoinEdit) {
    let alone = |node: &Value, kept: &str, other: &str| {
        let mut join = node.clone();
        join["join_type"] = json!("ANTI");
        join["left"] = node[kept].clone();
        join["right"] = whole[other].clone();
        join
    };
    match edit {
        JoinEdit::Inner => node["join_type"] = json!("INNER"),
        JoinEdit::Left => node["join_type"] = json!("LEFT"),
        JoinEdit::LeftAlone => {
            node["left"] = alone(node, "left", "right");
            node["join_type"] = json!("LEFT");
        }
        JoinEdit::RightAlone => {
            node["right"] = alone(node, "right", "left");
            node["join_type"] = json!("RIGHT");
        }
    }
}

/// The name under which a reference is known to its query. It is about to become a relation of another
/// schema, so columns that name it with its schema lose that; where another table of the same name stands
/// beside it, the two names become one.
pub(crate) fn named(tree: &mut Value, reference: &TableRef) -> String {
    let Some(node) = tree.pointer(&reference.pointer) else { return reference.name.clone() };
    if let Some(alias) = text(node, "alias") {
        return alias.to_owned();
    }
    let Some(select) = enclosing_select(tree, &reference.pointer) else { return reference.name.clone() };
    let schema = reference.schema.clone().unwrap_or_else(|| "main".into());
    let namesakes = table_refs(tree).into_iter().filter(|other| {
        let beside = other.pointer.starts_with(&format!("{select}/from_table")) && other.pointer != reference.pointer;
        beside && other.name.eq_ignore_ascii_case(&reference.name)
    });
    let alias = if namesakes.count() == 0 { reference.name.clone() } else { format!("{schema}.{}", reference.name) };
    if let Some(node) = tree.pointer_mut(&select) {
        visit_mut(node, &mut |node| rename_columns(node, &schema, &reference.name, &alias));
    }
    alias
}

/// `schema.table.column`, also behind a catalog, becomes `alias.column`.
fn rename_columns(node: &mut Value, schema: &str, table: &str, alias: &str) {
    if class(node) != "COLUMN_REF" {
        return;
    }
    let Some(names) = node.get_mut("column_names").and_then(Value::as_array_mut) else { return };
    let is = |at: usize, expected: &str| {
        names.get(at).and_then(Value::as_str).is_some_and(|name: &str| name.eq_ignore_ascii_case(expected))
    };
    let start = (0..2).find(|&at| names.len() > at + 2 && is(at, schema) && is(at + 1, table));
    if let Some(start) = start {
        names.drain(..=start);
        names[0] = json!(alias);
    }
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
pub(crate) fn keep_doubles(node: &mut Value) {
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
