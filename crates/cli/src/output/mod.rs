//! Rows as text: a file per form (chapter 05 §5).

mod csv;
mod json;
mod markdown;
mod panel;

pub(crate) use csv::csv;
pub(crate) use json::json_rows;
pub(crate) use markdown::markdown;
pub(crate) use panel::Panel;

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
