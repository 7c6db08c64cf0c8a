//! The tokens of Go's time layouts: a layout is the reference time `Mon Jan 2 15:04:05 MST 2006` as it should look, and
//! what is no part of that time stands for itself. See <https://pkg.go.dev/time#pkg-constants>.

/// How a number is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pad {
    /// As it is: `2`.
    None,
    /// With a zero in front: `02`.
    Zero,
    /// With a space in front: `_2`.
    Space,
}

/// How an offset from UTC is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OffsetForm {
    /// No offset is `Z`.
    pub(super) z: bool,
    /// Colons between the parts.
    pub(super) colons: bool,
    /// Of hours, minutes and seconds, how many.
    pub(super) parts: usize,
}

/// A part of the reference time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    LongYear,
    Year,
    LongMonth,
    ShortMonth,
    Month(Pad),
    Day(Pad),
    YearDay(Pad),
    LongWeekday,
    ShortWeekday,
    Hour24,
    Hour12(Pad),
    Minute(Pad),
    Second(Pad),
    /// `AM` or `PM`.
    UpperHalf,
    /// `am` or `pm`.
    LowerHalf,
    /// A separator with so many digits; `trimmed` without zeros at the end, and without itself if nothing is left.
    Fraction {
        separator: char,
        digits: usize,
        trimmed: bool,
    },
    Offset(OffsetForm),
    Abbreviation,
}

/// Tokens by their text; of two that fit, the one that comes first here is meant.
const TOKENS: &[(&str, Token)] = &[
    ("January", Token::LongMonth),
    ("Jan", Token::ShortMonth),
    ("Monday", Token::LongWeekday),
    ("Mon", Token::ShortWeekday),
    ("MST", Token::Abbreviation),
    ("002", Token::YearDay(Pad::Zero)),
    ("01", Token::Month(Pad::Zero)),
    ("02", Token::Day(Pad::Zero)),
    ("03", Token::Hour12(Pad::Zero)),
    ("04", Token::Minute(Pad::Zero)),
    ("05", Token::Second(Pad::Zero)),
    ("06", Token::Year),
    ("15", Token::Hour24),
    ("1", Token::Month(Pad::None)),
    ("2006", Token::LongYear),
    ("2", Token::Day(Pad::None)),
    ("_2", Token::Day(Pad::Space)),
    ("__2", Token::YearDay(Pad::Space)),
    ("3", Token::Hour12(Pad::None)),
    ("4", Token::Minute(Pad::None)),
    ("5", Token::Second(Pad::None)),
    ("PM", Token::UpperHalf),
    ("pm", Token::LowerHalf),
    ("-070000", offset(false, false, 3)),
    ("-07:00:00", offset(false, true, 3)),
    ("-0700", offset(false, false, 2)),
    ("-07:00", offset(false, true, 2)),
    ("-07", offset(false, false, 1)),
    ("Z070000", offset(true, false, 3)),
    ("Z07:00:00", offset(true, true, 3)),
    ("Z0700", offset(true, false, 2)),
    ("Z07:00", offset(true, true, 2)),
    ("Z07", offset(true, false, 1)),
];

const fn offset(z: bool, colons: bool, parts: usize) -> Token {
    Token::Offset(OffsetForm { z, colons, parts })
}

/// What a layout says first: text that stands for itself, then a token if there is one, and the layout's rest.
pub(super) struct Piece<'l> {
    pub(super) literal: &'l str,
    /// The token with its text.
    pub(super) token: Option<(&'l str, Token)>,
    pub(super) rest: &'l str,
}

/// Cuts the first piece off a layout.
pub(super) fn next_piece(layout: &str) -> Piece<'_> {
    for (at, _) in layout.char_indices() {
        if let Some((length, token)) = token_at(&layout[at..]) {
            let (text, rest) = layout[at..].split_at(length);
            return Piece { literal: &layout[..at], token: Some((text, token)), rest };
        }
    }
    Piece { literal: layout, token: None, rest: "" }
}

/// The token that a text begins with, and its length in bytes.
fn token_at(text: &str) -> Option<(usize, Token)> {
    if text.starts_with("_2006") {
        return None;
    }
    if let Some(separator @ ('.' | ',')) = text.chars().next() {
        return fraction_at(&text[1..], separator);
    }
    TOKENS
        .iter()
        .find(|(name, token)| text.starts_with(name) && !is_part_of_a_word(*token, &text[name.len()..]))
        .map(|(name, token)| (name.len(), *token))
}

/// `Jan` and `Mon` are tokens only where no longer word begins: not in `Janet`.
fn is_part_of_a_word(token: Token, rest: &str) -> bool {
    matches!(token, Token::ShortMonth | Token::ShortWeekday) && rest.starts_with(|next: char| next.is_ascii_lowercase())
}

/// A fraction of a second: zeros or nines after the separator, with no other digit behind.
fn fraction_at(digits: &str, separator: char) -> Option<(usize, Token)> {
    let digit = digits.chars().next().filter(|digit| matches!(digit, '0' | '9'))?;
    let rest = digits.trim_start_matches(digit);
    let count = digits.len() - rest.len();
    let ends = !rest.starts_with(|next: char| next.is_ascii_digit());
    ends.then_some((count + 1, Token::Fraction { separator, digits: count, trimmed: digit == '9' }))
}

/// Names of the months.
pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Names of the days of the week.
pub(super) const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
/// Letters of a short name.
pub(super) const SHORT_NAME: usize = 3;
