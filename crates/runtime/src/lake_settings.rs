//! Settings under which DuckLake's own queries mean something else: they reach the connections on which it reads its
//! catalog.

use engine::{Connection, EngineError};
use model::code_words;
use types::literal;

/// A setting that the lake does not stand.
#[derive(Debug)]
pub(crate) struct Unbearable {
    pub name: &'static str,
    /// What the engine tells of it then, in any case.
    values: &'static [&'static str],
    pub why: &'static str,
    pub help: &'static str,
}

/// With `default_order` columns of new tables are read in the reverse order, so that rows land in the wrong columns where
/// types let them. With `immediate_transaction_mode` a catalog is asked before its transaction knows its name.
const UNBEARABLE: [Unbearable; 2] = [
    Unbearable {
        name: "default_order",
        values: &["DESC", "DESCENDING"],
        why: "DuckLake reads the columns of tables in that order, so that rows would land in the wrong columns",
        help: "remove the statement, and write ORDER BY … DESC where a query needs it",
    },
    Unbearable {
        name: "immediate_transaction_mode",
        values: &["true"],
        why: "DuckLake cannot read its catalog with it",
        help: "remove the statement",
    },
];

/// Runs a statement of the configuration; the setting that the lake does not stand, if it made one.
pub(crate) fn execute(connection: &Connection, statement: &str) -> Result<Option<&'static Unbearable>, EngineError> {
    connection.execute(statement)?;
    let words = code_words(statement);
    for setting in UNBEARABLE.iter().filter(|setting| words.iter().any(|word| word == setting.name)) {
        let sql = format!("SELECT system.main.current_setting({})::VARCHAR", literal(setting.name));
        let told = connection.query_value(&sql)?.into_text().unwrap_or_default();
        if setting.values.iter().any(|value| told.eq_ignore_ascii_case(value)) {
            return Ok(Some(setting));
        }
    }
    Ok(None)
}
