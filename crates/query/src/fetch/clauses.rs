//! The clauses around SELECT list and FROM, none of which a model that fetches may have: it stores what the
//! lib function returns, all of it and in its order.

use serde_json::Value;
use types::Rule;

use super::facts::LibFacts;
use super::from::{READ_IN_ANOTHER, rank};
use super::places::{Words, start};
use crate::SqlFinding;
use crate::nodes::{child, kind, list, orders, text};

/// The SELECT of a query, with what stands around it. Of several that are put together it is the one that
/// calls a lib function: the others go anyway.
pub(super) fn unwrap<'a>(
    node: &'a Value,
    libs: &[LibFacts],
    words: &Words<'_>,
    findings: &mut Vec<SqlFinding>,
) -> Option<&'a Value> {
    let mut pending = vec![node];
    let mut selects = Vec::new();
    let mut is_set = false;
    while let Some(node) = pending.pop() {
        with_and_modifiers(node, words, findings);
        match kind(node) {
            "SELECT_NODE" => selects.push(node),
            "SET_OPERATION_NODE" => {
                is_set = true;
                // A newer engine may hold more than two in a list.
                pending.extend(list(node, "children").iter().rev());
                pending.extend(["right", "left"].iter().filter_map(|key| child(node, key)));
            }
            _ => pending.extend(child(node, "child")),
        }
    }
    if is_set {
        let offset = words.clause(&["union", "intersect", "except"], None);
        let message = "UNION, INTERSECT and EXCEPT are not allowed in @fetch models";
        findings.push(SqlFinding::new(
            Rule::FetchUnion,
            offset,
            message,
            "write a model for each, and one that puts them together",
        ));
    }
    let calls_most = |best: &'a Value, next: &'a Value| {
        let is_better = rank(next.get("from_table"), libs) > rank(best.get("from_table"), libs);
        if is_better { next } else { best }
    };
    selects.into_iter().reduce(calls_most)
}

fn with_and_modifiers(node: &Value, words: &Words<'_>, findings: &mut Vec<SqlFinding>) {
    if child(node, "cte_map").is_some_and(|ctes| !list(ctes, "map").is_empty()) || kind(node) == "CTE_NODE" {
        findings.push(refused(Rule::FetchOther, words.clause(&["with"], None), "WITH"));
    }
    for modifier in list(node, "modifiers") {
        match kind(modifier) {
            "DISTINCT_MODIFIER" => {
                findings.push(refused(Rule::FetchDistinct, words.clause(&["distinct"], None), "DISTINCT"));
            }
            "ORDER_MODIFIER" => {
                let first = orders(modifier, "orders").next().and_then(start);
                findings.push(refused(Rule::FetchOrderBy, words.clause(&["order"], first), "ORDER BY"));
            }
            "LIMIT_MODIFIER" | "LIMIT_PERCENT_MODIFIER" => limit(modifier, words, findings),
            _ => findings.push(refused(Rule::FetchOther, None, "what stands behind the SELECT")),
        }
    }
}

fn limit(modifier: &Value, words: &Words<'_>, findings: &mut Vec<SqlFinding>) {
    let help = "look at a few rows with `ondatrasql query TABLE --limit N`; pages are the lib function's matter";
    for (rule, key, starts, name) in [
        (Rule::LimitDisallowed, "limit", &["limit", "fetch"][..], "LIMIT"),
        (Rule::OffsetDisallowed, "offset", &["offset"], "OFFSET"),
    ] {
        if let Some(clause) = child(modifier, key) {
            let offset = words.clause(starts, start(clause));
            findings.push(SqlFinding::new(rule, offset, format!("{name} is not allowed in pipeline models"), help));
        }
    }
}

/// The clauses of the SELECT itself.
pub(super) fn select(node: &Value, words: &Words<'_>, findings: &mut Vec<SqlFinding>) {
    for (rule, key, word, name) in [
        (Rule::FetchWhere, "where_clause", "where", "WHERE"),
        (Rule::FetchGroupBy, "having", "having", "HAVING"),
        (Rule::FetchOther, "qualify", "qualify", "QUALIFY"),
        (Rule::FetchOther, "sample", "sample", "SAMPLE"),
    ] {
        if let Some(clause) = child(node, key) {
            findings.push(refused(rule, words.clause(&[word], start(clause)), name));
        }
    }
    let groups = list(node, "group_expressions");
    let is_grouped = !groups.is_empty()
        || !list(node, "group_sets").is_empty()
        || text(node, "aggregate_handling").is_some_and(|handling| handling != "STANDARD_HANDLING");
    if is_grouped {
        let offset = words.clause(&["group"], groups.first().and_then(start));
        findings.push(refused(Rule::FetchGroupBy, offset, "GROUP BY"));
    }
    if let Some(offset) = words.window() {
        findings.push(refused(Rule::FetchOther, Some(offset), "WINDOW"));
    }
}

fn refused(rule: Rule, offset: Option<usize>, clause: &str) -> SqlFinding {
    SqlFinding::new(rule, offset, format!("{clause} is not allowed in @fetch models"), READ_IN_ANOTHER)
}
