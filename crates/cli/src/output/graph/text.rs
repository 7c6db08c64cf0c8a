//! A graph for terminals.

use unicode_width::UnicodeWidthStr;

use super::boxes::STEPS;
use super::canvas::Canvas;
use super::layout::{Layout, Path, Placed, Plan};
use super::list::list;
use super::{Graph, Role};
use crate::output::measure::{one_line, pad, wrap};
use crate::ui::Color;

/// The graph, in at most so many columns: where it does not fit, names are shortened, and where that does not do, it is a
/// list.
pub(crate) fn text(graph: &Graph, columns: Option<usize>, paint: &dyn Fn(&str, Color) -> String) -> String {
    let room = columns.unwrap_or(usize::MAX);
    let plan = Plan::new(graph);
    let fitting = STEPS.iter().map(|&limits| plan.measure(limits)).find(|layout| layout.width <= room);
    let mut lines: Vec<String> = graph.title.iter().flat_map(|title| wrap(&one_line(title), room)).collect();
    lines.extend(graph.title.is_some().then(String::new));
    lines.extend(fitting.map_or_else(|| list(graph, room, paint), |layout| drawn(graph, &layout, paint)));
    let legend = graph.legend.iter().map(|(mark, meaning)| format!("{mark} {meaning}"));
    let legend = legend.collect::<Vec<_>>().join("  ");
    lines.push(String::new());
    lines.extend(wrap(&legend, room));
    lines.join("\n") + "\n"
}

fn drawn(graph: &Graph, layout: &Layout, paint: &dyn Fn(&str, Color) -> String) -> Vec<String> {
    let mut canvas = Canvas::new(layout.width, layout.height);
    layout.headings.iter().for_each(|heading| canvas.text(heading.x, 0, &heading.text, None));
    layout.paths.iter().for_each(|path| draw_path(&mut canvas, path));
    for (placed, node) in layout.boxes.iter().zip(&graph.nodes) {
        draw_box(&mut canvas, placed, color(node.role));
    }
    canvas.lines(paint)
}

/// Colors stand in borders and titles; what is said about columns stays one run of bytes.
pub(super) fn color(role: Role) -> Option<Color> {
    match role {
        Role::Model => None,
        Role::Target => Some(Color::Green),
        Role::Unknown => Some(Color::Yellow),
    }
}

fn draw_path(canvas: &mut Canvas, path: &Path) {
    let turn = path.spine.map(|(x, top, bottom)| {
        canvas.upright(path.wire, x, (top, bottom));
        x
    });
    for &(y, from) in &path.left {
        let end = turn.or(path.right.first().map(|&(_, to, _)| to)).unwrap_or(from);
        canvas.across(path.wire, y, (from, end));
    }
    for &(y, to, into_box) in &path.right {
        if let Some(from) = turn {
            canvas.across(path.wire, y, (from, to));
        }
        if into_box {
            canvas.text(to, y, "→", None);
        }
    }
    if let Some((y, from, to)) = path.bottom {
        canvas.across(path.wire, y, (from, to));
    }
}

fn draw_box(canvas: &mut Canvas, placed: &Placed, color: Option<Color>) {
    let Placed { x, y, width, height, shown } = placed;
    let (inner, last) = (width - 2, y + height - 1);
    let rule = |columns: usize| "─".repeat(columns);
    if shown.lines.is_empty() {
        canvas.text(*x, *y, &format!("╭{}╮", rule(inner)), color);
        canvas.text(*x, y + 1, &format!("│ {} │", pad(&shown.title, inner - 2)), color);
    } else {
        let rest = rule(inner - 3 - shown.title.width());
        canvas.text(*x, *y, &format!("╭─ {} {rest}╮", shown.title), color);
        for (line, row) in shown.lines.iter().zip(y + 1..) {
            canvas.text(*x, row, "│", color);
            canvas.text(x + 1, row, &format!(" {} ", pad(line, inner - 2)), None);
            canvas.text(x + width - 1, row, "│", color);
        }
    }
    canvas.text(*x, last, &format!("╰{}╯", rule(inner)), color);
}
