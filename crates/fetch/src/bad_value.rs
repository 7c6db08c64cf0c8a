//! A value that cannot be had in its column's type.

use std::fmt;

use lib_functions::Cell;
use types::printable;

use crate::Column;
use crate::Refusal;
use crate::json_write;

/// Most characters of a value that are shown.
const SHOWN: usize = 100;
/// Most bytes of a value that are kept. More than are shown, so that a secret can be found whole before it is cut.
pub(crate) const KEPT: usize = 8 * 1024;

/// Stands for the value of a masked column.
const MASKED: &str = "(of a masked column)";

/// What fails a model unless its column is declared with `TRY_CAST`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadValue {
    /// The column's name in the target.
    pub column: String,
    /// The key of the rows that the value came under.
    pub source: String,
    /// The declared type.
    pub type_name: String,
    /// The value: texts as they are, all else as JSON. May hold secrets and be some kilobytes long: show
    /// [`BadValue::shown`] instead.
    pub value: String,
    /// Why, without the value.
    pub reason: String,
}

impl BadValue {
    pub(crate) fn new(column: &Column, value: String, refusal: &Refusal) -> Self {
        Self {
            column: column.alias.clone(),
            source: column.source.clone(),
            type_name: column.sql_type.clone(),
            value: if column.is_masked { MASKED.to_owned() } else { value },
            reason: refusal.to_string(),
        }
    }

    pub(crate) fn of_cell(column: &Column, cell: Cell<'_>, refusal: &Refusal) -> Self {
        Self::new(column, json_write::shown(cell, KEPT), refusal)
    }

    /// The value without secrets and without what would steer a terminal, shortened to 100 characters. Secrets are taken
    /// out before, as half of one would not be recognized.
    pub fn shown(&self, redact: impl FnOnce(&str) -> String) -> String {
        printable(&shortened(&redact(&self.value), SHOWN))
    }

    /// The message for people, without secrets.
    pub fn message(&self, redact: impl FnOnce(&str) -> String) -> String {
        let Self { column, source, type_name, reason, .. } = self;
        let key = if source == column { String::new() } else { format!(" (from {source:?})") };
        format!("column {column:?}{key}: the value {} is not valid for {type_name}: {reason}", self.shown(redact))
    }
}

impl fmt::Display for BadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message(str::to_owned))
    }
}

/// A text with so many characters at the most.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::BadValue;

    fn bad(value: &str) -> BadValue {
        BadValue {
            column: "total".into(),
            source: "Total".into(),
            type_name: "INTEGER".into(),
            value: value.into(),
            reason: "it is no number".into(),
        }
    }

    #[test]
    fn a_message_names_the_column_the_value_and_the_type() {
        assert_eq!(
            bad("abc").to_string(),
            "column \"total\" (from \"Total\"): the value abc is not valid for INTEGER: it is no number"
        );
    }

    #[test]
    fn a_long_value_is_cut_after_secrets_are_taken_out() {
        let value = format!("{}secret", "é".repeat(97));
        let shown = bad(&value).shown(|text| text.replace("secret", "[REDACTED]"));
        assert_eq!(shown, format!("{}[RE…", "é".repeat(97)));
        assert_eq!(bad(&"é".repeat(100)).shown(str::to_owned), "é".repeat(100));
    }

    #[test]
    fn a_value_does_not_steer_the_terminal_that_it_is_shown_on() {
        let shown = bad("\u{1b}[31mX\0\r\u{202e}y").shown(str::to_owned);
        assert_eq!(shown, "\u{fffd}[31mX\u{fffd}\u{fffd}\u{fffd}y");
    }
}
