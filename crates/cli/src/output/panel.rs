//! A box of fixed width, drawn line by line: work that takes its time shows how far it is.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::ui::{Color, Ui};

/// Columns of the whole box: those of the narrowest usual terminal.
const WIDTH: usize = 80;
/// Columns between the borders and their blanks.
const INNER: usize = WIDTH - 4;

/// An open box.
pub(crate) struct Panel<'a> {
    ui: &'a Ui,
}

impl<'a> Panel<'a> {
    /// Draws the upper border with a title in it.
    pub(crate) fn open(ui: &'a Ui, title: &str) -> Self {
        let title = shorten(title, INNER - 2);
        ui.line(&format!("╭─ {title} {}╮", "─".repeat(WIDTH - 5 - title.width())));
        Self { ui }
    }

    /// A line of text, shortened to fit.
    pub(crate) fn line(&self, indent: usize, text: &str) {
        self.draw(indent, &shorten(&one_line(text), INNER - indent), None);
    }

    /// A text in as many lines as it needs.
    pub(crate) fn paragraph(&self, indent: usize, text: &str, color: Option<Color>) {
        for line in wrap(&one_line(text), INNER - indent) {
            self.draw(indent, &line, color);
        }
    }

    /// Draws the lower border.
    pub(crate) fn close(self) {
        self.ui.line(&format!("╰{}╯", "─".repeat(WIDTH - 2)));
    }

    fn draw(&self, indent: usize, text: &str, color: Option<Color>) {
        let padding = " ".repeat(INNER.saturating_sub(indent + text.width()));
        let text = color.map_or_else(|| text.to_owned(), |color| self.ui.paint(text, color));
        self.ui.line(&format!("│ {}{text}{padding} │", " ".repeat(indent)));
    }
}

/// The text without line breaks and other control characters, which would break the box.
fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// At most `columns` columns of the text; `…` stands for the rest.
fn shorten(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    format!("{}…", &text[..fitting(text, columns - 1)])
}

/// Bytes of the longest beginning of the text that fits.
fn fitting(text: &str, columns: usize) -> usize {
    let mut width = 0;
    let beyond = text.char_indices().find(|(_, c)| {
        width += c.width().unwrap_or(0);
        width > columns
    });
    beyond.map_or(text.len(), |(at, _)| at)
}

/// Lines of at most `columns` columns, broken at blanks where there are any.
fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = text;
    while rest.width() > columns {
        let fits = fitting(rest, columns);
        let end = rest[..fits].rfind(' ').filter(|&at| at > 0).unwrap_or(fits).max(1);
        let end = (end..=rest.len()).find(|&at| rest.is_char_boundary(at)).unwrap_or(rest.len());
        lines.push(rest[..end].trim_end().to_owned());
        rest = rest[end..].trim_start();
    }
    lines.push(rest.to_owned());
    lines
}

#[cfg(test)]
mod tests {
    use super::{one_line, shorten, wrap};

    #[test]
    fn texts_are_measured_in_columns() {
        assert_eq!(shorten("日本語", 6), "日本語");
        assert_eq!(shorten("日本語x", 6), "日本…");
        assert_eq!(wrap("日本 語x", 4), ["日本", "語x"]);
        assert_eq!(wrap("abcdef gh", 4), ["abcd", "ef", "gh"]);
        assert_eq!(one_line(" a\n\tb\u{1b}[0m "), "a b [0m");
    }
}
