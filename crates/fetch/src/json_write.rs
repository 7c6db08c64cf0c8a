//! Values as compact JSON, where what JSON has no form for (times, bytes) becomes the string that it is as VARCHAR.

use std::fmt::Write as _;

use lib_functions::{Cell, CellKind, MAX_TEXT_BYTES};

use crate::{Refusal, Written, blob, duration, moment};

/// Appends the JSON of a value.
pub(crate) fn write(cell: Cell<'_>, out: &mut String) -> Written {
    let limit = out.len().saturating_add(MAX_TEXT_BYTES);
    cell.write_json(out, limit, as_varchar)
}

fn as_varchar(kind: &CellKind<'_>, out: &mut String) -> Written {
    match kind {
        CellKind::Bytes(bytes) => blob::write(bytes, out),
        CellKind::Time(zoned) => moment::write_shown(zoned, out),
        CellKind::Duration(value) => duration::write_text(value, out)?,
        _ => return Err(Refusal::new("it has no text")),
    }
    Ok(())
}

/// A value for people: texts as they are, all else as JSON, as far as it is any. Cut near `limit` bytes.
pub(crate) fn shown(cell: Cell<'_>, limit: usize) -> String {
    let mut out = String::new();
    match cell.kind() {
        CellKind::Text(text) => out.push_str(text),
        CellKind::Float(value) if !value.is_finite() => drop(write!(out, "{value}")),
        CellKind::Other(name) => drop(write!(out, "<{name}>")),
        _ => {
            if cell.write_json(&mut out, limit, as_varchar).is_err() {
                out.push('…');
            }
        }
    }
    out.truncate(out.floor_char_boundary(limit));
    out
}
