//! How far down each item of a column stands: beside what it is joined to, as far as the others leave room.

use std::collections::BTreeMap;

use super::layers::{Item, Layers};
use super::tracks::Channel;
use super::{Graph, Node};

/// Rows of a box without lines.
const SMALL: i64 = 3;
/// Passes over the columns.
const PASSES: usize = 4;

/// Where everything stands, in rows, and the wires between.
#[derive(Debug)]
pub(super) struct Rows {
    /// The first row of each node.
    pub nodes: Vec<i64>,
    /// The row of each bundle's wire in the columns that it passes.
    pub passes: BTreeMap<(usize, usize), i64>,
    /// One before each column, and one behind the last.
    pub channels: Vec<Channel>,
    /// Rows there are.
    pub count: i64,
}

/// Rows of a node.
pub(super) fn height(node: &Node) -> i64 {
    i64::try_from(node.lines.len()).unwrap_or(i64::MAX).saturating_add(2).max(SMALL)
}

/// The row of a node, counted from its first, in which wires come and go.
pub(super) const PORT: i64 = 1;

impl Rows {
    pub(super) fn new(graph: &Graph, layers: &Layers) -> Self {
        let size = |item: Item| if let Item::Node(node) = item { height(&graph.nodes[node]) } else { 1 };
        let sizes: Vec<Vec<i64>> =
            layers.columns.iter().map(|items| items.iter().map(|&item| size(item)).collect()).collect();
        let mut tops: Vec<Vec<i64>> = sizes.iter().map(|sizes| stacked(sizes)).collect();
        for pass in 0..PASSES {
            settle(layers, &sizes, &mut tops, pass % 2 == 0);
        }
        let least = tops.iter().flatten().copied().min().unwrap_or(0);
        tops.iter_mut().flatten().for_each(|top| *top -= least);
        let mut rows =
            Self { nodes: vec![0; graph.nodes.len()], passes: BTreeMap::new(), channels: Vec::new(), count: 0 };
        rows.channels.resize_with(layers.columns.len() + 1, Channel::default);
        for column in 0..layers.columns.len() {
            if column > 0 {
                tops[column] = beside(layers, &sizes, &tops, column, column - 1);
            }
            tops[column] = rows.place(layers, column, &tops[column], &sizes[column]);
        }
        rows.lead_back(layers);
        rows.channels.iter_mut().for_each(Channel::assign);
        rows
    }

    /// Places the items of a column, further down where it would not be seen which wire leads to them; gives their
    /// first rows.
    fn place(&mut self, layers: &Layers, column: usize, tops: &[i64], sizes: &[i64]) -> Vec<i64> {
        let mut placed = Vec::new();
        let mut free = 0;
        for (at, &item) in layers.columns[column].iter().enumerate() {
            let (into_box, port) = if let Item::Node(_) = item { (true, PORT) } else { (false, 0) };
            let channel = &mut self.channels[column];
            let feeding: Vec<usize> = feeding(layers, item).map(|(bundle, back)| channel.wire(bundle, back)).collect();
            let mut top = tops[at].max(free);
            while !channel.goes(&feeding, top + port, into_box) {
                top += 1;
            }
            free = top + sizes[at];
            self.count = self.count.max(free);
            placed.push(top);
            let bundle = match item {
                Item::Node(node) => {
                    self.nodes[node] = top;
                    layers.bundles.iter().position(|bundle| bundle.sources.contains(&node))
                }
                Item::Pass(bundle) => {
                    self.passes.insert((bundle, column), top);
                    Some(bundle)
                }
            };
            if let Some(bundle) = bundle {
                let next = &mut self.channels[column + 1];
                let wire = next.wire(bundle, false);
                next.comes(wire, top + port);
            }
        }
        placed
    }

    /// Wires that lead back go along the bottom, a row for each bundle.
    fn lead_back(&mut self, layers: &Layers) {
        for (at, bundle) in layers.bundles.iter().enumerate().filter(|(_, bundle)| !bundle.back.is_empty()) {
            let from = layers.column_of[bundle.sources[0]] + 1;
            let wire = self.channels[from].wire(at, false);
            self.channels[from].wires[wire].bottom = Some(self.count);
            for &node in &bundle.back {
                let channel = &mut self.channels[layers.column_of[node]];
                let wire = channel.wire(at, true);
                channel.wires[wire].bottom = Some(self.count);
            }
            self.count += 1;
        }
    }
}

/// The bundles that lead to an item, and whether from the right.
fn feeding(layers: &Layers, item: Item) -> impl Iterator<Item = (usize, bool)> {
    layers.bundles.iter().enumerate().filter_map(move |(at, bundle)| match item {
        Item::Pass(own) => (own == at).then_some((at, false)),
        Item::Node(node) if bundle.targets.contains(&node) => Some((at, false)),
        Item::Node(node) => bundle.back.contains(&node).then_some((at, true)),
    })
}

/// The first rows of items that stand one below the other.
fn stacked(sizes: &[i64]) -> Vec<i64> {
    sizes.iter().scan(0, |next, size| Some(std::mem::replace(next, *next + size))).collect()
}

/// Moves the items of all columns towards their neighbors on one side.
fn settle(layers: &Layers, sizes: &[Vec<i64>], tops: &mut [Vec<i64>], forth: bool) {
    for step in 1..layers.columns.len() {
        let (column, other) =
            if forth { (step, step - 1) } else { (layers.columns.len() - 1 - step, layers.columns.len() - step) };
        tops[column] = beside(layers, sizes, tops, column, other);
    }
}

/// The first rows of a column's items beside those of a column next to it.
fn beside(layers: &Layers, sizes: &[Vec<i64>], tops: &[Vec<i64>], column: usize, other: usize) -> Vec<i64> {
    let mut sums = vec![(0i64, 0i64); tops[column].len()];
    for (from, to) in layers.links(column.min(other)) {
        let (own, neighbor) = if other < column { (to, from) } else { (from, to) };
        sums[own] = (sums[own].0 + tops[other][neighbor] + port(layers.columns[other][neighbor]), sums[own].1 + 1);
    }
    let wished = sums.iter().enumerate().map(|(at, &(sum, count))| match count {
        0 => tops[column][at],
        _ => sum.div_euclid(count) - port(layers.columns[column][at]),
    });
    spread(&wished.collect::<Vec<_>>(), &sizes[column])
}

fn port(item: Item) -> i64 {
    if let Item::Node(_) = item { PORT } else { 0 }
}

/// First rows as near to the wished ones as items of these sizes can be in this order: those that would overlap move
/// as one block to their average.
fn spread(wished: &[i64], sizes: &[i64]) -> Vec<i64> {
    let offsets = stacked(sizes);
    // Blocks as sum and number of what their members wish, less their offset.
    let mut blocks: Vec<(i64, i64)> = Vec::new();
    for (wish, offset) in wished.iter().zip(&offsets) {
        let mut block = (wish - offset, 1);
        while let Some(&(sum, count)) = blocks.last().filter(|(sum, count)| sum * block.1 > block.0 * count) {
            blocks.pop();
            block = (block.0 + sum, block.1 + count);
        }
        blocks.push(block);
    }
    let starts = blocks.iter().flat_map(|&(sum, count)| (0..count).map(move |_| sum.div_euclid(count)));
    starts.zip(offsets).map(|(start, offset)| start + offset).collect()
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn items_keep_their_order_and_stand_near_to_where_they_wish() {
        assert_eq!(spread(&[0, 10], &[3, 3]), [0, 10]);
        assert_eq!(spread(&[5, 5, 5], &[3, 3, 3]), [2, 5, 8]);
        assert_eq!(spread(&[9, 0], &[3, 1]), [3, 6]);
        assert_eq!(spread(&[], &[]), Vec::<i64>::new());
    }
}
