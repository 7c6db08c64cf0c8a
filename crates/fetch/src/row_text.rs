//! The text of a row between the function and the lake: a JSON array of its page and its values as texts.

use crate::Carriers;

/// A row's text.
pub(crate) fn row(page: u64, carriers: &Carriers) -> String {
    let mut text = format!("[\"{page}\",");
    let begin = text.len();
    carriers.write_json(&mut text);
    // One array with the page in it, not one inside of another.
    text.remove(begin);
    text
}

/// The SQL that makes a list of texts of a row's text.
pub fn list_of(column: &str) -> String {
    format!("from_json({column}, '[\"VARCHAR\"]')")
}

/// The SQL of a value in such a list: the page is the first.
pub fn value_in(list: &str, column: usize) -> String {
    format!("{list}[{}]", column + 2)
}

/// The relation that [`crate::find_bad_value`] looks through: rows with their place, of texts in `column` of `table`.
pub fn placed_rows(column: &str, table: &str) -> String {
    format!(
        "(SELECT page, row_number() OVER (PARTITION BY page ORDER BY n) AS \"row\", c FROM (SELECT CAST(v[1] AS BIGINT) \
         AS page, v[2:] AS c, n FROM (SELECT {} AS v, row_number() OVER () AS n FROM {table})))",
        list_of(column)
    )
}
