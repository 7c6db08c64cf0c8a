//! Kind `append`: rows are only ever added (chapter 02 §3.1).

use engine::{Connection, EngineError};

use crate::refill::insert_statement;
use crate::result::ModelResult;

/// Adds the rows of the result; without any nothing is written, so that those below see no change.
pub(crate) fn append(connection: &Connection, table: &str, result: &ModelResult) -> Result<i64, EngineError> {
    if result.rows > 0 {
        connection.execute(&insert_statement(table, result))?;
    }
    Ok(result.rows)
}
