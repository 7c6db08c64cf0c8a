//! Masked columns of a model that fetches: what becomes of their types, and what masks pages before they are staged.

use engine::{Connection, EngineError, Value};
use fetch::{Column, PageMasker};
use materialize::{MaterializeError, output_place};
use model::{Mask, Model};
use types::{literal, quote};
use validate::{masked_column, masked_type};

use crate::{RunError, Session};

/// Where the session's variables are while another connection takes them over.
const VARIABLES: &str = "memory.main.__ondatra_variables";

/// The masks of a model that fetches.
pub(crate) struct FetchMasks {
    /// The function of each column.
    functions: Vec<Option<String>>,
    /// The columns as they are staged, and in the table.
    pub stored: Vec<Column>,
}

impl FetchMasks {
    /// Finds the masked ones among `columns`, and marks them.
    pub fn plan(session: &Session, model: &Model, columns: &mut [Column]) -> Result<Self, RunError> {
        let mut masks = Self { functions: vec![None; columns.len()], stored: columns.to_vec() };
        for mask in session.masks(model) {
            let aliases = columns.iter().map(|column| column.alias.as_str());
            let at = masked_column(&mask, aliases).map_err(|error| refused(model, error))?;
            masks.stored[at] = masked(session, model, &mask, &columns[at])?;
            columns[at].is_masked = true;
            masks.functions[at] = Some(mask.sql());
        }
        Ok(masks)
    }

    /// Masks the pages of a fetch of `columns`; nothing if none of them is masked.
    pub fn masker(&self, session: &Session, columns: &[Column]) -> Result<Option<PageMasker>, EngineError> {
        if self.functions.iter().all(Option::is_none) {
            return Ok(None);
        }
        // Looking for a function asks every database on the path, and the lake is busy with the models that run meanwhile.
        // Only a macro that reads one of its tables by a short name needs it there.
        let narrow = PageMasker::new(beside(session, "memory.main")?, columns, &self.functions);
        let wide = || {
            let path = format!("{}.main,memory.main", quote(&session.lake));
            PageMasker::new(beside(session, &path)?, columns, &self.functions)
        };
        narrow.or_else(|_| wide()).map(Some)
    }
}

/// The column as its function gives it.
fn masked(session: &Session, model: &Model, mask: &Mask, column: &Column) -> Result<Column, RunError> {
    let (function, type_name) = (mask.sql(), &column.sql_type);
    // Of a NULL that is no column's the engine forgets the type.
    let values = format!("(SELECT CAST(NULL AS {type_name}) AS v)");
    let sql = format!("SELECT column_type FROM (DESCRIBE SELECT {function}(v) AS masked FROM {values})");
    let type_name = session.connection.query_value(&sql).map_err(|error| {
        let (column, function) = (mask.column.clone(), mask.function.clone());
        refused(model, MaterializeError::Mask { column, function, error })
    })?;
    let type_name = type_name.into_text().unwrap_or_default();
    masked_type(model, mask, &type_name).map_err(|finding| RunError::refused(&finding))?;
    // It is simple, or was refused.
    Ok(column.masked(&type_name).unwrap_or_else(|| column.clone()))
}

fn refused(model: &Model, error: MaterializeError) -> RunError {
    let place = output_place(model, &error, |_| None).map(Box::new);
    RunError::Statement { error, place }
}

/// A connection on which functions give what they give in the session: with its variables and its time zone.
fn beside(session: &Session, search_path: &str) -> Result<Connection, EngineError> {
    let (connection, other) = (&session.connection, session.connection.beside()?);
    let zone = connection.query_value("SELECT current_setting('TimeZone')")?.into_text().unwrap_or_default();
    other.execute(&format!("SET search_path = {}; SET TimeZone = {}", literal(search_path), literal(&zone)))?;
    let names = connection.query("SELECT name FROM duckdb_variables()")?.into_values();
    let names: Vec<String> = names.filter_map(|mut row| row.pop().and_then(Value::into_text)).collect();
    if names.is_empty() {
        return Ok(other);
    }
    let values: Vec<String> =
        names.iter().map(|name| format!("getvariable({}) AS {}", literal(name), quote(name))).collect();
    connection.execute(&format!("CREATE OR REPLACE TABLE {VARIABLES} AS SELECT {}", values.join(", ")))?;
    let set = |name: &String| format!("SET VARIABLE {name} = (SELECT {name} FROM {VARIABLES});", name = quote(name));
    let taken = other.execute(&names.iter().map(set).collect::<String>());
    connection.execute(&format!("DROP TABLE {VARIABLES}"))?;
    taken.map(|()| other)
}
