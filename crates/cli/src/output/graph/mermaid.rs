//! A graph for Mermaid, which renders in Markdown on many sites.

use std::fmt::Write;

use super::{Graph, Role};
use crate::output::measure::one_line;

/// The graph as a flowchart.
pub(crate) fn mermaid(graph: &Graph) -> String {
    // A text of JSON is one of YAML, too.
    let title = graph.title.as_ref().map(|title| serde_json::Value::from(one_line(title)));
    let mut out = title.map_or_else(String::new, |title| format!("---\ntitle: {title}\n---\n"));
    out.push_str("flowchart LR\n");
    for (at, (schema, nodes)) in graph.schemas().into_iter().enumerate() {
        let _ = writeln!(out, "  subgraph s{at}[\"{}\"]", label(schema));
        for node in nodes {
            let _ = writeln!(out, "    n{node}(\"{}\"){}", words(graph, node), class(graph.nodes[node].role));
        }
        out.push_str("  end\n");
    }
    graph.arrows().iter().for_each(|(from, to)| {
        let _ = writeln!(out, "  n{from} --> n{to}");
    });
    out.push_str("  classDef target stroke-width:3px\n  classDef unknown stroke-dasharray:4 3\n");
    out
}

fn words(graph: &Graph, at: usize) -> String {
    let node = &graph.nodes[at];
    let title = format!("{}{}", label(&node.title), label(&graph.marks(at)));
    if node.lines.is_empty() {
        return title;
    }
    let lines = node.lines.iter().map(|line| label(&line.plain()));
    std::iter::once(format!("<b>{title}</b>")).chain(lines).collect::<Vec<_>>().join("<br>")
}

fn class(role: Role) -> &'static str {
    match role {
        Role::Model => "",
        Role::Target => ":::target",
        Role::Unknown => ":::unknown",
    }
}

/// A text within a label. Mermaid gives many characters a meaning there, as Markdown, HTML, comments or directives: all of
/// ASCII but letters, digits and what is harmless is written as the number of the character.
fn label(text: &str) -> String {
    let blank = if text.starts_with(' ') { " " } else { "" };
    let text = one_line(text);
    let mut out = String::from(blank);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        // `1. ` would begin a list.
        let is_point = c == '.' && rest.peek().is_some_and(char::is_ascii_alphanumeric);
        if !c.is_ascii() || c.is_ascii_alphanumeric() || is_point || matches!(c, '_' | ' ' | ',') {
            out.push(c);
        } else {
            let _ = write!(out, "#{};", u32::from(c));
        }
    }
    out
}
