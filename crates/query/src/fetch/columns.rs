//! The SELECT list of a model that fetches: each column of the source, cast, under a name of its own.

use std::collections::HashSet;

use serde_json::Value;
use types::Rule;

use super::FetchColumn;
use super::from::Call;
use super::places::start;
use crate::SqlFinding;
use crate::nodes::{child, class, flag, list, text, texts};

const FORM: &str = "write `<col>::TYPE AS alias` (or TRY_CAST) and compute in a model that reads this one";

/// The columns, with what is wrong about them.
pub(super) fn read(select: &Value, call: Option<&Call<'_>>, findings: &mut Vec<SqlFinding>) -> Vec<FetchColumn> {
    let mut names = HashSet::new();
    let mut columns = Vec::new();
    for (at, node) in list(select, "select_list").iter().enumerate() {
        let source = source(node, at + 1, findings);
        if let (Some(source), Some(call)) = (&source, call) {
            check_source(source, start(node), call, findings);
        }
        let alias = alias(node, at + 1, &mut names, findings);
        if let (Some(source), Some(alias)) = (source, alias) {
            columns.push(FetchColumn {
                source: source.last().cloned().unwrap_or_default(),
                alias: alias.to_owned(),
                is_try: flag(node, "try_cast"),
                offset: start(node),
                cast: node.clone(),
            });
        }
    }
    columns
}

/// The parts of the name of the column that is cast.
fn source(node: &Value, position: usize, findings: &mut Vec<SqlFinding>) -> Option<Vec<String>> {
    let refused = |message: String| SqlFinding::new(Rule::FetchCast, start(node), message, FORM);
    match (class(node), child(node, "child")) {
        ("CAST", Some(inner)) if class(inner) == "COLUMN_REF" => return Some(texts(inner, "column_names")),
        ("CAST", _) => {
            findings.push(refused(format!("column {position} must be <col>::TYPE AS alias, not an expression")));
        }
        ("STAR", _) => findings.push(refused("SELECT * is not allowed in @fetch models".into())),
        ("COLUMN_REF", _) => {
            let name = texts(node, "column_names").join(".");
            findings.push(refused(format!("column \"{name}\" is not cast: it must be <col>::TYPE AS alias")));
        }
        _ => findings.push(refused(format!("column {position} is not cast: it must be <col>::TYPE AS alias"))),
    }
    None
}

fn check_source(source: &[String], offset: Option<usize>, call: &Call<'_>, findings: &mut Vec<SqlFinding>) {
    let lib = call.lib;
    let from_alias = text(call.table, "alias");
    let is_qualifier = |name: &str| {
        let known = [Some(lib.name.as_str()), from_alias];
        known.into_iter().flatten().any(|known| known.to_lowercase() == name.to_lowercase())
    };
    let is_own = match source {
        [_] => true,
        [qualifier, _] => is_qualifier(qualifier),
        _ => false,
    };
    if !is_own {
        let (name, known) = (source.join("."), from_alias.unwrap_or(&call.name));
        let message = format!("\"{name}\" is no column of the lib function: its qualifier must be \"{known}\"");
        let help = "write the column's name alone; fields are taken in a model that reads this one";
        findings.push(SqlFinding::new(Rule::FetchOther, offset, message, help));
        return;
    }
    let Some(column) = source.last() else { return };
    let Some(supported) = &lib.supported_columns else { return };
    if !supported.iter().any(|known| known.to_lowercase() == column.to_lowercase()) {
        let message = format!("column \"{column}\" is not in supported_columns of \"{}\"", lib.name);
        let help = format!("it has: {}", supported.join(", "));
        findings.push(SqlFinding::new(Rule::FetchOther, offset, message, &help));
    }
}

fn alias<'a>(
    node: &'a Value,
    position: usize,
    names: &mut HashSet<String>,
    findings: &mut Vec<SqlFinding>,
) -> Option<&'a str> {
    // A star would give its columns names of their own.
    if class(node) == "STAR" {
        return None;
    }
    let Some(alias) = text(node, "alias") else {
        let message = format!("column {position} has no explicit alias");
        findings.push(SqlFinding::new(Rule::FetchAlias, start(node), message, "name it: `<col>::TYPE AS alias`"));
        return None;
    };
    if !names.insert(alias.to_lowercase()) {
        let message = format!("duplicate output column name \"{alias}\"");
        findings.push(SqlFinding::new(
            Rule::FetchOther,
            start(node),
            message,
            "names are equal in any case: choose another",
        ));
    }
    Some(alias)
}
