//! What the engine's functions do to rows, as far as planning deltas asks.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use engine::{Connection, Database, EngineError, Value};
use model::code_words;
use query::Functions;

/// The functions, read when they are asked for first.
#[derive(Default)]
pub(crate) struct KnownFunctions(RefCell<Option<Rc<Functions>>>);

impl KnownFunctions {
    /// Outside of a transaction: the engine's list looks into every attached database, and one that cannot
    /// be opened would take the transaction with it. Then an engine without any tells its own functions.
    pub(crate) fn get(&self, connection: &Connection) -> Result<Rc<Functions>, EngineError> {
        if let Some(functions) = self.0.borrow().as_ref() {
            return Ok(Rc::clone(functions));
        }
        let functions = match read_functions(connection) {
            Ok((aggregates, _)) => Functions { aggregates, scalars: None },
            Err(error @ EngineError::Sql { .. }) if !error.is_fatal() => {
                let (aggregates, scalars) = read_functions(&Arc::new(Database::open(&[])?).connect()?)?;
                Functions { aggregates, scalars: Some(scalars) }
            }
            Err(error) => return Err(error),
        };
        let functions = Rc::new(functions);
        *self.0.borrow_mut() = Some(Rc::clone(&functions));
        Ok(functions)
    }

    /// An extension brought others.
    pub(crate) fn forget(&self) {
        *self.0.borrow_mut() = None;
    }
}

/// Aggregates, and macros that stand for one or for a window; and all other functions that make values.
fn read_functions(connection: &Connection) -> Result<(BTreeSet<String>, BTreeSet<String>), EngineError> {
    let sql = "SELECT DISTINCT lower(function_name), function_type, macro_definition FROM duckdb_functions() \
               WHERE function_type IN ('aggregate', 'macro', 'scalar')";
    let (mut aggregates, mut scalars) = (BTreeSet::new(), BTreeSet::new());
    let mut macros: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in connection.query(sql)?.into_values() {
        match &row[..] {
            [Value::Text(name), Value::Text(kind), _] if kind == "aggregate" => {
                aggregates.insert(name.clone());
            }
            [Value::Text(name), Value::Text(kind), _] if kind == "scalar" => {
                scalars.insert(name.clone());
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
            scalars.extend(macros.into_keys().filter(|name| !aggregates.contains(name)));
            return Ok((aggregates, scalars));
        }
        aggregates.extend(more);
    }
}
