//! A graph as a list, for terminals that are too narrow for its boxes.

use super::boxes::lines;
use super::text::color;
use super::{Graph, Node};
use crate::output::measure::{one_line, wrap};
use crate::ui::Color;

/// Each schema with its nodes, each node with what leads to it.
pub(super) fn list(graph: &Graph, room: usize, paint: &dyn Fn(&str, Color) -> String) -> Vec<String> {
    let joins = graph.joins();
    let mut sources: Vec<Vec<&str>> = vec![Vec::new(); graph.nodes.len()];
    for &(from, to) in &joins {
        sources[to].push(&graph.nodes[from].name);
    }
    let mut out = Vec::new();
    for (schema, nodes) in graph.schemas() {
        out.extend(wrap(&one_line(schema), room));
        for node in nodes {
            out.extend(entry(&graph.nodes[node], &graph.marks(node), &sources[node], room, paint));
        }
    }
    out
}

fn entry(
    node: &Node,
    marks: &str,
    sources: &[&str],
    room: usize,
    paint: &dyn Fn(&str, Color) -> String,
) -> Vec<String> {
    let title = wrap(&format!("{}{marks}", one_line(&node.title)), room.saturating_sub(2).max(1));
    let indented = |text: String| format!("  {text}");
    let mut out: Vec<String> = title
        .into_iter()
        .map(|line| color(node.role).map_or_else(|| line.clone(), |color| paint(&line, color)))
        .map(indented)
        .collect();
    let inner = room.saturating_sub(4).max(1);
    if !sources.is_empty() {
        let text = format!("← {}", sources.iter().map(|name| one_line(name)).collect::<Vec<_>>().join(", "));
        out.extend(wrap(&text, inner).into_iter().map(|line| format!("    {line}")));
    }
    out.extend(lines(node, inner).into_iter().map(|line| format!("    {line}")));
    out
}
