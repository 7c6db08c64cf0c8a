//! A graph as an SVG that stands on its own: in a README, on a page, in light and in dark surroundings.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use super::boxes::STEPS;
use super::layout::{HEAD, Heading, Layout, Path, Placed, Plan};
use super::{Graph, Node, Role};
use crate::output::measure::one_line;

/// Pixels of a cell.
const CELL: (usize, usize) = (8, 16);
/// Pixels around the drawing.
const MARGIN: usize = 24;
/// Pixels between a schema's boxes and the edge of its ground.
const GROUND: usize = 8;
/// Pixels of the bend of a wire.
const BEND: usize = 6;
/// Pixels of the head of an arrow.
const ARROW: usize = 7;

/// Fonts that every system has one of; a cell is a little wider than their characters.
const STYLE: &str = "\
text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace;fill:#1f2328;\
white-space:pre}\
.page{fill:#fff;stroke:#d1d9e0}.ground{fill:#f6f8fa}.schema{font-weight:600;fill:#59636e}.title{font-weight:600;font-size:14px}\
.wire{fill:none;stroke:#8c959f;stroke-width:1.5}.arrow{fill:#8c959f}\
.box{fill:#fff;stroke:#8c959f;stroke-width:1.2}.target{stroke:#1a7f37;stroke-width:1.8}.unknown{stroke:#9a6700;stroke-dasharray:4 3}\
.cap{fill:#dafbe1}.cap.plain{fill:#eaeef2}.name{font-weight:600}.quiet{fill:#818b98}\
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.page{fill:#0d1117;stroke:#3d444d}.ground{fill:#151b23}\
.schema{fill:#9198a1}.wire{stroke:#656c76}.arrow{fill:#656c76}.box{fill:#0d1117;stroke:#656c76}.target{stroke:#3fb950}\
.unknown{stroke:#d29922}.cap{fill:#12261e}.cap.plain{fill:#212830}.quiet{fill:#656c76}}";

/// The graph as an SVG document.
pub(crate) fn svg(graph: &Graph) -> String {
    let plan = Plan::new(graph);
    let layout = plan.measure(STEPS[0]);
    let top = MARGIN + if graph.title.is_some() { 2 * CELL.1 } else { 0 };
    let sheet = Sheet { top };
    let legend: Vec<String> = graph.legend.iter().map(|(mark, meaning)| format!("{mark} {meaning}")).collect();
    let legend = legend.join("   ");
    let title = graph.title.as_deref().map(one_line);
    let widest = layout.width.max(legend.width()).max(title.as_deref().map_or(0, |title| title.width() * 7 / 6));
    let (width, bottom) = (widest * CELL.0 + 2 * MARGIN, sheet.y(layout.height));
    let height = bottom + 2 * CELL.1 + MARGIN;
    let name = title.as_deref().unwrap_or("Lineage");
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n<rect class=\"page\" x=\".5\" y=\".5\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n",
        escaped(name),
        width - 1,
        height - 1
    );
    if let Some(title) = &title {
        text(&mut out, "title", (MARGIN, MARGIN + 12), title);
    }
    layout.headings.iter().for_each(|heading| sheet.ground(&mut out, heading, &layout));
    layout.paths.iter().for_each(|path| sheet.path(&mut out, path));
    layout.boxes.iter().zip(&graph.nodes).for_each(|(placed, node)| sheet.node(&mut out, placed, node));
    text(&mut out, "quiet", (MARGIN, bottom + 2 * CELL.1), &legend);
    out.push_str("</svg>\n");
    out
}

/// Where cells are on the page.
struct Sheet {
    top: usize,
}

impl Sheet {
    /// The upper edge of a cell. Below the names of schemas is room for the cap of a box.
    fn y(&self, cell: usize) -> usize {
        self.top + cell * CELL.1 + if cell < HEAD { 0 } else { CELL.1 / 2 }
    }

    fn center(&self, (x, y): (usize, usize)) -> (usize, usize) {
        (left_of(x) + CELL.0 / 2, self.y(y) + CELL.1 / 2)
    }

    /// What a schema's boxes stand on, with its name.
    fn ground(&self, out: &mut String, heading: &Heading, layout: &Layout) {
        let (x, y) = (left_of(heading.x) - GROUND, self.y(0) - GROUND / 2);
        let (width, height) = (heading.width * CELL.0 + 2 * GROUND, self.y(layout.height) - self.y(0) + GROUND);
        let _ = writeln!(
            out,
            "<rect class=\"ground\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"8\"/>"
        );
        text(out, "schema", (left_of(heading.x), self.y(0) + 13), &heading.text);
    }

    fn node(&self, out: &mut String, placed: &Placed, node: &Node) {
        let (x, y) = self.center((placed.x, placed.y));
        let (width, height) = ((placed.width - 1) * CELL.0, (placed.height - 1) * CELL.1);
        let class = match node.role {
            Role::Model => "box",
            Role::Target => "box target",
            Role::Unknown => "box unknown",
        };
        let _ = writeln!(out, "<g><title>{}</title>", escaped(&one_line(&node.name)));
        let left = left_of(placed.x + 2);
        if placed.shown.lines.is_empty() {
            let _ = writeln!(
                out,
                "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"6\"/>"
            );
            text(out, "", (left, self.y(placed.y + 1) + 12), &placed.shown.title);
        } else {
            // The title stands in the border of a terminal's box, and here in a cap upon it.
            let (y, height) = (y - CELL.1 / 2, height + CELL.1 / 2);
            let cap = if node.role == Role::Target { "cap" } else { "cap plain" };
            let _ = writeln!(
                out,
                "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"6\"/>"
            );
            let (cap_x, cap_y, cap_width) = (x + 1, y + 1, width - 2);
            let _ = writeln!(
                out,
                "<path class=\"{cap}\" d=\"M{cap_x} {}v-11q0-5 5-5h{}q5 0 5 5v11z\"/>",
                cap_y + 16,
                cap_width - 10
            );
            text(out, "name", (left, self.y(placed.y) + 12), &placed.shown.title);
            for (line, row) in placed.shown.lines.iter().zip(placed.y + 1..) {
                column(out, (left, self.y(row) + 13), line);
            }
        }
        out.push_str("</g>\n");
    }

    fn path(&self, out: &mut String, path: &Path) {
        let wire = self.wire(path);
        if !wire.is_empty() {
            let _ = writeln!(out, "<path class=\"wire\" d=\"{wire}\"/>");
        }
        for &(row, to, into_box) in &path.right {
            if into_box {
                let (x, y) = (left_of(to + 1) + CELL.0 / 2, self.center((0, row)).1);
                let _ = writeln!(out, "<path class=\"arrow\" d=\"M{} {}l{ARROW} 4l-{ARROW} 4z\"/>", x - ARROW, y - 4);
            }
        }
    }

    /// The lines of a wire between two columns. It bends in the direction in which it leads, so that it can be seen where
    /// several meet and where they only cross.
    fn wire(&self, path: &Path) -> String {
        let from_edge = |from: usize| left_of(from).saturating_sub(CELL.0 / 2);
        let to_edge = |to: usize, into_box: bool| left_of(to + 1) + CELL.0 / 2 - if into_box { ARROW - 1 } else { 0 };
        let middle = |row: usize| self.center((0, row)).1;
        let mut d = String::new();
        for &(row, from) in &path.left {
            if let Some((_, to, into_box)) = path.right.iter().find(|(to, ..)| *to == row) {
                let _ = write!(d, "M{} {}H{}", from_edge(from), middle(row), to_edge(*to, *into_box));
            }
        }
        let Some((x, top, bottom)) = path.spine else { return d };
        let x = self.center((x, 0)).0;
        let _ = write!(d, "M{x} {}V{}", middle(top) + BEND, middle(bottom) - BEND);
        let leaves: Vec<usize> =
            path.right.iter().map(|(row, ..)| *row).chain(path.bottom.map(|(row, ..)| row)).collect();
        for &(row, from) in &path.left {
            for (is_up, turn) in [(true, middle(row) - BEND), (false, middle(row) + BEND)] {
                if leaves.iter().any(|&to| if is_up { to < row } else { to > row }) {
                    let _ = write!(d, "M{} {y}H{}Q{x} {y} {x} {turn}", from_edge(from), x - BEND, y = middle(row));
                }
            }
        }
        // A wire that came along the bottom came from below.
        let is_back = path.left.is_empty();
        for &(row, to, into_box) in &path.right {
            for (is_up, turn) in [(true, middle(row) - BEND), (false, middle(row) + BEND)] {
                let comes = path.left.iter().any(|&(from, _)| if is_up { from < row } else { from > row });
                if comes || is_back && !is_up {
                    let _ =
                        write!(d, "M{x} {turn}Q{x} {y} {} {y}H{}", x + BEND, to_edge(to, into_box), y = middle(row));
                }
            }
        }
        if let Some((row, to, _)) = path.bottom {
            let (y, to) = (middle(row), self.center((to, 0)).0 + BEND);
            let _ = write!(d, "M{x} {}Q{x} {y} {} {y}H{to}", y - BEND, x - BEND);
        } else if is_back {
            let y = middle(bottom);
            let _ = write!(d, "M{} {y}Q{x} {y} {x} {}", x + BEND, y - BEND);
        }
        d
    }
}

/// The left edge of a cell.
fn left_of(cell: usize) -> usize {
    MARGIN + cell * CELL.0
}

fn text(out: &mut String, class: &str, (x, y): (usize, usize), text: &str) {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    let _ = writeln!(out, "<text{class} x=\"{x}\" y=\"{y}\" xml:space=\"preserve\">{}</text>", escaped(text));
}

/// A line about a column: each part of it where its cells are, whatever the font makes of those before. The dots are not
/// to be read.
fn column(out: &mut String, (x, y): (usize, usize), line: &str) {
    let _ = write!(out, "<text y=\"{y}\" xml:space=\"preserve\">");
    let mut from = 0;
    for end in parts(line) {
        let part = &line[from..end];
        let blanks = part.len() - part.trim_start().len();
        let x = x + (line[..from].width() + blanks) * CELL.0;
        let class = if part.trim().starts_with('·') { " class=\"quiet\"" } else { "" };
        let _ = write!(out, "<tspan{class} x=\"{x}\">{}</tspan>", escaped(part.trim()));
        from = end;
    }
    out.push_str("</text>\n");
}

/// Where a name, the dots behind it, a label and sources end.
fn parts(line: &str) -> Vec<usize> {
    let Some(dots) = line.find(" ··") else { return vec![line.len()] };
    let rest = dots + 1 + line[dots + 1..].find(|c| c != '·').unwrap_or(line.len() - dots - 1);
    let sources = line[rest..].find("  ").map(|at| rest + at).filter(|&at| at > rest);
    [Some(dots), Some(rest), sources, Some(line.len())].into_iter().flatten().collect()
}

/// A text as XML; what XML cannot hold at all is replaced.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\u{fffe}' | '\u{ffff}' => out.push(char::REPLACEMENT_CHARACTER),
            c if c.is_control() && !matches!(c, '\n' | '\t') => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}
