//! What the lake knows of each model: its runs from the history, its last one also from the registry, which survives
//! `expire`.

use std::collections::BTreeMap;

use engine::{TARGET_REGISTRY, Value};
use types::quote;

use super::commits::{Moment, commits, moment_columns};
use crate::{RunError, Session};

/// A model that has committed.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Committed {
    /// As its last commit spells it.
    pub model: String,
    pub kind: Option<String>,
    pub run_type: Option<String>,
    pub rows: i64,
    pub duration_ms: i64,
    pub source_file: Option<String>,
    pub last_run: Option<Moment>,
}

/// All runs that the history still has.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Totals {
    pub runs: i64,
    pub rows: i64,
    pub avg_duration_ms: f64,
    pub last_run: Option<Moment>,
}

/// Adds the models of the history, by lower-case name, and gives the totals over all runs.
pub(super) fn read_history(
    session: &Session,
    models: &mut BTreeMap<String, Committed>,
    warnings: &mut Vec<String>,
) -> Result<Totals, RunError> {
    let sql = format!(
        "SELECT key, l.model, l.kind, l.run_type, l.rows, l.duration_ms, l.source_file, {}, runs, total_rows, average \
         FROM (SELECT lower(model) AS key, count(*) AS runs, max(moment) AS moment, arg_max(c, snapshot_id) AS l, \
         coalesce(sum(TRY_CAST(rows AS BIGINT)), 0) AS total_rows, \
         coalesce(avg(TRY_CAST(duration_ms AS BIGINT)), 0) AS average \
         FROM {} AS c GROUP BY GROUPING SETS ((lower(model)), ()))",
        moment_columns("moment"),
        commits(session)
    );
    let mut totals = Totals::default();
    for row in session.connection.query(&sql)?.into_values() {
        let Some((last, rest)) = row.split_at_checked(7) else { continue };
        let [micros, local, runs, rows, average] = rest else { continue };
        let time = Moment::read(micros, local);
        if let Some(key) = last[0].as_text() {
            models.insert(key.to_owned(), Committed::read(&last[1..], time, warnings));
            continue;
        }
        totals.runs = runs.as_i64().unwrap_or(0);
        totals.rows = rows.as_i64().unwrap_or(i64::MAX);
        totals.avg_duration_ms = if let Value::Double(average) = average { *average } else { 0.0 };
        totals.last_run = time;
    }
    Ok(totals)
}

/// Adds those models of the registry that the history has forgotten.
pub(super) fn read_registry(
    session: &Session,
    models: &mut BTreeMap<String, Committed>,
    warnings: &mut Vec<String>,
) -> Result<(), RunError> {
    let sql = format!(
        "SELECT lower(target), target, coalesce(told[1], kind), told[2], told[3], told[4], told[5], {} FROM \
         (SELECT target, kind, updated_at AT TIME ZONE 'UTC' AS moment, \
         json_extract_string(CASE WHEN json_valid(commit_info) THEN commit_info END, \
         ['$.kind', '$.run_type', '$.rows_affected', '$.duration_ms', '$.source_file']) AS told \
         FROM {}.main.{} WHERE target IS NOT NULL)",
        moment_columns("moment"),
        quote(&session.lake),
        quote(TARGET_REGISTRY)
    );
    for row in session.connection.query(&sql)?.into_values() {
        let [Value::Text(key), last @ .., micros, local] = &row[..] else { continue };
        if !models.contains_key(key) {
            models.insert(key.clone(), Committed::read(last, Moment::read(micros, local), warnings));
        }
    }
    Ok(())
}

impl Committed {
    /// Reads `model, kind, run_type, rows, duration_ms, source_file`.
    fn read(columns: &[Value], last_run: Option<Moment>, warnings: &mut Vec<String>) -> Self {
        let text =
            |at: usize| columns.get(at).and_then(Value::as_text).filter(|text| !text.is_empty()).map(str::to_owned);
        let model = text(0).unwrap_or_default();
        let mut number = |at: usize, name: &str| {
            let Some(text) = text(at) else { return 0 };
            text.parse().unwrap_or_else(|_| {
                warnings.push(format!("last commit of {model}: {name} is no whole number: {text:?}"));
                0
            })
        };
        let (rows, duration_ms) = (number(3, "rows_affected"), number(4, "duration_ms"));
        Self { kind: text(1), run_type: text(2), rows, duration_ms, source_file: text(5), last_run, model }
    }
}
