//! The user's text as an error shows it: what steers a terminal is gone, and long lines are cut around the place.

use std::ops::Range;

use types::printable;

/// Longest line, in bytes, that is shown as it is.
const LONGEST: usize = 400;
/// What is shown of a longer one, before the place and from there on.
const BEFORE: usize = 100;
const AFTER: usize = 200;

/// A text with a place in it.
pub(crate) struct Excerpt {
    pub text: String,
    pub span: Range<usize>,
    /// Characters that are missing before the place in its line.
    pub missing: usize,
}

impl Excerpt {
    pub(crate) fn of(text: &str, span: Range<usize>) -> Self {
        let text = without_controls(text);
        let mut excerpt = Self { text: String::with_capacity(text.len()), span: span.clone(), missing: 0 };
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let (start, own) = (at, at..at + line.len());
            at = own.end;
            if line.len() <= LONGEST {
                excerpt.shift(&own, &span, |place| place, line);
            } else {
                excerpt.cut(line, start, &own, &span);
            }
        }
        excerpt.span.end = excerpt.span.end.clamp(excerpt.span.start, excerpt.text.len().max(excerpt.span.start));
        excerpt
    }

    /// Adds a line that is too long.
    fn cut(&mut self, line: &str, start: usize, own: &Range<usize>, span: &Range<usize>) {
        let content = line.trim_end_matches(['\n', '\r']);
        let place = if own.contains(&span.start) { (span.start - start).min(content.len()) } else { 0 };
        let from = content.floor_char_boundary(place.saturating_sub(BEFORE));
        let to = content.floor_char_boundary(place.saturating_add(AFTER).min(content.len()));
        let (open, close) = (if from > 0 { "…" } else { "" }, if to < content.len() { "…" } else { "" });
        if own.contains(&span.start) && from > 0 {
            self.missing = content[..from].chars().count() - 1;
        }
        let shown = format!("{open}{}{close}{}", &content[from..to], &line[content.len()..]);
        let moved = |at: usize| (at.clamp(start + from, start + to) - start - from) + open.len() + start;
        self.shift(own, span, moved, &shown);
    }

    /// Adds a line as it is shown; `moved` says where its bytes went, as if all before were as they were.
    fn shift(&mut self, own: &Range<usize>, span: &Range<usize>, moved: impl Fn(usize) -> usize, shown: &str) {
        let base = self.text.len();
        let here = |at: usize| base + moved(at) - own.start;
        if own.contains(&span.start) || own.end == span.start {
            self.span.start = here(span.start);
        }
        if own.contains(&span.end) || own.end == span.end {
            self.span.end = here(span.end);
        }
        self.text.push_str(shown);
    }
}

/// The text without what would steer a terminal, of the same length.
fn without_controls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let shown = if c == '\r' { c.to_string() } else { printable(c.encode_utf8(&mut [0; 4])) };
        match c.len_utf8() {
            length if shown.len() == length => out.push_str(&shown),
            length => out.extend(std::iter::repeat_n('?', length)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::Excerpt;

    #[test]
    fn short_lines_are_shown_as_they_are() {
        let text = "one\r\ntwo é\n";
        let excerpt = Excerpt::of(text, 5..8);
        assert_eq!((excerpt.text.as_str(), excerpt.span, excerpt.missing), (text, 5..8, 0));
        let end = Excerpt::of("ab", 2..2);
        assert_eq!((end.span, end.missing), (2..2, 0));
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let text = format!("{0}\nSELECT {0}HERE{0}\n{0}", "é".repeat(100_000));
        let at = text.find("HERE").unwrap();
        let excerpt = Excerpt::of(&text, at..at + 4);
        assert!(excerpt.text.len() < 2_000, "{}", excerpt.text.len());
        assert_eq!(&excerpt.text[excerpt.span.clone()], "HERE");
        assert_eq!(excerpt.text.lines().count(), 3);
        let line = excerpt.text[..excerpt.span.start].lines().last().unwrap();
        assert_eq!(line.chars().count() + excerpt.missing, 100_007, "the column stays the one of the file");
    }

    #[test]
    fn a_place_of_many_long_lines_ends_where_the_text_is_cut() {
        let text = format!("{0}\n{0}\n", "x".repeat(10_000));
        let excerpt = Excerpt::of(&text, 5_000..15_000);
        assert!(excerpt.span.start < excerpt.span.end && excerpt.span.end <= excerpt.text.len());
    }

    #[test]
    fn a_text_does_not_steer_the_terminal() {
        let excerpt = Excerpt::of("a\u{1b}[31m\u{202e}b\u{85}c", 0..1);
        assert_eq!(excerpt.text, "a?[31m\u{fffd}b??c");
    }
}
