//! A box with double lines, always of the same width (chapter 05 §4.3): what tells a sandbox from everything else.

use types::printable;
use unicode_width::UnicodeWidthStr;

use super::measure::{one_line, pad, shorten, wrap};
use crate::ui::{Color, Ui};

/// Columns between the borders.
const INNER: usize = 64;
/// Columns of the borders, and of the blanks beside them.
const BORDERS: usize = 2;
const BLANKS: usize = 2;
/// Columns by which what follows in an entry's further lines is indented.
const FURTHER: usize = 2;
/// Where an entry is broken first: behind it stands the reason.
const REASON: &str = " — ";

/// A box; what does not fit into a line goes on in the next one, in a terminal that is narrower too.
pub(crate) struct Frame<'a> {
    ui: &'a Ui,
    inner: usize,
    text: String,
}

impl<'a> Frame<'a> {
    /// An empty box with a title.
    pub(crate) fn new(ui: &'a Ui, title: &str) -> Self {
        let inner = ui.columns().saturating_sub(BORDERS).clamp(BLANKS + 1, INNER);
        let mut frame = Self { ui, inner, text: String::new() };
        frame.border('╔', title, '╗');
        frame
    }

    /// A line with a title across the box.
    pub(crate) fn section(&mut self, title: &str) {
        self.border('╠', title, '╣');
    }

    /// A text; blanks at its beginning indent all of it.
    pub(crate) fn entry(&mut self, text: &str, color: Option<Color>) {
        for line in broken(text, self.inner - BLANKS) {
            let line = pad(&line, self.inner - BLANKS);
            let line = color.map_or_else(|| line.clone(), |color| self.ui.paint(&line, color));
            self.text.push_str(&format!("║ {line} ║\n"));
        }
    }

    /// Several texts of one color.
    pub(crate) fn entries(&mut self, texts: &[String], color: Option<Color>) {
        for text in texts {
            self.entry(text, color);
        }
    }

    /// Draws it on the human stream.
    pub(crate) fn print(mut self) {
        self.border('╚', "", '╝');
        self.ui.line(self.text.trim_end_matches('\n'));
    }

    fn border(&mut self, left: char, title: &str, right: char) {
        let title = shorten(&one_line(title), self.inner.saturating_sub(4));
        let title = if title.is_empty() { title } else { format!("═ {title} ") };
        let rest = "═".repeat(self.inner.saturating_sub(title.width()));
        self.text.push_str(&format!("{left}{title}{rest}{right}\n"));
    }
}

/// The lines of an entry.
fn broken(text: &str, room: usize) -> Vec<String> {
    let indent = text.len() - text.trim_start_matches(' ').len();
    let indent = indent.min(room.saturating_sub(FURTHER + 1));
    let text = text.trim().replace(|c: char| c.is_control() || (c.is_whitespace() && c != ' '), " ");
    let text = printable(&text);
    if indent + text.width() <= room {
        return vec![format!("{}{text}", " ".repeat(indent))];
    }
    let further = (indent + FURTHER).min(room - 1);
    let (first, rest) = match text.find(REASON) {
        Some(at) => (wrap(&text[..at], room - further), wrap(text[at..].trim_start(), room - further)),
        None => (wrap(&text, room - further), Vec::new()),
    };
    let lines = first.into_iter().chain(rest).enumerate();
    lines.map(|(at, line)| format!("{}{line}", " ".repeat(if at == 0 { indent } else { further }))).collect()
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::broken;

    #[test]
    fn what_is_too_long_goes_on_below_and_a_reason_stays_whole() {
        let line = "[OK] raw.a (table, full, 2 rows, 11ms — sandbox: forced re-run for directive validation)";
        assert_eq!(
            broken(line, 62),
            ["[OK] raw.a (table, full, 2 rows, 11ms", "  — sandbox: forced re-run for directive validation)",]
        );
        assert_eq!(broken("  short — one", 62), ["  short — one"]);
        assert_eq!(broken("    日本語 日本語 日本語", 14), ["    日本語", "      日本語", "      日本語"]);
    }

    #[test]
    fn no_line_is_wider_than_the_room() {
        for room in 3..40 {
            for text in ["    a text of some words — and why", "unbreakableunbreakableunbreakable", "a"] {
                let lines = broken(text, room);
                assert!(lines.iter().all(|line| line.width() <= room), "{room}: {lines:?}");
            }
        }
    }
}
