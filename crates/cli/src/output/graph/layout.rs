//! Where all of a graph stands, in cells of a terminal.

use unicode_width::UnicodeWidthStr;

use super::Graph;
use super::boxes::{Limits, Shown};
use super::layers::{Item, Layers};
use super::rows::{Rows, height};
use super::tracks::{Channel, Wire};
use crate::output::measure::{one_line, shorten};

/// Columns between two schemas' columns that no wire joins.
const GAP: usize = 2;
/// So many tracks stand apart, more of them side by side.
const APART: usize = 8;

/// Which boxes stand where, whatever they say: it is told once, and measured for as many widths as are tried.
pub(super) struct Plan<'a> {
    graph: &'a Graph,
    layers: Layers,
    rows: Rows,
}

/// All places. The first row is for the names of schemas.
#[derive(Debug)]
pub(super) struct Layout {
    /// One for each node.
    pub boxes: Vec<Placed>,
    pub headings: Vec<Heading>,
    pub paths: Vec<Path>,
    pub width: usize,
    pub height: usize,
}

/// A box.
#[derive(Debug)]
pub(super) struct Placed {
    pub x: usize,
    pub y: usize,
    pub width: usize,
    pub height: usize,
    pub shown: Shown,
}

/// The name of a schema over its columns.
#[derive(Debug)]
pub(super) struct Heading {
    pub x: usize,
    pub width: usize,
    pub text: String,
}

/// A wire between two columns: one vertical part, and what comes to it and leaves it.
#[derive(Debug)]
pub(super) struct Path {
    /// Paths of one wire have one number.
    pub wire: usize,
    /// Where it turns: column, first and last row. Without, it goes straight on.
    pub spine: Option<(usize, usize, usize)>,
    /// Rows in which it comes, and from which column on.
    pub left: Vec<(usize, usize)>,
    /// Rows in which it leaves, up to which column, and whether into a box.
    pub right: Vec<(usize, usize, bool)>,
    /// The row along the bottom by which it goes back, and the columns between which it does.
    pub bottom: Option<(usize, usize, usize)>,
}

/// Rows above the boxes.
pub(super) const HEAD: usize = 1;

impl<'a> Plan<'a> {
    pub(super) fn new(graph: &'a Graph) -> Self {
        let layers = Layers::new(graph);
        let rows = Rows::new(graph, &layers);
        Self { graph, layers, rows }
    }

    pub(super) fn measure(&self, limits: Limits) -> Layout {
        let shown: Vec<Shown> = (0..self.graph.nodes.len()).map(|node| Shown::new(self.graph, node, limits)).collect();
        let columns = self.columns(&shown, limits);
        let boxes = self.boxes(shown, &columns);
        let headings = self.headings(&columns);
        let paths = self.paths(&boxes, &columns);
        let end = columns.xs.last().map_or(0, |(x, width)| x + width);
        let width = end + channel_width(self.rows.channels.last(), limits, true);
        Layout { boxes, headings, paths, width, height: HEAD + cells(self.rows.count) }
    }

    fn columns(&self, shown: &[Shown], limits: Limits) -> Columns {
        let mut widths: Vec<usize> = Vec::new();
        let mut small = Vec::new();
        for items in &self.layers.columns {
            let nodes = || items.iter().filter_map(|item| if let Item::Node(node) = item { Some(*node) } else { None });
            let of = |is_small: bool| {
                nodes()
                    .filter(move |&node| shown[node].lines.is_empty() == is_small)
                    .map(|node| shown[node].width())
                    .max()
            };
            small.push(of(true).unwrap_or(0));
            widths.push(of(true).max(of(false)).unwrap_or(1));
        }
        for band in &self.layers.bands {
            let between =
                band.columns.clone().skip(1).map(|at| channel_width(self.rows.channels.get(at), limits, false));
            let has: usize = widths[band.columns.clone()].iter().sum::<usize>() + between.sum::<usize>();
            let heading = one_line(&band.schema).width().min(limits.title);
            widths[band.columns.end - 1] += heading.saturating_sub(has);
        }
        let mut x = 0;
        let mut xs = Vec::new();
        for (at, width) in widths.into_iter().enumerate() {
            x += channel_width(self.rows.channels.get(at), limits, at == 0);
            xs.push((x, width));
            x += width;
        }
        Columns { xs, small }
    }

    fn boxes(&self, shown: Vec<Shown>, columns: &Columns) -> Vec<Placed> {
        let placed = |(node, shown): (usize, Shown)| {
            let column = self.layers.column_of[node];
            let width = if shown.lines.is_empty() { columns.small[column] } else { shown.width() };
            let height = cells(height(&self.graph.nodes[node]));
            Placed { x: columns.xs[column].0, y: HEAD + cells(self.rows.nodes[node]), width, height, shown }
        };
        shown.into_iter().enumerate().map(placed).collect()
    }

    fn headings(&self, columns: &Columns) -> Vec<Heading> {
        let heading = |band: &super::layers::Band| {
            let (x, _) = columns.xs[band.columns.start];
            let (last, width) = columns.xs[band.columns.end - 1];
            let width = last + width - x;
            Heading { x, width, text: shorten(&one_line(&band.schema), width) }
        };
        self.layers.bands.iter().map(heading).collect()
    }

    fn paths(&self, boxes: &[Placed], columns: &Columns) -> Vec<Path> {
        let mut paths = Vec::new();
        for (at, channel) in self.rows.channels.iter().enumerate() {
            for wire in &channel.wires {
                paths.push(self.path(at, channel, wire, boxes, columns));
            }
        }
        paths
    }

    fn path(&self, at: usize, channel: &Channel, wire: &Wire, boxes: &[Placed], columns: &Columns) -> Path {
        let row = |row: i64| HEAD + cells(row);
        // Wires come out of boxes, which may be narrower than their column, or pass the whole column.
        let comes = |from: i64| {
            let sources = &self.layers.bundles[wire.bundle].sources;
            let source = sources.iter().find(|&&node| {
                self.layers.column_of[node] + 1 == at && self.rows.nodes[node] + super::rows::PORT == from
            });
            let x = source.map_or_else(|| columns.xs[at - 1].0, |&node| boxes[node].x + boxes[node].width);
            (row(from), x)
        };
        let goes = |&(to, into_box): &(i64, bool)| (row(to), columns.xs[at].0 - 1, into_box);
        let spine = wire
            .span()
            .zip(wire.track)
            .map(|((top, bottom), track)| (columns.turn(at, channel, track), row(top), row(bottom)));
        let bottom = wire.bottom.filter(|_| !wire.is_back).map(|bottom| {
            let turns = self.rows.channels.iter().enumerate().flat_map(|(at, channel)| {
                let back = channel.wires.iter().filter(|other| other.is_back && other.bundle == wire.bundle);
                back.filter_map(move |other| Some(columns.turn(at, channel, other.track?)))
            });
            let own = spine.map_or(0, |(x, _, _)| x);
            (row(bottom), turns.min().unwrap_or(own), own)
        });
        Path {
            wire: wire.bundle,
            spine,
            left: wire.left.iter().map(|&from| comes(from)).collect(),
            right: wire.right.iter().map(goes).collect(),
            bottom,
        }
    }
}

/// Columns of items, as first cell and width, and the width of their small boxes.
struct Columns {
    xs: Vec<(usize, usize)>,
    small: Vec<usize>,
}

impl Columns {
    /// The cell of a track in the channel before column `at`.
    fn turn(&self, at: usize, channel: &Channel, track: usize) -> usize {
        let start = at.checked_sub(1).map_or(0, |before| self.xs[before].0 + self.xs[before].1);
        start + 1 + track * pitch(channel)
    }
}

fn pitch(channel: &Channel) -> usize {
    if channel.tracks > APART { 1 } else { 2 }
}

fn channel_width(channel: Option<&Channel>, limits: Limits, is_margin: bool) -> usize {
    let arrow = if limits.is_tight { 1 } else { 2 };
    match channel {
        Some(channel) if !channel.wires.is_empty() => channel.tracks.max(1) * pitch(channel) + arrow,
        _ if is_margin => 0,
        _ => GAP,
    }
}

fn cells(rows: i64) -> usize {
    usize::try_from(rows).unwrap_or(0)
}
