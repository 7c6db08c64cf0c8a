//! Kind `tracked`: groups of rows, replaced when their content changes (chapter 02 §3.4).

use engine::{Connection, EngineError, identity};
use types::{Column, quote};

use crate::refill::{NEW, OLD, select_list};
use crate::result::{ModelResult, temp_table};

/// The column that the runtime adds, as `Kind::own_columns` names it; equal on all rows of a group.
const CONTENT_HASH: &str = "_content_hash";

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
    let keys = key_identities(result, keys, "");
    let aliased: Vec<String> = keys.iter().enumerate().map(|(at, key)| format!("{key} AS __ondatra_k{at}")).collect();
    let names: Vec<String> = (0..keys.len()).map(|at| format!("__ondatra_k{at}")).collect();
    let (aliased, names) = (aliased.join(", "), names.join(", "));
    // Grouped and joined: a window would sort each group once for every row of it.
    format!(
        "WITH stored AS (SELECT {} FROM {}), hashed AS (SELECT *, sha256({row}) AS __ondatra_row, {aliased} FROM stored), \
         groups AS (SELECT {names}, sha256(string_agg(__ondatra_row, '' ORDER BY __ondatra_row)) AS {hash} FROM hashed GROUP BY ALL) \
         SELECT hashed.* EXCLUDE (__ondatra_row, {names}), {hash} FROM hashed JOIN groups USING ({names})",
        select_list(&result.columns),
        result.table,
        hash = quote(CONTENT_HASH)
    )
}

/// What tells the groups apart (see `identity`): two keys that are equal only to a collation are two.
fn key_identities(result: &ModelResult, keys: &[String], alias: &str) -> Vec<String> {
    let stored = result.stored_columns();
    let column = |key: &String| stored.iter().find(|column| column.name.eq_ignore_ascii_case(key));
    let identify = |key: &String| {
        let name = format!("{alias}{}", quote(key));
        column(key).map_or_else(|| name.clone(), |column| identity(column, &name))
    };
    keys.iter().map(identify).collect()
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
    let names: Vec<String> = (0..keys.len()).map(|at| format!("k{at}")).collect();
    let aliased: Vec<String> =
        key_identities(result, keys, "").iter().zip(&names).map(|(key, name)| format!("{key} AS {name}")).collect();
    let (list, hash) = (aliased.join(", "), quote(CONTENT_HASH));
    let matches: Vec<String> = key_identities(result, keys, &format!("{OLD}."))
        .iter()
        .zip(&names)
        .map(|(key, name)| format!("{NEW}.{name} = {key}"))
        .collect();
    let is_same = format!("EXISTS (SELECT 1 FROM {} {NEW} WHERE {})", temp_table(&same), matches.join(" AND "));
    connection.execute(&format!(
        "CREATE OR REPLACE TEMP TABLE {} AS SELECT DISTINCT {list}, {hash} FROM {table} \
         INTERSECT SELECT DISTINCT {list}, {hash} FROM {}",
        quote(&same),
        fresh.table
    ))?;
    connection.execute(&format!("DELETE FROM {table} {OLD} WHERE NOT {is_same}"))?;
    let changed = format!("FROM {} {OLD} WHERE NOT {is_same}", fresh.table);
    connection.execute(&format!("INSERT INTO {table} BY NAME SELECT {OLD}.* {changed}"))?;
    let changed = connection.query_value(&format!("SELECT count(*) {changed}"))?;
    Ok(changed.as_i64().unwrap_or(0))
}
