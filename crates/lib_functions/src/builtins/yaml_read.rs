//! Reads the first document of a YAML text. What aliases stand for is copied, within a bound; depth is bounded too.

use std::collections::{HashMap, HashSet};

use saphyr_parser::{Event, Parser};
use starlark::values::Heap;

use super::json::{Style, to_text};
use super::yaml_scalar;
use crate::host_value::{HostValue, MAX_DEPTH};

/// Most that anchors and aliases may add to a document, in values and bytes of text.
const MAX_COPIED: usize = 10_000_000;

/// Reads the first document.
pub(super) fn read(text: &str, heap: Heap) -> Result<HostValue, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Some(character) = text.chars().find(|c| matches!(c, '\0'..='\x08' | '\x0b' | '\x0c' | '\x0e'..='\x1f')) {
        return Err(format!("the character {character:?} is not allowed in YAML"));
    }
    let mut parser = Parser::new_from_str(text);
    let mut document = Document { heap, open: Vec::new(), anchors: HashMap::new(), copied: 0, root: HostValue::None };
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| at(error.marker(), error.info()))?;
        match event {
            // What stands behind the document must begin another one.
            Event::DocumentEnd => {
                if let Some(Err(error)) = parser.next_event() {
                    return Err(at(error.marker(), error.info()));
                }
                break;
            }
            event => document.take(event).map_err(|problem| at(&span.start, &problem))?,
        }
    }
    Ok(document.root)
}

fn at(marker: &saphyr_parser::Marker, problem: &str) -> String {
    format!("line {}, column {}: {problem}", marker.line(), marker.col() + 1)
}

/// A list or a mapping that is not closed yet, with the number of its anchor, 0 for none.
enum Open {
    List { anchor: usize, items: Vec<HostValue> },
    Mapping { anchor: usize, mapping: Mapping },
}

#[derive(Default)]
struct Mapping {
    entries: Vec<(HostValue, HostValue)>,
    keys: HashSet<String>,
    /// The key whose value is awaited.
    key: Option<Key>,
    /// Mappings to be merged in.
    merged: Vec<HostValue>,
}

enum Key {
    Name(String),
    /// `<<`, which takes in the keys of other mappings.
    Merge,
}

struct Document<'v> {
    heap: Heap<'v>,
    open: Vec<Open>,
    anchors: HashMap<usize, HostValue>,
    copied: usize,
    root: HostValue,
}

impl Document<'_> {
    fn take(&mut self, event: Event) -> Result<(), String> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                if style == saphyr_parser::ScalarStyle::Plain && text == "<<" && tag.is_none() && self.awaits_key() {
                    return self.set_key(Key::Merge);
                }
                let value = yaml_scalar::value(&text, style, tag.as_deref())?;
                if self.awaits_key() {
                    let name = if value == HostValue::None { "null".to_owned() } else { text.into_owned() };
                    self.remember(anchor, &value)?;
                    return self.set_key(Key::Name(name));
                }
                self.complete(anchor, value)
            }
            Event::Alias(anchor) => {
                let Some(value) = self.anchors.get(&anchor).cloned() else {
                    return Err("an alias within what it stands for".to_owned());
                };
                self.count(&value)?;
                self.complete(0, value)
            }
            Event::SequenceStart(anchor, _) => self.begin(Open::List { anchor, items: Vec::new() }),
            Event::MappingStart(anchor, _) => self.begin(Open::Mapping { anchor, mapping: Mapping::default() }),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List { anchor, items }) => self.complete(anchor, HostValue::List(items)),
                Some(Open::Mapping { anchor, mapping }) => self.complete(anchor, mapping.finished()),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn begin(&mut self, open: Open) -> Result<(), String> {
        if self.open.len() == MAX_DEPTH {
            return Err(format!("nested more than {MAX_DEPTH} levels deep"));
        }
        self.open.push(open);
        Ok(())
    }

    fn awaits_key(&self) -> bool {
        matches!(self.open.last(), Some(Open::Mapping { mapping, .. }) if mapping.key.is_none())
    }

    /// Puts a value where it belongs: a list, a mapping as a key or as a value, or the document.
    fn complete(&mut self, anchor: usize, value: HostValue) -> Result<(), String> {
        self.remember(anchor, &value)?;
        if self.awaits_key() {
            let name = self.name_of(value)?;
            return self.set_key(Key::Name(name));
        }
        match self.open.last_mut() {
            None => self.root = value,
            Some(Open::List { items, .. }) => items.push(value),
            Some(Open::Mapping { mapping, .. }) => match mapping.key.take() {
                Some(Key::Merge) => return mapping.merge(value),
                Some(Key::Name(name)) => mapping.entries.push((HostValue::Text(name), value)),
                None => {}
            },
        }
        Ok(())
    }

    fn set_key(&mut self, key: Key) -> Result<(), String> {
        let Some(Open::Mapping { mapping, .. }) = self.open.last_mut() else { return Ok(()) };
        if let Key::Name(name) = &key
            && !mapping.keys.insert(name.clone())
        {
            return Err(format!("the key {name:?} stands twice"));
        }
        mapping.key = Some(key);
        Ok(())
    }

    /// The name for a key that is not written as a scalar: its JSON text.
    fn name_of(&self, value: HostValue) -> Result<String, String> {
        if let HostValue::Text(name) = value {
            return Ok(name);
        }
        let value = value.to_value(self.heap).map_err(|error| error.to_string())?;
        to_text(value, self.heap, Style::Insertion).map_err(|error| error.to_string())
    }

    fn remember(&mut self, anchor: usize, value: &HostValue) -> Result<(), String> {
        if anchor > 0 {
            self.count(value)?;
            self.anchors.insert(anchor, value.clone());
        }
        Ok(())
    }

    fn count(&mut self, value: &HostValue) -> Result<(), String> {
        self.copied += size_of(value);
        if self.copied > MAX_COPIED {
            return Err("the aliases stand for more than a document may hold".to_owned());
        }
        Ok(())
    }
}

impl Mapping {
    fn merge(&mut self, value: HostValue) -> Result<(), String> {
        match value {
            HostValue::Dict(_) => self.merged.push(value),
            HostValue::List(items) => {
                for item in items {
                    self.merge(item)?;
                }
            }
            _ => return Err("`<<` needs a mapping".to_owned()),
        }
        Ok(())
    }

    /// The entries, and behind them those of merged mappings whose keys are new.
    fn finished(mut self) -> HostValue {
        for merged in self.merged {
            let HostValue::Dict(entries) = merged else { continue };
            for (key, value) in entries {
                if matches!(&key, HostValue::Text(name) if self.keys.insert(name.clone())) {
                    self.entries.push((key, value));
                }
            }
        }
        HostValue::Dict(self.entries)
    }
}

/// Values and bytes of text.
fn size_of(value: &HostValue) -> usize {
    match value {
        HostValue::Text(text) => 1 + text.len(),
        HostValue::List(items) => 1 + items.iter().map(size_of).sum::<usize>(),
        HostValue::Dict(entries) => 1 + entries.iter().map(|(key, value)| size_of(key) + size_of(value)).sum::<usize>(),
        _ => 1,
    }
}
