//! Writes values as JSON: compact, integers exact, nothing escaped that JSON allows as it is.

use std::fmt::Write as _;

use num_bigint::BigInt;
use starlark::values::dict::DictRef;
use starlark::values::float::StarlarkFloat;
use starlark::values::{Heap, UnpackValue, Value, ValueLike};

use crate::host_value::{MAX_DEPTH, elements};

/// Longest text that is written, in bytes: as long as the longest response that is read. A list that holds another one
/// many times, several levels deep, is small on the heap and without bound when written out.
const MAX_LENGTH: usize = 1 << 28;

/// The order of the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// By code points.
    Sorted,
    /// As they were put into the dict.
    #[allow(dead_code)]
    Insertion,
}

/// Why a value is not JSON, and where in the value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", place(.path))]
pub(crate) struct EncodeError {
    message: String,
    /// Innermost first.
    path: Vec<String>,
}

fn place(path: &[String]) -> String {
    match path {
        [] => String::new(),
        [.., _] => format!(" (at {})", path.iter().rev().map(String::as_str).collect::<String>()),
    }
}

impl EncodeError {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), path: Vec::new() }
    }

    fn within(mut self, step: impl FnOnce() -> String) -> Self {
        const SHOWN: usize = 8;
        if self.path.len() < SHOWN {
            self.path.push(step());
        }
        self
    }
}

/// The compact JSON text of a value: None, bools, ints of any size, finite floats, strings, lists, tuples, sets,
/// ranges and dicts with string keys.
///
/// # Errors
/// When it holds anything else, or has no end.
pub(crate) fn to_text<'v>(value: Value<'v>, heap: Heap<'v>, style: Style) -> Result<String, EncodeError> {
    Writer { text: String::new(), heap, style, limit: MAX_LENGTH }.finish(value)
}

struct Writer<'v> {
    text: String,
    heap: Heap<'v>,
    style: Style,
    limit: usize,
}

impl<'v> Writer<'v> {
    fn finish(mut self, value: Value<'v>) -> Result<String, EncodeError> {
        self.value(value, 0)?;
        Ok(self.text)
    }

    fn value(&mut self, value: Value<'v>, depth: usize) -> Result<(), EncodeError> {
        if depth > MAX_DEPTH {
            return Err(EncodeError::new(format!(
                "the value is nested more than {MAX_DEPTH} levels deep, or contains itself"
            )));
        }
        if self.text.len() > self.limit {
            return Err(EncodeError::new(format!("the text is longer than {} bytes", self.limit)));
        }
        if let Some(text) = value.unpack_str() {
            write_string(&mut self.text, text);
            return Ok(());
        }
        if let Some(dict) = DictRef::from_value(value) {
            return self.dict(&dict, depth);
        }
        if let Some(items) = elements(value, self.heap) {
            return self.list(&items, depth);
        }
        self.scalar(value)
    }

    fn list(&mut self, items: &[Value<'v>], depth: usize) -> Result<(), EncodeError> {
        self.text.push('[');
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.text.push(',');
            }
            self.value(*item, depth + 1).map_err(|error| error.within(|| format!("[{at}]")))?;
        }
        self.text.push(']');
        Ok(())
    }

    fn dict(&mut self, dict: &DictRef<'v>, depth: usize) -> Result<(), EncodeError> {
        let mut entries = Vec::with_capacity(dict.len());
        for (key, value) in dict.iter() {
            let Some(key) = key.unpack_str() else {
                return Err(EncodeError::new(format!("a key of a dict must be str, not {}", key.get_type())));
            };
            entries.push((key, value));
        }
        if self.style == Style::Sorted {
            entries.sort_unstable_by_key(|entry| entry.0);
        }
        self.text.push('{');
        for (at, (key, value)) in entries.into_iter().enumerate() {
            if at > 0 {
                self.text.push(',');
            }
            write_string(&mut self.text, key);
            self.text.push(':');
            self.value(value, depth + 1).map_err(|error| error.within(|| format!("[{key:?}]")))?;
        }
        self.text.push('}');
        Ok(())
    }

    fn scalar(&mut self, value: Value<'v>) -> Result<(), EncodeError> {
        if value.is_none() {
            self.text.push_str("null");
        } else if let Some(value) = value.unpack_bool() {
            self.text.push_str(if value { "true" } else { "false" });
        } else if let Some(value) = value.unpack_i32() {
            let _ = write!(self.text, "{value}");
        } else if let Ok(Some(value)) = BigInt::unpack_value(value) {
            let _ = write!(self.text, "{value}");
        } else if let Some(StarlarkFloat(value)) = value.downcast_ref() {
            if !value.is_finite() {
                return Err(EncodeError::new(format!("the float {value} is not finite")));
            }
            // The shortest digits that read back as the same float; always with a point or an exponent.
            let _ = write!(self.text, "{value:?}");
        } else {
            return Err(EncodeError::new(format!("a value of type {} is not JSON", value.get_type())));
        }
        Ok(())
    }
}

/// Writes a string with its quotes.
pub(super) fn write_string(out: &mut String, text: &str) {
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
            _ => {
                let _ = write!(out, "\\u{byte:04x}");
            }
        }
    }
    out.push_str(&text[plain..]);
    out.push('"');
}

/// A valid JSON text with one value a line; every line but the first begins with the prefix. Numbers and strings stay
/// as they are written.
pub(super) fn indented(text: &str, prefix: &str, indent: &str) -> String {
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
    use super::super::testing::with_value;
    use super::*;

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
            Writer { text: String::new(), heap, style: Style::Sorted, limit: 1000 }.finish(value).unwrap_err()
        });
        assert!(error.to_string().starts_with("the text is longer than 1000 bytes"), "{error}");
    }
}
