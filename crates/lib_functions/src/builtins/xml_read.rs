//! Reads XML documents into dicts. No entity is known but the five of the language, and nothing is ever fetched.

use std::collections::HashSet;

use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;
use starlark::collections::SmallMap;
use starlark::values::dict::AllocDict;
use starlark::values::list::AllocList;
use starlark::values::{Heap, Value};

use super::position::Position;
use super::xml::{ATTRIBUTE_MARK, TEXT_KEY};
use super::xml_names::{forbidden, is_name};
use crate::host_value::MAX_DEPTH;

/// Reads a document.
pub(super) fn read<'v>(text: &str, heap: Heap<'v>) -> Result<Value<'v>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_comments = true;
    let mut document = Document { heap, open: Vec::new(), root: None, has_type: false };
    loop {
        let start = reader.buffer_position();
        let (at, problem) = match reader.read_event() {
            Ok(Event::Eof) => match document.finished() {
                Ok(value) => return Ok(value),
                Err(problem) => (reader.buffer_position(), problem),
            },
            Ok(event) => match document.take(event, start == 0) {
                Ok(()) => continue,
                Err(problem) => (start, problem),
            },
            Err(error) => (reader.error_position(), error.to_string()),
        };
        let position = Position::of(text, usize::try_from(at).unwrap_or(usize::MAX));
        return Err(format!("{position}: {problem}"));
    }
}

/// An element that is not closed yet.
struct Element<'v> {
    name: String,
    attributes: SmallMap<String, String>,
    elements: SmallMap<String, Vec<Value<'v>>>,
    text: String,
}

struct Document<'v> {
    heap: Heap<'v>,
    open: Vec<Element<'v>>,
    root: Option<Value<'v>>,
    has_type: bool,
}

impl<'v> Document<'v> {
    fn take(&mut self, event: Event, first: bool) -> Result<(), String> {
        match event {
            Event::Start(tag) => self.open(&tag),
            Event::Empty(tag) => {
                self.open(&tag)?;
                self.close();
                Ok(())
            }
            Event::End(_) => {
                self.close();
                Ok(())
            }
            Event::Text(text) if text.contains("]]>") => Err("`]]>` in text".to_owned()),
            Event::Text(text) => self.text(&text.xml10_content(), true),
            Event::CData(text) => self.text(&text.xml10_content(), false),
            Event::GeneralRef(reference) => self.text(&referred(&reference)?, false),
            Event::Decl(_) if first => Ok(()),
            Event::Decl(_) => Err("the XML declaration is not at the start".to_owned()),
            Event::DocType(_) if self.has_type || self.has_begun() => Err("misplaced DOCTYPE".to_owned()),
            Event::DocType(_) => {
                self.has_type = true;
                Ok(())
            }
            Event::PI(instruction) if instruction.target().eq_ignore_ascii_case("xml") => {
                Err("the XML declaration is not at the start".to_owned())
            }
            Event::Comment(_) | Event::PI(_) | Event::Eof => Ok(()),
        }
    }

    fn has_begun(&self) -> bool {
        self.root.is_some() || !self.open.is_empty()
    }

    fn open(&mut self, tag: &BytesStart) -> Result<(), String> {
        if self.root.is_some() {
            return Err("a second root element".to_owned());
        }
        if self.open.len() == MAX_DEPTH {
            return Err(format!("nested more than {MAX_DEPTH} levels deep"));
        }
        let name = checked_name(tag.name().0)?;
        let mut attributes = SmallMap::new();
        let mut keys = HashSet::new();
        // The reader's own search for repeated attributes compares each with all before it.
        for attribute in tag.attributes().with_checks(false) {
            let attribute = attribute.map_err(|error| error.to_string())?;
            let key = attribute.key.0;
            let local = checked_name(key)?;
            if !keys.insert(key) {
                return Err(format!("the attribute {key:?} stands twice"));
            }
            if attribute.value.contains('<') {
                return Err(format!("`<` in the attribute {key:?}"));
            }
            let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| error.to_string())?;
            check_characters(&value)?;
            if key != "xmlns" && !key.starts_with("xmlns:") {
                let lost = attributes.insert(format!("{ATTRIBUTE_MARK}{local}"), value.into_owned());
                if lost.is_some() {
                    return Err(format!("the attribute {local:?} stands twice, if prefixes are left out"));
                }
            }
        }
        let name = name.to_owned();
        self.open.push(Element { name, attributes, elements: SmallMap::new(), text: String::new() });
        Ok(())
    }

    fn text(&mut self, text: &str, may_be_outside: bool) -> Result<(), String> {
        check_characters(text)?;
        match self.open.last_mut() {
            Some(element) => element.text.push_str(text),
            None if may_be_outside && text.trim_matches(is_blank).is_empty() => {}
            None => return Err("text outside of the root element".to_owned()),
        }
        Ok(())
    }

    fn close(&mut self) {
        let Some(element) = self.open.pop() else { return };
        let value = self.value(&element);
        let name = element.name;
        match self.open.last_mut() {
            None => self.root = Some(self.heap.alloc(AllocDict([(name, value)]))),
            Some(parent) => match parent.elements.get_mut(&name) {
                Some(values) => values.push(value),
                None => _ = parent.elements.insert(name, vec![value]),
            },
        }
    }

    fn value(&self, element: &Element<'v>) -> Value<'v> {
        let text = element.text.trim_matches(is_blank);
        if element.attributes.is_empty() && element.elements.is_empty() {
            return self.heap.alloc(text);
        }
        let attributes =
            element.attributes.iter().map(|(name, value)| (name.as_str(), self.heap.alloc(value.as_str())));
        let elements = element.elements.iter().map(|(name, values)| match values.as_slice() {
            [value] => (name.as_str(), *value),
            values => (name.as_str(), self.heap.alloc(AllocList(values.iter().copied()))),
        });
        let text = (!text.is_empty()).then(|| (TEXT_KEY, self.heap.alloc(text)));
        self.heap.alloc(AllocDict(attributes.chain(elements).chain(text)))
    }

    fn finished(&mut self) -> Result<Value<'v>, String> {
        match (self.open.last(), self.root) {
            (Some(element), _) => Err(format!("the element {:?} is not closed", element.name)),
            (None, Some(root)) => Ok(root),
            (None, None) => Err("there is no root element".to_owned()),
        }
    }
}

/// What XML calls white space.
fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

fn check_characters(text: &str) -> Result<(), String> {
    match forbidden(text) {
        Some(character) => Err(format!("the character {character:?} is not allowed in XML")),
        None => Ok(()),
    }
}

/// A name without its prefix.
fn checked_name(name: &str) -> Result<&str, String> {
    let local = name.split_once(':').map_or(name, |(_, local)| local);
    if is_name(name) && is_name(local) { Ok(local) } else { Err(format!("{name:?} is not a name")) }
}

fn referred(reference: &BytesRef) -> Result<String, String> {
    if let Some(character) = reference.resolve_char_ref().map_err(|error| error.to_string())? {
        return Ok(character.to_string());
    }
    match resolve_predefined_entity(reference) {
        Some(text) => Ok(text.to_owned()),
        None => Err(format!("the entity {:?} is not known", &**reference)),
    }
}
