//! Texts measured in columns of a terminal: wide characters take two, combining ones none (chapter 05 §5).

use types::printable;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What stands for the rest of a text that was shortened.
const REST: &str = "...";
/// Joins the characters around it to one.
const JOINER: char = '\u{200d}';

/// The text without line breaks and other characters that would break a box or turn its lines around.
pub(crate) fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    printable(&words.collect::<Vec<_>>().join(" "))
}

/// At most `columns` columns of the text; `...` stands for the rest.
pub(crate) fn shorten(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let Some(kept) = columns.checked_sub(REST.len()) else { return REST[..columns].to_owned() };
    format!("{}{REST}", &text[..fitting(text, kept)])
}

/// The text with blanks behind it, to fill `columns` columns.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.width())))
}

/// Lines of at most `columns` columns, broken at blanks where there are any.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = text;
    while rest.width() > columns {
        let fits = fitting(rest, columns);
        // A character that is wider than the line stands in it all the same.
        let fits = if fits == 0 { first_boundary(rest) } else { fits };
        let blank = || rest[..fits].rfind(' ').filter(|&at| at > 0);
        let end = if rest[fits..].starts_with(' ') { fits } else { blank().unwrap_or(fits) };
        lines.push(rest[..end].trim_end().to_owned());
        rest = rest[end..].trim_start();
    }
    if !rest.is_empty() || lines.is_empty() {
        lines.push(rest.to_owned());
    }
    lines
}

/// What a person would call its characters, with their columns.
pub(crate) fn characters(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let mut from = 0;
    boundaries(text).filter(|_| !text.is_empty()).map(move |end| {
        let character = &text[std::mem::replace(&mut from, end)..end];
        (character, character.width())
    })
}

/// Bytes of the longest beginning of the text that fits.
fn fitting(text: &str, columns: usize) -> usize {
    boundaries(text).take_while(|&at| text[..at].width() <= columns).last().unwrap_or(0)
}

fn first_boundary(text: &str) -> usize {
    boundaries(text).next().unwrap_or(text.len())
}

/// Where a character ends that a person would call one.
fn boundaries(text: &str) -> impl Iterator<Item = usize> {
    let pairs = text.char_indices().zip(text.char_indices().skip(1));
    pairs.filter(|((_, before), (_, c))| !joins(*before, *c)).map(|(_, (at, _))| at).chain([text.len()])
}

fn joins(before: char, c: char) -> bool {
    let is_skin_tone = ('\u{1f3fb}'..='\u{1f3ff}').contains(&c);
    c.width() == Some(0) || before == JOINER || is_skin_tone
}

#[cfg(test)]
mod tests {
    use super::{characters, one_line, pad, shorten, wrap};

    #[test]
    fn texts_are_measured_in_columns() {
        assert_eq!(shorten("日本語", 6), "日本語");
        assert_eq!(shorten("日本語x", 6), "日...");
        assert_eq!(shorten("abcdef", 2), "..");
        assert_eq!(pad("日", 4), "日  ");
        assert_eq!(wrap("日本 語x", 4), ["日本", "語x"]);
        assert_eq!(wrap("abcdef gh", 4), ["abcd", "ef", "gh"]);
        assert_eq!(wrap("ab cd", 2), ["ab", "cd"]);
        assert_eq!(wrap("日本", 1), ["日", "本"]);
        assert_eq!(one_line(" a\n\tb\u{1b}[0m "), "a b [0m");
    }

    #[test]
    fn no_character_is_cut() {
        // An accent of its own, a family of three joined by joiners, a wave with a skin tone.
        assert_eq!(shorten("cafe\u{301}s and more", 7), "cafe\u{301}...");
        let apart: Vec<_> = characters("日e\u{301}\u{1f44b}\u{1f3fd}").collect();
        assert_eq!(apart, [("日", 2), ("e\u{301}", 1), ("\u{1f44b}\u{1f3fd}", 2)]);
        assert_eq!(characters("").count(), 0);
        let family = "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}";
        assert_eq!(shorten(&format!("{family}abcdef"), 5), format!("{family}..."));
        assert_eq!(shorten(&format!("{family}abcdef"), 4), "...");
        assert_eq!(shorten("\u{1f44b}\u{1f3fd}abcd", 5), "\u{1f44b}\u{1f3fd}...");
    }
}
