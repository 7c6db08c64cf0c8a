//! Reading nodes of a syntax tree. What is absent, null or empty is one thing: the engine may leave out
//! every key that holds its default.

use serde_json::Value;

/// The text under `key`, if it is one and not empty.
pub(crate) fn text<'a>(node: &'a Value, key: &str) -> Option<&'a str> {
    node.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// The list under `key`; empty without one.
pub(crate) fn list<'a>(node: &'a Value, key: &str) -> &'a [Value] {
    node.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The texts of the list under `key`.
pub(crate) fn texts(node: &Value, key: &str) -> Vec<String> {
    list(node, key).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Whether the flag `key` is set.
pub(crate) fn flag(node: &Value, key: &str) -> bool {
    node.get(key).and_then(Value::as_bool) == Some(true)
}

/// The node under `key`, if there is one.
pub(crate) fn child<'a>(node: &'a Value, key: &str) -> Option<&'a Value> {
    node.get(key).filter(|child| child.is_object())
}

/// The class of an expression; empty for what is none.
pub(crate) fn class(node: &Value) -> &str {
    text(node, "class").unwrap_or_default()
}

/// The type of a node; empty for what has none.
pub(crate) fn kind(node: &Value) -> &str {
    text(node, "type").unwrap_or_default()
}

/// The expressions of a list of `ORDER BY`.
pub(crate) fn orders<'a>(node: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    list(node, key).iter().filter_map(|order| child(order, "expression"))
}

/// The query under `key`: statements are wrapped in an object of their own.
pub(crate) fn query<'a>(node: &'a Value, key: &str) -> Option<&'a Value> {
    let query = child(node, key)?;
    Some(child(query, "node").unwrap_or(query))
}

/// Calls `see` for every node below `node`, itself included, as long as `see` says to go deeper.
pub(crate) fn visit(node: &Value, see: &mut impl FnMut(&Value) -> bool) {
    match node {
        Value::Array(items) => items.iter().for_each(|item| visit(item, see)),
        Value::Object(map) if see(node) => map.values().for_each(|child| visit(child, see)),
        _ => {}
    }
}

/// The same for a tree that is edited.
pub(crate) fn visit_mut(node: &mut Value, see: &mut impl FnMut(&mut Value)) {
    if node.is_object() {
        see(node);
    }
    match node {
        Value::Array(items) => items.iter_mut().for_each(|item| visit_mut(item, see)),
        Value::Object(map) => map.values_mut().for_each(|child| visit_mut(child, see)),
        _ => {}
    }
}
