//! The SQL of a model that pushes: each column is cast and named, so that what the sink gets has types and names that
//! somebody chose (chapter 05, `strict_push`).

use model::SyntaxTree;
use serde_json::Value;

use crate::fetch::{FetchFinding, lib_calls};
use crate::nodes::{child, class, kind, list, query, text};

const CAST_REQUIRED: &str = "strict_push.cast_required";
const ALIAS_REQUIRED: &str = "strict_push.alias_required";
const STAR: &str = "strict_push.select_star_disallowed";
const LIB_CALL: &str = "strict_push.lib_call_disallowed";

const FORM: &str = "write `<expression>::TYPE AS alias`: the sink gets it under this name";

/// What is wrong with the outermost SELECT list, and with what it reads.
pub fn check_push_query(tree: &SyntaxTree, is_lib: impl Fn(&str) -> bool) -> Vec<FetchFinding> {
    let mut findings = Vec::new();
    if let Some(statement) = list(&tree.0, "statements").first()
        && let Some(node) = query(statement, "node").or_else(|| child(statement, "node"))
    {
        for (at, column) in list(outermost(node), "select_list").iter().enumerate() {
            findings.extend(check_column(column, at + 1));
        }
    }
    findings.extend(lib_calls(tree, is_lib).into_iter().map(|call| {
        let message = format!("the model calls the lib function \"{}\", which a @push model cannot", call.name);
        FetchFinding::new(LIB_CALL, call.offset, message, "fetch in a model of its own, and read that one here")
    }));
    findings
}

/// The SELECT that names the columns: the first one of a UNION, the last one behind WITH.
fn outermost(node: &Value) -> &Value {
    match kind(node) {
        "SET_OPERATION_NODE" => {
            let left = query(node, "left").or_else(|| list(node, "children").first());
            left.map_or(node, outermost)
        }
        "CTE_NODE" => query(node, "child").map_or(node, outermost),
        _ => node,
    }
}

fn check_column(column: &Value, position: usize) -> Option<FetchFinding> {
    let finding = |rule, message: String| FetchFinding::new(rule, model::location(column), message, FORM);
    match class(column) {
        "STAR" => Some(finding(STAR, "SELECT * is not allowed in @push models".into())),
        "CAST" if text(column, "alias").is_some() => None,
        "CAST" => Some(finding(ALIAS_REQUIRED, format!("column {position} has no explicit alias"))),
        _ => Some(finding(
            CAST_REQUIRED,
            format!("column {position} is not cast: it must be <expression>::TYPE AS alias"),
        )),
    }
}
