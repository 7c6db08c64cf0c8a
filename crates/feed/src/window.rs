//! A span of snapshots, and how the changes of a table over it are found (chapter 02 §4.3).

use std::collections::{BTreeMap, BTreeSet};

use engine::{Connection, EngineError, Value};
use types::{Target, literal};

/// The snapshots after `since`, up to `until`, at which the transaction reads.
pub struct Window<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) lake: &'a str,
    pub(crate) metadata: &'a str,
    pub(crate) since: i64,
    pub(crate) until: i64,
    /// Whether `since` still exists.
    since_exists: bool,
    /// Whether every snapshot between the two still exists: else nobody knows what they changed.
    complete: bool,
    inserted: BTreeSet<i64>,
    deleted: BTreeSet<i64>,
    rewritten: BTreeSet<i64>,
    /// Tables, by lower-case `schema.name`.
    ids: BTreeMap<String, Ids>,
}

/// A table at both ends.
#[derive(Debug, Clone, Copy, Default)]
struct Ids {
    then: Option<i64>,
    now: Option<i64>,
    columns_changed: bool,
}

/// How the new rows of a table are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// There are none: nothing touched the table.
    Unchanged,
    /// Rows were only inserted, and the change feed lists them.
    Inserted,
    /// By the change feed: what was inserted less what was deleted.
    Feed,
    /// By comparing the two versions.
    Compare,
    /// The table was not there: every row is new.
    All,
    /// The older version is gone.
    Lost,
}

/// The words of `changes_made` that say what happened to a table's rows.
const WORDS: &str = "inserted_into_table|deleted_from_table|inlined_insert|inlined_delete|rewrite_delete";

impl<'a> Window<'a> {
    /// Reads what happened to `tables`, with three queries whatever the number of tables and rows.
    pub fn open(
        connection: &'a Connection,
        (lake, metadata): (&'a str, &'a str),
        (since, until): (i64, i64),
        tables: &[&Target],
    ) -> Result<Self, EngineError> {
        let mut window = Self {
            connection,
            lake,
            metadata,
            since,
            until,
            since_exists: false,
            complete: false,
            inserted: BTreeSet::new(),
            deleted: BTreeSet::new(),
            rewritten: BTreeSet::new(),
            ids: BTreeMap::new(),
        };
        window.read_snapshots()?;
        if window.since_exists {
            window.read_changes()?;
            window.read_ids(tables)?;
        }
        Ok(window)
    }

    fn read_snapshots(&mut self) -> Result<(), EngineError> {
        let (metadata, since, until) = (self.metadata, self.since, self.until);
        let sql = format!(
            "SELECT count(*), count(*) FILTER (WHERE snapshot_id = {since}) FROM {metadata}.ducklake_snapshot \
             WHERE snapshot_id BETWEEN {since} AND {until}"
        );
        let rows = self.connection.query(&sql)?.into_values();
        if let Some([all, first]) = rows.into_iter().next().as_deref() {
            self.since_exists = first.as_i64() == Some(1);
            self.complete = self.since_exists && all.as_i64() == Some(until - since + 1);
        }
        Ok(())
    }

    fn read_changes(&mut self) -> Result<(), EngineError> {
        let (metadata, since, until) = (self.metadata, self.since, self.until);
        let sql = format!(
            "SELECT DISTINCT unnest(regexp_extract_all(changes_made, '(?:{WORDS}):[0-9]+')) \
             FROM {metadata}.ducklake_snapshot_changes WHERE snapshot_id > {since} AND snapshot_id <= {until}"
        );
        for row in self.connection.query(&sql)?.into_values() {
            let Some((word, id)) = row.first().and_then(Value::as_text).and_then(|text| text.split_once(':')) else {
                continue;
            };
            let Ok(id) = id.parse() else { continue };
            match word {
                "inserted_into_table" | "inlined_insert" => self.inserted.insert(id),
                "rewrite_delete" => self.rewritten.insert(id),
                _ => self.deleted.insert(id),
            };
        }
        Ok(())
    }

    fn read_ids(&mut self, tables: &[&Target]) -> Result<(), EngineError> {
        if tables.is_empty() {
            return Ok(());
        }
        // The engine compares names in its own way.
        let name = |table: &&Target| {
            format!("{{'s': lower({}), 'n': lower({})}}", literal(&table.schema), literal(&table.name))
        };
        let wanted: Vec<String> = tables.iter().map(name).collect();
        let (metadata, since, until) = (self.metadata, self.since, self.until);
        let at = |alias: &str, snapshot: i64| {
            format!(
                "{alias}.begin_snapshot <= {snapshot} AND ({alias}.end_snapshot IS NULL OR {alias}.end_snapshot > {snapshot})"
            )
        };
        let id_at =
            |snapshot| format!("max(t.table_id) FILTER (WHERE {} AND {})", at("t", snapshot), at("s", snapshot));
        let touched = format!(
            "SELECT table_id FROM {metadata}.ducklake_column WHERE (begin_snapshot > {since} AND begin_snapshot <= {until}) \
             OR (end_snapshot > {since} AND end_snapshot <= {until})"
        );
        let sql = format!(
            "WITH wanted(nth, name) AS (SELECT unnest(range({})), unnest([{}])) \
             SELECT w.nth, {}, {}, bool_or(t.table_id IN ({touched})) FROM wanted w \
             JOIN {metadata}.ducklake_schema s ON lower(s.schema_name) = w.name.s \
             JOIN {metadata}.ducklake_table t ON t.schema_id = s.schema_id AND lower(t.table_name) = w.name.n GROUP BY w.nth",
            tables.len(),
            wanted.join(", "),
            id_at(since),
            id_at(until)
        );
        for row in self.connection.query(&sql)?.into_values() {
            let [nth, then, now, columns_changed] = &row[..] else { continue };
            let table = nth.as_i64().and_then(|nth| tables.get(usize::try_from(nth).ok()?));
            if let Some(table) = table {
                let ids = Ids {
                    then: then.as_i64(),
                    now: now.as_i64(),
                    columns_changed: columns_changed.as_bool() == Some(true),
                };
                self.ids.insert(table.key(), ids);
            }
        }
        Ok(())
    }

    /// How the new rows of a table are found, as far as the list of changes tells: a column of another type
    /// under the same name asks for a comparison all the same.
    pub(crate) fn method(&self, table: &Target) -> Method {
        if !self.since_exists {
            return Method::Lost;
        }
        let (then, now) = self.ids(table);
        let Some(id) = now else { return Method::Lost };
        match then {
            None => Method::All,
            Some(then) if then != id || !self.complete => Method::Compare,
            // A rewrite alone changes no row, whatever the feed then says.
            Some(_) if !self.inserted.contains(&id) && !self.deleted.contains(&id) => Method::Unchanged,
            Some(_) if self.rewritten.contains(&id) => Method::Compare,
            Some(_) if !self.deleted.contains(&id) => Method::Inserted,
            Some(_) => Method::Feed,
        }
    }

    /// Whether a table may have other rows than at `since`, without looking at rows.
    pub fn may_have_changed(&self, table: &Target) -> bool {
        self.method(table) != Method::Unchanged
    }

    /// Whether a table was there at `since`, and whether it is now.
    pub fn is_there(&self, table: &Target) -> (bool, bool) {
        let (then, now) = self.ids(table);
        (then.is_some(), now.is_some())
    }

    /// Whether the table that is there is the one that was there, not another of its name.
    pub fn is_same(&self, table: &Target) -> bool {
        let (then, now) = self.ids(table);
        then.is_some() && then == now
    }

    /// Whether the change feed lists all that was inserted into a table and deleted from it, in the columns of now.
    pub fn is_fed(&self, table: &Target) -> bool {
        !self.columns_changed(table) && matches!(self.method(table), Method::Inserted | Method::Feed)
    }

    /// Whether nobody can tell what became of a table.
    pub fn is_lost(&self, table: &Target) -> bool {
        self.method(table) == Method::Lost
    }

    /// Whether a table may have another list of columns than at `since`.
    pub fn columns_changed(&self, table: &Target) -> bool {
        self.ids.get(&table.key()).is_none_or(|ids| ids.columns_changed)
    }

    pub(crate) fn ids(&self, table: &Target) -> (Option<i64>, Option<i64>) {
        let ids = self.ids.get(&table.key()).copied().unwrap_or_default();
        (ids.then, ids.now)
    }
}
