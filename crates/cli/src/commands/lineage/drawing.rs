//! Lineage as a graph: a small box for each model, lines where columns were asked for (chapter 05 §3.12).

use std::collections::BTreeMap;

use runtime::{Lineage, LineageMode, LineageModel};
use types::{ColumnLineage, LineageSource, undotted};

use super::document::target;
use super::labels::{MEANINGS, labels};
use crate::output::graph::{Graph, Line, Node, Role};

/// Over what is no table of the lake.
const OUTSIDE: &str = "outside";
const TARGET: &str = "◆";
const SOURCE: &str = "●";

pub(super) fn graph(lineage: &Lineage) -> Graph {
    let mut drawing = Drawing { lineage, graph: Graph::default(), nodes: BTreeMap::new() };
    drawing.add_models();
    drawing.add_dependencies();
    match lineage.mode {
        LineageMode::Overview => {}
        LineageMode::Model => drawing.expand(),
        LineageMode::Column => drawing.trace(),
    }
    drawing.add_legend();
    drawing.graph
}

struct Drawing<'a> {
    lineage: &'a Lineage,
    graph: Graph,
    /// Nodes by lower-case name.
    nodes: BTreeMap<String, usize>,
}

impl Drawing<'_> {
    fn add_models(&mut self) {
        let mut models: Vec<&LineageModel> = self.lineage.models.iter().collect();
        models.sort_by_key(|model| model.name.to_lowercase());
        for model in models {
            let is_target = self.lineage.model.to_lowercase() == model.name.to_lowercase();
            self.add(&model.name, if is_target { Role::Target } else { Role::Model });
        }
    }

    /// Adds the edges, and what no commit tells of.
    fn add_dependencies(&mut self) {
        for model in &self.lineage.models {
            let to = self.add(&model.name, Role::Model);
            for name in &model.dependencies {
                let from = self.add(name, Role::Unknown);
                self.graph.edges.push((from, to));
            }
        }
        self.graph.edges.sort_unstable();
        self.graph.edges.dedup();
    }

    /// The node of this name; a new one of this role if there is none yet.
    fn add(&mut self, name: &str, role: Role) -> usize {
        let nodes = &mut self.graph.nodes;
        *self.nodes.entry(name.to_lowercase()).or_insert_with(|| {
            let apart = undotted(name).filter(|_| !self.lineage.outside.contains(name));
            let (schema, title) = apart.unwrap_or_else(|| (OUTSIDE.to_owned(), name.to_owned()));
            nodes.push(Node { schema, title, name: name.to_owned(), role, lines: Vec::new() });
            nodes.len() - 1
        })
    }

    /// The model that was asked for gets a line for each column.
    fn expand(&mut self) {
        let key = self.lineage.model.to_lowercase();
        let Some(model) = self.lineage.models.iter().find(|model| model.name.to_lowercase() == key) else { return };
        let Some(node) = self.nodes.get(&key).map(|&at| &mut self.graph.nodes[at]) else { return };
        node.title.clone_from(&model.name);
        let sources = |column: &str| {
            let told = model.column_lineage.iter().find(|entry| entry.column == column);
            told.map_or(&[][..], |entry| entry.sources.as_slice())
        };
        let line = |column: &String| {
            let sources = sources(column);
            let source = if sources.is_empty() { String::new() } else { format!("{SOURCE} {}", names(sources)) };
            Line { mark: TARGET, column: column.clone(), label: labels(sources), sources: source }
        };
        node.lines = model.columns.iter().map(line).collect();
    }

    /// Every box gets a line for each column on the way.
    fn trace(&mut self) {
        let lineage = self.lineage;
        self.graph.title = Some(format!("Column trace: {}", target(lineage)));
        let asked = lineage.model.to_lowercase();
        for model in &lineage.models {
            let is_asked = model.name.to_lowercase() == asked;
            for entry in &model.column_lineage {
                let is_target = is_asked && Some(&entry.column) == lineage.column.as_ref();
                self.put_line(&model.name, traced(entry, if is_target { TARGET } else { SOURCE }));
            }
        }
        // Where the way ends there is no lineage, but a column.
        let ends = lineage.models.iter().flat_map(|model| &model.column_lineage).flat_map(|entry| &entry.sources);
        for source in ends {
            let column = source.column.clone();
            let line = Line { mark: SOURCE, column, label: String::new(), sources: String::new() };
            self.put_line(&source.table, line);
        }
        // A statement without a tree has columns and no lineage.
        if let Some(column) = &lineage.column {
            let line = Line { mark: TARGET, column: column.clone(), label: String::new(), sources: String::new() };
            self.put_line(&lineage.model, line);
        }
        let names: Vec<String> = self.graph.nodes.iter().map(|node| node.name.clone()).collect();
        self.graph.nodes.iter_mut().zip(names).for_each(|(node, name)| node.title = name);
    }

    /// Puts a line into a box, unless there is one about this column.
    fn put_line(&mut self, name: &str, line: Line) {
        let Some(&at) = self.nodes.get(&name.to_lowercase()) else { return };
        let lines = &mut self.graph.nodes[at].lines;
        if !lines.iter().any(|other| other.column.to_lowercase() == line.column.to_lowercase()) {
            lines.push(line);
        }
    }

    fn add_legend(&mut self) {
        let graph = &mut self.graph;
        let mut put = |mark: &str, meaning: &str| graph.legend.push((mark.to_owned(), meaning.to_owned()));
        put(TARGET, "target");
        put(SOURCE, "source");
        let is_unknown = graph.nodes.iter().any(|node| node.role == Role::Unknown);
        let is_loop = graph.edges.iter().any(|(from, to)| from == to);
        let used = |label: &str| graph.nodes.iter().flat_map(|node| &node.lines).any(|line| line.label.contains(label));
        let marks = [("?", "no commit", is_unknown), ("↻", "reads itself", is_loop)];
        let labels = MEANINGS.map(|(label, meaning)| (label, meaning, used(label)));
        let more: Vec<_> = marks.into_iter().chain(labels).filter(|(_, _, is_used)| *is_used).collect();
        graph.legend.extend(more.into_iter().map(|(mark, meaning, _)| (mark.to_owned(), meaning.to_owned())));
    }
}

fn traced(entry: &ColumnLineage, mark: &'static str) -> Line {
    let sources = if entry.sources.is_empty() { String::new() } else { format!("← {}", names(&entry.sources)) };
    Line { mark, column: entry.column.clone(), label: labels(&entry.sources), sources }
}

/// What stands for the rows of a table.
const ROWS: &str = "*";

/// The whole name of a source; of several the columns alone, which say nothing where rows are meant.
fn names(sources: &[LineageSource]) -> String {
    let mut names: Vec<String> = Vec::new();
    for source in sources {
        let is_whole = sources.len() == 1 || source.column == ROWS;
        let name = if is_whole { format!("{}.{}", source.table, source.column) } else { source.column.clone() };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use types::{LineageSource, Transformation};

    use super::names;

    #[test]
    fn of_several_sources_the_columns_are_told_and_of_rows_their_table() {
        for (sources, expected) in [
            (&[("raw.a", "x")][..], "raw.a.x"),
            (&[("raw.a", "x"), ("raw.b", "y"), ("raw.c", "x")], "x, y"),
            (&[("raw.a", "*")], "raw.a.*"),
            (&[("raw.a", "*"), ("raw.b", "*"), ("raw.a", "x")], "raw.a.*, raw.b.*, x"),
            (&[], ""),
        ] {
            let source = |(table, column): &(&str, &str)| LineageSource {
                table: (*table).to_owned(),
                column: (*column).to_owned(),
                transformation: Transformation::Identity,
                function: None,
            };
            assert_eq!(names(&sources.iter().map(source).collect::<Vec<_>>()), expected);
        }
    }
}
