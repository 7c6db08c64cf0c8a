//! A DuckDB file, attached to the session as `state`.

use engine::{EngineError, Instance, Rows};

use super::{Backend, BackendKind, Load, load_into};

/// The file's session.
pub(crate) struct File {
    instance: Instance,
}

impl File {
    /// The session of an instance that has the file attached.
    pub(crate) fn new(instance: Instance) -> Result<Self, EngineError> {
        instance.connection.execute("USE state")?;
        Ok(Self { instance })
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

    fn query(&mut self, sql: &str, _rows: u64) -> Result<Rows, EngineError> {
        self.instance.connection.query(sql)
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
        connection.execute(&format!("BEGIN;\n{inserts};\n{script};\nCOMMIT")).inspect_err(|_| {
            // Without an open transaction there is nothing to roll back.
            let _ = connection.execute("ROLLBACK");
        })
    }
}
