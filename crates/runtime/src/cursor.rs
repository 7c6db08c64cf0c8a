//! The cursor of `@incremental`: derived from the table at the start of each run, never stored (chapter
//! 02 §6).

use engine::{Connection, EngineError};
use model::Incremental;
use types::{literal, quote};

use crate::variables::NO_CURSOR;

/// What a run knows of the table before it reads the cursor.
pub(crate) struct CursorScope<'a> {
    /// The table, qualified and quoted.
    pub table: &'a str,
    /// Whether the run was decided as a backfill: then the cursor starts anew.
    pub is_backfill: bool,
    /// The column of the table that holds the cursor, if it is another than the directive's.
    pub column: Option<&'a str>,
    /// When the last run was committed; empty if there was none.
    pub last_run: &'a str,
}

/// Sets the cursor variables of a model; without `@incremental` they are NULL.
pub(crate) fn set_cursor(
    connection: &Connection,
    incremental: Option<&Incremental>,
    scope: &CursorScope<'_>,
) -> Result<(), EngineError> {
    connection.execute(NO_CURSOR)?;
    let Some(incremental) = incremental else { return Ok(()) };
    let column = &incremental.column.value;
    let newest = if scope.is_backfill {
        None
    } else {
        let sql = format!("SELECT max({})::VARCHAR FROM {}", quote(scope.column.unwrap_or(column)), scope.table);
        connection.query_value(&sql)?.into_text()
    };
    let last_value = newest.unwrap_or_else(|| incremental.initial.clone());
    connection.execute(&format!(
        "SET VARIABLE incr_last_value = {}; SET VARIABLE incr_last_run = {}; SET VARIABLE incr_cursor = {}; \
         SET VARIABLE incr_is_backfill = {};",
        literal(&last_value),
        literal(scope.last_run),
        literal(column),
        scope.is_backfill
    ))
}

/// Whether a table has a column.
pub(crate) fn has_column(connection: &Connection, table: &str, column: &str) -> Result<bool, EngineError> {
    let sql = format!(
        "SELECT count(*) FROM pragma_table_info({}) WHERE lower(name) = lower({})",
        literal(table),
        literal(column)
    );
    Ok(connection.query_value(&sql)?.as_i64() != Some(0))
}
