//! Gives memory back: the engine keeps blocks that it has read or written until its limit is reached.

use types::literal;

use crate::{Connection, EngineError};

/// What an instance may keep when it gives memory back.
const KEPT: &str = "16MB";

/// The memory limit of an instance.
#[derive(Debug, Clone)]
pub struct MemoryLimit {
    /// As the engine shows it. Read once, since it rounds down each time that it shows one.
    shown: String,
    bytes: u64,
}

impl MemoryLimit {
    /// The limit as it is set now.
    pub fn of(connection: &Connection) -> Result<Self, EngineError> {
        // Where a lake is current, a function without its schema is looked for in it first: that asks for its snapshot.
        let shown = connection.query_value("SELECT system.main.current_setting('memory_limit')")?;
        let shown = shown.into_text().unwrap_or_default();
        let sql = format!("SELECT system.main.parse_formatted_bytes({})", literal(&shown));
        let bytes = connection.query_value(&sql)?;
        let bytes = bytes.as_i64().and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(u64::MAX);
        Ok(Self { shown, bytes })
    }

    /// The limit, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Lowers the limit for a moment, so that what is beyond a few megabytes is given back. What is in use stays, and
    /// the limit with it.
    pub fn trim(&self, connection: &Connection) {
        let shown = literal(&self.shown);
        let _ = connection.execute(&format!("SET memory_limit = '{KEPT}'; SET memory_limit = {shown}"));
    }
}
