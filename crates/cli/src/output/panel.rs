//! A box that is drawn line by line: work that takes its time shows how far it is.

use unicode_width::UnicodeWidthStr;

use super::measure::{one_line, shorten, wrap};
use crate::ui::{Color, Ui};

/// Columns of the whole box: those of the narrowest usual terminal, fewer in one that is narrower still.
const WIDTH: usize = 80;
/// Columns of the borders, their blanks and an indented text.
const LEAST: usize = 12;

/// An open box.
pub(crate) struct Panel<'a> {
    ui: &'a Ui,
    width: usize,
}

impl<'a> Panel<'a> {
    /// Draws the upper border with a title in it.
    pub(crate) fn open(ui: &'a Ui, title: &str) -> Self {
        let width = ui.columns().clamp(LEAST, WIDTH);
        let title = shorten(title, width - 6);
        ui.line(&format!("╭─ {title} {}╮", "─".repeat(width - 5 - title.width())));
        Self { ui, width }
    }

    /// A line of text, shortened to fit.
    pub(crate) fn line(&self, indent: usize, text: &str) {
        self.draw(indent, &shorten(&one_line(text), self.inner() - indent), None);
    }

    /// A text in as many lines as it needs.
    pub(crate) fn paragraph(&self, indent: usize, text: &str, color: Option<Color>) {
        for line in wrap(&one_line(text), self.inner() - indent) {
            self.draw(indent, &line, color);
        }
    }

    /// Draws the lower border.
    pub(crate) fn close(self) {
        self.ui.line(&format!("╰{}╯", "─".repeat(self.width - 2)));
    }

    /// Columns between the borders and their blanks.
    fn inner(&self) -> usize {
        self.width - 4
    }

    fn draw(&self, indent: usize, text: &str, color: Option<Color>) {
        let padding = " ".repeat(self.inner().saturating_sub(indent + text.width()));
        let text = color.map_or_else(|| text.to_owned(), |color| self.ui.paint(text, color));
        self.ui.line(&format!("│ {}{text}{padding} │", " ".repeat(indent)));
    }
}
