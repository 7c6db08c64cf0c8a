//! The text of a row between the function and the lake: a JSON array of its page, its number in the page, and its
//! values as texts.

use crate::sql::select_list;
use crate::{Carriers, Column};

/// Changes with the form of the texts: what an older version staged is fetched again then.
pub const ROW_FORMAT: u32 = 1;

/// A row's text.
pub(crate) fn row(page: u64, number: u64, carriers: &Carriers) -> String {
    let mut text = format!("[\"{page}\",\"{number}\",");
    let begin = text.len();
    carriers.write_json(&mut text);
    // One array with the place in it, not one inside of another.
    text.remove(begin);
    text
}

/// The query that makes typed rows of the texts in `column` of `table`.
pub fn typed_rows(column: &str, table: &str, columns: &[Column]) -> String {
    // Page and number come before the values, and SQL counts from 1.
    let list = select_list(columns, |at| format!("v[{}]", at + 3));
    format!("SELECT {list} FROM (SELECT {} AS v FROM {table})", list_of(column))
}

/// The relation that [`crate::find_bad_value`] looks through: rows with their place, of texts in `column` of `table`.
pub fn placed_rows(column: &str, table: &str) -> String {
    format!(
        "(SELECT CAST(v[1] AS BIGINT) AS page, CAST(v[2] AS BIGINT) AS \"row\", v[3:] AS c \
         FROM (SELECT {} AS v FROM {table}))",
        list_of(column)
    )
}

/// The texts of `column` of `table`, in their order, with the values of some columns replaced: `replaced` gives for the
/// number of a column, from 0, and the SQL of its carrier the SQL of the new one. A second column comes of what `also`
/// gives for the same.
pub(crate) fn replaced_rows(
    column: &str,
    table: &str,
    count: usize,
    replaced: impl Fn(usize, &str) -> Option<String>,
    also: impl Fn(usize, &str) -> Option<String>,
) -> String {
    let carrier = |at: usize| format!("v[{}]", at + 3);
    let value = |at: usize| replaced(at, &carrier(at)).unwrap_or_else(|| carrier(at));
    let values: String = (0..count).map(|at| format!(", {}", value(at))).collect();
    let also: Vec<String> = (0..count).filter_map(|at| also(at, &carrier(at))).collect();
    format!(
        "SELECT json_array(v[1], v[2]{values})::VARCHAR, hash({}) \
         FROM (SELECT rowid AS place, {} AS v FROM {table}) ORDER BY place",
        also.join(", "),
        list_of(column)
    )
}

fn list_of(column: &str) -> String {
    format!("from_json({column}, '[\"VARCHAR\"]')")
}
