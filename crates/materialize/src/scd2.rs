//! Kind `scd2`: versions by a key, with the snapshots between which each was current (chapter 02 §3.4).

use engine::{Connection, EngineError};
use types::{Column, quote};

use crate::refill::{NEW, OLD, differs, select_list};
use crate::result::{ModelResult, temp_table};

/// The columns that the runtime adds, as `Kind::own_columns` names them.
const HISTORY: [&str; 3] = ["valid_from_snapshot", "valid_to_snapshot", "is_current"];

/// The result as a history that begins now.
pub(crate) fn with_history(
    connection: &Connection,
    result: &ModelResult,
    read_snapshot: i64,
) -> Result<ModelResult, EngineError> {
    let [from, to, current] = HISTORY;
    let source = format!(
        "SELECT {}, {read_snapshot}::BIGINT AS {from}, NULL::BIGINT AS {to}, true AS {current} FROM {}",
        select_list(&result.columns),
        result.table
    );
    let column = |name: &str, type_name: &str| Column { name: name.into(), type_name: type_name.into() };
    result.extended(connection, &source, &[column(from, "BIGINT"), column(to, "BIGINT"), column(current, "BOOLEAN")])
}

/// What versions are compared and closed in.
pub(crate) struct Scope<'a> {
    pub table: &'a str,
    pub key: &'a str,
    pub read_snapshot: i64,
    /// Columns that the table just got.
    pub added: &'a [Column],
}

/// Closes versions whose key is gone or whose row changed, and opens the new ones; returns how many.
pub(crate) fn version(connection: &Connection, scope: &Scope<'_>, result: &ModelResult) -> Result<i64, EngineError> {
    let fresh = with_history(connection, result, scope.read_snapshot)?;
    for statement in version_statements(scope, result, &fresh.table) {
        connection.execute(&statement)?;
    }
    let opened = format!(
        "SELECT count(*) FROM {} WHERE is_current AND valid_from_snapshot = {}",
        scope.table, scope.read_snapshot
    );
    // What was opened at this very snapshot before can only be a run that read at it too.
    Ok(connection.query_value(&opened)?.as_i64().unwrap_or(0))
}

fn version_statements(scope: &Scope<'_>, result: &ModelResult, fresh: &str) -> Vec<String> {
    let Scope { table, key, read_snapshot, added } = scope;
    let (key_column, closing) = (quote(key), result.beside("keys"));
    let same_key = format!("{OLD}.{key_column} = {NEW}.{key_column}");
    let is_added = |column: &&Column| added.iter().any(|new| new.name.eq_ignore_ascii_case(&column.name));
    // What the table did not have cannot have changed.
    let data = result.columns.iter().filter(|column| !column.name.eq_ignore_ascii_case(key) && !is_added(column));
    let differs: Vec<String> = data.map(|column| format!(" OR {}", differs(column))).collect();
    let mut statements = vec![
        format!(
            "CREATE OR REPLACE TEMP TABLE {} AS SELECT {OLD}.{key_column} AS key FROM {table} {OLD} \
             LEFT JOIN {fresh} {NEW} ON {same_key} \
             WHERE {OLD}.is_current AND ({NEW}.{key_column} IS NULL{})",
            quote(&closing),
            differs.concat()
        ),
        format!(
            "UPDATE {table} SET valid_to_snapshot = {}, is_current = false \
             WHERE is_current AND {key_column} IN (SELECT key FROM {})",
            read_snapshot - 1,
            temp_table(&closing)
        ),
    ];
    if !added.is_empty() {
        // A new column is NULL in history; the versions that stay get its value, or each would count as
        // changed at the next run.
        let sets: Vec<String> =
            added.iter().map(|column| quote(&column.name)).map(|name| format!("{name} = {NEW}.{name}")).collect();
        statements.push(format!(
            "UPDATE {table} {OLD} SET {} FROM {fresh} {NEW} WHERE {OLD}.is_current AND {same_key}",
            sets.join(", ")
        ));
    }
    statements.push(format!(
        "INSERT INTO {table} BY NAME SELECT {NEW}.* FROM {fresh} {NEW} \
         ANTI JOIN (SELECT * FROM {table} WHERE is_current) {OLD} ON {same_key}"
    ));
    statements
}
