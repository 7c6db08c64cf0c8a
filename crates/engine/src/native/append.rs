//! Carrying a result into a table of another connection, chunk by chunk, without a detour over text.

use std::ffi::CString;
use std::ptr;

use libduckdb_sys as ffi;

use super::Connection;
use super::connection::owned_text;
use super::rows::Rows;
use crate::EngineError;

impl Connection {
    /// Appends texts to the temporary table `table`, which has one column, a VARCHAR. They are never part of a statement.
    pub fn append_texts(&self, table: &str, texts: &[String]) -> Result<(), EngineError> {
        let target = self.appender(table)?;
        for text in texts {
            // SAFETY: the appender is alive; the engine copies so many bytes of the text.
            let is_appended = unsafe {
                ffi::duckdb_append_varchar_length(target.raw, text.as_ptr().cast(), text.len() as ffi::idx_t)
                    == ffi::DuckDBSuccess
                    && ffi::duckdb_appender_end_row(target.raw) == ffi::DuckDBSuccess
            };
            if !is_appended {
                return Err(target.error());
            }
        }
        target.close()
    }

    /// Appends all rows to the temporary table `table`, whose columns have exactly the types of the result,
    /// in the same order. The rows may come from another instance.
    pub fn append(&self, table: &str, rows: &mut Rows) -> Result<(), EngineError> {
        let appender = self.appender(table)?;
        while let Some(chunk) = rows.next_raw_chunk() {
            // SAFETY: both handles are alive; the engine copies the chunk.
            if unsafe { ffi::duckdb_append_data_chunk(appender.raw, chunk.raw()) } != ffi::DuckDBSuccess {
                return Err(appender.error());
            }
        }
        appender.close()
    }

    fn appender(&self, table: &str) -> Result<Appender, EngineError> {
        let name = CString::new(table).map_err(|_| EngineError::from_text("a table's name holds a NUL byte"))?;
        let mut raw = ptr::null_mut();
        // SAFETY: the strings live until the call returns; the appender is owned by `Appender` at once.
        let created = unsafe {
            ffi::duckdb_appender_create_ext(self.raw(), c"temp".as_ptr(), c"main".as_ptr(), name.as_ptr(), &raw mut raw)
        };
        let appender = Appender { raw };
        if created == ffi::DuckDBSuccess { Ok(appender) } else { Err(appender.error()) }
    }
}

struct Appender {
    raw: ffi::duckdb_appender,
}

impl Appender {
    /// Hands over what was appended.
    fn close(self) -> Result<(), EngineError> {
        // SAFETY: the appender is alive.
        if unsafe { ffi::duckdb_appender_close(self.raw) } == ffi::DuckDBSuccess {
            return Ok(());
        }
        Err(self.error())
    }

    fn error(&self) -> EngineError {
        // SAFETY: the text belongs to the appender, which is alive; it is copied.
        EngineError::from_text(&unsafe { owned_text(ffi::duckdb_appender_error(self.raw)) })
    }
}

impl Drop for Appender {
    fn drop(&mut self) {
        // SAFETY: the only owner. What was not flushed by `close` is lost, which is what an error asks for.
        unsafe { ffi::duckdb_appender_destroy(&raw mut self.raw) };
    }
}
