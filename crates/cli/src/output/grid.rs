//! Rows under titles, as wide as their texts, and narrower where the room ends.

use unicode_width::UnicodeWidthStr;

use super::measure::{one_line, pad, shorten};

/// Blanks between two columns.
const GAP: usize = 2;

/// Rows under titles.
pub(crate) struct Grid {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

/// A column of a grid.
pub(crate) struct Column {
    title: &'static str,
    is_number: bool,
    /// Columns that it never falls below; `None` if it is never narrowed.
    narrowest: Option<usize>,
    /// Most columns that it takes.
    widest: usize,
    /// The higher, the sooner it is left out where all do not fit; 0 for never.
    spare: usize,
}

impl Column {
    /// Texts of which each counts whole.
    pub(crate) fn text(title: &'static str) -> Self {
        Self { title, is_number: false, narrowest: None, widest: usize::MAX, spare: 0 }
    }

    /// Numbers, aligned at their last digit.
    pub(crate) fn number(title: &'static str) -> Self {
        Self { is_number: true, ..Self::text(title) }
    }

    /// May be narrowed down to so many columns, and takes no more than `widest`.
    pub(crate) fn between(self, narrowest: usize, widest: usize) -> Self {
        Self { narrowest: Some(narrowest), widest, ..self }
    }

    /// May be left out; the highest rank goes first.
    pub(crate) fn spare(self, rank: usize) -> Self {
        Self { spare: rank, ..self }
    }
}

/// A text, and a tag behind it that is never shortened.
pub(crate) struct Cell {
    text: String,
    tag: &'static str,
}

impl Cell {
    pub(crate) fn tagged(text: &str, tag: &'static str) -> Self {
        Self { text: one_line(text), tag }
    }

    fn width(&self) -> usize {
        self.text.width() + self.tag_width()
    }

    fn tag_width(&self) -> usize {
        if self.tag.is_empty() { 0 } else { self.tag.width() + 1 }
    }

    fn fit(&self, columns: usize) -> String {
        if self.tag.is_empty() {
            return shorten(&self.text, columns);
        }
        format!("{} {}", shorten(&self.text, columns.saturating_sub(self.tag_width())), self.tag)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::tagged(text, "")
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl Grid {
    /// A grid without rows.
    pub(crate) fn new(columns: Vec<Column>) -> Self {
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row with a cell for each column.
    pub(crate) fn push(&mut self, row: Vec<Cell>) {
        self.rows.push(row);
    }

    /// Whether there are no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Columns of the whole, if there is room for it.
    pub(crate) fn width(&self) -> usize {
        let shown: Vec<usize> = (0..self.columns.len()).collect();
        let widths: Vec<usize> = shown.iter().map(|&at| self.natural(at)).collect();
        total(&widths)
    }

    /// Titles and rows, as lines of at most `room` columns, unless not even that which must be there fits.
    pub(crate) fn lines(&self, room: usize) -> Vec<String> {
        let mut shown: Vec<usize> = (0..self.columns.len()).collect();
        let mut widths = self.widths(&shown, room);
        while total(&widths) > room
            && let Some(spare) = self.most_spare(&shown)
        {
            shown.remove(spare);
            widths = self.widths(&shown, room);
        }
        let titles = shown.iter().zip(&widths).map(|(&at, &width)| self.aligned(at, self.columns[at].title, width));
        let mut lines = vec![line(&titles.collect::<Vec<_>>())];
        for row in &self.rows {
            let cells = shown.iter().zip(&widths).map(|(&at, &width)| self.aligned(at, &row[at].fit(width), width));
            lines.push(line(&cells.collect::<Vec<_>>()));
        }
        lines
    }

    /// Position in `shown` of the column to leave out first.
    fn most_spare(&self, shown: &[usize]) -> Option<usize> {
        let spare = |position: &usize| self.columns[shown[*position]].spare;
        (0..shown.len()).max_by_key(spare).filter(|position| spare(position) > 0)
    }

    /// Widths of the shown columns: the widest one that may be narrowed is, until all fit.
    fn widths(&self, shown: &[usize], room: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = shown.iter().map(|&at| self.natural(at)).collect();
        while total(&widths) > room {
            let may = |position: &usize| {
                self.narrowest(shown[*position]).is_some_and(|narrowest| widths[*position] > narrowest)
            };
            let Some(position) = (0..shown.len()).filter(may).max_by_key(|&position| widths[position]) else { break };
            widths[position] -= 1;
        }
        widths
    }

    /// What a column never falls below: of a tagged text something is left.
    fn narrowest(&self, at: usize) -> Option<usize> {
        let tags = self.rows.iter().map(|row| row[at].tag_width()).max().unwrap_or(0);
        self.columns[at].narrowest.map(|narrowest| narrowest + tags)
    }

    fn natural(&self, at: usize) -> usize {
        let column = &self.columns[at];
        let cells = self.rows.iter().map(|row| row[at].width());
        cells.max().unwrap_or(0).min(column.widest).max(column.title.width())
    }

    fn aligned(&self, at: usize, text: &str, width: usize) -> String {
        if self.columns[at].is_number {
            return format!("{}{text}", " ".repeat(width.saturating_sub(text.width())));
        }
        pad(text, width)
    }
}

fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

fn line(cells: &[String]) -> String {
    cells.join(&" ".repeat(GAP)).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Cell, Column, Grid};

    fn grid() -> Grid {
        let columns = vec![Column::text("Name").between(6, 40), Column::number("Rows"), Column::text("Run").spare(1)];
        let mut grid = Grid::new(columns);
        grid.push(vec!["raw.日本".into(), "5".into(), "abc".into()]);
        grid.push(vec![Cell::tagged("mart.orders_of_customers", "[gone]"), "1.5K".into(), "de".into()]);
        grid
    }

    #[test]
    fn columns_are_as_wide_as_their_texts() {
        let expected = [
            "Name                             Rows  Run",
            "raw.日本                            5  abc",
            "mart.orders_of_customers [gone]  1.5K  de",
        ];
        assert_eq!(grid().lines(100), expected);
        assert_eq!(grid().width(), 42);
    }

    #[test]
    fn what_does_not_fit_is_narrowed_and_then_left_out() {
        let expected = ["Name             Rows  Run", "raw.日本            5  abc", "mart.... [gone]  1.5K  de"];
        assert_eq!(grid().lines(26), expected);
        assert_eq!(grid().lines(20), ["Name            Rows", "raw.日本           5", "mart... [gone]  1.5K"]);
        assert_eq!(grid().lines(1), ["Name           Rows", "raw.日本          5", "mar... [gone]  1.5K"]);
    }
}
