//! FROM of a model that fetches: exactly one call of a lib function that fetches.

use model::location;
use serde_json::Value;
use types::Rule;

use super::LibFacts;
use super::calls::{is_bare, push_only, table_function};
use super::facts::{closest, find};
use super::places::{Words, start};
use crate::SqlFinding;
use crate::nodes::{child, flag, kind, list, orders, text};

const ONE_CALL: &str = "FROM of an @fetch model is one call of a lib function, as in `FROM api('x')`; what is to be \
                        joined or filtered goes into a model that reads this one";

/// A call of a known lib function.
pub(super) struct Call<'a> {
    /// Its node in FROM.
    pub table: &'a Value,
    /// The call itself.
    pub function: &'a Value,
    /// Its name as written.
    pub name: String,
    pub offset: Option<usize>,
    pub lib: &'a LibFacts,
}

/// The lib call of FROM, with what is wrong about FROM; an error where the function is unknown, which stands
/// alone.
pub(super) fn read<'a>(
    from: Option<&'a Value>,
    libs: &'a [LibFacts],
    words: &Words<'_>,
    findings: &mut Vec<SqlFinding>,
) -> Result<Option<Call<'a>>, SqlFinding> {
    let operands = from.map_or_else(Vec::new, operands);
    let call = match (first_call(&operands, libs, words), operands.iter().find(|node| table_function(node).is_some())) {
        (Some(call), _) if call.lib.may_fetch() => Some(call),
        (Some(call), _) => return Err(push_only(&call.lib.name, call.offset)),
        (None, Some(node)) => return Err(unknown(node, libs, words)),
        (None, None) => {
            findings.push(no_call(operands.first().copied(), words));
            None
        }
    };
    if let [_, second, ..] = operands[..] {
        let offset = words.clause(&["join"], start(second));
        findings.push(SqlFinding::new(
            Rule::MultipleLibCalls,
            offset,
            "JOIN is not allowed in @fetch models, nor is a second lib call",
            ONE_CALL,
        ));
    }
    findings.extend(operands.iter().flat_map(|node| additions(node, words)));
    Ok(call)
}

/// Whether FROM calls a function; a known one counts for more.
pub(super) fn rank(from: Option<&Value>, libs: &[LibFacts]) -> u8 {
    let operands = from.map_or_else(Vec::new, operands);
    let calls: Vec<&Value> = operands.into_iter().filter_map(table_function).collect();
    let is_known = calls.iter().any(|call| known(call, libs).is_some());
    u8::from(!calls.is_empty()) + u8::from(is_known)
}

/// What is joined, from left to right; without a join, FROM itself.
fn operands(from: &Value) -> Vec<&Value> {
    let mut pending = vec![from];
    let mut found = Vec::new();
    while let Some(node) = pending.pop() {
        match (kind(node), child(node, "left"), child(node, "right")) {
            ("JOIN", Some(left), Some(right)) => pending.extend([right, left]),
            _ => found.push(node),
        }
    }
    found
}

fn known<'a>(call: &Value, libs: &'a [LibFacts]) -> Option<&'a LibFacts> {
    find(libs, text(call, "function_name")?).filter(|_| is_bare(call))
}

/// The first call of a lib function that fetches, else of any.
fn first_call<'a>(operands: &[&'a Value], libs: &'a [LibFacts], words: &Words<'_>) -> Option<Call<'a>> {
    let calls = operands.iter().filter_map(|&table| {
        let function = table_function(table)?;
        let lib = known(function, libs)?;
        let offset = location(table).or_else(|| location(function));
        let name = words.function_name(offset, text(function, "function_name")?);
        Some(Call { table, function, name, offset, lib })
    });
    calls.min_by_key(|call| !call.lib.may_fetch())
}

fn unknown(node: &Value, libs: &[LibFacts], words: &Words<'_>) -> SqlFinding {
    let call = table_function(node).unwrap_or(node);
    let offset = location(node).or_else(|| location(call));
    let name = words.function_name(offset, text(call, "function_name").unwrap_or_default());
    let qualifier: Vec<&str> = ["catalog", "schema"].into_iter().filter_map(|key| text(call, key)).collect();
    if !qualifier.is_empty() {
        let message = format!("unknown lib function \"{}.{name}\"", qualifier.join("."));
        let help = format!("lib functions have no schema: write `{name}(…)` for `lib/{name}.star`");
        return SqlFinding::new(Rule::UnknownLib, offset, message, &help);
    }
    let fetching = libs.iter().filter(|lib| lib.may_fetch()).map(|lib| lib.name.as_str());
    let help = match closest(&name, fetching) {
        Some(other) => format!("did you mean \"{other}\"?"),
        None => "see which files `lib/` holds".to_owned(),
    };
    let message = format!("unknown lib function \"{name}\": a typo, or the file lib/{name}.star is missing");
    SqlFinding::new(Rule::UnknownLib, offset, message, &help)
}

fn no_call(operand: Option<&Value>, words: &Words<'_>) -> SqlFinding {
    let what = match operand.map_or("", kind) {
        "" | "EMPTY" | "EMPTY_FROM" => "there is no FROM".to_owned(),
        "BASE_TABLE" => format!("FROM reads the table \"{}\"", operand.and_then(table_name).unwrap_or_default()),
        "SUBQUERY" => "FROM is a subquery".to_owned(),
        _ => "FROM is something else".to_owned(),
    };
    let offset = operand.and_then(|node| location(node).or_else(|| words.clause(&["from"], start(node))));
    SqlFinding::new(Rule::NoLibCall, offset, format!("no lib calls in this @fetch model: {what}"), ONE_CALL)
}

fn table_name(node: &Value) -> Option<&str> {
    text(node, "table_name")
}

/// What stands beside a call in FROM and would change its rows or columns.
fn additions(node: &Value, words: &Words<'_>) -> Vec<SqlFinding> {
    let other = |offset: Option<usize>, what: &str, help: &str| {
        SqlFinding::new(Rule::FetchOther, offset, format!("{what} is not allowed in @fetch models"), help)
    };
    let at = location(node);
    let mut found = Vec::new();
    if child(node, "sample").is_some() {
        found.push(other(words.clause(&["tablesample", "sample"], None).or(at), "SAMPLE", READ_IN_ANOTHER));
    }
    if !list(node, "column_name_alias").is_empty() {
        found.push(other(at, "a column alias list", "name the columns in the SELECT list: `<col>::TYPE AS alias`"));
    }
    if text(node, "with_ordinality") == Some("WITH_ORDINALITY") {
        found.push(other(words.clause(&["ordinality"], None).or(at), "WITH ORDINALITY", READ_IN_ANOTHER));
    }
    let Some(call) = table_function(node) else { return found };
    if let Some(star) = words.star_argument(at.or_else(|| location(call))) {
        found.push(other(Some(star), "a star as an argument", "leave the brackets empty, or write constants"));
    }
    let is_sorted = child(call, "order_bys").is_some_and(|modifier| orders(modifier, "orders").next().is_some());
    if flag(call, "distinct") || is_sorted || child(call, "filter").is_some() {
        found.push(other(at, "DISTINCT, ORDER BY or FILTER inside a lib call", "leave only the arguments"));
    }
    found
}

/// The help for what a model downstream can do.
pub(super) const READ_IN_ANOTHER: &str = "do this in a model that reads this one";
