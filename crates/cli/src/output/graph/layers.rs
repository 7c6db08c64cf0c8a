//! Which column a node stands in, and in which order: schemas by dependency depth, and within a schema as many columns as
//! its models depend on each other.

use std::collections::{BTreeMap, BTreeSet};

use super::Graph;

/// Passes over the columns that bring neighbors side by side.
const SWEEPS: usize = 6;

/// Sources in one column that lead to the same nodes: they share their wires, which says no more than is true.
#[derive(Debug)]
pub(super) struct Bundle {
    pub sources: Vec<usize>,
    /// Nodes further to the right.
    pub targets: Vec<usize>,
    /// Nodes that are not: circles, and schemas that read each other.
    pub back: Vec<usize>,
}

/// What stands in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    /// A node.
    Node(usize),
    /// A wire of this bundle that passes.
    Pass(usize),
}

/// A schema, with its first column and the one behind its last.
#[derive(Debug)]
pub(super) struct Band {
    pub schema: String,
    pub columns: std::ops::Range<usize>,
}

#[derive(Debug)]
pub(super) struct Layers {
    pub bands: Vec<Band>,
    pub bundles: Vec<Bundle>,
    /// Items from top to bottom.
    pub columns: Vec<Vec<Item>>,
    /// The column of each node.
    pub column_of: Vec<usize>,
}

/// The nodes of each schema, schemas ordered by depth.
pub(super) fn schemas(graph: &Graph) -> Vec<Vec<usize>> {
    let mut members: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (node, at) in graph.nodes.iter().zip(0..) {
        members.entry(node.schema.to_lowercase()).or_default().push(at);
    }
    let members: Vec<Vec<usize>> = members.into_values().collect();
    let mut schema_of = vec![0; graph.nodes.len()];
    members.iter().enumerate().for_each(|(schema, nodes)| nodes.iter().for_each(|&node| schema_of[node] = schema));
    let between = graph.joins().into_iter().map(|(from, to)| (schema_of[from], schema_of[to]));
    let edges: Vec<_> = between.filter(|(from, to)| from != to).collect();
    rounds(members.len(), &edges).into_iter().flatten().map(|schema| members[schema].clone()).collect()
}

/// Nodes by the length of the longest way to them. In a circle the one begins that leads to most and needs least.
fn rounds(count: usize, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut missing = vec![0usize; count];
    let mut leads = vec![Vec::new(); count];
    for &(from, to) in edges {
        missing[to] += 1;
        leads[from].push(to);
    }
    let mut left: BTreeSet<usize> = (0..count).collect();
    let mut rounds = Vec::new();
    while !left.is_empty() {
        let mut ready: Vec<usize> = left.iter().copied().filter(|&node| missing[node] == 0).collect();
        if ready.is_empty() {
            let leads_to = |node: usize| leads[node].iter().filter(|to| left.contains(to)).count();
            let loss = |node: usize| missing[node].cast_signed() - leads_to(node).cast_signed();
            ready.extend(left.iter().copied().min_by_key(|&node| loss(node)));
        }
        for &node in &ready {
            left.remove(&node);
            leads[node].iter().for_each(|&to| missing[to] = missing[to].saturating_sub(1));
        }
        rounds.push(ready);
    }
    rounds
}

impl Layers {
    pub(super) fn new(graph: &Graph) -> Self {
        let joins = graph.joins();
        let (bands, column_of) = columns(graph, &joins);
        let bundles = bundles(&joins, &column_of);
        let count = bands.last().map_or(0, |band| band.columns.end);
        let mut columns = vec![Vec::new(); count];
        (0..graph.nodes.len()).for_each(|node| columns[column_of[node]].push(Item::Node(node)));
        for (at, bundle) in bundles.iter().enumerate() {
            let last = bundle.targets.iter().map(|&node| column_of[node]).max().unwrap_or(0);
            (column_of[bundle.sources[0]] + 1..last).for_each(|column| columns[column].push(Item::Pass(at)));
        }
        let mut layers = Self { bands, bundles, columns, column_of };
        layers.order();
        layers
    }

    /// For each item of a column, the places of those in the next one that it leads to.
    pub(super) fn links(&self, column: usize) -> Vec<(usize, usize)> {
        let Some(next) = self.columns.get(column + 1) else { return Vec::new() };
        let place: BTreeMap<(bool, usize), usize> =
            next.iter().enumerate().map(|(at, item)| (key(*item), at)).collect();
        let mut links = Vec::new();
        let leads = self.leads();
        for (from, item) in self.columns[column].iter().enumerate() {
            let bundle = match *item {
                Item::Pass(bundle) => Some(bundle),
                Item::Node(node) => leads[node],
            };
            let Some(bundle) = bundle else { continue };
            links.extend(place.get(&key(Item::Pass(bundle))).map(|&to| (from, to)));
            let targets = self.bundles[bundle].targets.iter();
            links.extend(targets.filter_map(|&node| place.get(&key(Item::Node(node)))).map(|&to| (from, to)));
        }
        links
    }

    /// The bundle of each node.
    fn leads(&self) -> Vec<Option<usize>> {
        let mut leads = vec![None; self.column_of.len()];
        for (at, bundle) in self.bundles.iter().enumerate() {
            bundle.sources.iter().for_each(|&node| leads[node] = Some(at));
        }
        leads
    }

    /// Brings neighbors side by side: each item goes to where those that it is joined to are on average.
    fn order(&mut self) {
        for sweep in 0..SWEEPS {
            let forth = sweep % 2 == 0;
            for step in 1..self.columns.len() {
                let (column, first) = if forth {
                    (step, step - 1)
                } else {
                    let at = self.columns.len() - 1 - step;
                    (at, at)
                };
                let links = self.links(first);
                let pairs: Vec<(usize, usize)> =
                    if forth { links.into_iter().map(|(from, to)| (to, from)).collect() } else { links };
                let other = self.columns[if forth { column - 1 } else { column + 1 }].len();
                self.sort(column, &pairs, other);
            }
        }
    }

    /// Sorts a column by the places of the neighbors in a column of `other` items; without neighbors an item stays.
    fn sort(&mut self, column: usize, pairs: &[(usize, usize)], other: usize) {
        let items = &self.columns[column];
        let mut sums = vec![(0usize, 0usize); items.len()];
        for &(own, neighbor) in pairs {
            sums[own] = (sums[own].0 + neighbor * 2 + 1, sums[own].1 + 1);
        }
        // In 2048ths of the column's height, so that columns of any length compare.
        let place = |at: usize, (sum, count): (usize, usize)| match count {
            0 => (at * 2 + 1) * 1024 / items.len(),
            _ => sum * 1024 / count / other.max(1),
        };
        let mut placed: Vec<(usize, Item)> =
            sums.iter().enumerate().map(|(at, &sum)| (place(at, sum), items[at])).collect();
        placed.sort_by_key(|(place, _)| *place);
        self.columns[column] = placed.into_iter().map(|(_, item)| item).collect();
    }
}

fn key(item: Item) -> (bool, usize) {
    match item {
        Item::Node(node) => (false, node),
        Item::Pass(bundle) => (true, bundle),
    }
}

fn columns(graph: &Graph, joins: &[(usize, usize)]) -> (Vec<Band>, Vec<usize>) {
    let mut column_of = vec![0; graph.nodes.len()];
    let mut bands = Vec::new();
    let mut start = 0;
    for nodes in schemas(graph) {
        let place: BTreeMap<usize, usize> = nodes.iter().copied().zip(0..).collect();
        let within = joins.iter().filter_map(|(from, to)| Some((*place.get(from)?, *place.get(to)?)));
        let rounds = rounds(nodes.len(), &within.collect::<Vec<_>>());
        for (column, round) in rounds.iter().enumerate() {
            for &at in round {
                column_of[nodes[at]] = start + column;
            }
        }
        bands.push(Band { schema: graph.nodes[nodes[0]].schema.clone(), columns: start..start + rounds.len() });
        start += rounds.len();
    }
    (bands, column_of)
}

fn bundles(joins: &[(usize, usize)], column_of: &[usize]) -> Vec<Bundle> {
    let mut targets: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &(from, to) in joins {
        targets.entry(from).or_default().push(to);
    }
    let mut bundles: BTreeMap<(usize, Vec<usize>), Vec<usize>> = BTreeMap::new();
    for (from, targets) in targets {
        bundles.entry((column_of[from], targets)).or_default().push(from);
    }
    let bundle = |((column, targets), sources): ((usize, Vec<usize>), Vec<usize>)| {
        let (targets, back) = targets.into_iter().partition(|&to| column_of[to] > column);
        Bundle { sources, targets, back }
    };
    bundles.into_iter().map(bundle).collect()
}
