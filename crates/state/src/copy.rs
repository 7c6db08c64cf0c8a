//! `state copy`: all of a state into an empty one on another database, verified.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use engine::Value;
use model::{Code, TokenKind};
use types::{literal, quote};

use crate::backend::Load;
use crate::failure::Failure;
use crate::open::{StateConfig, connect, open};
use crate::retry::VerbError;
use crate::script::{Arg, Dialect};
use crate::sql_store::{SqlStore, count, local, text};
use crate::status::TableSize;
use crate::{StateError, WorkerId};

/// What was copied.
#[derive(Debug)]
pub struct Copied {
    /// Rows by table.
    pub tables: Vec<TableSize>,
    /// Kind of the database copied from.
    pub from: crate::BackendKind,
    /// Kind of the database copied to.
    pub to: crate::BackendKind,
}

/// Copies all of `source` into the empty state of `target`. Workers must not be using the source. On an error
/// the target is empty again.
pub fn copy(source: &mut SqlStore, target: StateConfig, worker: WorkerId) -> Result<Copied, StateError> {
    check_unused(source)?;
    check_is_other(source, &target)?;
    let mut target = open(target, worker)?;
    if let Some(full) = target.table_sizes()?.into_iter().find(|table| table.rows > 0) {
        return Err(StateError::NotEmpty { table: full.table, rows: full.rows });
    }
    let tables = source.table_sizes()?;
    make_staging_tables(&mut target, &tables)?;
    let copied = transfer(source, &mut target, &tables)
        .and_then(|()| check_unused(source))
        .and_then(|()| verify(source, &mut target, &tables));
    if let Err(error) = copied {
        // The first error is the one that tells.
        let _ = clear(&mut target, &tables);
        return Err(error);
    }
    Ok(Copied { tables, from: source.backend_kind(), to: target.backend_kind() })
}

/// An error if `target` names the source's own file. Looked at before it is opened: the system lets one process
/// open a file twice, and the two sessions would write over each other.
fn check_is_other(source: &mut SqlStore, target: &StateConfig) -> Result<(), StateError> {
    let own = source.path()?.and_then(|path| file_id(&path));
    let code = Code::new(&target.file.expanded.text);
    let mut texts = (0..code.len()).filter(|&at| code.kind(at) == Some(TokenKind::Text)).map(|at| code.value(at));
    let is_own = |text: String| file_id(Path::new(text.trim_start_matches("file://"))) == own;
    if own.is_some() && texts.any(is_own) {
        let help = "name a file that attaches another state";
        return Err(StateError::refused(types::Code::StateNotEmpty, "the state to copy to is the state itself", help));
    }
    Ok(())
}

/// What tells files apart, whatever they are called: a link is the file that it leads to.
fn file_id(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

fn check_unused(source: &mut SqlStore) -> Result<(), StateError> {
    let alive = source.workers()?.into_iter().filter(|worker| worker.is_alive);
    let workers: Vec<String> = alive.map(|worker| worker.worker).collect();
    if workers.is_empty() { Ok(()) } else { Err(StateError::InUse { workers }) }
}

/// Tables of staged rows are made when needed: here they are.
fn make_staging_tables(target: &mut SqlStore, tables: &[TableSize]) -> Result<(), StateError> {
    let staging = tables.iter().filter(|table| table.table.starts_with("fetch:"));
    let make = include_str!("../sql/staging_table.sql");
    let script: String = staging.map(|table| target.fill(make, &[("table", Arg::Sql(&quote(&table.table)))])).collect();
    if script.is_empty() {
        return Ok(());
    }
    target.execute(&script, None).map_err(VerbError::unconditional)?;
    if !target.backend_kind().is_exclusive() {
        // The session looked at the tables before these were there.
        target.backend = connect(target.config())?;
    }
    Ok(())
}

fn transfer(source: &mut SqlStore, target: &mut SqlStore, tables: &[TableSize]) -> Result<(), StateError> {
    let mut inserts = Vec::new();
    for (at, table) in tables.iter().enumerate().filter(|(_, table)| table.rows > 0) {
        let columns = columns_of(source, &table.table)?;
        let name = format!("copied_{at}");
        load(source, target, table, &columns, &name)?;
        let names: Vec<String> = columns.iter().map(|column| quote(&column.name)).collect();
        let names = names.join(", ");
        inserts
            .push(format!("INSERT INTO state.{} ({names}) SELECT {names} FROM temp.main.{name}", quote(&table.table)));
    }
    // Only a script makes a transaction of inserts: this one changes nothing.
    let script = "SELECT 1";
    target.backend.transfer(&inserts, script).map_err(|error| Failure::of(&error, script).into_error())
}

/// Compares each table of the copy with what is in the source now, row by row.
fn verify(source: &mut SqlStore, target: &mut SqlStore, tables: &[TableSize]) -> Result<(), StateError> {
    for table in tables {
        let columns = columns_of(source, &table.table)?;
        load(source, target, table, &columns, "verify_source")?;
        let select = select(target.dialect(), &table.table, &columns);
        let rows = target.query(&select, table.rows)?;
        let types = declared(&columns);
        target.backend.load(Load { table: "verify_target".into(), columns: types, rows }).map_err(local)?;
        let differ = "SELECT (SELECT count(*) FROM (FROM temp.main.verify_source EXCEPT ALL FROM temp.main.verify_target)) \
                      + (SELECT count(*) FROM (FROM temp.main.verify_target EXCEPT ALL FROM temp.main.verify_source))";
        let rows: Vec<Vec<Value>> = target.backend.query_local(differ).map_err(local)?.into_values().collect();
        let differ = rows.first().map_or(0, |row| count(&row[0]));
        if differ > 0 {
            let message = format!("{differ} rows differ");
            return Err(StateError::Verify { table: table.table.clone(), message });
        }
    }
    Ok(())
}

fn clear(target: &mut SqlStore, tables: &[TableSize]) -> Result<(), StateError> {
    let script: String = tables.iter().map(|table| format!("DELETE FROM {};\n", quote(&table.table))).collect();
    target.execute(&script, None).map_err(VerbError::unconditional)
}

struct Column {
    name: String,
    /// The type as the engine names it.
    kind: &'static str,
}

fn columns_of(store: &mut SqlStore, table: &str) -> Result<Vec<Column>, StateError> {
    let sql = format!(
        "SELECT CAST(column_name AS VARCHAR) AS name, CAST(data_type AS VARCHAR) AS kind \
         FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = {}{} \
         ORDER BY ordinal_position",
        literal(table),
        if store.dialect() == Dialect::DuckDb { " AND table_catalog = 'state'" } else { "" }
    );
    let read = |mut row: Vec<Value>| Column { name: text(&mut row[0]), kind: engine_type(&text(&mut row[1])) };
    Ok(store.values(&sql)?.into_iter().map(read).collect())
}

/// The engine's name of a type of our tables, in whichever words it comes.
fn engine_type(kind: &str) -> &'static str {
    match kind.to_lowercase().as_str() {
        "bigint" => "BIGINT",
        "integer" => "INTEGER",
        "timestamp with time zone" => "TIMESTAMPTZ",
        _ => "VARCHAR",
    }
}

fn declared(columns: &[Column]) -> String {
    let columns: Vec<String> =
        columns.iter().map(|column| format!("{} {}", quote(&column.name), column.kind)).collect();
    columns.join(", ")
}

fn select(dialect: Dialect, table: &str, columns: &[Column]) -> String {
    let cast = |column: &Column| {
        let name = quote(&column.name);
        match dialect {
            Dialect::DuckDb => name,
            // Whatever the server's type is, the engine is to see ours.
            Dialect::Postgres if column.kind == "VARCHAR" => format!("CAST({name} AS TEXT) AS {name}"),
            Dialect::Postgres => format!("CAST({name} AS {}) AS {name}", column.kind),
        }
    };
    let columns: Vec<String> = columns.iter().map(cast).collect();
    format!("SELECT {} FROM {}", columns.join(", "), quote(table))
}

fn load(
    source: &mut SqlStore,
    target: &mut SqlStore,
    table: &TableSize,
    columns: &[Column],
    name: &str,
) -> Result<(), StateError> {
    let rows = source.query(&select(source.dialect(), &table.table, columns), table.rows)?;
    target.backend.load(Load { table: name.into(), columns: declared(columns), rows }).map_err(local)
}
