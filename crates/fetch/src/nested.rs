//! Values of nested types: the carrier is JSON in which every simple value is the string that carries it.
//!
//! With `is_try`, a bad value inside is null at its place, as with DuckDB's `TRY_CAST`; a bad key spoils the whole map.

use std::collections::HashSet;

use lib_functions::{Cell, CellKind, MAX_TEXT_BYTES, push_json_string};

use crate::keys;
use crate::scalar::no_data;
use crate::shape::Shape;
use crate::{Refusal, Written};

/// Appends the carrier of a value, which is not `None`.
pub(crate) fn write<'v>(shape: &Shape, cell: Cell<'v>, kind: &CellKind<'v>, is_try: bool, out: &mut String) -> Written {
    if let Shape::Scalar(scalar) = shape {
        return scalar.write(cell, kind, out);
    }
    let limit = out.len().saturating_add(MAX_TEXT_BYTES);
    Writer { out, is_try, limit, text: String::new() }.value(shape, cell, kind)
}

struct Writer<'o> {
    out: &'o mut String,
    is_try: bool,
    limit: usize,
    /// Room for a simple value, before it is quoted.
    text: String,
}

impl Writer<'_> {
    /// A value inside another.
    fn part(&mut self, shape: &Shape, cell: Option<Cell<'_>>) -> Written {
        let kind = cell.map_or(CellKind::Null, Cell::kind);
        let start = self.out.len();
        let Some(cell) = cell.filter(|_| !matches!(kind, CellKind::Null)) else {
            self.out.push_str("null");
            return Ok(());
        };
        match self.value(shape, cell, &kind) {
            Err(_) if self.is_try => {
                self.out.truncate(start);
                self.out.push_str("null");
            }
            written => written?,
        }
        if self.out.len() > self.limit { Err(Refusal::new("the text is too long")) } else { Ok(()) }
    }

    fn value<'v>(&mut self, shape: &Shape, cell: Cell<'v>, kind: &CellKind<'v>) -> Written {
        match shape {
            Shape::Scalar(scalar) => {
                self.text.clear();
                scalar.write(cell, kind, &mut self.text)?;
                push_json_string(self.out, &self.text);
                Ok(())
            }
            Shape::List(item) => self.list(item, &list(cell, kind)?),
            Shape::Array(item, length) => {
                let items = list(cell, kind)?;
                if items.len() != *length {
                    return Err(Refusal::new(format!("it has {} elements, not {length}", items.len())));
                }
                self.list(item, &items)
            }
            Shape::Struct(fields) => self.fields(fields, &dict(cell, kind)?),
            Shape::Map(key, value) => self.map(key, value, &dict(cell, kind)?),
        }
    }

    fn list(&mut self, item: &Shape, cells: &[Cell<'_>]) -> Written {
        self.out.push('[');
        for (at, cell) in cells.iter().enumerate() {
            self.comma(at);
            self.part(item, Some(*cell)).map_err(|refusal| refusal.within(|| format!("[{at}]")))?;
        }
        self.out.push(']');
        Ok(())
    }

    fn fields(&mut self, fields: &[(String, Shape)], entries: &[Entry<'_>]) -> Written {
        let named: Vec<(&str, Cell)> = entries
            .iter()
            .filter_map(|(key, value)| match key.kind() {
                CellKind::Text(key) => Some((key, *value)),
                _ => None,
            })
            .collect();
        self.out.push('{');
        for (at, (name, shape)) in fields.iter().enumerate() {
            self.comma(at);
            push_json_string(self.out, name);
            self.out.push(':');
            let found = match keys::find(named.iter().copied(), name) {
                Err(_) if self.is_try => Ok(None),
                found => found,
            };
            let written = found.and_then(|cell| self.part(shape, cell));
            written.map_err(|refusal| refusal.within(|| format!(".{name}")))?;
        }
        self.out.push('}');
        Ok(())
    }

    fn map(&mut self, key_shape: &Shape, shape: &Shape, entries: &[Entry<'_>]) -> Written {
        let Shape::Scalar(key_scalar) = key_shape else {
            return Err(Refusal::new("keys of a map that are nested themselves cannot be read"));
        };
        let mut seen = HashSet::with_capacity(entries.len());
        self.out.push('{');
        for (at, (key, value)) in entries.iter().enumerate() {
            let mut text = String::new();
            let kind = key.kind();
            if matches!(kind, CellKind::Null) {
                return Err(Refusal::new("a key of a map is None"));
            }
            key_scalar.write(*key, &kind, &mut text).map_err(|refusal| refusal.within(|| "[a key]".into()))?;
            self.comma(at);
            push_json_string(self.out, &text);
            self.out.push(':');
            self.part(shape, Some(*value)).map_err(|refusal| refusal.within(|| "[a value]".into()))?;
            if !seen.insert(text) {
                return Err(Refusal::new("two keys of a map become the same"));
            }
        }
        self.out.push('}');
        Ok(())
    }

    fn comma(&mut self, at: usize) {
        if at > 0 {
            self.out.push(',');
        }
    }
}

type Entry<'v> = (Cell<'v>, Cell<'v>);

/// The elements of a list, also of one in JSON.
fn list<'v>(cell: Cell<'v>, kind: &CellKind<'v>) -> Written<Vec<Cell<'v>>> {
    match kind {
        CellKind::List(items) => Ok(items.clone()),
        CellKind::Text(text) => match cell.from_json(text).map(Cell::kind) {
            Ok(CellKind::List(items)) => Ok(items),
            _ => Err(Refusal::new("its text is no JSON array")),
        },
        CellKind::Other(name) => Err(no_data(name)),
        _ => Err(Refusal::new("it is no list")),
    }
}

/// The entries of a dict, also of one in JSON.
fn dict<'v>(cell: Cell<'v>, kind: &CellKind<'v>) -> Written<Vec<Entry<'v>>> {
    match kind {
        CellKind::Dict(entries) => Ok(entries.clone()),
        CellKind::Text(text) => match cell.from_json(text).map(Cell::kind) {
            Ok(CellKind::Dict(entries)) => Ok(entries),
            _ => Err(Refusal::new("its text is no JSON object")),
        },
        CellKind::Other(name) => Err(no_data(name)),
        _ => Err(Refusal::new("it is no dict")),
    }
}
