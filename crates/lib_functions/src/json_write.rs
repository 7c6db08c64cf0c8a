//! Writes values as JSON: compact, integers exact, nothing escaped that JSON allows as it is.

use std::fmt::Write as _;

use num_bigint::BigInt;
use starlark::values::{Heap, Value};

use crate::bounds::{Excess, MAX_DIGITS, MAX_TEXT_BYTES, check_bits};
use crate::cell::{Cell, CellKind};
use crate::host_value::MAX_DEPTH;
use crate::refusal::Refusal;

/// The order of the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// By code points.
    Sorted,
    /// As they were put into the dict.
    Insertion,
}

/// Appends the text that stands, as a string, for what JSON has no form for: bytes, a time or a duration.
pub type WriteOther = fn(&CellKind<'_>, &mut String) -> Result<(), Refusal>;

/// The digits of an integer.
///
/// # Errors
/// When there are more of them than can be written in sensible time.
pub fn digits(value: &BigInt) -> Result<String, Refusal> {
    check_bits(value.bits()).map_err(|_| Refusal::new(format!("it has more than {MAX_DIGITS} digits")))?;
    Ok(value.to_string())
}

/// The compact JSON text of a value: None, bools, ints, finite floats, strings, lists, tuples, sets, ranges and dicts
/// with string keys.
///
/// # Errors
/// When it holds anything else, or has no end.
pub(crate) fn to_text<'v>(value: Value<'v>, heap: Heap<'v>, style: Style) -> Result<String, Refusal> {
    let mut out = String::new();
    Writer { out: &mut out, style, limit: MAX_TEXT_BYTES, other: None }.value(Cell::new(value, heap), 0)?;
    Ok(out)
}

pub(crate) struct Writer<'o> {
    pub(crate) out: &'o mut String,
    pub(crate) style: Style,
    /// Longest text, with what was there before.
    pub(crate) limit: usize,
    pub(crate) other: Option<WriteOther>,
}

impl Writer<'_> {
    pub(crate) fn value(&mut self, cell: Cell<'_>, depth: usize) -> Result<(), Refusal> {
        if depth > MAX_DEPTH {
            return Err(Refusal::new(Excess::Deep.to_string()));
        }
        if self.out.len() > self.limit {
            return Err(Refusal::new("the text is too long"));
        }
        match cell.kind() {
            CellKind::List(items) => self.list(&items, depth),
            CellKind::Dict(entries) => self.dict(&entries, depth),
            kind => self.scalar(cell, &kind),
        }
    }

    fn list(&mut self, items: &[Cell<'_>], depth: usize) -> Result<(), Refusal> {
        self.out.push('[');
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            self.value(*item, depth + 1).map_err(|refusal| refusal.within(|| format!("[{at}]")))?;
        }
        self.out.push(']');
        Ok(())
    }

    fn dict(&mut self, entries: &[(Cell<'_>, Cell<'_>)], depth: usize) -> Result<(), Refusal> {
        let mut named = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let CellKind::Text(name) = key.kind() else {
                return Err(Refusal::new(format!("a key of a dict must be str, not {}", key.type_name())));
            };
            named.push((name, *value));
        }
        if self.style == Style::Sorted {
            named.sort_unstable_by_key(|entry| entry.0);
        }
        self.out.push('{');
        for (at, (name, value)) in named.into_iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            push_json_string(self.out, name);
            self.out.push(':');
            self.value(value, depth + 1).map_err(|refusal| refusal.within(|| format!("[{name:?}]")))?;
        }
        self.out.push('}');
        Ok(())
    }

    fn scalar(&mut self, cell: Cell<'_>, kind: &CellKind<'_>) -> Result<(), Refusal> {
        match (kind, self.other) {
            (CellKind::Null, _) => self.out.push_str("null"),
            (CellKind::Bool(value), _) => self.out.push_str(if *value { "true" } else { "false" }),
            (CellKind::Int(value), _) => drop(write!(self.out, "{value}")),
            (CellKind::BigInt(value), _) => self.out.push_str(&digits(value)?),
            // The shortest digits that read back as the same float; always with a point or an exponent.
            (CellKind::Float(value), _) if value.is_finite() => drop(write!(self.out, "{value:?}")),
            (CellKind::Float(value), _) => return Err(Refusal::new(format!("the float {value} is not finite"))),
            (CellKind::Text(text), _) => push_json_string(self.out, text),
            (CellKind::Bytes(_) | CellKind::Time(_) | CellKind::Duration(_), Some(other)) => {
                let mut text = String::new();
                other(kind, &mut text)?;
                push_json_string(self.out, &text);
            }
            _ => return Err(Refusal::new(format!("a value of type {} is not JSON", cell.type_name()))),
        }
        Ok(())
    }
}

/// Appends a string with its quotes.
pub fn push_json_string(out: &mut String, text: &str) {
    out.push('"');
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate().filter(|(_, byte)| matches!(byte, b'"' | b'\\' | 0..=0x1f)) {
        out.push_str(&text[plain..at]);
        plain = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            _ => drop(write!(out, "\\u{byte:04x}")),
        }
    }
    out.push_str(&text[plain..]);
    out.push('"');
}

/// A valid JSON text with one value a line; every line but the first begins with the prefix. Numbers and strings stay
/// as they are written.
pub(crate) fn indented(text: &str, prefix: &str, indent: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0;
    let mut in_string = false;
    let mut escaped = false;
    let mut just_opened = false;
    for character in text.chars() {
        if in_string {
            out.push(character);
            in_string = escaped || character != '"';
            escaped = !escaped && character == '\\';
            continue;
        }
        if matches!(character, ' ' | '\t' | '\r' | '\n') {
            continue;
        }
        let closes = matches!(character, ']' | '}');
        depth -= usize::from(closes);
        if just_opened != closes {
            new_line(&mut out, prefix, indent, depth);
        }
        just_opened = matches!(character, '[' | '{');
        depth += usize::from(just_opened);
        in_string = character == '"';
        out.push(character);
        match character {
            ',' => new_line(&mut out, prefix, indent, depth),
            ':' => out.push(' '),
            _ => {}
        }
    }
    out
}

fn new_line(out: &mut String, prefix: &str, indent: &str, depth: usize) {
    out.push('\n');
    out.push_str(prefix);
    out.extend(std::iter::repeat_n(indent, depth));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtins::testing::with_value;

    #[test]
    fn keys_stay_in_their_order_or_are_sorted() {
        let texts = with_value("{'b': 1, 'a': {'d': 1, 'c': 2}}", |value, heap| {
            [Style::Insertion, Style::Sorted].map(|style| to_text(value, heap, style).unwrap())
        });
        assert_eq!(texts, ["{\"b\":1,\"a\":{\"d\":1,\"c\":2}}", "{\"a\":{\"c\":2,\"d\":1},\"b\":1}"]);
    }

    #[test]
    fn a_text_without_end_is_an_error() {
        let script = "def f():\n    x = [1]\n    for _ in range(100):\n        x = [x] * 100\n    return x\nf()";
        let error = with_value(script, |value, heap| {
            let mut writer = Writer { out: &mut String::new(), style: Style::Sorted, limit: 1000, other: None };
            writer.value(Cell::new(value, heap), 0).unwrap_err()
        });
        assert!(error.to_string().starts_with("the text is too long"), "{error}");
    }

    #[test]
    fn an_integer_that_would_take_hours_to_write_is_refused() {
        assert!(digits(&(BigInt::from(1) << 100_000_000)).is_err());
        assert_eq!(digits(&(BigInt::from(1) << 1_000)).unwrap().len(), 302);
    }
}
