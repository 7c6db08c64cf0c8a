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
    let newest =
        if scope.is_backfill { None } else { newest_value(connection, scope.column.unwrap_or(column), scope.table)? };
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

/// The text of a column's greatest value. NaN is none, though the engine takes it for the greatest of all: a cursor that
/// came to it would find nothing new for ever.
pub(crate) fn newest_value(connection: &Connection, column: &str, table: &str) -> Result<Option<String>, EngineError> {
    let column = quote(column);
    let newest = connection.query_value(&format!("SELECT max({column})::VARCHAR FROM {table}"))?.into_text();
    if newest.as_deref() != Some("nan") {
        return Ok(newest);
    }
    // A text may be this one, too.
    let is_nan = format!("typeof({column}) IN ('FLOAT', 'DOUBLE') AND {column}::VARCHAR = 'nan'");
    let sql = format!("SELECT (max({column}) FILTER (WHERE NOT ({is_nan})))::VARCHAR FROM {table}");
    Ok(connection.query_value(&sql)?.into_text())
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
