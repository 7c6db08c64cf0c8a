//! Staged rows as the source of a model's query.

use engine::{Connection, EngineError};
use fetch::{Column, FetchError, Staged, find_bad_value, list_of, placed_rows, select_list, value_in};
use materialize::ResultRows;
use project::Redactor;
use state::SharedStore;
use types::{Kind, RunType, Target, quote};

use super::checks::FetchPlan;
use crate::cursor::has_column;
use crate::known::Known;
use crate::lineage::{lineage, renames};
use crate::planning::PlannedModel;
use crate::reading::Source;
use crate::task::Task;
use crate::{RunError, Session};

/// Rows that are carried over at once.
const CHUNK: u64 = 10_000;

/// Loads staged rows into a temporary table of the session.
pub(crate) fn load_staged(
    connection: &Connection,
    store: &SharedStore,
    target: &Target,
    staged: &Staged,
) -> Result<(), RunError> {
    connection.execute(&format!("CREATE OR REPLACE TEMP TABLE {} (\"row\" VARCHAR)", quote(&name(target))))?;
    let mut from = 0;
    while from < staged.rows {
        let mut rows = store.lock().staged_rows(&staged.lease, from, CHUNK)?;
        let count = rows.len();
        connection.append(&name(target), &mut rows)?;
        if count == 0 {
            let message = format!("{} of {} staged rows are missing", staged.rows - from, staged.rows);
            return Err(state::StateError::Write { message }.into());
        }
        from += count;
    }
    Ok(())
}

/// Drops them.
pub(crate) fn drop_staged(connection: &Connection, target: &Target) -> Result<(), EngineError> {
    connection.execute(&format!("DROP TABLE IF EXISTS {}", table(target)))
}

/// The query that gives the typed rows.
pub(crate) fn fetch_source(target: &Target, plan: &FetchPlan, kind: Kind, task: &Task) -> Source {
    let list = select_list(&plan.columns, |at| value_in("v", at));
    let sql = format!("SELECT {list} FROM (SELECT {} AS v FROM {})", list_of("\"row\""), table(target));
    // What an API gives in an incremental run is added to what is there.
    source(sql, matches!(kind, Kind::Append | Kind::Merge) && task.decision.run_type == RunType::Incremental)
}

/// The query that gives the rows that the table has now, in the model's columns: for a fetch that gave nothing and
/// keeps them, while the columns may have changed. What the table does not have is NULL.
pub(crate) fn kept_source(
    known: &Known<'_>,
    planned: &PlannedModel,
    plan: &FetchPlan,
    task: &Task,
) -> Result<Source, EngineError> {
    let (connection, table) = (&known.session.connection, planned.target().qualified(&known.session.lake));
    let renamed = renames(task.last.as_ref(), &lineage(known, planned, &[]), &[]);
    let column = |column: &Column| {
        let old = renamed.iter().find(|(_, new)| new.eq_ignore_ascii_case(&column.alias));
        let name = old.map_or(&column.alias, |(old, _)| old);
        let value = if has_column(connection, &table, name)? { quote(name) } else { "NULL".to_owned() };
        Ok(format!("CAST({value} AS {}) AS {}", column.sql_type, quote(&column.alias)))
    };
    let list: Vec<String> = plan.columns.iter().map(column).collect::<Result<_, EngineError>>()?;
    // Versions that are closed are no rows of the model.
    let is_history = task.last_kind == Some(Kind::Scd2) && has_column(connection, &table, "is_current")?;
    let current = if is_history { " WHERE is_current" } else { "" };
    let sql = format!("SELECT {} FROM {table}{current}", list.join(", "));
    Ok(source(sql, false))
}

fn source(sql: String, partial: bool) -> Source {
    Source { sql, rows: ResultRows::All, own_text: false, partial, reason: None, warning: None, temp: Vec::new() }
}

/// The value that the engine could not convert, if that is why the query failed.
pub(crate) fn value_error(
    session: &Session,
    redactor: &Redactor,
    target: &Target,
    plan: &FetchPlan,
) -> Option<RunError> {
    let rows = placed_rows("\"row\"", &table(target));
    let found = find_bad_value(&session.connection, &rows, &plan.columns).ok()??;
    let whole = |number: i64| u64::try_from(number).unwrap_or(0);
    let message = found.bad.message(|text| redactor.redact(text));
    Some(FetchError::Value { page: whole(found.page), row: whole(found.row), message }.into())
}

fn name(target: &Target) -> String {
    format!("fetched_{}_{}", target.schema, target.name)
}

fn table(target: &Target) -> String {
    format!("temp.main.{}", quote(&name(target)))
}
