//! Results as text: a file per form (chapter 05 §5).

mod counts;
mod csv;
mod frame;
pub(crate) mod graph;
mod grid;
mod json;
mod keys;
mod markdown;
mod measure;
mod panel;
mod sheet;

pub(crate) use counts::{bytes, count};
pub(crate) use csv::{csv, csv_line};
pub(crate) use frame::Frame;
pub(crate) use grid::{Cell, Column, Grid};
pub(crate) use json::json_rows;
pub(crate) use keys::Keys;
pub(crate) use markdown::markdown;
pub(crate) use measure::pad;
pub(crate) use panel::Panel;
pub(crate) use sheet::Sheet;

/// A result whose values are the engine's texts; `None` is NULL.
pub(crate) struct TextTable {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Option<String>>>,
}

impl TextTable {
    pub(crate) fn read(rows: engine::Rows) -> Self {
        let columns = rows.columns().to_vec();
        let rows = rows.into_values().map(|row| row.into_iter().map(engine::Value::into_text).collect()).collect();
        Self { columns, rows }
    }
}
