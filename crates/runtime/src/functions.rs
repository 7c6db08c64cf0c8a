//! What the engine's functions do to rows, as far as planning deltas asks.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use engine::{Connection, Database, EngineError, EngineParser, Value};
use model::{SqlParser, SyntaxTree, TreeError};
use query::{Functions, sees_other_rows};

/// The functions, read when they are asked for first.
#[derive(Default)]
pub(crate) struct KnownFunctions(RefCell<Option<Arc<Functions>>>);

impl KnownFunctions {
    /// Outside of a transaction: the engine's list looks into every attached database, and one that cannot
    /// be opened would take the transaction with it. Then an engine without any tells its own functions.
    pub(crate) fn get(&self, connection: &Connection) -> Result<Arc<Functions>, EngineError> {
        if let Some(functions) = self.0.borrow().as_ref() {
            return Ok(Arc::clone(functions));
        }
        let functions = match read_functions(connection) {
            Ok((aggregates, _)) => Functions { aggregates, scalars: None },
            Err(error @ EngineError::Sql { .. }) if !error.is_fatal() => {
                let (aggregates, scalars) = read_functions(&Arc::new(Database::open(&[])?).connect()?)?;
                Functions { aggregates, scalars: Some(scalars) }
            }
            Err(error) => return Err(error),
        };
        let functions = Arc::new(functions);
        *self.0.borrow_mut() = Some(Arc::clone(&functions));
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
    let mut macros: Vec<(String, String)> = Vec::new();
    for row in connection.query(sql)?.into_values() {
        match &row[..] {
            [Value::Text(name), Value::Text(kind), _] if kind == "aggregate" => {
                aggregates.insert(name.clone());
            }
            [Value::Text(name), Value::Text(kind), _] if kind == "scalar" => {
                scalars.insert(name.clone());
            }
            [Value::Text(name), _, Value::Text(definition)] => macros.push((name.clone(), definition.clone())),
            _ => {}
        }
    }
    let mut functions = Functions { aggregates, scalars: None };
    add_macros(connection, &macros, &mut functions);
    let plain = macros.into_iter().map(|(name, _)| name).filter(|name| !functions.aggregates.contains(name));
    scalars.extend(plain);
    Ok((functions.aggregates, scalars))
}

/// Adds the macros that stand for an aggregate or a window, until there are no more: they call each other.
fn add_macros(connection: &Connection, macros: &[(String, String)], functions: &mut Functions) {
    let expressions: Vec<String> = macros.iter().map(|(_, definition)| format!("SELECT {definition}")).collect();
    let texts: Vec<&str> = expressions.iter().map(String::as_str).collect();
    let trees = EngineParser(connection).trees(&texts);
    loop {
        let stands_for_one = |tree: &Result<SyntaxTree, TreeError>| {
            tree.as_ref().map_or(true, |tree| sees_other_rows(tree, functions).is_some())
        };
        let known = |name: &String| functions.aggregates.contains(name);
        let more = macros.iter().zip(&trees).filter(|((name, _), tree)| !known(name) && stands_for_one(tree));
        let more: Vec<String> = more.map(|((name, _), _)| name.clone()).collect();
        if more.is_empty() {
            return;
        }
        functions.aggregates.extend(more);
    }
}
