//! Masks the values of pages before their rows are staged (chapter 01 §4.6): the state never has them in clear.
//!
//! Boundary: the caller hands in a connection of its own, on which the functions are known.

use std::sync::{Mutex, PoisonError};

use engine::{Connection, EngineError, Value};
use query::DeclaredType;

use crate::row_text::{placed_rows, replaced_rows};
use crate::sql::cast;
use crate::{Column, FetchError, find_bad_value};

/// The temporary table of a page's texts.
const PAGE: &str = "__ondatra_page";

/// Masks columns of one fetch.
pub struct PageMasker {
    connection: Mutex<Connection>,
    /// The columns as they are fetched. Those that are not masked count as lenient: their casts come later.
    columns: Vec<Column>,
    /// Gives the masked texts of the table.
    sql: String,
}

impl PageMasker {
    /// Masks those of `columns` for which `functions`, of the same length, names a function as SQL calls it.
    ///
    /// # Errors
    /// A function does not exist on the connection, or does not take the values of its column.
    pub fn new(connection: Connection, columns: &[Column], functions: &[Option<String>]) -> Result<Self, EngineError> {
        let function = |at: usize| functions.get(at)?.as_ref();
        let typed = |at: usize, carrier: &str| cast(&columns[at], columns[at].is_try, carrier);
        let masked = |at: usize, carrier: &str| Some(format!("{}({})::VARCHAR", function(at)?, typed(at, carrier)));
        // A function that does not look at its values leaves them uncast, and a bad one unnoticed.
        let cast_at_least = |at: usize, carrier: &str| function(at).map(|_| typed(at, carrier));
        let sql = replaced_rows("\"row\"", &page(), columns.len(), masked, cast_at_least);
        connection.execute(&format!("CREATE OR REPLACE TEMP TABLE {PAGE} (\"row\" VARCHAR)"))?;
        connection.query(&sql)?;
        let lenient = |(at, column): (usize, &Column)| {
            let is_masked = functions.get(at).is_some_and(Option::is_some);
            Column { is_try: column.is_try || !is_masked, is_masked, ..column.clone() }
        };
        let columns = columns.iter().enumerate().map(lenient).collect();
        Ok(Self { connection: Mutex::new(connection), columns, sql })
    }

    /// The texts of rows with what is to be masked masked.
    ///
    /// # Errors
    /// A value that is not of its column's type, and whatever the functions do not take; neither shows a value.
    pub(crate) fn mask(&self, rows: &[String], redact: impl FnOnce(&str) -> String) -> Result<Vec<String>, FetchError> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = |error: EngineError| FetchError::Mask(error.without_values(&self.sql));
        connection.execute(&format!("CREATE OR REPLACE TEMP TABLE {PAGE} (\"row\" VARCHAR)")).map_err(failed)?;
        connection.append_texts(PAGE, rows).map_err(failed)?;
        let masked = connection.query(&self.sql).map_err(|error| self.explained(&connection, error, redact))?;
        let masked = masked.into_values().filter_map(|row| row.into_iter().next().and_then(Value::into_text)).collect();
        connection.execute(&format!("DROP TABLE {PAGE}")).map_err(failed)?;
        Ok(masked)
    }

    /// The value that could not be converted, if that is why it failed.
    fn explained(
        &self,
        connection: &Connection,
        error: EngineError,
        redact: impl FnOnce(&str) -> String,
    ) -> FetchError {
        match find_bad_value(connection, &placed_rows("\"row\"", &page()), &self.columns) {
            Ok(Some(found)) => {
                let whole = |number: i64| u64::try_from(number).unwrap_or(0);
                let (page, row) = (whole(found.page), whole(found.row));
                FetchError::Value { page, row, message: found.bad.message(redact) }
            }
            _ => FetchError::Mask(error.without_values(&self.sql)),
        }
    }
}

impl Column {
    /// The column once it is masked, `type_name` being what its function gives; `None` if texts cannot carry that
    /// exactly.
    pub fn masked(&self, type_name: &str) -> Option<Self> {
        let declared = DeclaredType::parse(type_name);
        let is_simple = declared.is_simple();
        let column = Self { declared, sql_type: type_name.to_owned(), is_try: false, is_masked: false, ..self.clone() };
        is_simple.then_some(column)
    }
}

fn page() -> String {
    format!("temp.main.{PAGE}")
}
