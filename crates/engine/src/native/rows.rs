//! Query results, decoded chunk by chunk.

use libduckdb_sys as ffi;

use super::connection::owned_text;
use super::decode::{LogicalType, Vector};
use crate::Value;

/// A query's result.
pub struct Rows {
    result: ffi::duckdb_result,
    columns: Vec<String>,
    types: Vec<LogicalType>,
}

// SAFETY: a materialized result is plain memory; it is used by one thread at a time.
unsafe impl Send for Rows {}

impl Rows {
    /// # Safety
    /// `result` must be a successful result; it is owned from here on.
    pub(super) unsafe fn new(mut result: ffi::duckdb_result) -> Self {
        // SAFETY: the result is alive; indexes stay below its column count.
        unsafe {
            let count = ffi::duckdb_column_count(&raw mut result);
            let types: Vec<LogicalType> =
                (0..count).map(|at| LogicalType::own(ffi::duckdb_column_logical_type(&raw mut result, at))).collect();
            let columns = (0..count).map(|at| owned_text(ffi::duckdb_column_name(&raw mut result, at))).collect();
            Self { result, columns, types }
        }
    }

    /// Names of the result's columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// How many rows there are in all.
    pub fn len(&self) -> u64 {
        let mut result = self.result;
        // SAFETY: the result is alive; the call reads it.
        unsafe { ffi::duckdb_row_count(&raw mut result) }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Columns of types that can only be read after a cast to text.
    pub fn undecodable(&self) -> Vec<&str> {
        self.columns
            .iter()
            .zip(&self.types)
            .filter(|(_, logical)| !logical.is_decodable())
            .map(|(name, _)| name.as_str())
            .collect()
    }

    /// The next rows, some thousand at a time; `None` at the end.
    pub fn next_chunk(&mut self) -> Option<Vec<Vec<Value>>> {
        let chunk = self.next_raw_chunk()?;
        // SAFETY: the vectors do not outlive their chunk.
        unsafe {
            let size = usize::try_from(ffi::duckdb_data_chunk_get_size(chunk.raw())).unwrap_or(0);
            let vectors: Vec<Vector<'_>> = (0..)
                .zip(&self.types)
                .map(|(at, logical)| Vector::new(ffi::duckdb_data_chunk_get_vector(chunk.raw(), at), logical))
                .collect();
            // Every row is below the chunk's size.
            Some((0..size).map(|row| vectors.iter().map(|vector| vector.value(row)).collect()).collect())
        }
    }

    /// The next chunk as the engine holds it; `None` at the end.
    pub(super) fn next_raw_chunk(&mut self) -> Option<Chunk> {
        // SAFETY: the result is alive; the chunk is owned from here on.
        let raw = unsafe { ffi::duckdb_fetch_chunk(self.result) };
        (!raw.is_null()).then_some(Chunk { raw })
    }

    /// All rows, one after the other.
    pub fn into_values(mut self) -> impl Iterator<Item = Vec<Value>> {
        std::iter::from_fn(move || self.next_chunk()).flatten()
    }
}

/// Some rows in the engine's memory.
pub(super) struct Chunk {
    raw: ffi::duckdb_data_chunk,
}

impl Chunk {
    pub(super) fn raw(&self) -> ffi::duckdb_data_chunk {
        self.raw
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // SAFETY: the only owner.
        unsafe { ffi::duckdb_destroy_data_chunk(&raw mut self.raw) };
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        // SAFETY: owned since `new`.
        unsafe { ffi::duckdb_destroy_result(&raw mut self.result) }
    }
}
