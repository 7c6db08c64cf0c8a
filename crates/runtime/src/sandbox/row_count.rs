//! How many rows a table has, by what the lake's metadata says of its files: no file is opened for it.

use engine::{EngineError, Value};
use types::{Target, literal};

use crate::Session;

/// The rows of a table at a snapshot; `None` where the metadata alone does not tell: rows or deletions of the table are kept
/// in tables of the catalog.
pub(super) fn rows_of_files(session: &Session, target: &Target, snapshot: i64) -> Result<Option<i64>, EngineError> {
    let metadata = &session.metadata;
    let is_live = |alias: &str| {
        format!(
            "{alias}.begin_snapshot <= {snapshot} AND ({alias}.end_snapshot IS NULL OR {alias}.end_snapshot > {snapshot})"
        )
    };
    let sum = |table: &str, column: &str| {
        format!(
            "(SELECT coalesce(sum({column}), 0)::BIGINT FROM {metadata}.{table} f WHERE f.table_id = t.table_id AND {})",
            is_live("f")
        )
    };
    let sql = format!(
        "SELECT t.table_id, {} - {}, (SELECT count(*) FROM {metadata}.ducklake_inlined_data_tables i \
         WHERE i.table_id = t.table_id) \
         FROM {metadata}.ducklake_table t JOIN {metadata}.ducklake_schema s ON s.schema_id = t.schema_id \
         WHERE lower(s.schema_name) = lower({}) AND lower(t.table_name) = lower({}) AND {} AND {}",
        sum("ducklake_data_file", "record_count"),
        sum("ducklake_delete_file", "delete_count"),
        literal(&target.schema),
        literal(&target.name),
        is_live("t"),
        is_live("s")
    );
    let found = session.connection.query(&sql)?.into_values().next().unwrap_or_default();
    let [Some(id), Some(rows), Some(0)] = [0, 1, 2].map(|at| found.get(at).and_then(Value::as_i64)) else {
        return Ok(None);
    };
    let inlined = format!("SELECT count(*) FROM {metadata}.ducklake_inlined_delete_{id}");
    match session.connection.query_value(&inlined) {
        // There is no such table, as for most.
        Err(error) if error.is_statement_fault() => Ok(Some(rows)),
        Err(error) => Err(error),
        Ok(deleted) => Ok((deleted.as_i64() == Some(0)).then_some(rows)),
    }
}
