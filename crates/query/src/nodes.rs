//! Steps through a syntax tree: nodes are found again by their JSON pointers, so that a copy can be edited.

use serde_json::Value;

/// The text under `key`, if it is one and not empty.
pub(crate) fn text<'a>(node: &'a Value, key: &str) -> Option<&'a str> {
    node.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// The type that the engine gives a node.
pub(crate) fn node_type(node: &Value) -> &str {
    text(node, "type").unwrap_or_default()
}

/// Whether a list under `key` is there and not empty.
pub(crate) fn has_items(node: &Value, key: &str) -> bool {
    node.get(key).and_then(Value::as_array).is_some_and(|items| !items.is_empty())
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
