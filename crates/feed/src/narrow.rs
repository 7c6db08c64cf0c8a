//! A column in which the changed rows lie close together, by which both versions of a table can be looked
//! up instead of reading what was deleted: the feed's list of deletions reads whole files (measured).

use engine::{EngineError, Value};
use types::{Target, literal, quote};

use crate::Window;
use crate::columns::Paired;

/// More inserted rows than this are not looked up: reading the deletions then costs less.
pub(crate) const ROWS_MAX: i64 = 100_000;

/// Columns that are tried.
const COLUMNS_MAX: usize = 16;

/// How much of the table's range the changed rows may span.
const SHARE_MAX: f64 = 0.05;

/// A column with the range of its values in the changed rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Narrow {
    /// Its place among the columns.
    pub at: usize,
    /// Least value, as text.
    pub least: String,
    /// Greatest value, as text.
    pub greatest: String,
}

impl Window<'_> {
    /// The first column whose values in `rows`, a relation of inserted rows, span little of the table's.
    pub(crate) fn narrow_column(
        &self,
        table: &Target,
        columns: &[Paired],
        rows: &str,
    ) -> Result<Option<Narrow>, EngineError> {
        let Some(id) = self.ids(table).1 else { return Ok(None) };
        let tried: Vec<(usize, &Paired)> =
            columns.iter().enumerate().filter(|(_, paired)| number(paired, "").is_some()).take(COLUMNS_MAX).collect();
        for (at, paired) in tried {
            let (name, type_name) = (quote(&paired.column.name), &paired.column.type_name);
            let of = |value: &str| number(paired, value).unwrap_or_default();
            let stats = format!(
                "SELECT s.min_value, s.max_value FROM {metadata}.ducklake_table_column_stats s \
                 JOIN {metadata}.ducklake_column c ON c.table_id = s.table_id AND c.column_id = s.column_id \
                 WHERE s.table_id = {id} AND c.end_snapshot IS NULL AND lower(c.column_name) = lower({})",
                literal(&paired.column.name),
                metadata = self.metadata
            );
            let sql = format!(
                "SELECT least::VARCHAR, greatest::VARCHAR FROM (SELECT min({name}) AS least, max({name}) AS greatest \
                 FROM {rows} HAVING count(*) = count({name})), ({stats}) \
                 WHERE {} - {} <= {SHARE_MAX} * ({} - {})",
                of("greatest"),
                of("least"),
                of(&format!("TRY_CAST(max_value AS {type_name})")),
                of(&format!("TRY_CAST(min_value AS {type_name})"))
            );
            let found = self.connection.query(&sql)?.into_values().next();
            if let Some([Value::Text(least), Value::Text(greatest)]) = found.as_deref() {
                return Ok(Some(Narrow { at, least: least.clone(), greatest: greatest.clone() }));
            }
        }
        Ok(None)
    }
}

impl Narrow {
    /// The condition that keeps of a version what may equal a row of `rows`: the range lets the engine pass
    /// over whole parts of files.
    pub(crate) fn condition(&self, columns: &[Paired], rows: &str) -> String {
        let column = &columns[self.at].column;
        let (name, type_name) = (quote(&column.name), &column.type_name);
        let bound = |text: &str| format!("CAST({} AS {type_name})", literal(text));
        let (least, greatest) = (bound(&self.least), bound(&self.greatest));
        format!("{name} BETWEEN {least} AND {greatest} AND {name} IN (SELECT {name} FROM {rows})")
    }
}

/// A value of the column as a number; `None` for a type of which a range says nothing. Only such types
/// compare by identity.
fn number(paired: &Paired, value: &str) -> Option<String> {
    match paired.column.type_name.as_str() {
        "TINYINT" | "SMALLINT" | "INTEGER" | "BIGINT" | "UTINYINT" | "USMALLINT" | "UINTEGER" | "UBIGINT" => {
            Some(format!("({value})::DOUBLE"))
        }
        "DATE" | "TIMESTAMP" | "TIMESTAMP WITH TIME ZONE" => Some(format!("epoch({value})")),
        _ => None,
    }
}
