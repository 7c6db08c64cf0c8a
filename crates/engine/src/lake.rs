//! Facts that the lake's catalog holds about tables and commits, read for all models at once.

use std::collections::BTreeMap;

use types::{Target, dotted, literal, quote};

use crate::{Connection, EngineError, Value};

/// The table in the lake's `main` schema that keeps each model's last commit (chapter 02 §2.4).
pub const TARGET_REGISTRY: &str = "_ondatra_registry";

/// A table as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentTable {
    /// Identity; a table made anew gets another.
    pub id: i64,
    /// Schema.
    pub schema: String,
    /// Name.
    pub name: String,
    /// Snapshot that made it, or gave it this name.
    pub since: i64,
    /// Snapshot of the last change of its column list.
    pub columns_since: i64,
}

/// A view as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LakeView {
    /// Schema.
    pub schema: String,
    /// Name.
    pub name: String,
    /// The SELECT behind it.
    pub sql: String,
    /// Whether it gives its columns other names than its SELECT does.
    pub renames: bool,
    /// Snapshot that made it.
    pub since: i64,
}

/// A row of the registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryRow {
    /// The model's target.
    pub target: String,
    /// JSON of its last commit.
    pub commit_info: String,
}

/// What the registry of a lake, given by its alias and its metadata, tells now of a target's last commit: JSON.
pub fn recorded_commit(
    connection: &Connection,
    (lake, metadata): (&str, &str),
    target: &Target,
) -> Result<Option<String>, EngineError> {
    // A catalog on a server shows the registry before the lake's own transaction, which began earlier, can read it.
    let exists = format!(
        "SELECT count(*) FROM {metadata}.ducklake_table t JOIN {metadata}.ducklake_schema s USING (schema_id) \
         WHERE t.end_snapshot IS NULL AND s.end_snapshot IS NULL AND s.schema_name = 'main' AND t.table_name = {} \
         AND t.begin_snapshot <= (SELECT id FROM {}.current_snapshot())",
        literal(TARGET_REGISTRY),
        quote(lake)
    );
    if connection.query_value(&exists)?.as_i64() == Some(0) {
        return Ok(None);
    }
    recorded_in(connection, &registry(lake), target)
}

/// The same as of a snapshot; an error if there was no registry.
pub fn recorded_commit_at(
    connection: &Connection,
    lake: &str,
    snapshot: i64,
    target: &Target,
) -> Result<Option<String>, EngineError> {
    recorded_in(connection, &format!("{} AT (VERSION => {snapshot})", registry(lake)), target)
}

fn registry(lake: &str) -> String {
    format!("{}.main.{}", quote(lake), quote(TARGET_REGISTRY))
}

fn recorded_in(connection: &Connection, registry: &str, target: &Target) -> Result<Option<String>, EngineError> {
    let target = literal(&target.key());
    let sql = format!("SELECT max(commit_info)::VARCHAR FROM {registry} WHERE lower(target) = {target}");
    Ok(connection.query_value(&sql)?.into_text())
}

/// What planning asks of the lake.
#[derive(Debug, Clone, Default)]
pub struct LakeFacts {
    /// Alias of the lake.
    lake: String,
    /// Database and schema of its metadata, quoted.
    metadata: String,
    /// Whether macros are stored in it.
    pub has_macros: bool,
    /// Newest snapshot; `None` before anything was read.
    newest: Option<i64>,
    /// Oldest snapshot of the unbroken row that ends with the newest.
    tail: i64,
    /// Tables by lower-case `schema.name`.
    pub tables: BTreeMap<String, CurrentTable>,
    /// Views by lower-case `schema.name`.
    pub views: BTreeMap<String, LakeView>,
    /// Last commits by lower-case target.
    pub commits: BTreeMap<String, RegistryRow>,
    /// The snapshot at which they were read: that of the lake's own transaction. A catalog on a server may have shown the
    /// rest a moment later.
    pub commits_at: i64,
    /// Newest snapshot that inserted into or deleted from a table, by table id.
    row_changes: BTreeMap<i64, i64>,
}

/// What in `changes_made` is a change of rows, with the table's id. Names of tables are quoted there and
/// may hold anything, so they are matched first, as a whole. Maintenance has words of its own
/// (`merge_adjacent`, `rewrite_delete`, `inline_flush`).
const ROW_CHANGE: &str =
    r#""(?:[^"]|"")*"|(?:inserted_into_table|deleted_from_table|inlined_insert|inlined_delete):(\d+)"#;

impl LakeFacts {
    /// Reads everything with a handful of queries, whatever the number of models and the size of tables.
    ///
    /// `metadata` is the database and schema in which the lake's own tables are, quoted.
    pub fn read(connection: &Connection, lake: &str, metadata: &str) -> Result<Self, EngineError> {
        let mut facts = Self { lake: lake.to_owned(), metadata: metadata.to_owned(), ..Self::default() };
        // All at one moment, and without looking for the newest snapshot for each query.
        connection.execute("BEGIN")?;
        let read = facts.read_all(connection);
        connection.execute(if read.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
        read.map(|()| facts)
    }

    fn read_all(&mut self, connection: &Connection) -> Result<(), EngineError> {
        let current = format!("SELECT id FROM {}.current_snapshot()", quote(&self.lake));
        self.commits_at = connection.query_value(&current)?.as_i64().unwrap_or(-1);
        self.refresh(connection)?;
        let lake = &self.lake;
        let registry = self.tables.get(&format!("main.{TARGET_REGISTRY}"));
        if registry.is_some_and(|registry| registry.since <= self.commits_at) {
            let sql = format!("SELECT target, commit_info FROM {}.main.{}", quote(lake), quote(TARGET_REGISTRY));
            for row in connection.query(&sql)?.into_values() {
                let [Value::Text(target), commit_info] = &row[..] else { return Err(unexpected("a registry row")) };
                // Without its JSON the record is there but unreadable: the model fails, it is no first run.
                let commit_info = commit_info.as_text().unwrap_or_default().to_owned();
                self.commits.insert(target.to_lowercase(), RegistryRow { target: target.clone(), commit_info });
            }
        }
        Ok(())
    }

    /// What the registry tells now of a target's last commit, in the transaction that is open.
    pub fn recorded(&self, connection: &Connection, target: &Target) -> Result<Option<String>, EngineError> {
        recorded_commit(connection, (&self.lake, &self.metadata), target)
    }

    /// Reads tables, views and changes again, after commits; the registry is kept up by the one who commits.
    pub fn refresh(&mut self, connection: &Connection) -> Result<(), EngineError> {
        let metadata = self.metadata.clone();
        self.read_snapshots(connection)?;
        self.read_tables(connection, &metadata)?;
        self.read_views(connection, &metadata)?;
        let macros = format!("SELECT count(*) FROM {metadata}.ducklake_macro WHERE end_snapshot IS NULL");
        self.has_macros = connection.query_value(&macros)?.as_i64() != Some(0);
        Ok(())
    }

    /// Reads what is newer than what is known. The metadata's tables are asked, not `snapshots()`, which
    /// takes four to ten times as long.
    fn read_snapshots(&mut self, connection: &Connection) -> Result<(), EngineError> {
        let (metadata, known) = (&self.metadata, self.newest.unwrap_or(-1));
        // One scan, from the newest snapshot that is known on, to see whether what follows joins on to it. Most
        // snapshots of a long history say the same.
        let sql = format!(
            "WITH history AS MATERIALIZED (SELECT changes_made, max(snapshot_id) AS newest, min(snapshot_id) AS oldest, \
             count(*) AS snapshots FROM {metadata}.ducklake_snapshot_changes WHERE snapshot_id >= {known} \
             GROUP BY changes_made) \
             SELECT NULL::BIGINT, max(newest), min(oldest), sum(snapshots)::BIGINT FROM history \
             UNION ALL SELECT id::BIGINT, max(newest), NULL, NULL FROM \
             (SELECT newest, unnest(regexp_extract_all(changes_made, {}, 1)) AS id FROM history) WHERE id <> '' GROUP BY id",
            literal(ROW_CHANGE)
        );
        let mut all = None;
        for row in connection.query(&sql)?.into_values() {
            let [table, newest, oldest, snapshots] = [0, 1, 2, 3].map(|at| row.get(at).and_then(Value::as_i64));
            match (table, newest, oldest, snapshots) {
                (None, Some(newest), Some(oldest), Some(snapshots)) => all = Some((newest, oldest, snapshots)),
                (Some(table), Some(snapshot), ..) => {
                    let newest = self.row_changes.entry(table).or_insert(snapshot);
                    *newest = snapshot.max(*newest);
                }
                _ => return Err(unexpected("a change")),
            }
        }
        let (newest, oldest, count) = all.ok_or_else(|| unexpected("a list of snapshots"))?;
        let tail = if count == newest - oldest + 1 { oldest } else { self.read_tail(connection, known)? };
        // The first row of the list has none before it, though there is one.
        if Some(tail) != self.newest {
            self.tail = tail;
        }
        self.newest = Some(newest);
        Ok(())
    }

    /// The oldest snapshot from `known` on that no gap divides from the newest.
    fn read_tail(&self, connection: &Connection, known: i64) -> Result<i64, EngineError> {
        let sql = format!(
            "SELECT max(snapshot_id) FILTER (before IS DISTINCT FROM snapshot_id - 1) FROM (SELECT snapshot_id, \
             lag(snapshot_id) OVER (ORDER BY snapshot_id) AS before FROM {}.ducklake_snapshot_changes WHERE snapshot_id >= {known})",
            self.metadata
        );
        connection.query_value(&sql)?.as_i64().ok_or_else(|| unexpected("a list of snapshots"))
    }

    fn read_tables(&mut self, connection: &Connection, metadata: &str) -> Result<(), EngineError> {
        let sql = format!(
            "SELECT t.table_id, s.schema_name, t.table_name, t.begin_snapshot, \
             max(greatest(c.begin_snapshot, c.end_snapshot)) \
             FROM {metadata}.ducklake_table t \
             JOIN {metadata}.ducklake_schema s ON s.schema_id = t.schema_id AND s.end_snapshot IS NULL \
             LEFT JOIN {metadata}.ducklake_column c ON c.table_id = t.table_id \
             WHERE t.end_snapshot IS NULL GROUP BY ALL"
        );
        self.tables.clear();
        for row in connection.query(&sql)?.into_values() {
            let [id, Value::Text(schema), Value::Text(name), since, columns_since] = &row[..] else {
                return Err(unexpected("a table"));
            };
            let (Some(id), Some(since)) = (id.as_i64(), since.as_i64()) else { return Err(unexpected("a table")) };
            let columns_since = columns_since.as_i64().unwrap_or(since);
            let table = CurrentTable { id, schema: schema.clone(), name: name.clone(), since, columns_since };
            self.tables.insert(dotted(schema, name).to_lowercase(), table);
        }
        Ok(())
    }

    fn read_views(&mut self, connection: &Connection, metadata: &str) -> Result<(), EngineError> {
        let sql = format!(
            "SELECT s.schema_name, v.view_name, v.sql, v.begin_snapshot, coalesce(v.column_aliases, '') <> '' FROM {metadata}.ducklake_view v \
             JOIN {metadata}.ducklake_schema s ON s.schema_id = v.schema_id AND s.end_snapshot IS NULL \
             WHERE v.end_snapshot IS NULL"
        );
        self.views.clear();
        for row in connection.query(&sql)?.into_values() {
            let [Value::Text(schema), Value::Text(name), Value::Text(sql), since, renames] = &row[..] else {
                return Err(unexpected("a view"));
            };
            let since = since.as_i64().unwrap_or(i64::MAX);
            // DuckLake writes this word where a view names its own catalog.
            let sql = sql.replace("{DUCKLAKE_CATALOG}", &quote(&self.lake));
            let renames = renames.as_bool() == Some(true);
            let view = LakeView { schema: schema.clone(), name: name.clone(), sql, renames, since };
            self.views.insert(dotted(schema, name).to_lowercase(), view);
        }
        Ok(())
    }

    /// The newest snapshot.
    pub fn newest(&self) -> i64 {
        self.newest.unwrap_or(0)
    }

    /// Whether every snapshot from this one on still exists: else changes may have gone unseen.
    pub fn is_retained_since(&self, snapshot: i64) -> bool {
        self.newest.is_some() && (self.tail..=self.newest()).contains(&snapshot)
    }

    /// Whether the table's rows or column list changed, or it was made anew, after `snapshot`.
    pub fn changed_since(&self, table: &CurrentTable, snapshot: i64) -> bool {
        table.since > snapshot
            || table.columns_since > snapshot
            || self.row_changes.get(&table.id).is_some_and(|&newest| newest > snapshot)
    }
}

/// The SQL that writes a model's row of the registry, inside the model's transaction; `replaces` says whether there is
/// one in its place.
pub fn registry_statements(lake: &str, target: &str, kind: &str, commit_info: &str, replaces: bool) -> Vec<String> {
    let registry = registry(lake);
    let create = format!(
        "CREATE TABLE IF NOT EXISTS {registry} \
         (target VARCHAR, kind VARCHAR, updated_at TIMESTAMP, commit_info VARCHAR)"
    );
    let delete = format!("DELETE FROM {registry} WHERE lower(target) = {}", literal(&target.to_lowercase()));
    let insert = format!(
        "INSERT INTO {registry} VALUES ({}, {}, now() AT TIME ZONE 'UTC', {})",
        literal(target),
        literal(kind),
        literal(commit_info)
    );
    [Some(create), replaces.then_some(delete), Some(insert)].into_iter().flatten().collect()
}

/// A row that has not the form that the query asked for.
fn unexpected(what: &str) -> EngineError {
    EngineError::Sql {
        class: String::new(),
        message: format!("the lake's catalog holds {what} that cannot be read"),
        offset: None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{CurrentTable, LakeFacts};
    use crate::{Connection, Database};

    /// Facts over a catalog that holds snapshots and nothing else.
    fn catalog() -> (Connection, LakeFacts) {
        let connection = Arc::new(Database::open(&[]).unwrap()).connect().unwrap();
        let tables = "CREATE TABLE ducklake_snapshot (snapshot_id BIGINT);\
                      CREATE TABLE ducklake_snapshot_changes (snapshot_id BIGINT, changes_made VARCHAR);";
        connection.execute(tables).unwrap();
        let facts = LakeFacts { metadata: "memory.main".into(), ..LakeFacts::default() };
        (connection, facts)
    }

    fn add(connection: &Connection, snapshot: i64, changes: &str) {
        let changes = types::literal(changes);
        let sql = format!(
            "INSERT INTO ducklake_snapshot VALUES ({snapshot});\
             INSERT INTO ducklake_snapshot_changes VALUES ({snapshot}, {changes})"
        );
        connection.execute(&sql).unwrap();
    }

    /// Whether table `id` changed after `snapshot`.
    fn changed(facts: &LakeFacts, id: i64, snapshot: i64) -> bool {
        let table = CurrentTable { id, schema: "s".into(), name: "t".into(), since: 0, columns_since: 0 };
        facts.changed_since(&table, snapshot)
    }

    #[test]
    fn only_rows_are_changes_and_quoted_names_are_none() {
        let (connection, mut facts) = catalog();
        add(&connection, 0, r#"created_schema:"main""#);
        add(&connection, 1, r#"created_table:"main"."a,inserted_into_table:9,""b",inserted_into_table:1"#);
        add(&connection, 2, "inlined_insert:2,inlined_delete:3");
        add(&connection, 3, "deleted_from_table:12,altered_table:4,inline_flush:5,merge_adjacent:6,rewrite_delete:7");
        facts.read_snapshots(&connection).unwrap();
        let newest = |id| (0..4).rev().find(|&snapshot| changed(&facts, id, snapshot)).map(|before| before + 1);
        assert_eq!([1, 2, 3, 12].map(newest), [Some(1), Some(2), Some(2), Some(3)]);
        assert_eq!([4, 5, 6, 7, 9].map(newest), [None; 5]);
    }

    #[test]
    fn the_unbroken_tail_is_kept_up() {
        let (connection, mut facts) = catalog();
        assert!(!facts.is_retained_since(0));
        for snapshot in [0, 1, 3, 4] {
            add(&connection, snapshot, "inserted_into_table:1");
        }
        facts.read_snapshots(&connection).unwrap();
        let retained = |facts: &LakeFacts| (0..9).filter(|&at| facts.is_retained_since(at)).collect::<Vec<_>>();
        assert_eq!((facts.newest(), retained(&facts)), (4, vec![3, 4]));
        add(&connection, 5, "inserted_into_table:2");
        facts.read_snapshots(&connection).unwrap();
        assert_eq!(retained(&facts), [3, 4, 5]);
        assert!(changed(&facts, 1, 3) && !changed(&facts, 1, 4) && changed(&facts, 2, 4));
        facts.read_snapshots(&connection).unwrap();
        assert_eq!(retained(&facts), [3, 4, 5]);
        add(&connection, 7, "");
        facts.read_snapshots(&connection).unwrap();
        assert_eq!(retained(&facts), [7], "a gap behind what was known");
        // As expiring does: the list of changes goes with the snapshots.
        connection.execute("DELETE FROM ducklake_snapshot; DELETE FROM ducklake_snapshot_changes").unwrap();
        add(&connection, 8, "");
        facts.read_snapshots(&connection).unwrap();
        assert_eq!(retained(&facts), [8], "what was known is gone");
    }
}
