//! What a column is called that has no alias. Only simple expressions are named as the engine does it; the rest
//! have no name here, and nothing can refer to them by mistake.

use serde_json::Value;

use crate::nodes::{child, class, flag, list, orders, text, texts};

/// The name of a column in a SELECT list; empty if only the engine knows it.
pub(super) fn name_of(item: &Value) -> String {
    match (text(item, "alias"), class(item)) {
        (Some(alias), _) => alias.to_owned(),
        (None, "COLUMN_REF") => texts(item, "column_names").pop().unwrap_or_default(),
        (None, _) => written(item, 0).unwrap_or_default(),
    }
}

/// Names of deeply nested expressions are not worth their length.
const DEPTH_MAX: usize = 8;

fn written(node: &Value, depth: usize) -> Option<String> {
    if depth > DEPTH_MAX || (depth > 0 && text(node, "alias").is_some()) {
        return None;
    }
    match class(node) {
        "COLUMN_REF" => {
            let parts = texts(node, "column_names");
            let plain = parts.iter().all(|part| types::is_identifier(part));
            plain.then(|| parts.join("."))
        }
        "CONSTANT" => constant(node),
        "FUNCTION" => call(node, depth),
        "CAST" => {
            let to = child(node, "cast_type").filter(|to| child(to, "type_info").is_none())?;
            let what = written(child(node, "child")?, depth + 1)?;
            let cast = if flag(node, "try_cast") { "TRY_CAST" } else { "CAST" };
            Some(format!("{cast}({what} AS {})", text(to, "id")?))
        }
        _ => None,
    }
}

fn call(node: &Value, depth: usize) -> Option<String> {
    let name = text(node, "function_name")?;
    let is_plain = text(node, "schema").is_none()
        && text(node, "catalog").is_none()
        && child(node, "filter").is_none()
        && child(node, "order_bys").is_none_or(|modifier| orders(modifier, "orders").next().is_none());
    if !is_plain {
        return None;
    }
    let arguments: Option<Vec<String>> =
        list(node, "children").iter().map(|argument| written(argument, depth + 1)).collect();
    let arguments = arguments?;
    match arguments.as_slice() {
        [left, right] if flag(node, "is_operator") => Some(format!("({left} {name} {right})")),
        [only] if flag(node, "is_operator") => Some(format!("{name}({only})")),
        _ if flag(node, "distinct") => Some(format!("{name}(DISTINCT {})", arguments.join(", "))),
        _ => Some(format!("{name}({})", arguments.join(", "))),
    }
}

fn constant(node: &Value) -> Option<String> {
    let value = child(node, "value")?;
    match (value["type"]["id"].as_str()?, &value["value"]) {
        ("INTEGER" | "BIGINT", Value::Number(number)) => Some(number.to_string()),
        ("VARCHAR", Value::String(text)) => Some(types::literal(text)),
        _ => None,
    }
}
