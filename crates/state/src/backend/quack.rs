//! A DuckDB server, attached to the session as `state` over Quack.
//!
//! Transactions are begun on the server: a local BEGIN is not forwarded. Every request names the database
//! anew, since a session that the server lost begins in another one.

use engine::{Connection, EngineError, Rows};
use types::literal;

use super::{Backend, BackendKind, Load, Remote};

/// The server's session.
pub(crate) struct Quack {
    remote: Remote,
}

impl Quack {
    pub(crate) fn new(remote: Remote) -> Self {
        Self { remote }
    }
}

/// The statement that has the server run `script`.
pub(crate) fn request(script: &str) -> String {
    plain_request(&format!("USE state;\n{script}"))
}

fn plain_request(script: &str) -> String {
    format!("FROM quack_query_by_name('state', {})", literal(script))
}

fn roll_back(connection: &Connection) {
    // Without an open transaction there is nothing to roll back. In an aborted one nothing may come before.
    let _ = connection.execute(&plain_request("ROLLBACK"));
}

impl Backend for Quack {
    fn kind(&self) -> BackendKind {
        BackendKind::Quack
    }

    fn execute(&mut self, script: &str) -> Result<(), EngineError> {
        let request = request(&format!("BEGIN;\n{script};\nCOMMIT"));
        self.remote.run(0, move |connection| connection.execute(&request).inspect_err(|_| roll_back(connection)))
    }

    fn query(&mut self, sql: &str, rows: u64) -> Result<Rows, EngineError> {
        let request = request(sql);
        self.remote.run(rows, move |connection| connection.query(&request))
    }

    fn load(&mut self, load: Load) -> Result<(), EngineError> {
        self.remote.load(load)
    }

    fn query_local(&mut self, sql: &str) -> Result<Rows, EngineError> {
        self.remote.query_local(sql)
    }

    fn transfer(&mut self, inserts: &[String], script: &str) -> Result<(), EngineError> {
        let inserts = inserts.to_vec();
        let script = request(&format!("{script};\nCOMMIT"));
        self.remote.run_transfer(move |connection| {
            let work = || {
                connection.execute(&request("BEGIN"))?;
                inserts.iter().try_for_each(|insert| connection.execute(insert))?;
                connection.execute(&script)
            };
            work().inspect_err(|_| roll_back(connection))
        })
    }
}
