//! Finds the value that only the engine can tell to be bad: the text `abc` for a UUID, a day that no calendar has.

use std::fmt::Write as _;

use engine::{Connection, EngineError, Value};

use crate::Refusal;
use crate::bad_value::KEPT;
use crate::sql::cast;
use crate::{BadValue, Column};

/// A bad value with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundBadValue {
    /// The page, as the table numbers them.
    pub page: i64,
    /// The row, as the table numbers them.
    pub row: i64,
    /// The value, as its carrier has it.
    pub bad: BadValue,
}

/// The first value, by page, row and column, that the engine cannot cast; `None` if it can cast all. Columns with
/// `TRY_CAST` have no bad values.
///
/// `table` is the SQL of a relation with the columns `page BIGINT, "row" BIGINT, c VARCHAR[]`. It is read once: in all
/// pages it takes about as long as the cast itself, so that it is better asked after the cast has failed.
pub fn find_bad_value(
    connection: &Connection,
    table: &str,
    columns: &[Column],
) -> Result<Option<FoundBadValue>, EngineError> {
    let Some(sql) = query(table, columns) else { return Ok(None) };
    let mut rows = connection.query(&sql)?.into_values();
    Ok(rows.next().and_then(|row| found(&row, columns)))
}

fn query(table: &str, columns: &[Column]) -> Option<String> {
    let mut cases = String::new();
    for (at, column) in columns.iter().enumerate().filter(|(_, column)| !column.is_try) {
        let carrier = format!("c[{}]", at + 1);
        let value = cast(column, false, &carrier);
        let _ = write!(cases, " WHEN {carrier} IS NOT NULL AND TRY({value}) IS NULL THEN {at}");
    }
    if cases.is_empty() {
        return None;
    }
    Some(format!(
        "SELECT page, \"row\", bad, left(c[bad + 1], {KEPT}) FROM (SELECT page, \"row\", c, CASE{cases} END AS bad \
         FROM {table}) WHERE bad IS NOT NULL ORDER BY page, \"row\" LIMIT 1"
    ))
}

fn found(row: &[Value], columns: &[Column]) -> Option<FoundBadValue> {
    let [page, number, at, value] = row else { return None };
    let column = columns.get(usize::try_from(at.as_i64()?).ok()?)?;
    let refusal = Refusal::new("the engine cannot cast it");
    let bad = BadValue::new(column, value.as_text()?.to_owned(), &refusal);
    Some(FoundBadValue { page: page.as_i64()?, row: number.as_i64()?, bad })
}
