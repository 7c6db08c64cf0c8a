//! PostgreSQL, attached to the session as `state` by the engine's extension.
//!
//! Scripts are sent as they are; the extension puts a transaction of isolation level REPEATABLE READ around
//! them, so that two that change the same rows collide, as on the other databases.

use engine::{Connection, EngineError, Rows};
use types::{literal, quote};

use super::{Backend, BackendKind, Load, Remote};

/// The server's session.
pub(crate) struct Postgres {
    remote: Remote,
    /// Where the tables are.
    schema: String,
    /// Whether the server looks there by itself.
    is_default: bool,
}

impl Postgres {
    pub(crate) fn new(remote: Remote, schema: String, is_default: bool) -> Self {
        Self { remote, schema, is_default }
    }

    /// The script with unqualified names looked up in the state's schema.
    fn in_schema(&self, script: &str) -> String {
        format!("SET LOCAL search_path TO {}, pg_temp;\n{script}", quote(&self.schema))
    }
}

fn call(script: &str) -> String {
    format!("CALL postgres_execute('state', {})", literal(script))
}

impl Backend for Postgres {
    fn kind(&self) -> BackendKind {
        BackendKind::Postgres
    }

    fn execute(&mut self, script: &str) -> Result<(), EngineError> {
        let call = call(&self.in_schema(script));
        self.remote.run(0, move |connection| connection.execute(&call))
    }

    fn query(&mut self, sql: &str, rows: u64) -> Result<Rows, EngineError> {
        let set = call(&self.in_schema(""));
        let sql = format!("FROM postgres_query('state', {})", literal(sql.trim_end().trim_end_matches(';')));
        let is_default = self.is_default;
        self.remote.run(rows, move |connection| {
            if is_default {
                return connection.query(&sql);
            }
            in_transaction(connection, || {
                connection.execute(&set)?;
                connection.query(&sql)
            })
        })
    }

    fn load(&mut self, load: Load) -> Result<(), EngineError> {
        self.remote.load(load)
    }

    fn query_local(&mut self, sql: &str) -> Result<Rows, EngineError> {
        self.remote.query_local(sql)
    }

    fn transfer(&mut self, inserts: &[String], script: &str) -> Result<(), EngineError> {
        let (inserts, call) = (inserts.to_vec(), call(&self.in_schema(script)));
        self.remote.run_transfer(move |connection| {
            in_transaction(connection, || {
                inserts.iter().try_for_each(|insert| connection.execute(insert))?;
                connection.execute(&call)
            })
        })
    }
}

fn in_transaction<T>(connection: &Connection, work: impl FnOnce() -> Result<T, EngineError>) -> Result<T, EngineError> {
    connection.execute("BEGIN")?;
    let done = work().and_then(|value| connection.execute("COMMIT").map(|()| value));
    done.inspect_err(|_| {
        // A failed COMMIT has ended the transaction already.
        let _ = connection.execute("ROLLBACK");
    })
}
