//! Strings and numbers of JSON texts.

use std::borrow::Cow;

use num_bigint::BigInt;

use super::json_read::JsonError;
use super::position::Position;
use crate::bounds::MAX_DIGITS;

/// Integers of so many digits fit 64 bits.
const SMALL_DIGITS: usize = 18;

/// An error at a byte.
pub(super) struct Problem {
    pub(super) at: usize,
    pub(super) message: Cow<'static, str>,
    /// Whether it is no fault of the text, but more than is read here.
    pub(super) is_beyond: bool,
}

impl Problem {
    pub(super) fn new(at: usize, message: impl Into<Cow<'static, str>>) -> Self {
        Self { at, message: message.into(), is_beyond: false }
    }

    pub(super) fn beyond(at: usize, message: impl Into<Cow<'static, str>>) -> Self {
        Self { at, message: message.into(), is_beyond: true }
    }

    /// The error as the author of the text counts.
    pub(super) fn located(self, text: &str) -> JsonError {
        JsonError { position: Position::of(text, self.at), message: self.message, is_beyond: self.is_beyond }
    }
}

/// A number by its literal form: with a fraction or an exponent it is a float.
pub(super) enum Number {
    Int(i64),
    Big(BigInt),
    Float(f64),
}

/// The string whose opening quote is at `at`, and where it ends.
pub(super) fn string(text: &str, at: usize) -> Result<(Cow<'_, str>, usize), Problem> {
    let start = at + 1;
    let end = plain_end(text, start);
    if text.as_bytes().get(end) == Some(&b'"') {
        return Ok((Cow::Borrowed(&text[start..end]), end + 1));
    }
    escaped_string(text, start, end)
}

/// Where the characters end that stand for themselves.
fn plain_end(text: &str, start: usize) -> usize {
    let bytes = &text.as_bytes()[start..];
    start + bytes.iter().position(|&byte| matches!(byte, b'"' | b'\\' | 0..=0x1f)).unwrap_or(bytes.len())
}

#[cold]
fn escaped_string(text: &str, start: usize, first_end: usize) -> Result<(Cow<'_, str>, usize), Problem> {
    let mut value = text[start..first_end].to_owned();
    let mut at = first_end;
    loop {
        match text.as_bytes().get(at) {
            Some(b'"') => return Ok((Cow::Owned(value), at + 1)),
            Some(b'\\') => at = escape(text, at, &mut value)?,
            Some(_) => return Err(Problem::new(at, "a control character in a string must be written as an escape")),
            None => return Err(Problem::new(start - 1, "the string does not end")),
        }
        let end = plain_end(text, at);
        value.push_str(&text[at..end]);
        at = end;
    }
}

/// Reads the escape at `at` and says where it ends.
fn escape(text: &str, at: usize, value: &mut String) -> Result<usize, Problem> {
    let character = match text.as_bytes().get(at + 1) {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode_escape(text, at, value),
        _ => return Err(Problem::new(at, "unknown escape in a string")),
    };
    value.push(character);
    Ok(at + 2)
}

fn unicode_escape(text: &str, at: usize, value: &mut String) -> Result<usize, Problem> {
    let Some(unit) = code_unit(text, at) else {
        return Err(Problem::new(at, "`\\u` in a string needs four hexadecimal digits"));
    };
    let next = at + 6;
    if let (0xd800..=0xdbff, Some(low @ 0xdc00..=0xdfff)) = (unit, code_unit(text, next)) {
        let point = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        value.push(char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER));
        return Ok(next + 6);
    }
    value.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
    Ok(next)
}

/// The number in an escape of the form `\uXXXX`.
fn code_unit(text: &str, at: usize) -> Option<u32> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) { u32::from_str_radix(digits, 16).ok() } else { None }
}

/// The number that begins at `at`, and where it ends.
pub(super) fn number(text: &str, at: usize) -> Result<(Number, usize), Problem> {
    let bytes = text.as_bytes();
    let first = at + usize::from(bytes.get(at) == Some(&b'-'));
    let whole = match bytes.get(first) {
        Some(b'0') => first + 1,
        _ => digits(bytes, first)?,
    };
    let mut end = whole;
    if bytes.get(end) == Some(&b'.') {
        end = digits(bytes, end + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        end = digits(bytes, end + 1 + sign)?;
    }
    let literal = &text[at..end];
    let number = if end > whole { float(literal) } else { integer(literal, whole - first) };
    number.map(|number| (number, end)).map_err(|message| Problem::beyond(at, message))
}

/// Where the digits end of which at least one must be at `at`.
fn digits(bytes: &[u8], at: usize) -> Result<usize, Problem> {
    let count = bytes.get(at..).map_or(0, |rest| rest.iter().take_while(|byte| byte.is_ascii_digit()).count());
    if count == 0 { Err(Problem::new(at, "expected a digit")) } else { Ok(at + count) }
}

fn float(literal: &str) -> Result<Number, String> {
    match literal.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Number::Float(value)),
        _ => Err(format!("the number {literal:.40} is out of range: floats end at {:e}", f64::MAX)),
    }
}

fn integer(literal: &str, digits: usize) -> Result<Number, String> {
    if digits <= SMALL_DIGITS
        && let Ok(value) = literal.parse()
    {
        return Ok(Number::Int(value));
    }
    if digits > MAX_DIGITS {
        return Err(format!("an integer of {digits} digits is longer than {MAX_DIGITS}"));
    }
    literal.parse().map(Number::Big).map_err(|_| format!("the number {literal:.40} is malformed"))
}
