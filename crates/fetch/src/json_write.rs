//! Values as compact JSON: keys in their order, integers exact. What JSON has no form for (times, bytes) becomes the
//! string that it is as VARCHAR.

use std::fmt::Write as _;

use lib_functions::{Cell, CellKind};

use crate::integer::digits;
use crate::refusal::{Refusal, Written};
use crate::{blob, duration, moment};

/// Deepest nesting. A list may hold itself.
const MAX_DEPTH: usize = 512;
/// Longest text, in bytes: as long as the longest response that is read. A list that holds another one many times,
/// several levels deep, is small on the heap and without bound when written out.
pub(crate) const MAX_LENGTH: usize = 1 << 28;

/// Appends the JSON of a value.
pub(crate) fn write(cell: Cell<'_>, out: &mut String) -> Written {
    let limit = out.len().saturating_add(MAX_LENGTH);
    Writer { out, limit }.value(cell, 0)
}

/// A value for people: texts as they are, all else as JSON, as far as it is any. Cut near `limit` bytes.
pub(crate) fn shown(cell: Cell<'_>, limit: usize) -> String {
    let mut out = String::new();
    match cell.kind() {
        CellKind::Text(text) => out.push_str(text),
        CellKind::Float(value) if !value.is_finite() => {
            let _ = write!(out, "{value}");
        }
        CellKind::Other(name) => {
            let _ = write!(out, "<{name}>");
        }
        _ => {
            let refused = Writer { out: &mut out, limit }.value(cell, 0);
            if refused.is_err() {
                out.push('…');
            }
        }
    }
    out.truncate(out.floor_char_boundary(limit));
    out
}

struct Writer<'o> {
    out: &'o mut String,
    limit: usize,
}

impl Writer<'_> {
    fn value(&mut self, cell: Cell<'_>, depth: usize) -> Written {
        if depth > MAX_DEPTH {
            return Err(Refusal::new(format!("it is nested more than {MAX_DEPTH} levels deep, or contains itself")));
        }
        check_length(self.out, self.limit)?;
        match cell.kind() {
            CellKind::List(items) => self.list(&items, depth),
            CellKind::Dict(entries) => self.dict(&entries, depth),
            kind => scalar(&kind, self.out),
        }
    }

    fn list(&mut self, items: &[Cell<'_>], depth: usize) -> Written {
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

    fn dict(&mut self, entries: &[(Cell<'_>, Cell<'_>)], depth: usize) -> Written {
        self.out.push('{');
        for (at, (key, value)) in entries.iter().enumerate() {
            let CellKind::Text(key) = key.kind() else {
                return Err(Refusal::new("a key of a dict is no string"));
            };
            if at > 0 {
                self.out.push(',');
            }
            push_string(self.out, key);
            self.out.push(':');
            self.value(*value, depth + 1).map_err(|refusal| refusal.within(|| format!("[{key:?}]")))?;
        }
        self.out.push('}');
        Ok(())
    }
}

/// Refuses a text that has grown too long.
pub(crate) fn check_length(text: &str, limit: usize) -> Written {
    if text.len() > limit { Err(Refusal::new(format!("its text is longer than {MAX_LENGTH} bytes"))) } else { Ok(()) }
}

/// The JSON of a value that is neither list nor dict.
fn scalar(kind: &CellKind<'_>, out: &mut String) -> Written {
    let mut text = String::new();
    match kind {
        CellKind::Null => out.push_str("null"),
        CellKind::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        CellKind::Int(value) => drop(write!(out, "{value}")),
        CellKind::BigInt(value) => out.push_str(&digits(value)?),
        CellKind::Float(value) if value.is_finite() => drop(write!(out, "{value:?}")),
        CellKind::Float(_) => return Err(Refusal::new("a float is not finite")),
        CellKind::Text(text) => push_string(out, text),
        CellKind::Bytes(bytes) => blob::write(bytes, &mut text),
        CellKind::Time(zoned) => moment::write_shown(zoned, &mut text),
        CellKind::Duration(value) => duration::write_text(value, &mut text)?,
        CellKind::Other(name) => return Err(no_data(name)),
        CellKind::List(_) | CellKind::Dict(_) => return Err(Refusal::new("it is nested")),
    }
    if matches!(kind, CellKind::Bytes(_) | CellKind::Time(_) | CellKind::Duration(_)) {
        push_string(out, &text);
    }
    Ok(())
}

/// For a function, a module or the like.
pub(crate) fn no_data(type_name: &str) -> Refusal {
    Refusal::new(format!("a {type_name} is no data"))
}

/// Appends a string with its quotes.
pub(crate) fn push_string(out: &mut String, text: &str) {
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
