//! Carries staged rows into the session, as a table of the model's columns.
//!
//! They are converted part by part, so that memory is bounded by a part however many rows there are: one part stays in
//! a temporary table, more go into a file of the session's own.

use engine::{Connection, EngineError};
use fetch::{FetchError, Staged, find_bad_value, placed_rows, typed_rows};
use project::Redactor;
use state::SharedStore;
use types::{Target, literal, quote};

use super::checks::FetchPlan;
use crate::{Cancellation, RunError, Session};

/// Rows of a part: two groups of the engine's tables, so that two threads have something to do …
const PART_ROWS: u64 = 245_760;
/// … and its bytes, whichever is reached first …
const PART_BYTES: u64 = 64 << 20;
/// … or this part of the engine's memory: it is there as texts and as values.
const PART_OF_MEMORY: u64 = 16;
/// Rows that are read from the state at once …
const READ_ROWS: u64 = 10_000;
/// … the first time, when nobody knows how long they are …
const FIRST_READ_ROWS: u64 = 500;
/// … and about as many bytes of them.
const READ_BYTES: u64 = 8 << 20;
/// The temporary table of a part's texts, in a column `row`.
const PART: &str = "__ondatra_part";
/// The file's database.
const FILE: &str = "__ondatra_fetched";

/// What staged rows are carried with.
pub(crate) struct Loading<'a> {
    pub session: &'a Session,
    pub store: &'a SharedStore,
    pub cancellation: &'a Cancellation,
    pub redactor: &'a Redactor,
}

/// The table that holds a fetch's rows.
pub(crate) struct LoadedRows {
    /// Qualified and quoted.
    pub table: String,
}

impl Loading<'_> {
    /// Loads all rows; the caller drops what this gives, and after an error nothing is left.
    pub(crate) fn load(&self, target: &Target, plan: &FetchPlan, staged: &Staged) -> Result<LoadedRows, RunError> {
        let connection = &self.session.connection;
        let loaded =
            self.cancellation.interruptible(connection.interrupt_handle(), || self.parts(target, plan, staged));
        let dropped = connection.execute(&format!("DROP TABLE IF EXISTS temp.main.{PART}"));
        let loaded = loaded?;
        dropped?;
        Ok(loaded)
    }

    fn parts(&self, target: &Target, plan: &FetchPlan, staged: &Staged) -> Result<LoadedRows, RunError> {
        let connection = &self.session.connection;
        let first = self.read_part(staged, 0)?;
        // Without the word the engine takes no name in `temp`, and with it none elsewhere.
        let (database, temporary) = if first < staged.rows { (self.attached_file()?, "") } else { ("temp", "TEMP") };
        let table = format!("{database}.main.{}", quote(&format!("fetched_{target}")));
        let loaded = LoadedRows { table };
        let create = format!("CREATE OR REPLACE {temporary} TABLE {} AS", loaded.table);
        let filled = self.fill(&loaded, &create, first, plan, staged);
        if filled.is_err() {
            // The first error is the one that tells.
            let _ = loaded.drop(connection);
        }
        filled.map(|()| loaded)
    }

    /// Puts in all parts, of which the first one was read up to the row `from`.
    fn fill(
        &self,
        loaded: &LoadedRows,
        create: &str,
        mut from: u64,
        plan: &FetchPlan,
        staged: &Staged,
    ) -> Result<(), RunError> {
        let connection = &self.session.connection;
        let select = typed_rows("\"row\"", &format!("temp.main.{PART}"), &plan.masks.stored);
        let put =
            |into: &str| connection.execute(&format!("{into} {select}")).map_err(|error| self.explained(error, plan));
        put(create)?;
        while from < staged.rows {
            from = self.read_part(staged, from)?;
            put(&format!("INSERT INTO {}", loaded.table))?;
        }
        Ok(())
    }

    /// Reads the part that begins with row `from` into its table; gives where the next one begins.
    fn read_part(&self, staged: &Staged, from: u64) -> Result<u64, RunError> {
        let connection = &self.session.connection;
        connection.execute(&format!("CREATE OR REPLACE TEMP TABLE {PART} (\"row\" VARCHAR)"))?;
        if from > 0 {
            self.session.trim_memory();
        }
        let most = PART_BYTES.min(self.session.memory_bytes() / PART_OF_MEMORY);
        let (mut at, mut bytes) = (from, 0);
        while at < staged.rows && at - from < PART_ROWS && bytes < most {
            self.cancellation.check()?;
            let limit = if at == from { FIRST_READ_ROWS } else { (READ_BYTES / (bytes / (at - from)).max(1)).max(1) };
            let limit = limit.min(READ_ROWS).min(PART_ROWS - (at - from));
            let mut rows = self.store.lock().staged_rows(&staged.lease, at, limit)?;
            let count = rows.len();
            connection.append(PART, &mut rows)?;
            if count == 0 {
                let message = format!("{} of {} staged rows are missing", staged.rows - at, staged.rows);
                return Err(state::StateError::Write { message }.into());
            }
            at += count;
            if at == staged.rows {
                break;
            }
            let size = connection.query_value(&format!("SELECT sum(strlen(\"row\"))::BIGINT FROM temp.main.{PART}"))?;
            bytes = size.as_i64().and_then(|bytes| bytes.try_into().ok()).unwrap_or(0);
        }
        Ok(at)
    }

    /// The file's database: made when it is needed for the first time, gone with the session.
    fn attached_file(&self) -> Result<&'static str, EngineError> {
        let path = self.session.spill().join("fetched.duckdb").display().to_string();
        self.session.connection.execute(&format!("ATTACH IF NOT EXISTS {} AS {FILE}", literal(&path)))?;
        Ok(FILE)
    }

    /// The value that the engine could not convert, if that is why it failed.
    fn explained(&self, error: EngineError, plan: &FetchPlan) -> RunError {
        if !error.is_statement_fault() {
            return error.into();
        }
        let rows = placed_rows("\"row\"", &format!("temp.main.{PART}"));
        match find_bad_value(&self.session.connection, &rows, &plan.masks.stored) {
            Ok(Some(found)) => {
                let whole = |number: i64| u64::try_from(number).unwrap_or(0);
                let message = found.bad.message(|text| self.redactor.redact(text));
                FetchError::Value { page: whole(found.page), row: whole(found.row), message }.into()
            }
            _ => error.into(),
        }
    }
}

impl LoadedRows {
    /// Drops them.
    pub(crate) fn drop(&self, connection: &Connection) -> Result<(), EngineError> {
        connection.execute(&format!("DROP TABLE IF EXISTS {}", self.table))
    }
}
