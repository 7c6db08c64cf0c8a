//! What the engine's functions do to rows, as far as planning deltas asks.

use std::collections::{BTreeMap, BTreeSet};

use engine::{Connection, EngineError, Value};
use model::code_words;
use query::Functions;

/// Aggregates, and macros that stand for one or for a window.
pub(crate) fn read_functions(connection: &Connection) -> Result<Functions, EngineError> {
    let sql = "SELECT DISTINCT lower(function_name), function_type, macro_definition FROM duckdb_functions() \
               WHERE function_type IN ('aggregate', 'macro')";
    let mut aggregates = BTreeSet::new();
    let mut macros: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in connection.query(sql)?.into_values() {
        match &row[..] {
            [Value::Text(name), Value::Text(kind), _] if kind == "aggregate" => {
                aggregates.insert(name.clone());
            }
            [Value::Text(name), _, Value::Text(definition)] => {
                macros.entry(name.clone()).or_default().extend(code_words(definition));
            }
            _ => {}
        }
    }
    // Macros call each other: until nothing is added any more.
    loop {
        let stands_for_one = |words: &Vec<String>| words.iter().any(|word| word == "over" || aggregates.contains(word));
        let more: Vec<String> = macros
            .iter()
            .filter(|(name, words)| !aggregates.contains(*name) && stands_for_one(words))
            .map(|(name, _)| name.clone())
            .collect();
        if more.is_empty() {
            return Ok(Functions { aggregates });
        }
        aggregates.extend(more);
    }
}
