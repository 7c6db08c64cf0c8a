//! One argument of a directive: which value it passes to the macro (chapter 01 §4.2).

use types::literal;

use crate::check::ParamKind;
use crate::contained::{is_contained, is_table};

/// A value that a macro is called with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    /// A number, in SQL's spelling.
    Number(String),
    /// A text.
    Text(String),
}

/// The comparisons.
pub(crate) const OPERATORS: [&str; 6] = [">=", "<=", ">", "<", "=", "!="];

impl Argument {
    /// Reads an argument, without the blanks around it.
    pub(crate) fn read(written: &str) -> Self {
        if OPERATORS.contains(&written) {
            return Self::Text(written.to_owned());
        }
        if is_number(written) {
            return Self::Number(written.to_owned());
        }
        for (unit, word) in [('h', "HOUR"), ('d', "DAY")] {
            if let Some(count) = written.strip_suffix(unit).filter(|count| is_number(count)) {
                return Self::Text(format!("{count} {word}"));
            }
        }
        Self::Text(quoted(written).unwrap_or_else(|| written.to_owned()))
    }

    /// What the value is as a text, if that differs from what is written without quotes: `007` is the number 7, `5d` a time.
    pub(crate) fn changed_from(&self, written: &str) -> Option<String> {
        match self {
            Self::Text(text) => (text != written && quoted(written).is_none()).then(|| text.clone()),
            Self::Number(number) => {
                let (sign, digits) = if let Some(digits) = number.strip_prefix('-') {
                    ("-", digits)
                } else {
                    ("", number.trim_start_matches('+'))
                };
                let (whole, fraction) =
                    digits.split_once('.').map_or((digits, None), |(whole, part)| (whole, Some(part)));
                let whole = whole.trim_start_matches('0');
                let whole = if whole.is_empty() { "0" } else { whole };
                let fraction =
                    fraction.filter(|part| !part.is_empty()).map_or_else(String::new, |part| format!(".{part}"));
                let shown = format!("{sign}{whole}{fraction}");
                (shown != written).then_some(shown)
            }
        }
    }

    /// The value as a text.
    pub fn written(&self) -> String {
        let (Self::Number(text) | Self::Text(text)) = self;
        text.clone()
    }

    /// The SQL expression of the value.
    pub fn sql(&self) -> String {
        match self {
            // A sign binds weaker than what may follow it.
            Self::Number(number) => format!("({number})"),
            Self::Text(text) => literal(text),
        }
    }

    /// Why a shipped check cannot take it there, if it cannot: as SQL text it would be more than what it stands for.
    pub(crate) fn refusal(&self, kind: ParamKind) -> Option<&'static str> {
        let Self::Text(text) = self else {
            return matches!(kind, ParamKind::Table | ParamKind::Type).then_some("is a number");
        };
        let fits = match kind {
            ParamKind::Expression | ParamKind::Expressions | ParamKind::Type => is_contained(text),
            ParamKind::Table => is_table(text),
            _ => true,
        };
        match kind {
            _ if fits => None,
            ParamKind::Table => Some("is no table"),
            ParamKind::Type => Some("is no type"),
            _ => Some("is no complete expression"),
        }
    }
}

/// A sign, digits, a point and digits; at least one digit.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    is_digits(whole) && is_digits(fraction) && !(whole.is_empty() && fraction.is_empty())
}

/// What stands in a text that is one pair of quotes from end to end.
fn quoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let unpaired = inner.replace("''", "").contains('\'');
    (!unpaired).then(|| inner.replace("''", "'"))
}

#[cfg(test)]
mod tests {
    use super::Argument::{self, Number, Text};

    #[test]
    fn what_is_written_and_what_is_passed() {
        for (written, passed) in [
            (">=", Text(">=".into())),
            ("!=", Text("!=".into())),
            ("<>", Text("<>".into())),
            ("5", Number("5".into())),
            ("-3", Number("-3".into())),
            ("+.5", Number("+.5".into())),
            ("1.", Number("1.".into())),
            (".", Text(".".into())),
            ("-", Text("-".into())),
            ("1.2.3", Text("1.2.3".into())),
            ("1e3", Text("1e3".into())),
            ("24h", Text("24 HOUR".into())),
            ("7d", Text("7 DAY".into())),
            ("1.5h", Text("1.5 HOUR".into())),
            ("d", Text("d".into())),
            ("5D", Text("5D".into())),
            ("'text'", Text("text".into())),
            ("'O''Brien'", Text("O'Brien".into())),
            ("''", Text(String::new())),
            ("''''", Text("'".into())),
            ("'", Text("'".into())),
            ("'a' || 'b'", Text("'a' || 'b'".into())),
            ("", Text(String::new())),
            ("true", Text("true".into())),
            ("NULL", Text("NULL".into())),
            ("%@%", Text("%@%".into())),
            ("a > 0", Text("a > 0".into())),
            ("\"My Col\"", Text("\"My Col\"".into())),
        ] {
            assert_eq!(Argument::read(written), passed, "{written}");
        }
    }

    #[test]
    fn what_is_passed_as_another_text_is_told() {
        for (written, passed) in [
            ("007", Some("7")),
            ("+1.50", Some("1.50")),
            ("-.5", Some("-0.5")),
            ("0", None),
            ("-3", None),
            ("1.", Some("1")),
            ("5d", Some("5 DAY")),
            ("'5d'", None),
            ("'007'", None),
            (">=", None),
            ("a", None),
        ] {
            assert_eq!(Argument::read(written).changed_from(written).as_deref(), passed, "{written}");
        }
    }

    #[test]
    fn a_value_is_one_sql_literal() {
        assert_eq!(Argument::read("-3").sql(), "(-3)");
        assert_eq!(Argument::read("'it''s'").sql(), "'it''s'");
    }
}
