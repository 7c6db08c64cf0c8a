//! The SQL of a model that fetches: one lib call whose columns are cast and named (chapter 03 §3.4).
//!
//! Trees must be complete: `GROUP BY ()` leaves nothing in others, and what the engine is asked for is made of
//! the tree's own nodes.

mod arguments;
mod calls;
mod clauses;
mod columns;
mod declared_type;
mod facts;
mod from;
mod places;
mod statements;
mod unreadable;

use std::collections::BTreeSet;

use model::{SyntaxTree, called_functions};
use serde_json::Value;
use types::{Kind, Rule};

pub use calls::{LibCall, check_lib_calls, lib_calls};
pub use declared_type::DeclaredType;
pub use facts::LibFacts;
use places::Words;
pub use statements::types_query;
pub use unreadable::unreadable;

use crate::SqlFinding;

/// What a model that fetches asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct FetchQuery {
    /// The lib function, as the model writes it.
    pub function: String,
    /// Byte of the model's SQL at which the call begins, where it is known.
    pub function_offset: Option<usize>,
    /// The arguments that are given, in order.
    pub arguments: Vec<FetchArgument>,
    /// The columns, in order.
    pub columns: Vec<FetchColumn>,
}

/// One argument of the call; [`FetchQuery::arguments_query`] gives its value.
#[derive(Debug, Clone, PartialEq)]
pub struct FetchArgument {
    /// The parameter that it is for, as the lib function declares it.
    pub parameter: String,
    /// Byte of the model's SQL at which it begins, where it is known.
    pub offset: Option<usize>,
    expression: Value,
}

/// One column; [`types_query`] gives its type.
#[derive(Debug, Clone, PartialEq)]
pub struct FetchColumn {
    /// The column of the lib function's rows.
    pub source: String,
    /// The column of the target.
    pub alias: String,
    /// Whether a value that cannot be converted is NULL instead of an error (`TRY_CAST`).
    pub is_try: bool,
    /// Byte of the model's SQL at which it begins, where it is known.
    pub offset: Option<usize>,
    cast: Value,
}

impl FetchArgument {
    /// Names of the functions that it calls, in lower case.
    pub fn called_functions(&self) -> BTreeSet<String> {
        called_functions(&SyntaxTree(self.expression.clone()))
    }
}

impl FetchQuery {
    /// Byte of the model's SQL at which the column of this alias begins, where it is known.
    pub fn column_offset(&self, alias: &str) -> Option<usize> {
        self.columns.iter().find(|column| column.alias == alias)?.offset
    }
}

/// Reads the query of a model with `@fetch`: `tree` is complete, `sql` its text, `libs` are all lib functions of
/// the project.
///
/// Errors are all broken rules, by their place; an unknown function is the only one. LIMIT and OFFSET are among
/// them, for models that fetch need no other check of these. Nothing is said of a broken lib's parameters, and
/// the query then has no arguments. Where a broken lib is called in a wrong place and nothing else is wrong, there
/// are no findings: its own is enough.
pub fn read_fetch_query(
    tree: &SyntaxTree,
    sql: &str,
    kind: Kind,
    libs: &[LibFacts],
) -> Result<FetchQuery, Vec<SqlFinding>> {
    let mut findings = Vec::new();
    let query = read(tree, sql, kind, libs, &mut findings);
    if let Some(query) = query.filter(|_| findings.is_empty()) {
        return Ok(query);
    }
    let is_broken = |name: &str| facts::find(libs, name).is_some_and(|lib| lib.is_broken);
    if !lib_calls(tree, is_broken).is_empty() {
        findings.retain(|finding| ![Rule::NoLibCall, Rule::UnknownLib].contains(&finding.rule));
    }
    findings.sort_by_key(|finding| finding.offset.unwrap_or(usize::MAX));
    findings.dedup();
    Err(findings)
}

fn read(
    tree: &SyntaxTree,
    sql: &str,
    kind: Kind,
    libs: &[LibFacts],
    findings: &mut Vec<SqlFinding>,
) -> Option<FetchQuery> {
    let words = Words::new(sql);
    let root = tree.0.pointer("/statements/0/node").unwrap_or(&Value::Null);
    let Some(select) = clauses::unwrap(root, libs, &words, findings) else {
        let message = "no lib calls in this @fetch model: it is no SELECT";
        let help = "write `SELECT <col>::TYPE AS alias FROM api('x')`";
        findings.push(SqlFinding::new(Rule::NoLibCall, None, message, help));
        return None;
    };
    let call = match from::read(select.get("from_table"), libs, &words, findings) {
        Ok(call) => call,
        Err(unknown) => {
            *findings = vec![unknown];
            return None;
        }
    };
    clauses::select(select, &words, findings);
    let columns = columns::read(select, call.as_ref(), findings);
    let call = call?;
    let arguments = arguments::read(&call, libs, findings);
    findings.extend(unsupported_kind(&call, kind));
    Some(FetchQuery { function: call.name, function_offset: call.offset, arguments, columns })
}

fn unsupported_kind(call: &from::Call<'_>, kind: Kind) -> Option<SqlFinding> {
    let supported = call.lib.supported_kinds.as_ref().filter(|kinds| !kinds.contains(&kind))?;
    let message = format!("the lib function \"{}\" does not support @kind: {kind}", call.lib.name);
    let names: Vec<&str> = supported.iter().map(|kind| kind.as_str()).collect();
    let help = format!("it supports: {}", names.join(", "));
    Some(SqlFinding::new(Rule::FetchOther, call.offset, message, &help))
}
