//! How many rows tables have, by what the lake's metadata says of their files: no file is opened for it.

use std::collections::BTreeMap;

use engine::{EngineError, Value};
use types::Target;

use super::compare::Ends;
use crate::Session;

/// The rows of all tables at two snapshots.
pub(super) struct RowCounts(BTreeMap<String, Counted>);

/// A table's rows.
struct Counted {
    table: i64,
    then: i64,
    now: i64,
    /// Whether that is not certain: rows may be in the catalog itself, or a file holds changes of several snapshots and
    /// tells their number as of the last one.
    is_uncertain: bool,
}

impl RowCounts {
    /// Reads them with one query, whatever the number of tables.
    pub fn read(session: &Session, (then, now): Ends) -> Result<Self, EngineError> {
        let metadata = &session.metadata;
        let live = |at: i64| format!("(begin_snapshot <= {at} AND (end_snapshot IS NULL OR end_snapshot > {at}))");
        let sums = |table: &str, column: &str| {
            let sum = |at: i64| format!("coalesce(sum({column}) FILTER (WHERE {}), 0)::BIGINT", live(at));
            format!(
                "(SELECT table_id, {} AS t, {} AS n FROM {metadata}.{table} GROUP BY table_id)",
                sum(then),
                sum(now)
            )
        };
        let later = |table: &str| format!("SELECT table_id FROM {metadata}.{table} WHERE partial_max > {then}");
        let sql = format!(
            "SELECT s.schema_name, t.table_name, t.table_id, \
             coalesce(f.t, 0) - coalesce(d.t, 0), coalesce(f.n, 0) - coalesce(d.n, 0), \
             t.table_id IN (SELECT table_id FROM {metadata}.ducklake_inlined_data_tables UNION ALL {} UNION ALL {}) \
             FROM (SELECT * FROM {metadata}.ducklake_table WHERE {live}) t \
             JOIN (SELECT * FROM {metadata}.ducklake_schema WHERE {live}) s ON s.schema_id = t.schema_id \
             LEFT JOIN {} f ON f.table_id = t.table_id LEFT JOIN {} d ON d.table_id = t.table_id",
            later("ducklake_data_file"),
            later("ducklake_delete_file"),
            sums("ducklake_data_file", "record_count"),
            sums("ducklake_delete_file", "delete_count"),
            live = live(now),
        );
        let mut counts = BTreeMap::new();
        for row in session.connection.query(&sql)?.into_values() {
            let [Value::Text(schema), Value::Text(name), table, then, now, is_uncertain] = &row[..] else { continue };
            let (Some(table), Some(then), Some(now)) = (table.as_i64(), then.as_i64(), now.as_i64()) else { continue };
            let is_uncertain = is_uncertain.as_bool() != Some(false);
            counts.insert(Target::new(schema, name).key(), Counted { table, then, now, is_uncertain });
        }
        Ok(Self(counts))
    }

    /// The rows, then and now, of the table that has this name now; `None` where the metadata does not tell, because rows or
    /// deletions are kept in tables of the catalog.
    pub fn of(&self, session: &Session, target: &Target) -> Result<Option<(i64, i64)>, EngineError> {
        let Some(counted) = self.0.get(&target.key()).filter(|counted| !counted.is_uncertain) else { return Ok(None) };
        let sql = format!("SELECT count(*) FROM {}.ducklake_inlined_delete_{}", session.metadata, counted.table);
        match session.connection.query_value(&sql) {
            // There is no such table, as for most.
            Err(error) if error.is_statement_fault() => Ok(Some((counted.then, counted.now))),
            Err(error) => Err(error),
            Ok(deleted) => Ok((deleted.as_i64() == Some(0)).then_some((counted.then, counted.now))),
        }
    }
}
