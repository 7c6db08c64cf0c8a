//! Reading nodes of a syntax tree. What is absent, null or empty is one thing: the engine may leave out
//! every key that holds its default.

use serde_json::Value;

/// The text under `key`, if it is one and not empty.
pub(super) fn text<'a>(node: &'a Value, key: &str) -> Option<&'a str> {
    node.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// The list under `key`; empty without one.
pub(super) fn list<'a>(node: &'a Value, key: &str) -> &'a [Value] {
    node.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The texts of the list under `key`.
pub(super) fn texts(node: &Value, key: &str) -> Vec<String> {
    list(node, key).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Whether the flag `key` is set.
pub(super) fn flag(node: &Value, key: &str) -> bool {
    node.get(key).and_then(Value::as_bool) == Some(true)
}

/// The node under `key`, if there is one.
pub(super) fn child<'a>(node: &'a Value, key: &str) -> Option<&'a Value> {
    node.get(key).filter(|child| child.is_object())
}

/// The class of an expression; empty for what is none.
pub(super) fn class(node: &Value) -> &str {
    text(node, "class").unwrap_or_default()
}

/// The type of a node; empty for what has none.
pub(super) fn kind(node: &Value) -> &str {
    text(node, "type").unwrap_or_default()
}

/// The expressions of a list of `ORDER BY`.
pub(super) fn orders<'a>(node: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    list(node, key).iter().filter_map(|order| child(order, "expression"))
}

/// The query under `key`: statements are wrapped in an object of their own.
pub(super) fn query<'a>(node: &'a Value, key: &str) -> Option<&'a Value> {
    let query = child(node, key)?;
    Some(child(query, "node").unwrap_or(query))
}

/// The text of a constant, if it is one of type VARCHAR.
pub(super) fn constant_text(node: &Value) -> Option<&str> {
    let value = child(node, "value")?;
    (value["type"]["id"].as_str() == Some("VARCHAR")).then(|| value["value"].as_str()).flatten()
}
