//! A box whose content is known before it is drawn: as wide as that, and no wider than the terminal.

use types::printable;
use unicode_width::UnicodeWidthStr;

use super::grid::Grid;
use super::measure::{one_line, pad, shorten, wrap};
use crate::error::CliError;
use crate::ui::{Color, Ui};

/// Columns of the borders and their blanks.
const FRAME: usize = 4;
/// Columns of the narrowest box.
const NARROWEST: usize = 40;

/// Columns of the name of a field.
const FIELD: usize = 17;

/// A box with a title, lines, sections and grids.
pub(crate) struct Sheet {
    title: String,
    parts: Vec<Part>,
}

enum Part {
    Section(String),
    /// Shortened to fit.
    Line {
        text: String,
        color: Option<Color>,
    },
    /// As many lines as it needs.
    Paragraph {
        text: String,
        color: Option<Color>,
    },
    Grid(Grid),
}

impl Sheet {
    /// An empty box.
    pub(crate) fn new(title: &str) -> Self {
        Self { title: one_line(title), parts: Vec::new() }
    }

    /// A line with a title across the box.
    pub(crate) fn section(&mut self, title: &str) {
        self.parts.push(Part::Section(one_line(title)));
    }

    /// A line of text, shortened to fit; blanks at its beginning stay.
    pub(crate) fn line(&mut self, text: &str) {
        let indent = text.len() - text.trim_start_matches(' ').len();
        let text = format!("{}{}", &text[..indent], one_line(text));
        self.parts.push(Part::Line { text, color: None });
    }

    /// A line of code, shortened to fit; its blanks stay.
    pub(crate) fn code(&mut self, line: &str) {
        let text = printable(&line.replace('\t', "    "));
        self.parts.push(Part::Line { text: text.trim_end().to_owned(), color: None });
    }

    /// A name, and in a column of its own a value.
    pub(crate) fn field(&mut self, name: &str, value: &str) {
        self.parts.push(Part::Line { text: format!("{}{}", pad(name, FIELD), one_line(value)), color: None });
    }

    /// A text in as many lines as it needs.
    pub(crate) fn paragraph(&mut self, text: &str, color: Option<Color>) {
        self.parts.push(Part::Paragraph { text: one_line(text), color });
    }

    /// A value in as many lines as it needs; its blanks stay.
    pub(crate) fn value(&mut self, text: &str) {
        self.parts.push(Part::Paragraph { text: printable(text), color: None });
    }

    /// Rows under titles.
    pub(crate) fn grid(&mut self, grid: Grid) {
        self.parts.push(Part::Grid(grid));
    }

    /// Draws it as a result.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub(crate) fn print(&self, ui: &Ui) -> Result<(), CliError> {
        ui.result(&self.drawn(ui.columns(), |text, color| ui.paint(text, color)))
    }

    fn drawn(&self, columns: usize, paint: impl Fn(&str, Color) -> String) -> String {
        let room = self.width().max(NARROWEST).min(columns.max(FRAME + 1)) - FRAME;
        let mut out = border('╭', &self.title, '╮', room);
        for part in &self.parts {
            let (lines, color) = match part {
                Part::Section(title) => {
                    out.push_str(&border('├', title, '┤', room));
                    continue;
                }
                Part::Line { text, color } => (vec![text.clone()], *color),
                Part::Paragraph { text, color } => (wrap(text, room), *color),
                Part::Grid(grid) => (grid.lines(room), None),
            };
            for line in lines {
                let line = pad(&shorten(&line, room), room);
                let line = color.map_or_else(|| line.clone(), |color| paint(&line, color));
                out.push_str(&format!("│ {line} │\n"));
            }
        }
        out.push_str(&border('╰', "", '╯', room));
        out
    }

    /// Columns of the whole box, if there is room for it.
    fn width(&self) -> usize {
        let inner = self.parts.iter().map(|part| match part {
            Part::Section(title) => title.width() + 2,
            Part::Line { text, .. } | Part::Paragraph { text, .. } => text.width(),
            Part::Grid(grid) => grid.width(),
        });
        inner.max().unwrap_or(0).max(self.title.width() + 2) + FRAME
    }
}

fn border(left: char, title: &str, right: char, room: usize) -> String {
    let title = shorten(title, room.saturating_sub(2));
    let title = if title.is_empty() { String::new() } else { format!("─ {title} ") };
    let rest = "─".repeat((room + 2).saturating_sub(title.width()));
    format!("{left}{title}{rest}{right}\n")
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::{Color, Sheet};

    fn sheet() -> Sheet {
        let mut sheet = Sheet::new("History");
        sheet.section("Numbers");
        sheet.line("  a line of text that is rather long, with 日本語 in it");
        sheet.paragraph("a paragraph of text that is rather long, with 日本語 in it", Some(Color::Red));
        sheet
    }

    #[test]
    fn a_box_is_as_wide_as_its_content() {
        let text = sheet().drawn(200, |text, _| text.to_owned());
        let widths: Vec<usize> = text.lines().map(UnicodeWidthStr::width).collect();
        assert_eq!(widths, [62; 5]);
        assert!(!text.contains("..."), "{text}");
    }

    #[test]
    fn a_value_keeps_its_blanks_and_a_paragraph_does_not() {
        let mut sheet = Sheet::new("Rows");
        sheet.value("1: {\"name\":\"a  b\"}");
        sheet.paragraph("2: a  b", None);
        let text = sheet.drawn(80, |text, _| text.to_owned());
        assert!(text.contains("│ 1: {\"name\":\"a  b\"} ") && text.contains("│ 2: a b "), "{text}");
    }

    #[test]
    fn a_box_is_no_wider_than_the_terminal() {
        for columns in [5, 9, 20, 33, 60] {
            let text = sheet().drawn(columns, |text, _| text.to_owned());
            assert!(text.lines().all(|line| line.width() == columns), "{columns}:\n{text}");
        }
        let text = sheet().drawn(44, |text, _| format!("<{text}>"));
        let expected = "\
╭─ History ────────────────────────────────╮
├─ Numbers ────────────────────────────────┤
│   a line of text that is rather long,... │
│ <a paragraph of text that is rather long,> │
│ <with 日本語 in it                       > │
╰──────────────────────────────────────────╯
";
        assert_eq!(text, expected);
    }
}
