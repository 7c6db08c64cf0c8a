//! Graphs: boxes in a column per schema, joined by arrows from left to right (chapter 05 §3.12).
//!
//! `layers.rs` says which box stands in which column, `rows.rs` how far down, `tracks.rs` where wires turn, `layout.rs`
//! puts them together, in cells of a terminal. Text and SVG draw that layout; DOT and Mermaid lay out by themselves, and
//! `list.rs` is for what is wider than the terminal. Pure: a graph goes in, a text comes out.

mod boxes;
mod canvas;
mod dot;
mod layers;
mod layout;
mod list;
mod mermaid;
mod rows;
mod svg;
mod text;
mod tracks;

#[cfg(test)]
mod tests;

pub(crate) use dot::dot;
pub(crate) use mermaid::mermaid;
pub(crate) use svg::svg;
pub(crate) use text::text;

/// Boxes and what joins them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Graph {
    /// What it shows, if that is not all there is.
    pub title: Option<String>,
    /// The boxes. Of two that could change places, the first stands higher.
    pub nodes: Vec<Node>,
    /// From which node to which. A node may lead to itself, and there may be circles.
    pub edges: Vec<(usize, usize)>,
    /// What the marks mean: mark and meaning.
    pub legend: Vec<(String, String)>,
}

/// A box.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// In whose column it stands; compared without case.
    pub schema: String,
    /// What it says.
    pub title: String,
    /// The whole name of what it stands for.
    pub name: String,
    /// What it stands for.
    pub role: Role,
    /// What it says below its title; a box without lines is a small one.
    pub lines: Vec<Line>,
}

/// What a box stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A model.
    Model,
    /// The model that was asked about.
    Target,
    /// A table or a file of which no commit tells.
    Unknown,
}

/// What a box says about a column.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// Stands before it.
    pub mark: &'static str,
    /// Its name.
    pub column: String,
    /// What was done to make it; empty if nothing was.
    pub label: String,
    /// What it is made of; empty if that is not known.
    pub sources: String,
}

impl Line {
    /// The line on its own.
    fn plain(&self) -> String {
        let parts = [self.mark, &self.column, &self.label, &self.sources];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// Stands behind the title of what has no commit.
const UNKNOWN_MARK: &str = "?";
/// Stands behind the title of what leads to itself.
const LOOP_MARK: &str = "↻";

impl Graph {
    /// Whether a node leads to itself.
    fn is_loop(&self, node: usize) -> bool {
        self.edges.contains(&(node, node))
    }

    /// The marks behind a node's title, each after a blank.
    fn marks(&self, node: usize) -> String {
        let unknown = (self.nodes[node].role == Role::Unknown).then_some(UNKNOWN_MARK);
        let own = self.is_loop(node).then_some(LOOP_MARK);
        unknown.into_iter().chain(own).map(|mark| format!(" {mark}")).collect()
    }

    /// The edges, each once, in order.
    fn arrows(&self) -> Vec<(usize, usize)> {
        let mut arrows = self.edges.clone();
        arrows.sort_unstable();
        arrows.dedup();
        arrows
    }

    /// Those between different nodes.
    fn joins(&self) -> Vec<(usize, usize)> {
        self.arrows().into_iter().filter(|(from, to)| from != to).collect()
    }

    /// The schemas in the order of their columns, each with its nodes.
    fn schemas(&self) -> Vec<(&str, Vec<usize>)> {
        layers::schemas(self).into_iter().map(|nodes| (self.nodes[nodes[0]].schema.as_str(), nodes)).collect()
    }
}
