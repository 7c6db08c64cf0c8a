//! Reads JSON (RFC 8259) straight into values of the language, without a tree in between: pages of an API are read
//! here. A reader of our own, because those that exist refuse lone surrogates, which real services send, and give
//! numbers as text or bring many crates (decision 0007).

use std::borrow::Cow;
use std::fmt;

use starlark::collections::{Hashed, SmallMap};
use starlark::values::dict::Dict;
use starlark::values::list::AllocList;
use starlark::values::{Heap, Value};

use super::json_token::{self, Number, Problem};
use super::position::Position;
use crate::host_value::MAX_DEPTH;

/// Keys up to this length are looked for in the cache of keys, in bytes.
const CACHED_KEY_LENGTH: usize = 64;
/// Places in the cache of keys, a power of two.
const CACHED_KEYS: usize = 256;

/// Where and why a text is not JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JsonError {
    pub(crate) position: Position,
    pub(super) message: Cow<'static, str>,
    /// Whether the text may be JSON, but is more than is read here.
    pub(crate) is_beyond: bool,
}

impl fmt::Display for JsonError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}: {}", self.position, self.message)
    }
}

impl std::error::Error for JsonError {}

/// Reads a JSON text. Integers are exact at any size, a number with a fraction or an exponent is a float, keys keep
/// their order, of equal keys the last value stands at the place of the first. A byte order mark is skipped. Half of a
/// surrogate pair becomes U+FFFD.
pub(crate) fn parse<'v>(text: &str, heap: Heap<'v>) -> Result<Value<'v>, JsonError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader =
        Reader { text, at: 0, depth: 0, heap, items: Vec::new(), entries: Vec::new(), keys: vec![None; CACHED_KEYS] };
    reader.document().map_err(|error| error.located(text))
}

type Read<T> = Result<T, Problem>;

struct Reader<'t, 'v> {
    text: &'t str,
    at: usize,
    depth: usize,
    heap: Heap<'v>,
    /// Items of the arrays that are open, innermost last.
    items: Vec<Value<'v>>,
    /// Entries of the objects that are open, innermost last.
    entries: Vec<(Hashed<Value<'v>>, Value<'v>)>,
    /// The objects of a page have the same keys: each is hashed and put onto the heap once.
    keys: Vec<Option<(&'v str, Hashed<Value<'v>>)>>,
}

impl<'t, 'v> Reader<'t, 'v> {
    fn document(&mut self) -> Read<Value<'v>> {
        self.skip_blanks();
        if self.peek().is_none() {
            return Err(self.problem("the text is empty"));
        }
        let value = self.value()?;
        self.skip_blanks();
        match self.peek() {
            None => Ok(value),
            Some(_) => Err(self.problem("unexpected text after the value")),
        }
    }

    fn problem(&self, message: impl Into<Cow<'static, str>>) -> Problem {
        Problem::new(self.at, message)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// A value; blanks before it are skipped already.
    fn value(&mut self) -> Read<Value<'v>> {
        match self.peek() {
            Some(b'"') => {
                let text = self.string()?;
                Ok(self.heap.alloc(&*text))
            }
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Value::new_bool(true)),
            Some(b'f') => self.word("false", Value::new_bool(false)),
            Some(b'n') => self.word("null", Value::new_none()),
            _ => Err(self.unexpected("a value")),
        }
    }

    fn unexpected(&self, expected: &str) -> Problem {
        match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            Some(found) => self.problem(format!("expected {expected}, found {found:?}")),
            None => self.problem(format!("expected {expected}, found the end of the text")),
        }
    }

    fn word(&mut self, word: &str, value: Value<'v>) -> Read<Value<'v>> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(self.unexpected("a value"));
        }
        self.at += word.len();
        Ok(value)
    }

    fn nested(&mut self, read: fn(&mut Self) -> Read<Value<'v>>) -> Read<Value<'v>> {
        if self.depth == MAX_DEPTH {
            return Err(Problem::beyond(self.at, format!("nested more than {MAX_DEPTH} levels deep")));
        }
        self.depth += 1;
        self.at += 1;
        self.skip_blanks();
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn array(&mut self) -> Read<Value<'v>> {
        let start = self.items.len();
        if self.peek() != Some(b']') {
            loop {
                let item = self.value()?;
                self.items.push(item);
                if self.ends_with(b']', "`,` or `]`")? {
                    break;
                }
            }
        }
        self.at += 1;
        Ok(self.heap.alloc(AllocList(self.items.drain(start..))))
    }

    fn object(&mut self) -> Read<Value<'v>> {
        let start = self.entries.len();
        if self.peek() != Some(b'}') {
            loop {
                let key = self.key()?;
                let value = self.value()?;
                self.entries.push((key, value));
                if self.ends_with(b'}', "`,` or `}`")? {
                    break;
                }
            }
        }
        self.at += 1;
        let mut content = SmallMap::with_capacity(self.entries.len() - start);
        for (key, value) in self.entries.drain(start..) {
            content.insert_hashed(key, value);
        }
        Ok(self.heap.alloc(Dict::new(content)))
    }

    /// After an item: whether the end is there; if not, a comma was read.
    fn ends_with(&mut self, end: u8, expected: &str) -> Read<bool> {
        self.skip_blanks();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                self.skip_blanks();
                Ok(false)
            }
            Some(found) if found == end => Ok(true),
            _ => Err(self.unexpected(expected)),
        }
    }

    /// A key with its colon.
    fn key(&mut self) -> Read<Hashed<Value<'v>>> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("a key in double quotes"));
        }
        let text = self.string()?;
        self.skip_blanks();
        if self.peek() != Some(b':') {
            return Err(self.unexpected("`:`"));
        }
        self.at += 1;
        self.skip_blanks();
        if text.len() > CACHED_KEY_LENGTH {
            return Ok(self.new_key(&text).1);
        }
        let place = place_of(text.as_bytes());
        if let Some((known, key)) = self.keys[place]
            && known == text
        {
            return Ok(key);
        }
        let entry = self.new_key(&text);
        self.keys[place] = Some(entry);
        Ok(entry.1)
    }

    fn new_key(&self, text: &str) -> (&'v str, Hashed<Value<'v>>) {
        let key = self.heap.alloc_str(text);
        (key.as_str(), key.get_hashed_value())
    }

    fn string(&mut self) -> Read<Cow<'t, str>> {
        let (text, after) = json_token::string(self.text, self.at)?;
        self.at = after;
        Ok(text)
    }

    fn number(&mut self) -> Read<Value<'v>> {
        let (number, after) = json_token::number(self.text, self.at)?;
        self.at = after;
        Ok(match number {
            Number::Int(value) => self.heap.alloc(value),
            Number::Big(value) => self.heap.alloc(value),
            Number::Float(value) => self.heap.alloc(value),
        })
    }
}

/// The place of a key in the cache of keys.
fn place_of(key: &[u8]) -> usize {
    let hash = key.iter().fold(key.len(), |hash, &byte| hash.wrapping_mul(31).wrapping_add(usize::from(byte)));
    (hash ^ (hash >> 8)) % CACHED_KEYS
}

#[cfg(test)]
mod tests {
    use starlark::values::Heap;

    use super::super::testing::texts;
    use super::parse;
    use crate::json_write::{Style, to_text};

    const PIECES: [&str; 26] = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"a\"",
        "\"",
        "\\",
        "\\u0041",
        "\\ud83d\\ude00",
        "1",
        "-",
        "0",
        ".",
        "e",
        "E+",
        "true",
        "nul",
        "null",
        " ",
        "\n",
        "\u{e9}",
        "\u{0}",
        "12345678901234567890",
        "\"b\":",
    ];

    #[test]
    fn what_another_reader_accepts_is_accepted_with_the_same_meaning() {
        let mut accepted = 0;
        for text in texts(&PIECES, 6, 20_000) {
            let expected = serde_json::from_str::<serde_json::Value>(&text);
            Heap::temp(|heap| {
                let value = parse(&text, heap);
                // The other reader keeps numbers as text here.
                if value.as_ref().is_err_and(|error| error.to_string().contains("out of range")) {
                    return;
                }
                assert_eq!(value.is_ok(), expected.is_ok(), "{text:?}: {:?}", value.err());
                if let (Ok(value), Ok(expected)) = (value, expected) {
                    accepted += 1;
                    let again = to_text(value, heap, Style::Insertion).unwrap();
                    let again: serde_json::Value = serde_json::from_str(&again).unwrap();
                    // Only `-0` is written in another way: it is the integer zero.
                    assert!(again == expected || text.contains("-0") || text.contains(['.', 'e', 'E']), "{text:?}");
                }
            });
        }
        assert!(accepted > 300, "{accepted}");
    }

    #[test]
    fn many_keys_and_long_keys_are_kept_apart() {
        let long = "k".repeat(100);
        let entries: Vec<String> = (0..2_000).map(|n| format!("\"key{n}\":{n},\"{long}{n}\":{n}")).collect();
        let text = format!("[{{{0}}},{{{0}}}]", entries.join(","));
        Heap::temp(|heap| {
            let value = parse(&text, heap).unwrap();
            assert_eq!(to_text(value, heap, Style::Insertion).unwrap(), text);
        });
    }
}
