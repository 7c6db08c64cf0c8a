//! What boxes say, cut to so many columns.

use unicode_width::UnicodeWidthStr;

use super::{Graph, Line, Node};
use crate::output::measure::{one_line, pad, shorten};

/// Fewest dots between a column's name and where it comes from.
const DOTS: usize = 3;

/// The most columns of a box: of titles of small ones, and of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    pub title: usize,
    pub line: usize,
    /// Whether arrows are as short as they can be.
    pub is_tight: bool,
}

/// From what nothing is cut but the unusual, to what is just readable: first lines give way, then titles.
pub(super) const STEPS: [Limits; 11] = [
    Limits { title: 48, line: 110, is_tight: false },
    Limits { title: 48, line: 80, is_tight: false },
    Limits { title: 32, line: 80, is_tight: true },
    Limits { title: 32, line: 56, is_tight: true },
    Limits { title: 24, line: 56, is_tight: true },
    Limits { title: 24, line: 44, is_tight: true },
    Limits { title: 18, line: 44, is_tight: true },
    Limits { title: 18, line: 32, is_tight: true },
    Limits { title: 14, line: 32, is_tight: true },
    Limits { title: 12, line: 32, is_tight: true },
    Limits { title: 10, line: 30, is_tight: true },
];

/// A box's words.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    pub title: String,
    pub lines: Vec<String>,
}

impl Shown {
    pub(super) fn new(graph: &Graph, at: usize, limits: Limits) -> Self {
        let node = &graph.nodes[at];
        let marks = graph.marks(at);
        let room = if node.lines.is_empty() { limits.title } else { limits.line - 2 };
        let title = format!("{}{marks}", shorten(&one_line(&node.title), room.saturating_sub(marks.width())));
        Self { title, lines: lines(node, limits.line) }
    }

    /// Columns of the whole box.
    pub(super) fn width(&self) -> usize {
        let lines = self.lines.iter().map(|line| line.width()).max();
        // A title in the border has a dash and a blank on each side.
        lines.map_or(self.title.width(), |lines| lines.max(self.title.width() + 2)) + 4
    }
}

/// The lines of a box, in so many columns: `◆ total ········ [SUM]  ● raw.orders.amount`. A long name leaves room for
/// where it comes from.
pub(super) fn lines(node: &Node, columns: usize) -> Vec<String> {
    let names: Vec<String> = node.lines.iter().map(|line| shorten(&one_line(&line.column), columns * 2 / 5)).collect();
    let told = || node.lines.iter().zip(&names).filter(|(line, _)| !line.sources.is_empty());
    let name = told().map(|(_, name)| name.width()).max().unwrap_or(0);
    let label = told().map(|(line, _)| line.label.width()).max().unwrap_or(0);
    let line = |(line, own): (&Line, &String)| shorten(&aligned(line, own, name, label), columns);
    node.lines.iter().zip(&names).map(line).collect()
}

fn aligned(line: &Line, own: &str, name: usize, label: usize) -> String {
    let mark = line.mark;
    if line.sources.is_empty() {
        let label = if line.label.is_empty() { String::new() } else { format!(" {}", line.label) };
        return format!("{mark} {own}{label}");
    }
    let sources = one_line(&line.sources);
    let dots = DOTS + name - own.width();
    if line.label.is_empty() {
        // The dots go on below the labels of others.
        let dots = if label == 0 { dots } else { dots + 1 + label };
        return format!("{mark} {own} {}  {sources}", "·".repeat(dots));
    }
    format!("{mark} {own} {} {}  {sources}", "·".repeat(dots), pad(&line.label, label))
}
