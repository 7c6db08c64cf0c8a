//! Graphs to draw.

use super::super::{Graph, Line, Node, Role};

/// A small box.
pub(super) fn node(schema: &str, title: &str) -> Node {
    let name = format!("{schema}.{title}");
    Node { schema: schema.into(), title: title.into(), name, role: Role::Model, lines: Vec::new() }
}

pub(super) fn line(column: &str, label: &str, sources: &str) -> Line {
    Line { mark: "◆", column: column.into(), label: label.into(), sources: sources.into() }
}

pub(super) fn graph(nodes: Vec<Node>, edges: &[(usize, usize)]) -> Graph {
    let legend = vec![("◆".to_owned(), "target".to_owned()), ("●".to_owned(), "source".to_owned())];
    Graph { title: None, nodes, edges: edges.to_vec(), legend }
}

/// A project as many are.
pub(super) fn shop() -> Graph {
    let mut nodes: Vec<Node> = [
        ("raw", "customers"),
        ("raw", "orders"),
        ("raw", "rates"),
        ("staging", "orders"),
        ("staging", "countries"),
        ("mart", "by_country"),
        ("mart", "totals"),
        ("mart", "report"),
        ("sync", "customers"),
    ]
    .map(|(schema, title)| node(schema, title))
    .into();
    nodes.push(Node { role: Role::Unknown, ..node("outside", "read_csv()") });
    let edges = [(9, 1), (0, 3), (1, 3), (2, 4), (3, 5), (3, 6), (4, 6), (5, 7), (6, 7), (6, 8), (0, 8)];
    graph(nodes, &edges)
}

/// One model of it with its columns.
pub(super) fn totals() -> Graph {
    let mut graph = shop();
    graph.nodes.truncate(7);
    graph.edges.retain(|(from, to)| *from < 7 && *to < 7);
    let target = &mut graph.nodes[6];
    target.title = "mart.totals".into();
    target.role = Role::Target;
    target.lines = vec![
        line("customer", "", "● staging.orders.customer"),
        line("total", "[SUM]", "● revenue, rate"),
        line("mid", "[CAST]", "● staging.orders.revenue"),
        line("lit", "", ""),
    ];
    graph
}

/// Circles, wires that lead back, a node that leads to itself, one that stands alone.
pub(super) fn tangled() -> Graph {
    let nodes = ["a", "b", "c"].map(|title| node("raw", title)).into_iter();
    let nodes = nodes.chain(["d", "e"].map(|title| node("mart", title))).chain([node("sync", "alone")]);
    graph(nodes.collect(), &[(0, 1), (1, 2), (2, 0), (1, 3), (3, 4), (4, 0), (4, 2), (3, 3), (0, 1)])
}

/// Names that mean something somewhere.
pub(super) const HOSTILE: [&str; 16] = [
    "a\"b",
    "<script>&amp;'",
    "line\nbreak\r\n\ttab",
    "日本語のテーブル",
    "select",
    "end",
    "`%%{init}%%`",
    "\\l\\N\\\"",
    "]]>",
    "#quot;#35;",
    "1. list",
    "-- x",
    "e\u{301}\u{202e}\u{1b}[31m\u{0}",
    "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}",
    "|{}()[]",
    "\u{ffff}",
];

/// A graph with all of them as schemas, titles, columns and sources, and a name of 200 characters.
pub(super) fn hostile() -> Graph {
    let long = "x".repeat(200);
    let names = || HOSTILE.iter().copied().chain([long.as_str()]);
    let mut nodes: Vec<Node> = names().map(|name| node(name, name)).collect();
    let last = nodes.len() - 1;
    nodes[last].role = Role::Target;
    nodes[last].lines = names().map(|name| line(name, "[FN]", name)).collect();
    nodes[3].role = Role::Unknown;
    let edges: Vec<_> = (0..last).map(|at| (at, last)).chain([(1, 1)]).collect();
    let mut graph = graph(nodes, &edges);
    graph.title = Some(names().collect::<Vec<_>>().join(" "));
    graph
}

/// Numbers that look like chance and are always the same.
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed * 2 + 1)
    }

    /// A number below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// A graph of so many nodes in so many schemas; a few edges lead anywhere, the others from left to right.
pub(super) fn any(seed: u64, nodes: usize, schemas: usize) -> Graph {
    let mut chance = Chance::new(seed);
    let mut all: Vec<Node> =
        (0..nodes).map(|at| node(&format!("s{}", at * schemas / nodes), &format!("model_{at}"))).collect();
    let mut edges = Vec::new();
    for (to, node) in all.iter_mut().enumerate().skip(1) {
        for _ in 0..chance.below(4) {
            // Most models read what is near to them.
            let from = if chance.below(20) == 0 {
                chance.below(nodes)
            } else {
                to - 1 - chance.below(to.min(nodes.div_ceil(schemas)))
            };
            edges.push((from, to));
        }
        if chance.below(10) == 0 {
            node.lines = (0..=chance.below(5)).map(|at| line(&format!("c{at}"), "[SUM]", "● a.b")).collect();
        }
    }
    graph(all, &edges)
}
