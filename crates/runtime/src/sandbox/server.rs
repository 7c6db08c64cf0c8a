//! Forks of a catalog in PostgreSQL: a database made from production's as its template (chapter 05 §4.1).

use std::path::Path;
use std::time::Duration;

use engine::{EngineError, EngineOptions, Instance};
use types::{literal, quote};

use super::SandboxError;
use super::fork::ForkOptions;
use super::localize::script;
use super::source::{Backend, Source};
use crate::RunError;

/// Attempts at finding a database that nobody is connected to, and at copying one that others connect to again and again.
const ATTEMPTS: u32 = 5;
/// The first pause between two.
const PAUSE: Duration = Duration::from_millis(100);

/// Production's database.
pub(super) struct Production {
    name: String,
    /// Whether others are connected to it, and may be parted from it.
    is_in_use: bool,
}

/// The server of production's catalog, with a connection to the database that every server has.
pub(super) struct Server {
    instance: Instance,
    /// What leads to production's database.
    production: String,
    schema: String,
    data_path: Option<String>,
}

impl Server {
    /// Connects to the server of `source`.
    pub fn of(source: &Source<'_>, engine: &EngineOptions) -> Result<Self, SandboxError> {
        let Backend::Postgres(production) = &source.backend else {
            return Err(SandboxError::Server {
                message: "a database of a sandbox is on a server that config/catalog.sql does not name any more".into(),
            });
        };
        let server = Self {
            instance: engine.open(&["postgres_scanner"]).map_err(|error| failed(&error))?,
            production: production.clone(),
            schema: source.schema().to_owned(),
            data_path: source.data_path().map(str::to_owned),
        };
        server.run(&attach(&server.at("postgres"), "admin", ""))?;
        Ok(server)
    }

    /// Finds production's database, and has connections to it allowed to be ended.
    ///
    /// # Errors
    /// There is no lake in it, or its connections may not be ended.
    pub fn consent(&self, options: &ForkOptions<'_>) -> Result<Production, RunError> {
        let name = self.production_database()?;
        options.cancellation.check()?;
        let connections = self.connections(&name)?;
        let is_in_use = connections > 0;
        match is_in_use.then(|| (options.confirm)(connections)) {
            None | Some(Some(true)) => Ok(Production { name, is_in_use }),
            Some(Some(false)) => Err(SandboxError::Declined.into()),
            Some(None) => Err(SandboxError::NeedsYes { connections }.into()),
        }
    }

    /// Makes the database `name` a copy of production's, with what it knows of files made its own; gives what leads to it.
    pub fn fork(&self, production: &Production, name: &str, root: &Path, data: &Path) -> Result<String, SandboxError> {
        self.copy_database(production, name)?;
        let fork = self.at(name);
        self.run(&attach(&fork, "fork", ""))?;
        let base = match &self.data_path {
            Some(path) => path.clone(),
            None => self.text(
                "fork",
                &format!(
                    "SELECT max(value) AS v FROM {}.ducklake_metadata WHERE key = 'data_path'",
                    quote(&self.schema)
                ),
            )?,
        };
        let script = script(&Backend::Postgres(fork.clone()), &self.schema, &base, root, data);
        self.run(&format!("CALL postgres_execute('fork', {})", literal(&script)))?;
        self.run("DETACH fork")?;
        Ok(fork)
    }

    /// Drops a database, whoever is connected to it.
    pub fn drop_database(&self, name: &str) -> Result<(), SandboxError> {
        self.alone(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", quote(name)))
    }

    /// The name of production's database, which has to hold a lake.
    fn production_database(&self) -> Result<String, SandboxError> {
        let missing = |what: &str| SandboxError::NoCatalog { what: what.to_owned() };
        if let Err(error) = self.instance.connection.execute(&attach(&self.production, "production", ", READ_ONLY")) {
            let is_missing = error.cleaned().contains("does not exist");
            return Err(if is_missing { missing("the database") } else { failed(&error) });
        }
        let name = self.text("production", "SELECT CAST(current_database() AS TEXT) AS v");
        let table = literal(&format!("{}.ducklake_metadata", quote(&self.schema)));
        let lake = self.text("production", &format!("SELECT CAST(to_regclass({table}) AS TEXT) AS v"));
        // No connection of ours may be open when the database is copied.
        self.run("DETACH production")?;
        let name = name?;
        if lake?.is_empty() { Err(missing(&format!("the lake in the database {name}"))) } else { Ok(name) }
    }

    /// Connections of others to a database. One that was just closed, like ours a moment ago, takes a while to go.
    fn connections(&self, database: &str) -> Result<u64, SandboxError> {
        let sql =
            format!("SELECT count(*) AS n FROM pg_stat_activity WHERE datname = {} AND {OTHERS}", literal(database));
        let mut attempt = 1;
        loop {
            let connections = self.count(&sql)?;
            if connections == 0 || attempt == ATTEMPTS {
                return Ok(connections);
            }
            std::thread::sleep(PAUSE * attempt);
            attempt += 1;
        }
    }

    fn copy_database(&self, production: &Production, name: &str) -> Result<(), SandboxError> {
        let create = format!("CREATE DATABASE {} TEMPLATE {}", quote(name), quote(&production.name));
        let end = format!(
            "SELECT count(pg_terminate_backend(pid)) AS n FROM pg_stat_activity WHERE datname = {} AND {OTHERS}",
            literal(&production.name)
        );
        let mut attempt = 1;
        loop {
            if production.is_in_use {
                self.count(&end)?;
            }
            match self.alone(&create) {
                // One that was ended takes a moment to go, and another may have come.
                Err(SandboxError::Server { message })
                    if production.is_in_use
                        && attempt < ATTEMPTS
                        && message.contains("being accessed by other users") =>
                {
                    std::thread::sleep(PAUSE * attempt);
                    attempt += 1;
                }
                done => return done,
            }
        }
    }

    /// The connection string of another database on the server: of a word that is given twice the last counts.
    fn at(&self, database: &str) -> String {
        let connection = &self.production;
        if !connection.starts_with("postgres://") && !connection.starts_with("postgresql://") {
            return format!("{connection} dbname={database}");
        }
        let joint = if connection.contains('?') { '&' } else { '?' };
        format!("{connection}{joint}dbname={database}")
    }

    fn run(&self, sql: &str) -> Result<(), SandboxError> {
        self.instance.connection.execute(sql).map_err(|error| failed(&error))
    }

    /// Runs a statement that must not be in a transaction.
    fn alone(&self, statement: &str) -> Result<(), SandboxError> {
        self.run(&format!("CALL postgres_execute('admin', {}, use_transaction = false)", literal(statement)))
    }

    fn count(&self, sql: &str) -> Result<u64, SandboxError> {
        let sql = format!("FROM postgres_query('admin', {})", literal(sql));
        let value = self.instance.connection.query_value(&sql).map_err(|error| failed(&error))?;
        Ok(value.as_i64().and_then(|count| u64::try_from(count).ok()).unwrap_or(0))
    }

    fn text(&self, database: &str, sql: &str) -> Result<String, SandboxError> {
        let sql = format!("FROM postgres_query('{database}', {})", literal(sql));
        let value = self.instance.connection.query_value(&sql).map_err(|error| failed(&error))?;
        Ok(value.into_text().unwrap_or_default())
    }
}

/// Connections of others: PostgreSQL ends its own workers by itself. What a session is, is hidden from a user who is no
/// member of its role.
const OTHERS: &str = "coalesce(backend_type, 'client backend') = 'client backend' AND pid <> pg_backend_pid()";

fn attach(connection: &str, alias: &str, more: &str) -> String {
    format!("ATTACH {} AS {alias} (TYPE postgres{more})", literal(connection))
}

fn failed(error: &EngineError) -> SandboxError {
    SandboxError::Server { message: error.cleaned() }
}
