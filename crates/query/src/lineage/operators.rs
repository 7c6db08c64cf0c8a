//! The names of operators, and which functions are more than functions.

use std::borrow::Cow;

use serde_json::Value;

use crate::nodes::{kind, text};

pub(super) fn is_arithmetic(function: &str) -> bool {
    matches!(function, "+" | "-" | "*" | "/" | "%" | "^")
}

/// Whether a window's type is one that numbers rows: what it gives depends on PARTITION and ORDER alone.
pub(super) fn is_ranking(window: &str) -> bool {
    let functions = ["ROW_NUMBER", "RANK", "RANK_DENSE", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE"];
    window.strip_prefix("WINDOW_").is_some_and(|function| functions.contains(&function))
}

/// Whether a function takes lambdas.
pub(super) fn takes_lambda(function: &str) -> bool {
    let name = function.strip_prefix("list_").or_else(|| function.strip_prefix("array_")).unwrap_or(function);
    matches!(name, "transform" | "apply" | "filter" | "reduce")
}

/// What an operator is called: as in SQL, in lower case, or as the function that does the same.
pub(super) fn operator(node: &Value) -> Cow<'static, str> {
    Cow::Borrowed(match kind(node) {
        "COMPARE_EQUAL" => "=",
        "COMPARE_NOTEQUAL" => "<>",
        "COMPARE_LESSTHAN" => "<",
        "COMPARE_GREATERTHAN" => ">",
        "COMPARE_LESSTHANOREQUALTO" => "<=",
        "COMPARE_GREATERTHANOREQUALTO" => ">=",
        "COMPARE_DISTINCT_FROM" => "is distinct from",
        "COMPARE_NOT_DISTINCT_FROM" => "is not distinct from",
        "COMPARE_BETWEEN" => "between",
        "COMPARE_NOT_BETWEEN" => "not between",
        "COMPARE_IN" => "in",
        "COMPARE_NOT_IN" => "not in",
        "CONJUNCTION_AND" => "and",
        "CONJUNCTION_OR" => "or",
        "OPERATOR_NOT" => "not",
        "OPERATOR_IS_NULL" => "is null",
        "OPERATOR_IS_NOT_NULL" => "is not null",
        "OPERATOR_TRY" => "try",
        "GROUPING_FUNCTION" => "grouping",
        "ARRAY_CONSTRUCTOR" => "list_value",
        "COLLATE" => "collate",
        other => return Cow::Owned(text(node, "function_name").unwrap_or(other).to_ascii_lowercase()),
    })
}
