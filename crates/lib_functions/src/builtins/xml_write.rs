//! Writes dicts as XML documents.

use num_bigint::BigInt;
use starlark::values::dict::DictRef;
use starlark::values::{Heap, UnpackValue, Value};

use super::json::{Style, to_text};
use super::xml::{ATTRIBUTE_MARK, TEXT_KEY};
use super::xml_names::{forbidden, is_name};
use crate::bounds::{Excess, MAX_TEXT_BYTES};
use crate::host_value::{MAX_DEPTH, elements};

/// The element around several roots.
const WRAPPER: &str = "doc";

/// The document of a dict with one root element, or of several in an element `doc`.
pub(super) fn written<'v>(document: Value<'v>, heap: Heap<'v>) -> Result<String, String> {
    let Some(roots) = DictRef::from_value(document) else {
        return Err(format!("`d` must be dict, not {}", document.get_type()));
    };
    let mut writer = Writer { out: String::new(), heap };
    let mut count = 0;
    for (name, value) in roots.iter() {
        let name = key(name)?;
        count += elements(value, heap).map_or(1, |items| items.len());
        writer.element(name, value, 0)?;
    }
    match count {
        0 => Err("there is no root element".to_owned()),
        1 => Ok(writer.out),
        _ => Ok(format!("<{WRAPPER}>{}</{WRAPPER}>", writer.out)),
    }
}

fn key(key: Value<'_>) -> Result<&str, String> {
    key.unpack_str().ok_or_else(|| format!("a key must be str, not {}", key.get_type()))
}

struct Writer<'v> {
    out: String,
    heap: Heap<'v>,
}

impl<'v> Writer<'v> {
    fn element(&mut self, name: &str, value: Value<'v>, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(Excess::Deep.to_string());
        }
        if self.out.len() > MAX_TEXT_BYTES {
            return Err(format!("the text is longer than {MAX_TEXT_BYTES} bytes"));
        }
        if !is_name(name) {
            return Err(format!("{name:?} cannot be the name of an element"));
        }
        if let Some(items) = elements(value, self.heap) {
            for item in items {
                if elements(item, self.heap).is_some() {
                    return Err(format!("a list within a list at {name:?}"));
                }
                self.element(name, item, depth + 1)?;
            }
            return Ok(());
        }
        self.out.push('<');
        self.out.push_str(name);
        if let Some(parts) = DictRef::from_value(value) {
            self.parts(&parts, depth)?;
        } else {
            self.out.push('>');
            let text = self.scalar(name, value)?;
            self.escape(&text, false)?;
        }
        self.out.push_str("</");
        self.out.push_str(name);
        self.out.push('>');
        Ok(())
    }

    /// Attributes, the end of the tag, then what is inside.
    fn parts(&mut self, parts: &DictRef<'v>, depth: usize) -> Result<(), String> {
        for (name, value) in parts.iter() {
            let Some(name) = key(name)?.strip_prefix(ATTRIBUTE_MARK) else { continue };
            if !is_name(name) {
                return Err(format!("{name:?} cannot be the name of an attribute"));
            }
            let text = self.scalar(name, value)?;
            self.out.push_str(&format!(" {name}=\""));
            self.escape(&text, true)?;
            self.out.push('"');
        }
        self.out.push('>');
        for (name, value) in parts.iter() {
            match key(name)? {
                name if name.starts_with(ATTRIBUTE_MARK) => {}
                TEXT_KEY => {
                    let text = self.scalar(TEXT_KEY, value)?;
                    self.escape(&text, false)?;
                }
                name => self.element(name, value, depth + 1)?,
            }
        }
        Ok(())
    }

    /// The text of a value: None is empty, numbers and bools as in JSON.
    fn scalar(&self, name: &str, value: Value<'v>) -> Result<String, String> {
        if let Some(text) = value.unpack_str() {
            return Ok(text.to_owned());
        }
        if value.is_none() {
            return Ok(String::new());
        }
        if let Ok(Some(number)) = BigInt::unpack_value(value) {
            return Ok(number.to_string());
        }
        if !matches!(value.get_type(), "bool" | "float") {
            return Err(format!("a value of type {} cannot be the text of {name:?}", value.get_type()));
        }
        to_text(value, self.heap, Style::Insertion).map_err(|error| error.to_string())
    }

    /// Text as it is written; line breaks that reading would change are written as numbers.
    fn escape(&mut self, text: &str, in_attribute: bool) -> Result<(), String> {
        if let Some(character) = forbidden(text) {
            return Err(format!("the character {character:?} is not allowed in XML"));
        }
        for character in text.chars() {
            match character {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '"' => self.out.push_str("&quot;"),
                '\r' => self.out.push_str("&#13;"),
                '\n' if in_attribute => self.out.push_str("&#10;"),
                '\t' if in_attribute => self.out.push_str("&#9;"),
                character => self.out.push(character),
            }
        }
        Ok(())
    }
}
