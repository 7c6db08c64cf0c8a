//! Databases, connections and running statements.

use std::cell::Cell;
use std::ffi::{CStr, CString};
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use libduckdb_sys as ffi;

use super::allocator::give_back_freed;
use super::rows::Rows;
use crate::{EngineError, Value};

/// An in-memory database instance: what everything else is attached to.
pub struct Database {
    raw: ffi::duckdb_database,
    /// Set after an error that invalidated the instance: closing it then would abort the process.
    dead: AtomicBool,
}

// SAFETY: a DuckDB instance may be used from any thread; it locks inside.
unsafe impl Send for Database {}
// SAFETY: as above.
unsafe impl Sync for Database {}

impl Database {
    /// Opens an in-memory instance with the given settings.
    pub fn open(settings: &[(&str, &str)]) -> Result<Self, EngineError> {
        give_back_freed();
        // SAFETY: every pointer is checked or owned here; the configuration is destroyed on all paths.
        unsafe {
            let mut config = ptr::null_mut();
            if ffi::duckdb_create_config(&raw mut config) != ffi::DuckDBSuccess {
                return Err(EngineError::from_text("the engine gave no configuration"));
            }
            let result = Self::open_with(config, settings);
            ffi::duckdb_destroy_config(&raw mut config);
            result
        }
    }

    /// # Safety
    /// `config` must be a live configuration.
    unsafe fn open_with(config: ffi::duckdb_config, settings: &[(&str, &str)]) -> Result<Self, EngineError> {
        for (name, value) in settings {
            let (name_c, value_c) = (c_string(name)?, c_string(value)?);
            // SAFETY: both strings live until the call returns.
            if unsafe { ffi::duckdb_set_config(config, name_c.as_ptr(), value_c.as_ptr()) } != ffi::DuckDBSuccess {
                return Err(EngineError::from_text(&format!("the engine does not accept setting {name}")));
            }
        }
        let (mut raw, mut message) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: out-pointers are valid; the message is freed after it was copied.
        unsafe {
            if ffi::duckdb_open_ext(c":memory:".as_ptr(), &raw mut raw, config, &raw mut message) == ffi::DuckDBSuccess
            {
                return Ok(Self { raw, dead: AtomicBool::new(false) });
            }
            let text = owned_text(message);
            ffi::duckdb_free(message.cast());
            Err(EngineError::from_text(&text))
        }
    }

    /// Opens a connection; it keeps the instance alive.
    pub fn connect(self: &Arc<Self>) -> Result<Connection, EngineError> {
        let mut raw = ptr::null_mut();
        // SAFETY: the instance is alive, the out-pointer valid.
        if unsafe { ffi::duckdb_connect(self.raw, &raw mut raw) } != ffi::DuckDBSuccess {
            return Err(EngineError::from_text("the engine refused a connection"));
        }
        let connection =
            Connection { handle: Arc::new(Handle { raw, database: Arc::clone(self) }), _one_thread: PhantomData };
        connection.execute("SET errors_as_json = true")?;
        Ok(connection)
    }

    /// Version of the linked library, like `v1.5.5`.
    pub fn library_version() -> String {
        // SAFETY: returns a static string.
        unsafe { owned_text(ffi::duckdb_library_version()) }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if !self.dead.load(Ordering::SeqCst) {
            // SAFETY: the last owner; connections hold an Arc, so none is left.
            unsafe { ffi::duckdb_close(&raw mut self.raw) }
        }
    }
}

struct Handle {
    raw: ffi::duckdb_connection,
    database: Arc<Database>,
}

// SAFETY: only interrupting and asking for progress are done from other threads, and both may be.
unsafe impl Send for Handle {}
// SAFETY: as above; statements run through `Connection`, which is not `Sync`.
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        if !self.database.dead.load(Ordering::SeqCst) {
            // SAFETY: the last owner.
            unsafe { ffi::duckdb_disconnect(&raw mut self.raw) }
        }
    }
}

/// A session with the engine. Moves between threads, is used by one at a time.
pub struct Connection {
    handle: Arc<Handle>,
    /// Keeps the connection from being shared: one thread at a time runs statements.
    _one_thread: PhantomData<Cell<()>>,
}

/// Stops what a connection is doing, from any thread.
#[derive(Clone)]
pub struct InterruptHandle {
    handle: Arc<Handle>,
}

impl InterruptHandle {
    /// Interrupts the running statement; without one, does nothing.
    pub fn interrupt(&self) {
        // SAFETY: the handle is alive; the call may come from any thread.
        unsafe { ffi::duckdb_interrupt(self.handle.raw) }
    }
}

impl Connection {
    /// Another connection to the same instance, for another thread.
    pub fn beside(&self) -> Result<Self, EngineError> {
        self.handle.database.connect()
    }

    pub(super) fn raw(&self) -> ffi::duckdb_connection {
        self.handle.raw
    }

    /// Runs one or more statements and discards their results.
    pub fn execute(&self, sql: &str) -> Result<(), EngineError> {
        self.query(sql).map(drop)
    }

    /// Runs one or more statements and returns the last one's result.
    pub fn query(&self, sql: &str) -> Result<Rows, EngineError> {
        let text = sql;
        let sql = c_string(sql)?;
        // SAFETY: an all-zero result is what the C API expects; `Rows` frees it, the error path does it here.
        unsafe {
            let mut result: ffi::duckdb_result = std::mem::zeroed();
            if ffi::duckdb_query(self.handle.raw, sql.as_ptr(), &raw mut result) == ffi::DuckDBSuccess {
                return Ok(Rows::new(result));
            }
            let error = EngineError::of_statement(&owned_text(ffi::duckdb_result_error(&raw mut result)), text);
            ffi::duckdb_destroy_result(&raw mut result);
            if error.is_fatal() {
                self.handle.database.dead.store(true, Ordering::SeqCst);
            }
            Err(error)
        }
    }

    /// The first column of the first row; `Null` if there is no row.
    pub fn query_value(&self, sql: &str) -> Result<Value, EngineError> {
        Ok(self.query(sql)?.into_values().next().map_or(Value::Null, |mut row| row.swap_remove(0)))
    }

    /// The tables named by any statement that the engine can parse, qualified as written (chapter 02 §1.1).
    pub fn table_names(&self, sql: &str) -> Result<Vec<String>, EngineError> {
        let sql = c_string(sql)?;
        // SAFETY: the returned value is a list of texts that is destroyed here, like each of its elements.
        unsafe {
            let mut names = ffi::duckdb_get_table_names(self.handle.raw, sql.as_ptr(), true);
            if names.is_null() {
                return Err(EngineError::from_text("the engine names no tables of this statement"));
            }
            let count = ffi::duckdb_get_list_size(names);
            let mut result = Vec::new();
            for at in 0..count {
                let mut child = ffi::duckdb_get_list_child(names, at);
                let text = ffi::duckdb_get_varchar(child);
                result.push(owned_text(text));
                ffi::duckdb_free(text.cast());
                ffi::duckdb_destroy_value(&raw mut child);
            }
            ffi::duckdb_destroy_value(&raw mut names);
            Ok(result)
        }
    }

    /// A handle that can stop this connection's statements from another thread.
    pub fn interrupt_handle(&self) -> InterruptHandle {
        InterruptHandle { handle: Arc::clone(&self.handle) }
    }
}

fn c_string(text: &str) -> Result<CString, EngineError> {
    CString::new(text).map_err(|_| EngineError::from_text("a statement must not contain a NUL byte"))
}

/// # Safety
/// `text` must be null or a NUL-terminated string.
pub(super) unsafe fn owned_text(text: *const std::ffi::c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: checked above; the caller answers for the rest.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
