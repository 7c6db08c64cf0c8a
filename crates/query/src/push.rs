//! The SQL of a model that pushes: each column is cast and named, so that what the sink gets has types and names that
//! somebody chose (chapter 05, `strict_push`).

use std::collections::HashSet;

use model::SyntaxTree;
use serde_json::Value;
use types::Rule;

use crate::SqlFinding;
use crate::fetch::lib_calls;
use crate::nodes::{child, class, kind, list, query, text};

const FORM: &str = "write `<expression>::TYPE AS alias`: the sink gets it under this name";

/// What is wrong with the outermost SELECT list, and with what it reads.
pub fn check_push_query(tree: &SyntaxTree, is_lib: impl Fn(&str) -> bool) -> Vec<SqlFinding> {
    let mut findings = Vec::new();
    if let Some(statement) = list(&tree.0, "statements").first()
        && let Some(node) = query(statement, "node").or_else(|| child(statement, "node"))
    {
        let columns = list(outermost(node), "select_list");
        findings.extend(columns.iter().enumerate().filter_map(|(at, column)| check_column(column, at + 1)));
        findings.extend(repeated(columns));
    }
    findings.extend(lib_calls(tree, is_lib).into_iter().map(|call| {
        let message = format!("the model calls the lib function \"{}\", which a @push model cannot", call.name);
        SqlFinding::new(Rule::PushLibCall, call.offset, message, "fetch in a model of its own, and read that one here")
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

/// Names that stand twice: the engine would give the second a name of its own.
fn repeated(columns: &[Value]) -> Vec<SqlFinding> {
    let mut names = HashSet::new();
    let alias = |column| text(column, "alias").map(|alias| (column, alias));
    let again = columns.iter().filter_map(alias).filter(|(_, alias)| !names.insert(alias.to_lowercase()));
    let finding = |(column, alias)| {
        let message = format!("duplicate output column name \"{alias}\"");
        let help = "names are equal in any case: choose another";
        SqlFinding::new(Rule::PushSqlOther, model::location(column), message, help)
    };
    again.map(finding).collect()
}

fn check_column(column: &Value, position: usize) -> Option<SqlFinding> {
    let finding = |rule, message: String| SqlFinding::new(rule, model::location(column), message, FORM);
    match class(column) {
        "STAR" => Some(finding(Rule::PushStar, "SELECT * is not allowed in @push models".into())),
        "CAST" if text(column, "alias").is_some_and(is_reserved) => Some(SqlFinding::new(
            Rule::PushSqlOther,
            model::location(column),
            format!("column {position} has a name that a row's own fields have"),
            "choose another name: `rowid` hides the lake's row ids, `__ondatra_…` what is sent with each row",
        )),
        "CAST" if text(column, "alias").is_some() => None,
        "CAST" => Some(finding(Rule::PushAlias, format!("column {position} has no explicit alias"))),
        _ => Some(finding(
            Rule::PushCast,
            format!("column {position} is not cast: it must be <expression>::TYPE AS alias"),
        )),
    }
}

/// Whether a column of this name would stand in the way of what a change is found and told by.
fn is_reserved(alias: &str) -> bool {
    let alias = alias.to_lowercase();
    alias == "rowid" || alias.starts_with("__ondatra_")
}
