//! Staged rows as the source of a model's query.

use engine::EngineError;
use fetch::Column;
use materialize::ResultRows;
use types::{Kind, RunType, quote};

use super::checks::FetchPlan;
use super::loading::LoadedRows;
use crate::cursor::has_column;
use crate::known::Known;
use crate::lineage::{lineage, renames};
use crate::planning::PlannedModel;
use crate::reading::Source;
use crate::task::Task;

/// The rows that were loaded.
pub(crate) fn fetch_source(loaded: &LoadedRows, kind: Kind, task: &Task) -> Source {
    // What an API gives in an incremental run is added to what is there.
    let partial = matches!(kind, Kind::Append | Kind::Merge) && task.decision.run_type == RunType::Incremental;
    source(loaded.table.clone(), ResultRows::Ready, partial)
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
    let list: Vec<String> = plan.masks.stored.iter().map(column).collect::<Result<_, EngineError>>()?;
    // Versions that are closed are no rows of the model.
    let is_history = task.last_kind == Some(Kind::Scd2) && has_column(connection, &table, "is_current")?;
    let current = if is_history { " WHERE is_current" } else { "" };
    let sql = format!("SELECT {} FROM {table}{current}", list.join(", "));
    Ok(source(sql, ResultRows::All, false))
}

fn source(sql: String, rows: ResultRows, partial: bool) -> Source {
    Source { sql, rows, own_text: false, partial, reason: None, warning: None, temp: Vec::new() }
}
