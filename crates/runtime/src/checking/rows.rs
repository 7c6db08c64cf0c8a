//! The rows at fault: how many, and the first few.

use checks::Call;
use engine::{Connection, EngineError, Value};
use model::{Model, code_words};
use types::quote;

use crate::checking::FailingRows;
use materialize::key_columns;

/// Rows that are shown.
const ROWS_MAX: usize = 3;
/// Columns that are shown, if neither keys nor the check name that many.
const COLUMNS_MAX: usize = 4;
/// Characters of a value that are shown.
const CHARACTERS_MAX: usize = 60;

/// The rows of `table` that a check found, where they can be told.
///
/// They are only shown: an error here must not hide the finding.
pub(crate) fn failing_rows(connection: &Connection, model: &Model, call: &Call, table: &str) -> Option<FailingRows> {
    let rows = call.rows(table)?;
    read(connection, model, call, &rows).ok().filter(|rows| rows.count > 0)
}

fn read(connection: &Connection, model: &Model, call: &Call, rows: &str) -> Result<FailingRows, EngineError> {
    let count = connection.query_value(&format!("SELECT count(*) FROM {rows}"))?.as_i64().unwrap_or_default();
    let names = connection.query(&format!("SELECT column_name FROM (DESCRIBE SELECT * FROM {rows})"))?;
    let names: Vec<String> = names.into_values().filter_map(|mut row| row.pop()?.into_text()).collect();
    let columns = shown_columns(&names, &key_columns(model), &call.written.value);
    let texts: Vec<String> = columns.iter().map(|column| format!("{}::VARCHAR", quote(column))).collect();
    let sql = format!("SELECT {} FROM {rows} ORDER BY ALL LIMIT {ROWS_MAX}", texts.join(", "));
    let sample = connection.query(&sql)?.into_values();
    let sample = sample.map(|row| row.into_iter().map(Value::into_text).map(|text| text.map(shortened)).collect());
    Ok(FailingRows { count, columns, sample: sample.collect() })
}

/// The columns that tell a row: its keys, and those that the check names; the first ones, where that is none.
fn shown_columns(names: &[String], keys: &[String], directive: &str) -> Vec<String> {
    // A quoted argument holds names, too.
    let whole = code_words(directive);
    let within = whole.iter().flat_map(|word| code_words(word)).collect::<Vec<_>>();
    let words: Vec<String> = whole.into_iter().chain(within).collect();
    let is_key = |name: &String| keys.iter().any(|key| key.eq_ignore_ascii_case(name));
    let is_named = |name: &String| words.contains(&name.to_lowercase());
    let mut shown: Vec<String> = names.iter().filter(|name| is_key(name)).cloned().collect();
    shown.extend(names.iter().filter(|name| !is_key(name) && is_named(name)).cloned());
    if keys.is_empty() {
        // Without a key these say which row it is.
        let more: Vec<String> = names.iter().filter(|name| !shown.contains(name)).cloned().collect();
        let room = COLUMNS_MAX.saturating_sub(shown.len());
        shown.extend(more.into_iter().take(room));
        shown.sort_by_key(|name| names.iter().position(|other| other == name));
    }
    shown
}

fn shortened(text: String) -> String {
    cut(text, CHARACTERS_MAX)
}

/// The text, with at most so many characters.
pub(crate) fn cut(text: String, characters_max: usize) -> String {
    match text.char_indices().nth(characters_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::{shortened, shown_columns};

    #[test]
    fn keys_and_named_columns_are_shown_or_else_the_first_ones() {
        let names = ["a", "b", "My Col", "d", "e", "f"].map(str::to_owned);
        let shown = |keys: &[&str], directive: &str| {
            let keys: Vec<String> = keys.iter().map(|&key| key.to_owned()).collect();
            shown_columns(&names, &keys, directive).join("|")
        };
        assert_eq!(shown(&["B"], "not_null(\"My Col\")"), "b|My Col");
        assert_eq!(shown(&["b"], "check(x, 'a > 1')"), "b|a");
        assert_eq!(shown(&[], "not_null(f)"), "a|b|My Col|f");
        assert_eq!(shown(&[], "row_count(>, 1)"), "a|b|My Col|d");
    }

    #[test]
    fn long_values_are_cut_at_characters() {
        assert_eq!(shortened("é".repeat(61)), format!("{}…", "é".repeat(60)));
        assert_eq!(shortened("é".repeat(60)), "é".repeat(60));
    }
}
