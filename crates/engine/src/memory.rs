//! Gives memory back: the engine keeps blocks that it has read or written until its limit is reached.

use types::literal;

use crate::{Connection, EngineError};

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

    /// Lowers the limit to `kept` (a size as the engine reads it) for a moment, so that what is beyond is given back. What
    /// is in use stays, and the limit with it.
    pub fn trim(&self, connection: &Connection, kept: &str) {
        let (kept, shown) = (literal(kept), literal(&self.shown));
        let _ = connection.execute(&format!("SET memory_limit = {kept}; SET memory_limit = {shown}"));
    }
}
