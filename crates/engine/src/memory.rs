//! Gives memory back: the engine keeps blocks that it has read or written until its limit is reached.

use types::literal;

use crate::{Connection, EngineError};

/// What an instance may keep when it gives memory back.
const KEPT: &str = "16MB";

/// The memory limit of an instance.
#[derive(Debug)]
pub struct MemoryLimit {
    /// As the engine shows it. Read once, since it rounds down each time that it shows one.
    shown: String,
}

impl MemoryLimit {
    /// The limit as it is set now.
    pub fn of(connection: &Connection) -> Result<Self, EngineError> {
        let shown = connection.query_value("SELECT current_setting('memory_limit')")?;
        Ok(Self { shown: shown.into_text().unwrap_or_default() })
    }

    /// Lowers the limit for a moment, so that what is beyond a few megabytes is given back. What is in use stays, and
    /// the limit with it.
    pub fn trim(&self, connection: &Connection) {
        let shown = literal(&self.shown);
        let _ = connection.execute(&format!("SET memory_limit = '{KEPT}'; SET memory_limit = {shown}"));
    }
}
