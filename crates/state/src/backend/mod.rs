//! The three databases, seen as: run a script, ask, and carry many rows over.

mod file;
mod postgres;
mod quack;
mod remote;

use engine::{EngineError, Rows};

pub(crate) use file::File;
pub(crate) use postgres::Postgres;
pub(crate) use quack::{Quack, request as quack_request};
pub(crate) use remote::Remote;

use crate::script::Dialect;

/// A kind of database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackendKind {
    /// A DuckDB file: one process at a time.
    File,
    /// A PostgreSQL server.
    Postgres,
    /// A DuckDB server.
    Quack,
}

impl BackendKind {
    /// The database's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "DuckDB file",
            Self::Postgres => "PostgreSQL",
            Self::Quack => "Quack server",
        }
    }

    /// Whether no other process can use the state at the same time: then every other worker is gone.
    pub(crate) fn is_exclusive(self) -> bool {
        self == Self::File
    }

    pub(crate) fn dialect(self) -> Dialect {
        match self {
            Self::File | Self::Quack => Dialect::DuckDb,
            Self::Postgres => Dialect::Postgres,
        }
    }
}

/// Rows on their way into a table of the state.
pub(crate) struct Load {
    /// The local temporary table.
    pub table: String,
    /// Its columns with their types, those of the rows.
    pub columns: String,
    /// The rows.
    pub rows: Rows,
}

/// A database that holds the state. Nothing of a failed call stays behind.
pub(crate) trait Backend: Send {
    fn kind(&self) -> BackendKind;

    /// Executes a script in one transaction, in one request.
    fn execute(&mut self, script: &str) -> Result<(), EngineError>;

    /// Asks for about so many rows: many take their time.
    fn query(&mut self, sql: &str, rows: u64) -> Result<Rows, EngineError>;

    /// Puts rows into a new temporary table on this side, for `transfer`.
    fn load(&mut self, load: Load) -> Result<(), EngineError>;

    /// Texts as a table for the next script: `text`, and `ord` from 1.
    fn texts(&mut self, texts: &[String]) -> Result<String, EngineError> {
        Ok(self.kind().dialect().texts(texts))
    }

    /// Asks this side about loaded tables.
    fn query_local(&mut self, sql: &str) -> Result<Rows, EngineError>;

    /// Executes INSERTs from loaded tables into tables `state.x`, and then a script, in one transaction.
    fn transfer(&mut self, inserts: &[String], script: &str) -> Result<(), EngineError>;

    /// Gives back memory that this side keeps for the next request.
    fn trim(&self) {}
}

/// Makes a temporary table of rows.
fn load_into(connection: &engine::Connection, mut load: Load) -> Result<(), EngineError> {
    let table = types::quote(&load.table);
    connection.execute(&format!("CREATE OR REPLACE TEMP TABLE {table} ({})", load.columns))?;
    connection.append(&load.table, &mut load.rows)
}
