//! What is in the state: for `state status`, and for copies.

use std::path::PathBuf;

use engine::Value;
use types::literal;

use crate::migrations::{RECEIPTS, TABLES, VERSION};
use crate::queue::{Counts, Queue};
use crate::script::Dialect;
use crate::sql_store::{SqlStore, count, local, number, text};
use crate::{BackendKind, StateError};

/// The state's condition.
#[derive(Debug)]
pub struct Status {
    /// The kind of database.
    pub backend: BackendKind,
    /// The state file; `None` on a server.
    pub path: Option<String>,
    /// The file's cipher; `None` if it is not encrypted, or on a server.
    pub cipher: Option<String>,
    /// Bytes of the file and its log; `None` on a server.
    pub bytes: Option<u64>,
    /// Version of the tables.
    pub schema_version: i64,
    /// Rows by table.
    pub tables: Vec<TableSize>,
    /// Events by target.
    pub targets: Vec<Counts>,
    /// Workers that hold something.
    pub workers: Vec<WorkerStatus>,
}

/// A table and its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSize {
    /// The table.
    pub table: String,
    /// Its rows.
    pub rows: u64,
}

/// What a worker holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerStatus {
    /// Its name.
    pub worker: String,
    /// Claims of events.
    pub claims: u64,
    /// Leases by name.
    pub leases: u64,
    /// Attempts to fetch.
    pub fetches: u64,
    /// Whether it has shown a sign of life within its lease.
    pub is_alive: bool,
}

impl SqlStore {
    /// Reads the state's condition; changes nothing.
    pub fn status(&mut self) -> Result<Status, StateError> {
        let (path, cipher) = self.file_facts()?;
        let bytes = path.as_ref().map(|path| {
            let size = |path: &str| std::fs::metadata(path).map_or(0, |file| file.len());
            size(path) + size(&format!("{path}.wal"))
        });
        Ok(Status {
            backend: self.backend_kind(),
            path,
            cipher,
            bytes,
            schema_version: VERSION,
            tables: self.table_sizes()?,
            targets: self.counts()?,
            workers: self.workers()?,
        })
    }

    /// Workers that hold something. On a local file all others are gone.
    pub(crate) fn workers(&mut self) -> Result<Vec<WorkerStatus>, StateError> {
        let is_exclusive = self.backend_kind().is_exclusive();
        let read = |mut row: Vec<Value>| WorkerStatus {
            worker: text(&mut row[0]),
            claims: count(&row[1]),
            leases: count(&row[2]),
            fetches: count(&row[3]),
            is_alive: !is_exclusive && number(&row[4]) >= 0,
        };
        Ok(self.values(include_str!("../sql/workers.sql"))?.into_iter().map(read).collect())
    }

    /// Every table of the state but the schema's version, with its rows.
    pub(crate) fn table_sizes(&mut self) -> Result<Vec<TableSize>, StateError> {
        let tables = self.tables_in_state()?;
        let count_of = |table: &String| {
            format!("SELECT {} AS name, count(*) AS rows FROM {}", literal(table), types::quote(table))
        };
        let sql: Vec<String> = tables.iter().map(count_of).collect();
        let read = |mut row: Vec<Value>| TableSize { table: text(&mut row[0]), rows: count(&row[1]) };
        let mut sizes: Vec<TableSize> = self.values(&sql.join(" UNION ALL "))?.into_iter().map(read).collect();
        sizes.sort_by(|left, right| left.table.cmp(&right.table));
        Ok(sizes)
    }

    /// Our tables: a schema may hold others as well. Receipts are of use to requests that are under way alone.
    fn tables_in_state(&mut self) -> Result<Vec<String>, StateError> {
        let names: Vec<String> =
            TABLES.iter().filter(|table| **table != RECEIPTS).map(|table| literal(table)).collect();
        // On DuckDB the view lists every database.
        let catalog = match self.dialect() {
            Dialect::DuckDb => "table_catalog = 'state' AND ",
            Dialect::Postgres => "",
        };
        let sql = format!(
            "SELECT CAST(table_name AS VARCHAR) AS name FROM information_schema.tables \
             WHERE {catalog}table_schema = current_schema() AND table_type = 'BASE TABLE' \
             AND (table_name IN ({}) OR table_name LIKE 'fetch:%') ORDER BY table_name",
            names.join(", ")
        );
        Ok(self.values(&sql)?.into_iter().map(|mut row| text(&mut row[0])).collect())
    }

    /// The state file, by its one name; `None` on a server.
    pub(crate) fn path(&mut self) -> Result<Option<PathBuf>, StateError> {
        Ok(self.file_facts()?.0.and_then(|path| std::fs::canonicalize(path).ok()))
    }

    /// Path and cipher of a state file.
    fn file_facts(&mut self) -> Result<(Option<String>, Option<String>), StateError> {
        if !self.backend_kind().is_exclusive() {
            return Ok((None, None));
        }
        let sql = "SELECT path, CASE WHEN encrypted THEN coalesce(cipher, 'yes') END AS cipher \
                   FROM duckdb_databases() WHERE database_name = 'state'";
        let mut rows = self.backend.query_local(sql).map_err(local)?.into_values();
        let Some(row) = rows.next() else { return Ok((None, None)) };
        Ok((row[0].as_text().map(str::to_owned), row[1].as_text().map(str::to_owned)))
    }
}
