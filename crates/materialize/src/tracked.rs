//! Kind `tracked`: groups of rows, replaced when their content changes (chapter 02 §3.4).

use engine::{Connection, EngineError};
use types::{Column, quote};

use crate::refill::select_list;
use crate::result::{ModelResult, temp_table};

/// The column that the runtime adds; equal on all rows of a group.
pub(crate) const CONTENT_HASH: &str = "_content_hash";

/// The result with the hash of each row's group.
pub(crate) fn with_content_hash(
    connection: &Connection,
    result: &ModelResult,
    keys: &[String],
) -> Result<ModelResult, EngineError> {
    let added = Column { name: CONTENT_HASH.into(), type_name: "VARCHAR".into() };
    result.extended(connection, &hashed_statement(result, keys), &[added])
}

/// SHA-256 of the group's rows: the engine's own `hash()` may differ between its versions. Rows are sorted
/// and columns taken in name order, so neither order counts; duplicates do; NULL differs from every text.
/// With key columns alone the rows are empty texts, and their number counts.
fn hashed_statement(result: &ModelResult, keys: &[String]) -> String {
    let is_key = |column: &&Column| keys.iter().any(|key| column.name.eq_ignore_ascii_case(key));
    let mut data: Vec<&Column> = result.columns.iter().filter(|column| !is_key(column)).collect();
    data.sort_by_key(|column| column.name.to_ascii_lowercase());
    let value = |column: &&Column| {
        let name = quote(&column.name);
        // The length keeps one value's end from passing for another's beginning.
        format!("coalesce('v' || length({name}::VARCHAR) || ':' || {name}::VARCHAR, 'n')")
    };
    let row = if data.is_empty() { "''".to_owned() } else { data.iter().map(value).collect::<Vec<_>>().join(" || ") };
    let keys: Vec<String> = keys.iter().map(|key| quote(key)).collect();
    format!(
        "WITH stored AS (SELECT {} FROM {}), hashed AS (SELECT *, sha256({row}) AS row_hash FROM stored) \
         SELECT * EXCLUDE (row_hash), \
         sha256(string_agg(row_hash, '' ORDER BY row_hash) OVER (PARTITION BY {})) AS {} FROM hashed",
        select_list(&result.columns),
        result.table(),
        keys.join(", "),
        quote(CONTENT_HASH)
    )
}

/// Replaces the groups whose hash differs, deletes those that are gone; returns the rows inserted.
pub(crate) fn replace_groups(
    connection: &Connection,
    table: &str,
    result: &ModelResult,
    keys: &[String],
) -> Result<i64, EngineError> {
    let fresh = with_content_hash(connection, result, keys)?;
    let same = result.beside("keys");
    let keys: Vec<String> = keys.iter().map(|key| quote(key)).collect();
    let (list, hash) = (keys.join(", "), quote(CONTENT_HASH));
    let is_same = format!("({list}) IN (SELECT ({list}) FROM {})", temp_table(&same));
    connection.execute(&format!(
        "CREATE OR REPLACE TEMP TABLE {} AS SELECT DISTINCT {list}, {hash} FROM {table} \
         INTERSECT SELECT DISTINCT {list}, {hash} FROM {}",
        quote(&same),
        fresh.table()
    ))?;
    connection.execute(&format!("DELETE FROM {table} WHERE NOT {is_same}"))?;
    let changed = connection.query_value(&format!("SELECT count(*) FROM {} WHERE NOT {is_same}", fresh.table()))?;
    connection.execute(&format!("INSERT INTO {table} BY NAME SELECT * FROM {} WHERE NOT {is_same}", fresh.table()))?;
    Ok(changed.as_i64().unwrap_or(0))
}
