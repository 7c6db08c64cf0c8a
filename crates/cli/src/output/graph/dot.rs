//! A graph for Graphviz.

use std::fmt::Write;

use super::{Graph, Role};
use crate::output::measure::one_line;

/// The graph in the language DOT.
pub(crate) fn dot(graph: &Graph) -> String {
    let mut out =
        String::from("digraph lineage {\n  rankdir=LR;\n  node [shape=box, style=rounded, fontname=monospace];\n");
    if let Some(title) = &graph.title {
        let _ = writeln!(out, "  label={};\n  labelloc=t;", quoted(&[label(title)]));
    }
    for (at, (schema, nodes)) in graph.schemas().into_iter().enumerate() {
        let _ = writeln!(out, "  subgraph cluster_{at} {{\n    label={};", quoted(&[label(schema)]));
        for node in nodes {
            let _ = writeln!(out, "    n{node} [{}];", attributes(graph, node));
        }
        out.push_str("  }\n");
    }
    graph.arrows().iter().for_each(|(from, to)| {
        let _ = writeln!(out, "  n{from} -> n{to};");
    });
    out.push_str("}\n");
    out
}

fn attributes(graph: &Graph, at: usize) -> String {
    let node = &graph.nodes[at];
    let mut lines = vec![format!("{}{}", label(&node.title), label(&graph.marks(at)))];
    lines.extend(node.lines.iter().map(|line| label(&line.plain())));
    let style = match node.role {
        Role::Model => "",
        Role::Target => ", style=\"rounded,bold\"",
        Role::Unknown => ", style=\"rounded,dashed\"",
    };
    format!("label={}, tooltip={}{style}", quoted(&lines), quoted(&[label(&node.name)]))
}

/// Lines as one quoted text, each to the left if there are several.
fn quoted(lines: &[String]) -> String {
    match lines {
        [line] => format!("\"{line}\""),
        lines => format!("\"{}\\l\"", lines.join("\\l")),
    }
}

/// A text within a label: a backslash would begin an escape, an ampersand a character of HTML.
fn label(text: &str) -> String {
    let blank = if text.starts_with(' ') { " " } else { "" };
    format!("{blank}{}", one_line(text).replace('\\', "\\\\").replace('"', "\\\"").replace('&', "&amp;"))
}
