//! `lookup()`: values of the lake's rows, from a session of its own beside the run's.

use std::sync::{Mutex, PoisonError};

use engine::{Connection, EngineError, Value};
use lib_functions::{HostValue, Lookup};
use types::{literal, quote};

use crate::cursor::has_column;

/// A connection that scripts may ask.
pub(crate) struct LakeLookup {
    connection: Mutex<Connection>,
    lake: String,
}

impl LakeLookup {
    pub(crate) fn new(connection: Connection, lake: &str) -> Self {
        Self { connection: Mutex::new(connection), lake: lake.to_owned() }
    }
}

impl Lookup for LakeLookup {
    fn lookup(
        &self,
        table: &str,
        key: &str,
        value: &str,
        keys: &[HostValue],
    ) -> Result<Vec<(usize, HostValue)>, String> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let (schema, name) = table.split_once('.').unwrap_or(("main", table));
        let exists = format!(
            "SELECT count(*) FROM duckdb_tables() WHERE database_name = {} AND lower(schema_name) = lower({}) \
             AND lower(table_name) = lower({})",
            literal(&self.lake),
            literal(schema),
            literal(name)
        );
        let is_there = connection.query_value(&exists).map_err(|error| error.cleaned())?.as_i64() != Some(0);
        if !is_there || keys.is_empty() {
            return Ok(Vec::new());
        }
        let wanted: Vec<String> =
            keys.iter().enumerate().map(|(at, key)| format!("({at}, {})", key_literal(key))).collect();
        let written = [key, value];
        let (key, value) = (quote(key), quote(value));
        // Of several rows with one key the newest counts, also if its value is NULL.
        let sql = format!(
            "SELECT w.number, arg_max_null(t.{value}, t.rowid) FROM (VALUES {}) AS w(number, \"key\") \
             JOIN {}.{}.{} AS t ON CAST(t.{key} AS VARCHAR) = w.\"key\" GROUP BY w.number ORDER BY w.number",
            wanted.join(", "),
            quote(&self.lake),
            quote(schema),
            quote(name)
        );
        let failed = |error: EngineError| {
            let table = format!("{}.{}.{}", quote(&self.lake), quote(schema), quote(name));
            let is_missing = |column: &&&str| has_column(&connection, &table, column).is_ok_and(|has| !has);
            match written.iter().find(is_missing) {
                Some(column) => format!("the table {schema}.{name} has no column \"{column}\""),
                None => error.cleaned(),
            }
        };
        let rows = connection.query(&sql).map_err(failed)?;
        let read = |mut row: Vec<Value>| {
            let found = host_value(row.swap_remove(1));
            (row[0].as_i64().and_then(|at| usize::try_from(at).ok()).unwrap_or(0), found)
        };
        Ok(rows.into_values().map(read).collect())
    }
}

fn key_literal(key: &HostValue) -> String {
    match key {
        HostValue::Text(text) => literal(text),
        HostValue::Int(int) => literal(&int.to_string()),
        _ => "NULL".to_owned(),
    }
}

fn host_value(value: Value) -> HostValue {
    match value {
        Value::Null => HostValue::None,
        Value::Bool(flag) => HostValue::Bool(flag),
        Value::Float(float) => HostValue::Float(f64::from(float)),
        Value::Double(float) => HostValue::Float(float),
        Value::Blob(bytes) => HostValue::Bytes(bytes),
        other => match other.as_i64() {
            Some(int) => HostValue::int(int),
            None => HostValue::Text(other.as_text().map_or_else(|| json(&other), str::to_owned)),
        },
    }
}

/// What holds others, as JSON.
fn json(value: &Value) -> String {
    let mut text = String::new();
    value.write_json(&mut text);
    text
}
