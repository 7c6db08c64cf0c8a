//! A DuckDB file, attached to the session as `state`.

use engine::{EngineError, Instance, MemoryLimit, Rows};

use super::{Backend, BackendKind, Load, load_into};

/// A request is large from so many bytes on …
const LARGE_BYTES: usize = 256 << 10;
/// … or, if it asks, so many rows.
const LARGE_ROWS: u64 = 1_000;

/// The temporary table of a script's texts.
const TEXTS: &str = "__ondatra_texts";

/// The file's session.
pub(crate) struct File {
    instance: Instance,
    limit: MemoryLimit,
    /// Whether the next script reads the table of texts.
    has_texts: bool,
}

impl File {
    /// The session of an instance that has the file attached.
    pub(crate) fn new(instance: Instance) -> Result<Self, EngineError> {
        // Requests are small: more threads cost memory and save no time.
        instance.connection.execute("USE state; SET threads = 1")?;
        let limit = MemoryLimit::of(&instance.connection)?;
        Ok(Self { instance, limit, has_texts: false })
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

    /// Many are no part of the script: the engine would read each byte of them as SQL, and then once more as JSON.
    fn texts(&mut self, texts: &[String]) -> Result<String, EngineError> {
        if texts.iter().map(String::len).sum::<usize>() < LARGE_BYTES {
            return Ok(self.kind().dialect().texts(texts));
        }
        let connection = &self.instance.connection;
        connection.execute(&format!("CREATE OR REPLACE TEMP TABLE {TEXTS} (text VARCHAR)"))?;
        connection.append_texts(TEXTS, texts)?;
        self.has_texts = true;
        Ok(format!("(SELECT text, rowid + 1 AS ord FROM temp.main.{TEXTS})"))
    }

    fn query_local(&mut self, sql: &str) -> Result<Rows, EngineError> {
        self.instance.connection.query(sql)
    }

    fn transfer(&mut self, inserts: &[String], script: &str) -> Result<(), EngineError> {
        let connection = &self.instance.connection;
        let inserts = inserts.join(";\n");
        let is_large = !inserts.is_empty() || self.has_texts || script.len() >= LARGE_BYTES;
        let done = connection.execute(&format!("BEGIN;\n{inserts};\n{script};\nCOMMIT")).inspect_err(|_| {
            // Without an open transaction there is nothing to roll back.
            let _ = connection.execute("ROLLBACK");
        });
        if self.has_texts && done.is_ok() {
            // It is temporary in any case, and the next texts replace it.
            let _ = connection.execute(&format!("DROP TABLE IF EXISTS temp.main.{TEXTS}"));
            self.has_texts = false;
        }
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
