//! A lake with one table `s.t`, and what is asked about it.

use engine::{Connection, Value};
use feed::{EventMethod, EventSource, Events, FeedError, Image, ImageOf, Images, TableNow, read_images, table_at};
use tempfile::TempDir;
use testkit::{Catalog, open_lake};
use types::{ChangeType, Target};

const METADATA: &str = "\"__ducklake_metadata_lake\"";

/// A change, with its row key last: what it is made of differs from test to test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Told {
    pub snapshot: i64,
    pub rowid: i64,
    pub change_type: ChangeType,
    pub row_key: i64,
}

pub struct Lake {
    pub connection: Connection,
    _folder: TempDir,
}

impl Lake {
    pub fn new(catalog: Catalog, inlined_rows: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let connection = open_lake(catalog, folder.path(), inlined_rows);
        connection.execute("CREATE SCHEMA lake.s").unwrap();
        Self { connection, _folder: folder }
    }

    /// A lake whose table `s.t` is made by a query.
    pub fn with(columns: &str) -> Self {
        let lake = Self::new(Catalog::Sqlite, 0);
        lake.run(&format!("CREATE TABLE lake.s.t ({columns})"));
        lake
    }

    /// Runs statements as one transaction and returns the newest snapshot.
    #[track_caller]
    pub fn run(&self, sql: &str) -> i64 {
        let sql = if sql.contains("CALL") { sql.to_owned() } else { format!("BEGIN; {sql}; COMMIT") };
        self.connection.execute(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        self.newest()
    }

    pub fn newest(&self) -> i64 {
        self.connection.query_value("SELECT id FROM lake.current_snapshot()").unwrap().as_i64().unwrap()
    }

    pub fn table(&self) -> Option<TableNow> {
        table_at(&self.connection, "lake", METADATA, &target()).unwrap()
    }

    pub fn raw(&self, keys: &[&str], from: Option<i64>, until: i64) -> Result<(EventMethod, Vec<Told>), FeedError> {
        let events = source(keys, from, until).raw(&self.connection, "lake", METADATA)?;
        Ok((events.method, self.told(&events)))
    }

    pub fn net(&self, keys: &[&str], from: Option<i64>, until: i64) -> Result<Vec<Told>, FeedError> {
        let events = source(keys, from, until).net(&self.connection, "lake", METADATA)?;
        Ok(self.told(&events))
    }

    /// The changes of groups, row by row and as a difference.
    pub fn groups(&self, key: &str, from: Option<i64>) -> [Vec<Told>; 2] {
        let source = EventSource { are_groups: true, ..source(&[key], from, self.newest()) };
        let raw = source.raw(&self.connection, "lake", METADATA).unwrap();
        let net = source.net(&self.connection, "lake", METADATA).unwrap();
        [raw, net].map(|events| self.told(&events))
    }

    fn told(&self, events: &Events) -> Vec<Told> {
        let rows = events.rows(&self.connection).unwrap_or_else(|error| panic!("{}: {error}", events.sql));
        assert_eq!(rows.columns(), ["row_key", "rowid", "change_type", "snapshot_id"]);
        rows.into_values().map(|row| told(&row)).collect()
    }

    /// Changes as short texts: `snapshot after the first, sign, row id`.
    pub fn short(told: &[Told], base: i64) -> Vec<String> {
        let sign = |change| match change {
            ChangeType::Insert => "+",
            ChangeType::Delete => "-",
            ChangeType::UpdatePreimage => "<",
            ChangeType::UpdatePostimage => ">",
        };
        told.iter().map(|told| format!("{}{}{}", told.snapshot - base, sign(told.change_type), told.rowid)).collect()
    }

    pub fn images(&self, told: &[Told]) -> Result<Images, FeedError> {
        let wanted: Vec<ImageOf> = told.iter().map(Told::image).collect();
        read_images(&self.connection, "lake", METADATA, &target(), &wanted)
    }

    /// The images as texts, `None` where the row is gone.
    pub fn shown(&self, told: &[Told]) -> Vec<Option<String>> {
        let shown = |image: &Image| match image {
            Image::Row(values) => Some(values.iter().map(text).collect::<Vec<_>>().join("|")),
            Image::Gone => None,
        };
        self.images(told).unwrap().images.iter().map(shown).collect()
    }

    /// Row ids and rows of the table now, each row as `images` shows it.
    pub fn rows(&self) -> Vec<(i64, String)> {
        self.rows_at(self.newest())
    }

    /// The same at a snapshot. The engine may not sort them: see `rangeless` in the room.
    pub fn rows_at(&self, snapshot: i64) -> Vec<(i64, String)> {
        let rows = self.connection.query(&format!("SELECT rowid, * FROM lake.s.t AT (VERSION => {snapshot})")).unwrap();
        let row = |row: Vec<Value>| (row[0].as_i64().unwrap(), row[1..].iter().map(text).collect::<Vec<_>>().join("|"));
        let mut rows: Vec<_> = rows.into_values().map(row).collect();
        rows.sort();
        rows
    }
}

impl Told {
    pub fn image(&self) -> ImageOf {
        ImageOf { rowid: self.rowid, change_type: self.change_type, snapshot: self.snapshot }
    }
}

pub fn target() -> Target {
    Target::new("S", "T")
}

fn source(keys: &[&str], from: Option<i64>, until: i64) -> EventSource {
    let keys = keys.iter().map(|&key| key.to_owned()).collect();
    EventSource { target: target(), keys, are_groups: false, hidden: &[], from, until }
}

fn told(row: &[Value]) -> Told {
    let number = |at: usize| row[at].as_i64().unwrap();
    assert!(number(0) >= 0, "a row key is not negative");
    Told {
        row_key: number(0),
        rowid: number(1),
        change_type: ChangeType::parse(row[2].as_text().unwrap()).unwrap(),
        snapshot: number(3),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "NULL".into(),
        Value::Int(number) => number.to_string(),
        Value::Double(number) => format!("{number:?}"),
        other => other.as_text().map_or_else(|| format!("{other:?}"), str::to_owned),
    }
}
