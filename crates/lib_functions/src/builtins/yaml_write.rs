//! Writes values as YAML in block style. Strings that another reader might take for something else are quoted.

use num_bigint::BigInt;
use starlark::values::dict::DictRef;
use starlark::values::float::StarlarkFloat;
use starlark::values::{Heap, UnpackValue, Value, ValueLike};

use crate::bounds::{Excess, MAX_TEXT_BYTES};
use crate::host_value::{MAX_DEPTH, elements};

/// Keys longer than this are written with a question mark in front; readers allow 1024 characters without.
const LONG_KEY: usize = 1000;
/// Words that YAML 1.1 or 1.2 takes for something else than a string, in lower case.
const WORDS: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "y", "n", "null"];

/// The document of a value.
pub(super) fn written<'v>(value: Value<'v>, heap: Heap<'v>) -> Result<String, String> {
    let mut writer = Writer { out: String::new(), heap };
    writer.node(value, 0, 0)?;
    Ok(writer.out)
}

struct Writer<'v> {
    out: String,
    heap: Heap<'v>,
}

impl<'v> Writer<'v> {
    /// Writes a value and the end of its line. The cursor stands where its first line begins; further lines begin with
    /// `indent` spaces.
    fn node(&mut self, value: Value<'v>, indent: usize, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(Excess::Deep.to_string());
        }
        if self.out.len() > MAX_TEXT_BYTES {
            return Err(format!("the text is longer than {MAX_TEXT_BYTES} bytes"));
        }
        if let Some(dict) = DictRef::from_value(value).filter(|dict| !dict.is_empty()) {
            for (at, (key, value)) in dict.iter().enumerate() {
                self.indent(indent, at > 0);
                self.entry(key, value, indent, depth)?;
            }
            return Ok(());
        }
        if let Some(items) = elements(value, self.heap).filter(|items| !items.is_empty()) {
            for (at, item) in items.into_iter().enumerate() {
                self.indent(indent, at > 0);
                self.out.push_str("- ");
                self.node(item, indent + 2, depth + 1)?;
            }
            return Ok(());
        }
        let text = self.scalar(value)?;
        self.out.push_str(&text);
        self.out.push('\n');
        Ok(())
    }

    fn indent(&mut self, indent: usize, wanted: bool) {
        if wanted {
            self.out.extend(std::iter::repeat_n(' ', indent));
        }
    }

    fn entry(&mut self, key: Value<'v>, value: Value<'v>, indent: usize, depth: usize) -> Result<(), String> {
        if key.unpack_str().is_none() && !matches!(key.get_type(), "int" | "float" | "bool" | "NoneType") {
            return Err(format!("a key must be a scalar, not {}", key.get_type()));
        }
        let name = self.scalar(key)?;
        if name.len() > LONG_KEY {
            self.out.push_str(&format!("? {name}\n"));
            self.indent(indent, true);
            self.out.push_str(": ");
            return self.node(value, indent + 2, depth + 1);
        }
        self.out.push_str(&name);
        self.out.push(':');
        if self.is_block(value) {
            self.out.push('\n');
            self.indent(indent + 2, true);
        } else {
            self.out.push(' ');
        }
        self.node(value, indent + 2, depth + 1)
    }

    fn is_block(&self, value: Value<'v>) -> bool {
        DictRef::from_value(value).is_some_and(|dict| !dict.is_empty())
            || elements(value, self.heap).is_some_and(|items| !items.is_empty())
    }

    fn scalar(&self, value: Value<'v>) -> Result<String, String> {
        if let Some(text) = value.unpack_str() {
            return Ok(if is_plain(text) { text.to_owned() } else { quoted(text) });
        }
        if value.is_none() {
            return Ok("null".to_owned());
        }
        if let Some(value) = value.unpack_bool() {
            return Ok(value.to_string());
        }
        if let Ok(Some(number)) = BigInt::unpack_value(value) {
            return Ok(number.to_string());
        }
        if let Some(StarlarkFloat(number)) = value.downcast_ref() {
            return Ok(float(*number));
        }
        if DictRef::from_value(value).is_some() {
            return Ok("{}".to_owned());
        }
        if elements(value, self.heap).is_some() {
            return Ok("[]".to_owned());
        }
        Err(format!("a value of type {} is not YAML", value.get_type()))
    }
}

fn float(number: f64) -> String {
    if number.is_nan() {
        ".nan".to_owned()
    } else if number.is_infinite() {
        if number > 0.0 { ".inf" } else { "-.inf" }.to_owned()
    } else {
        format!("{number:?}")
    }
}

/// Whether a string needs no quotes: words that begin with a letter, so that they are no numbers and no dates.
fn is_plain(text: &str) -> bool {
    let starts = text.starts_with(|first: char| first.is_alphabetic() || first == '_');
    let fits = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.' | '/' | '@' | '+');
    starts && !text.ends_with(' ') && text.chars().all(fits) && !WORDS.contains(&text.to_ascii_lowercase().as_str())
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            _ => out.push(character),
        }
    }
    out + "\""
}
