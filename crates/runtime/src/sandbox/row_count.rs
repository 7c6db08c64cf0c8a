//! How many rows tables have, by what the lake's metadata says of their files: no file is opened for it.

use std::collections::BTreeMap;

use engine::{Connection, EngineError, Value};
use types::Target;

use super::compare::Ends;

/// The rows of all tables at two snapshots.
pub(super) struct RowCounts(BTreeMap<String, Counted>);

/// A table's rows.
struct Counted {
    table: i64,
    then: i64,
    now: i64,
    /// Whether the metadata may not tell: rows of the table may be in the catalog itself, or a file that was there then
    /// has since come to tell of later snapshots.
    is_unsure: bool,
}

impl RowCounts {
    /// Reads them with one query, whatever the number of tables.
    ///
    /// A delete file that grows is replaced where it stands: its row keeps the snapshot in which it began, and counts
    /// what was deleted later, up to `partial_max`. So do files that were merged. And a delete file does not end with
    /// its data file.
    pub fn read(connection: &Connection, metadata: &str, (then, now): Ends) -> Result<Self, EngineError> {
        let live = |at: i64| format!("(begin_snapshot <= {at} AND (end_snapshot IS NULL OR end_snapshot > {at}))");
        let later = format!("bool_or(begin_snapshot <= {then} AND partial_max > {then})");
        let deleted = |at: i64| format!("coalesce(sum(delete_count) FILTER (WHERE {}), 0)", live(at));
        let rows = |deleted: &str, at: i64| {
            format!("coalesce(sum(record_count - coalesce({deleted}, 0)) FILTER (WHERE {}), 0)::BIGINT", live(at))
        };
        let sql = format!(
            "SELECT s.schema_name, t.table_name, t.table_id, coalesce(f.t, 0), coalesce(f.n, 0), \
             coalesce(f.later, false) OR t.table_id IN (SELECT table_id FROM {metadata}.ducklake_inlined_data_tables) \
             FROM (SELECT * FROM {metadata}.ducklake_table WHERE {live}) t \
             JOIN (SELECT * FROM {metadata}.ducklake_schema WHERE {live}) s ON s.schema_id = t.schema_id \
             LEFT JOIN (SELECT table_id, {} AS t, {} AS n, \
             bool_or(coalesce(d_later, false)) OR coalesce({later}, false) AS later \
             FROM {metadata}.ducklake_data_file \
             LEFT JOIN (SELECT data_file_id, {} AS d_t, {} AS d_n, {later} AS d_later \
             FROM {metadata}.ducklake_delete_file GROUP BY data_file_id) USING (data_file_id) GROUP BY table_id) f \
             ON f.table_id = t.table_id",
            rows("d_t", then),
            rows("d_n", now),
            deleted(then),
            deleted(now),
            live = live(now),
        );
        let mut counts = BTreeMap::new();
        for row in connection.query(&sql)?.into_values() {
            let [Value::Text(schema), Value::Text(name), table, then, now, is_unsure] = &row[..] else { continue };
            let (Some(table), Some(then), Some(now)) = (table.as_i64(), then.as_i64(), now.as_i64()) else { continue };
            let is_unsure = is_unsure.as_bool() != Some(false);
            counts.insert(Target::new(schema, name).key(), Counted { table, then, now, is_unsure });
        }
        Ok(Self(counts))
    }

    /// The rows, then and now, of the table that has this name now; `None` where the metadata does not tell.
    pub fn of(&self, connection: &Connection, metadata: &str, target: &Target) -> Result<Option<Ends>, EngineError> {
        let Some(counted) = self.0.get(&target.key()).filter(|counted| !counted.is_unsure) else { return Ok(None) };
        let sql = format!("SELECT count(*) FROM {metadata}.ducklake_inlined_delete_{}", counted.table);
        match connection.query_value(&sql) {
            // There is no such table, as for most.
            Err(error) if error.is_statement_fault() => Ok(Some((counted.then, counted.now))),
            Err(error) => Err(error),
            Ok(deleted) => Ok((deleted.as_i64() == Some(0)).then_some((counted.then, counted.now))),
        }
    }
}

#[cfg(test)]
mod tests {
    use engine::Connection;
    use testkit::{Catalog, Random, open_lake};
    use types::Target;

    use super::RowCounts;

    const METADATA: &str = "__ducklake_metadata_lake.main";

    /// A statement that changes `t`.
    fn change(random: &mut Random) -> String {
        let (from, to) = (random.below(40), random.below(12));
        let keys = format!("id BETWEEN {from} AND {}", from + to);
        match random.below(6) {
            0 => format!("INSERT INTO lake.t SELECT i, 0 FROM range({from}, {from} + {to}) r(i)"),
            1 | 2 => format!("DELETE FROM lake.t WHERE {keys}"),
            3 => format!("UPDATE lake.t SET v = v + 1 WHERE {keys}"),
            4 => format!(
                "MERGE INTO lake.t USING (SELECT i AS id, 7 AS v FROM range({from}, {from} + {to}) r(i)) s \
                 ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v)"
            ),
            _ => ["CALL ducklake_merge_adjacent_files('lake')", "CALL ducklake_flush_inlined_data('lake')"]
                [usize::from(random.below(2) == 1)]
            .to_owned(),
        }
    }

    fn number(lake: &Connection, sql: &str) -> i64 {
        lake.query_value(sql).unwrap().as_i64().unwrap()
    }

    /// How many of the pairs of snapshots the metadata told of, and it was right.
    fn told(catalog: Catalog, inlined_rows: usize, seed: u64) -> usize {
        let folder = tempfile::tempdir().unwrap();
        let lake = open_lake(catalog, folder.path(), inlined_rows);
        lake.execute("CREATE TABLE lake.t AS SELECT i AS id, 0 AS v FROM range(30) r(i)").unwrap();
        let mut random = Random(seed);
        let mut told = 0;
        let mut ends = Vec::new();
        for _ in 0..8 {
            lake.execute(&change(&mut random)).unwrap();
            let now = number(&lake, "SELECT max(snapshot_id) FROM ducklake_snapshots('lake')");
            ends.push(now);
            for then in ends.iter().copied() {
                let counts = RowCounts::read(&lake, METADATA, (then, now)).unwrap();
                let Some(rows) = counts.of(&lake, METADATA, &Target::new("main", "t")).unwrap() else { continue };
                let truth =
                    [then, now].map(|at| number(&lake, &format!("SELECT count(*) FROM lake.t AT (VERSION => {at})")));
                assert_eq!([rows.0, rows.1], truth, "{catalog:?} {inlined_rows} {seed}: {then} to {now}");
                told += 1;
            }
        }
        told
    }

    #[test]
    fn what_the_metadata_tells_is_what_is_there() {
        for catalog in [Catalog::Sqlite, Catalog::Duckdb] {
            let number: usize = (3..=6).map(|seed| told(catalog, 0, seed)).sum();
            assert!(number > 40, "{number} are hardly any");
            // Of tables with rows in the catalog it may keep silent.
            told(catalog, 5, 1);
        }
    }
}
