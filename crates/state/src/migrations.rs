//! The tables, version by version: each migration is one transaction, and several workers may begin at once.

use std::time::Duration;

use engine::Value;
use types::literal;

use crate::StateError;
use crate::backend::Backend;
use crate::failure::{Failure, Fence};
use crate::retry::{Attempts, VerbError};
use crate::script::Dialect;
use crate::sql_store::{number, text};

/// The newest version that this build knows.
pub(crate) const VERSION: i64 = 6;

/// What the commands of the queue did: nothing that a person would look for or copy.
pub(crate) const RECEIPTS: &str = "sync_receipt";

/// The tables that they make, besides `schema_version`. Those of staged rows, `fetch:<target>`, are made when needed.
pub(crate) const TABLES: [&str; 12] = [
    "sync_apply_log",
    "sync_claim",
    "sync_dead",
    "sync_evt",
    "sync_feed",
    "sync_fetch",
    "sync_inflight",
    "sync_jobref",
    "sync_lease",
    "sync_log",
    RECEIPTS,
    "tokens",
];

macro_rules! migrations {
    ($folder:literal) => {
        [
            include_str!(concat!("../sql/", $folder, "/migrations/0001_queue.sql")),
            include_str!(concat!("../sql/", $folder, "/migrations/0002_leases.sql")),
            include_str!(concat!("../sql/", $folder, "/migrations/0003_fetch.sql")),
            include_str!(concat!("../sql/", $folder, "/migrations/0004_tokens.sql")),
            include_str!(concat!("../sql/", $folder, "/migrations/0005_receipts.sql")),
            include_str!(concat!("../sql/", $folder, "/migrations/0006_tables.sql")),
        ]
    };
}

const DUCKDB: [&str; 6] = migrations!("duckdb");
const POSTGRES: [&str; 6] = migrations!("postgres");

const FIRST: &str = "CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL PRIMARY KEY);
INSERT INTO schema_version SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM schema_version);";

/// Brings the tables up to date; an error if they are newer than this build. Gives whether something was made. A
/// lost connection is an error at once: who opens the state tries again from the start.
pub(crate) fn migrate(backend: &mut dyn Backend) -> Result<bool, StateError> {
    let attempts = &mut Attempts::new(Duration::ZERO);
    let mut version = match version(backend, attempts)? {
        Some(version) if version > VERSION => return Err(StateError::Newer { found: version, known: VERSION }),
        Some(version) => version,
        None => {
            run(backend, attempts, FIRST)?;
            0
        }
    };
    let files = match backend.kind().dialect() {
        Dialect::DuckDb => DUCKDB,
        Dialect::Postgres => POSTGRES,
    };
    let begun = version;
    while version < VERSION {
        let migration = files[usize::try_from(version).unwrap_or_default()];
        // Of two workers that both see the old version one collides at the update.
        let script = format!(
            "SELECT CAST(CASE WHEN count(*) = 1 THEN '1' ELSE 'fence:version:' || count(*) END AS INTEGER)
FROM schema_version WHERE version = {version};
UPDATE schema_version SET version = {next} WHERE version = {version};
{migration}",
            next = version + 1
        );
        run(backend, attempts, &script)?;
        version += 1;
    }
    Ok(begun != version)
}

/// The version of the tables that are there; `None` if there are none. Nothing is changed.
pub(crate) fn found_version(backend: &mut dyn Backend) -> Result<Option<i64>, StateError> {
    version(backend, &mut Attempts::new(Duration::ZERO))
}

/// The tables' version; `None` if there are no tables. An error if tables of these names are somebody else's.
fn version(backend: &mut dyn Backend, attempts: &mut Attempts) -> Result<Option<i64>, StateError> {
    let catalog = match backend.kind().dialect() {
        // The view lists every database that is attached.
        Dialect::DuckDb => " AND table_catalog = current_database()",
        Dialect::Postgres => "",
    };
    let names: Vec<String> = TABLES.iter().chain(&["schema_version"]).map(|table| literal(table)).collect();
    let sql = format!(
        "SELECT CAST(table_name AS VARCHAR) AS t, CAST(column_name AS VARCHAR) AS c FROM information_schema.columns \
         WHERE table_name IN ({}) AND table_schema = current_schema(){catalog}",
        names.join(", ")
    );
    let columns: Vec<(String, String)> =
        ask(backend, attempts, &sql)?.into_iter().map(|mut row| (text(&mut row[0]), text(&mut row[1]))).collect();
    let of_version: Vec<&str> =
        columns.iter().filter(|(table, _)| table == "schema_version").map(|(_, column)| column.as_str()).collect();
    match (&of_version[..], columns.first()) {
        ([], None) => return Ok(None),
        ([], Some((table, _))) => return Err(foreign(table)),
        (["version"], _) => {}
        _ => return Err(foreign("schema_version")),
    }
    // Both by one statement: another worker may be making the tables.
    let both = format!(
        "SELECT max(version) AS version, (SELECT count(*) FROM ({sql}) AS ours WHERE t <> 'schema_version') AS columns \
         FROM schema_version"
    );
    let row = ask(backend, attempts, &both)?.pop().unwrap_or_default();
    let [version, columns] = &row[..] else { return Err(foreign("schema_version")) };
    // A table without a number, or with one that does not go with the others, was not made here.
    if *version == Value::Null || (number(version) > 0) != (number(columns) > 0) {
        return Err(foreign("schema_version"));
    }
    Ok(Some(number(version)))
}

fn ask(backend: &mut dyn Backend, attempts: &mut Attempts, sql: &str) -> Result<Vec<Vec<Value>>, StateError> {
    loop {
        match backend.query(sql, 1) {
            Ok(rows) => return Ok(rows.into_values().collect()),
            Err(error) => attempts.after(Failure::of(&error, sql)).map_err(VerbError::unconditional).map(drop)?,
        }
    }
}

fn foreign(table: &str) -> StateError {
    StateError::Catalog {
        message: format!("there is a table `{table}` that is not the state's; nothing was changed"),
        help: "give the state a database of its own, or a schema: (TYPE postgres, SCHEMA 'ondatra')".into(),
    }
}

fn run(backend: &mut dyn Backend, attempts: &mut Attempts, script: &str) -> Result<(), StateError> {
    loop {
        let Err(error) = backend.execute(script) else { return Ok(()) };
        match attempts.after(Failure::of(&error, script)) {
            Ok(_) => {}
            // Another worker did it.
            Err(VerbError::Fence(Fence::Version)) => return Ok(()),
            Err(error) => return Err(error.unconditional()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DUCKDB, POSTGRES, TABLES, VERSION};

    #[test]
    fn both_dialects_have_every_version() {
        assert_eq!((DUCKDB.len(), POSTGRES.len()), (6, 6));
        assert_eq!(usize::try_from(VERSION), Ok(DUCKDB.len()));
    }

    #[test]
    fn every_table_is_known() {
        for files in [DUCKDB, POSTGRES] {
            let text = files.concat();
            let mut made: Vec<&str> =
                text.split("CREATE TABLE ").skip(1).filter_map(|rest| rest.split_whitespace().next()).collect();
            made.sort_unstable();
            assert_eq!(made, TABLES);
        }
    }
}
