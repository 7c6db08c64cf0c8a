//! Where wires turn between two columns. Each wire has one vertical part, in a track of its own or shared with wires
//! that are above or below it. Where one wire ends in the row in which another begins, the one turns before the other.

use std::collections::{BTreeMap, BTreeSet};

/// The room between two columns, with the wires through it.
#[derive(Debug, Default)]
pub(super) struct Channel {
    pub wires: Vec<Wire>,
    /// For each wire those that must turn further to the right.
    before: Vec<BTreeSet<usize>>,
    /// Wires by the rows in which they come.
    exits: BTreeMap<i64, usize>,
    /// Tracks there are.
    pub tracks: usize,
}

/// A wire between two columns.
#[derive(Debug, Default)]
pub(super) struct Wire {
    pub bundle: usize,
    /// Whether it comes from the right, along the bottom.
    pub is_back: bool,
    /// Rows in which it comes from the left.
    pub left: Vec<i64>,
    /// Rows in which it goes on to the right, and whether into a box.
    pub right: Vec<(i64, bool)>,
    /// The row along the bottom that it comes from or goes to.
    pub bottom: Option<i64>,
    /// Its track; none if it goes straight on.
    pub track: Option<usize>,
}

impl Wire {
    fn rows(&self) -> impl Iterator<Item = i64> {
        self.left.iter().copied().chain(self.right.iter().map(|(row, _)| *row)).chain(self.bottom)
    }

    /// The uppermost and the lowest row; none if they are one.
    pub(super) fn span(&self) -> Option<(i64, i64)> {
        let (top, bottom) = (self.rows().min()?, self.rows().max()?);
        (top < bottom).then_some((top, bottom))
    }
}

impl Channel {
    /// The wire of a bundle; a new one if there is none yet.
    pub(super) fn wire(&mut self, bundle: usize, is_back: bool) -> usize {
        let known = self.wires.iter().position(|wire| wire.bundle == bundle && wire.is_back == is_back);
        known.unwrap_or_else(|| {
            self.wires.push(Wire { bundle, is_back, ..Wire::default() });
            self.before.push(BTreeSet::new());
            self.wires.len() - 1
        })
    }

    /// A wire comes in this row.
    pub(super) fn comes(&mut self, wire: usize, row: i64) {
        self.wires[wire].left.push(row);
        self.exits.insert(row, wire);
    }

    /// Lets wires go on in this row, unless it would not be seen which of them does.
    pub(super) fn goes(&mut self, wires: &[usize], row: i64, into_box: bool) -> bool {
        if let Some(&other) = self.exits.get(&row) {
            let later: Vec<usize> = wires.iter().copied().filter(|&wire| wire != other).collect();
            if later.iter().any(|&wire| self.must_precede(wire, other)) {
                return false;
            }
            self.before[other].extend(later);
        }
        for &wire in wires {
            self.wires[wire].right.push((row, into_box));
        }
        true
    }

    /// Whether one wire must turn before another.
    fn must_precede(&self, wire: usize, other: usize) -> bool {
        let mut seen = BTreeSet::new();
        let mut stack = vec![wire];
        while let Some(at) = stack.pop() {
            if at == other {
                return true;
            }
            if seen.insert(at) {
                stack.extend(&self.before[at]);
            }
        }
        false
    }

    /// Gives each wire that turns the first track that is free for it.
    pub(super) fn assign(&mut self) {
        let mut missing = vec![0usize; self.wires.len()];
        self.before.iter().flatten().for_each(|&wire| missing[wire] += 1);
        let mut least = vec![0usize; self.wires.len()];
        let mut taken: Vec<Vec<(i64, i64)>> = Vec::new();
        let mut ready: BTreeSet<(i64, usize)> = BTreeSet::new();
        let urge = |wire: &Wire| {
            // Of wires downwards the lowest turns first, of wires upwards the uppermost: so they do not cross.
            let from = wire.left.iter().copied().max().or(wire.bottom).unwrap_or(0);
            let down = wire.right.iter().map(|(row, _)| *row).chain(wire.bottom).max().is_some_and(|row| row > from);
            if down { -from } else { from }
        };
        ready.extend(
            self.wires.iter().enumerate().filter(|(at, _)| missing[*at] == 0).map(|(at, wire)| (urge(wire), at)),
        );
        while let Some((_, at)) = ready.pop_first() {
            let mut next = least[at];
            if let Some((top, bottom)) = self.wires[at].span() {
                let is_free = |spans: &Vec<(i64, i64)>| spans.iter().all(|&(from, to)| to < top || bottom < from);
                let track = (next..taken.len()).find(|&track| is_free(&taken[track])).unwrap_or(taken.len().max(next));
                taken.resize_with(taken.len().max(track + 1), Vec::new);
                taken[track].push((top, bottom));
                self.wires[at].track = Some(track);
                next = track + 1;
            }
            for &later in &self.before[at] {
                least[later] = least[later].max(next);
                missing[later] -= 1;
                if missing[later] == 0 {
                    ready.insert((urge(&self.wires[later]), later));
                }
            }
        }
        self.tracks = taken.len();
    }
}
