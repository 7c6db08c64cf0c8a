//! Keys of a result, checked before anything is written (chapter 02 §3.2).

use engine::{Connection, Value};
use types::quote;

use crate::MaterializeError;
use crate::refill::select_list;
use crate::result::{ModelResult, stored_expression};
use crate::write::KindWrite;

/// Sample values shown in an error.
const SAMPLE_MAX: usize = 3;

/// Key columns, which must be there, are never NULL; a unique key does not repeat.
pub(crate) fn check_keys(
    connection: &Connection,
    result: &ModelResult,
    kind: &KindWrite,
) -> Result<(), MaterializeError> {
    let (directive, keys) = kind.keys();
    if keys.is_empty() {
        return Ok(());
    }
    let is_null: Vec<String> = keys.iter().map(|key| format!("{} IS NULL", quote(key))).collect();
    let nulls = count(connection, &format!("SELECT count(*) FROM {} WHERE {}", result.table, is_null.join(" OR ")))?;
    if nulls > 0 {
        return Err(MaterializeError::KeyNull { rows: nulls, directive, keys: keys.to_vec() });
    }
    match kind {
        KindWrite::Merge { key } | KindWrite::Scd2 { key } => check_unique(connection, result, key),
        KindWrite::Table | KindWrite::Append | KindWrite::Tracked { .. } => Ok(()),
    }
}

fn check_unique(connection: &Connection, result: &ModelResult, key: &str) -> Result<(), MaterializeError> {
    // As the lake stores them: two keys that differ here may be one there.
    let stored = format!("SELECT {} FROM {}", select_list(&result.columns), result.table);
    check_repeated(connection, key, &format!("({stored})"))
}

/// An error if a key of a partial result stands for several rows of the whole query `sql`: which of them
/// the table holds would depend on when each was new.
pub fn check_unique_in_query(
    connection: &Connection,
    result: &ModelResult,
    key: &str,
    sql: &str,
) -> Result<(), MaterializeError> {
    let Some(column) = result.columns.iter().find(|column| column.name.eq_ignore_ascii_case(key)) else {
        return Ok(());
    };
    let (stored, name) = (stored_expression(column), quote(key));
    let new = format!("SELECT {stored} FROM {}", result.table);
    check_repeated(connection, key, &format!("(SELECT {stored} FROM (\n{sql}\n)) SEMI JOIN ({new}) USING ({name})"))
}

fn check_repeated(connection: &Connection, key: &str, rows: &str) -> Result<(), MaterializeError> {
    let column = quote(key);
    let repeated = format!("FROM {rows} GROUP BY {column} HAVING count(*) > 1");
    let values = count(connection, &format!("SELECT count(*) FROM (SELECT {column} {repeated})"))?;
    if values == 0 {
        return Ok(());
    }
    let sample = format!(
        "SELECT {column}::VARCHAR || ' (' || count(*) || ' times)' {repeated} ORDER BY count(*) DESC, 1 LIMIT {SAMPLE_MAX}"
    );
    let rows = connection.query(&sample).map_err(MaterializeError::Write)?;
    let sample = rows.into_values().filter_map(|mut row| row.swap_remove(0).into_text()).collect();
    Err(MaterializeError::KeyRepeated { values, key: key.to_owned(), sample })
}

/// The number that a counting query gives.
pub(crate) fn count(connection: &Connection, sql: &str) -> Result<i64, MaterializeError> {
    match connection.query_value(sql).map_err(MaterializeError::Write)? {
        Value::Int(count) => Ok(i64::try_from(count).unwrap_or(i64::MAX)),
        _ => Ok(0),
    }
}
