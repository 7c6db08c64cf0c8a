//! A second session on the same engine: a connection of its own that sees what the first one sees.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use engine::{Connection, EngineError, Value};
use types::{literal, quote};

use super::SCHEMA;
use crate::Session;

/// The table through which variables come to another connection, each with its very type.
const VARIABLES: &str = "variables";

impl Session {
    /// Whether queries of other connections can go on while this one commits, and would see what it sees.
    pub(crate) fn can_be_doubled(&self) -> Result<bool, EngineError> {
        Ok(!self.keeps_temporary && lets_read_while_writing(&self.connection, &self.lake)?)
    }

    /// Another session on the same engine, with this one's variables and settings; outside of a transaction.
    pub(crate) fn beside(&self) -> Result<Self, EngineError> {
        let connection = self.connection.beside()?;
        copy_settings(&self.connection, &connection)?;
        copy_variables(&self.connection, &connection)?;
        Ok(Self {
            connection,
            lake: self.lake.clone(),
            metadata: self.metadata.clone(),
            catalogs: self.catalogs.clone(),
            definitions: self.definitions.clone(),
            made_checks: RefCell::default(),
            keeps_temporary: self.keeps_temporary,
            memory_limit: self.memory_limit.clone(),
            spill: Arc::clone(&self.spill),
            stand_in: None,
        })
    }
}

/// A catalog in SQLite without a write-ahead log can be read or written, not both.
fn lets_read_while_writing(connection: &Connection, lake: &str) -> Result<bool, EngineError> {
    let sql = format!("SELECT path FROM system.main.duckdb_databases() WHERE database_name = {}", literal(lake));
    let path = connection.query_value(&sql)?.into_text().unwrap_or_default();
    let Some(file) = path.strip_prefix("sqlite:") else { return Ok(true) };
    // Bytes 18 and 19 of the header: the versions for writing and reading, 2 with a log (sqlite.org/fileformat.html).
    let mut header = [0; 20];
    let is_read = File::open(file).and_then(|mut file| file.read_exact(&mut header)).is_ok();
    Ok(is_read && header[18..] == [2, 2])
}

/// Settings that were made for one connection.
fn copy_settings(from: &Connection, to: &Connection) -> Result<(), EngineError> {
    let settings = |connection: &Connection| -> Result<BTreeSet<(String, String)>, EngineError> {
        let sql = "SELECT name, value FROM duckdb_settings() WHERE scope = 'LOCAL' AND value IS NOT NULL";
        let rows = connection.query(sql)?.into_values();
        let pairs = rows.filter_map(|row| match <[Value; 2]>::try_from(row).ok()? {
            [Value::Text(name), Value::Text(value)] => Some((name, value)),
            _ => None,
        });
        Ok(pairs.collect())
    };
    let there = settings(to)?;
    let differing = settings(from)?.into_iter().filter(|pair| !there.contains(pair));
    // The schema is a part of the search path.
    let set = differing.filter(|(name, _)| name != "schema");
    set.map(|(name, value)| format!("SET SESSION {name} = {}", literal(&value)))
        .try_for_each(|statement| to.execute(&statement))
}

fn copy_variables(from: &Connection, to: &Connection) -> Result<(), EngineError> {
    let names: Vec<String> = from
        .query("SELECT name FROM duckdb_variables()")?
        .into_values()
        .filter_map(|mut row| row.swap_remove(0).into_text())
        .collect();
    let table = format!("{SCHEMA}.{VARIABLES}");
    let values: Vec<String> =
        names.iter().map(|name| format!("getvariable({}) AS {}", literal(name), quote(name))).collect();
    from.execute(&format!("CREATE OR REPLACE TABLE {table} AS SELECT {}", values.join(", ")))?;
    let set =
        |name: &String| to.execute(&format!("SET VARIABLE {} = (SELECT {} FROM {table})", quote(name), quote(name)));
    let copied = names.iter().try_for_each(set);
    from.execute(&format!("DROP TABLE {table}"))?;
    copied
}
