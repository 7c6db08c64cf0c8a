//! A DuckDB file, attached to the session as `state`.

use engine::{EngineError, Instance, MemoryLimit, Rows};

use super::{Backend, BackendKind, Load, load_into};

/// A request is large from so many bytes on …
const LARGE_BYTES: usize = 256 << 10;
/// … or, if it asks, so many rows.
const LARGE_ROWS: u64 = 1_000;

/// The file's session.
pub(crate) struct File {
    instance: Instance,
    limit: MemoryLimit,
}

impl File {
    /// The session of an instance that has the file attached.
    pub(crate) fn new(instance: Instance) -> Result<Self, EngineError> {
        // Requests are small: more threads cost memory and save no time.
        instance.connection.execute("USE state; SET threads = 1")?;
        let limit = MemoryLimit::of(&instance.connection)?;
        Ok(Self { instance, limit })
    }

    pub(crate) fn into_instance(self) -> Instance {
        self.instance
    }
}

impl Backend for File {
    fn kind(&self) -> BackendKind {
        BackendKind::File
    }

    fn execute(&mut self, script: &str) -> Result<(), EngineError> {
        self.transfer(&[], script)
    }

    fn query(&mut self, sql: &str, rows: u64) -> Result<Rows, EngineError> {
        let found = self.instance.connection.query(sql);
        if rows >= LARGE_ROWS {
            self.trim();
        }
        found
    }

    fn load(&mut self, load: Load) -> Result<(), EngineError> {
        load_into(&self.instance.connection, load)
    }

    fn query_local(&mut self, sql: &str) -> Result<Rows, EngineError> {
        self.instance.connection.query(sql)
    }

    fn transfer(&mut self, inserts: &[String], script: &str) -> Result<(), EngineError> {
        let connection = &self.instance.connection;
        let inserts = inserts.join(";\n");
        let is_large = !inserts.is_empty() || script.len() >= LARGE_BYTES;
        let done = connection.execute(&format!("BEGIN;\n{inserts};\n{script};\nCOMMIT")).inspect_err(|_| {
            // Without an open transaction there is nothing to roll back.
            let _ = connection.execute("ROLLBACK");
        });
        if is_large {
            self.trim();
        }
        done
    }

    /// Gives memory back: the lake's session beside this one has the machine. No request may be refused for a lack of
    /// it, so there is no lower limit for all of them.
    fn trim(&self) {
        self.limit.trim(&self.instance.connection);
    }
}
