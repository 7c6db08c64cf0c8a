//! The queries that together give the rows which contain a new row (chapter 02 §4.4).
//!
//! Joins and UNION ALL are linear over multisets of rows, so with L and R the operands of a join at the
//! present snapshot and L⁻ the left one without its new rows: Δ(L ⋈ R) = ΔL ⋈ R + L⁻ ⋈ ΔR.

use std::collections::{BTreeMap, BTreeSet};

use crate::shape::{Shape, Side};

/// One query: what is put in the place of its parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Term {
    /// References that are read as their delta.
    pub deltas: BTreeSet<usize>,
    /// References that are read without their delta.
    pub befores: BTreeSet<usize>,
    /// Pointers of branches that give no row.
    pub(crate) empty: BTreeSet<String>,
    /// Joins, by pointer, that keep the rows of fewer operands.
    pub(crate) joins: BTreeMap<String, Side>,
}

impl Term {
    fn and(mut self, other: &Self) -> Self {
        self.deltas.extend(&other.deltas);
        self.befores.extend(&other.befores);
        self.empty.extend(other.empty.iter().cloned());
        self.joins.extend(other.joins.clone());
        self
    }
}

/// The terms, given the references whose tables changed and that count (driving and aggregated ones).
pub(crate) fn terms(shape: &Shape, changed: &BTreeSet<usize>) -> Vec<Term> {
    of(shape, changed, true)
}

fn of(shape: &Shape, changed: &BTreeSet<usize>, driving: bool) -> Vec<Term> {
    match shape {
        Shape::Table(at) if changed.contains(at) => vec![Term { deltas: [*at].into(), ..Term::default() }],
        // Nobody knows which of its rows are new, so all are.
        Shape::Whole if driving => vec![Term::default()],
        Shape::Table(_) | Shape::Whole | Shape::Opaque(_) => Vec::new(),
        Shape::Union(branches) => union(branches, changed, driving),
        Shape::Join { pointer, side, left, right } => {
            let (left_drives, right_drives) = drives(*side, driving);
            let converted = |term: Term, to: Option<Side>| match to {
                Some(to) => term.and(&Term { joins: [(pointer.clone(), to)].into(), ..Term::default() }),
                None => term,
            };
            let (of_left, of_right) = conversions(*side);
            let lefts = of(left, changed, left_drives);
            let mut found: Vec<Term> = lefts.into_iter().map(|term| converted(term, of_left)).collect();
            if *side != Side::Filter
                && let Some(before) = before(left, changed, left_drives)
            {
                let rights = of(right, changed, right_drives);
                found.extend(rights.into_iter().map(|term| converted(term.and(&before), of_right)));
            }
            found
        }
    }
}

/// Changes in different branches go into one query; a branch without any gives nothing.
fn union(branches: &[(String, Shape)], changed: &BTreeSet<usize>, driving: bool) -> Vec<Term> {
    let lists: Vec<Vec<Term>> = branches.iter().map(|(_, branch)| of(branch, changed, driving)).collect();
    let count = lists.iter().map(Vec::len).max().unwrap_or(0);
    let term = |at: usize| {
        branches.iter().zip(&lists).fold(Term::default(), |term, ((pointer, _), list)| match list.get(at) {
            Some(part) => term.and(part),
            None => term.and(&Term { empty: [pointer.clone()].into(), ..Term::default() }),
        })
    };
    (0..count).map(term).collect()
}

/// The edits that leave a part as it was without its new rows; `None` if nothing was there.
fn before(shape: &Shape, changed: &BTreeSet<usize>, driving: bool) -> Option<Term> {
    match shape {
        Shape::Table(at) if changed.contains(at) => Some(Term { befores: [*at].into(), ..Term::default() }),
        Shape::Whole if driving => None,
        Shape::Table(_) | Shape::Whole | Shape::Opaque(_) => Some(Term::default()),
        Shape::Union(branches) => {
            let parts = branches.iter().map(|(pointer, branch)| (pointer, before(branch, changed, driving)));
            let parts: Vec<_> = parts.collect();
            if parts.iter().all(|(_, part)| part.is_none()) {
                return None;
            }
            Some(parts.into_iter().fold(Term::default(), |term, (pointer, part)| match part {
                Some(part) => term.and(&part),
                None => term.and(&Term { empty: [pointer.clone()].into(), ..Term::default() }),
            }))
        }
        Shape::Join { side, left, right, .. } => {
            let (left_drives, right_drives) = drives(*side, driving);
            Some(before(left, changed, left_drives)?.and(&before(right, changed, right_drives)?))
        }
    }
}

fn drives(side: Side, driving: bool) -> (bool, bool) {
    match side {
        Side::Inner | Side::Left | Side::Filter => (driving, false),
        Side::Right => (false, driving),
        Side::Full | Side::Positional => (false, false),
    }
}

/// What a join becomes when the left operand, and when the right one, holds new rows alone: rows of the
/// other without a partner are not new.
fn conversions(side: Side) -> (Option<Side>, Option<Side>) {
    match side {
        Side::Inner | Side::Filter | Side::Positional => (None, None),
        Side::Left => (None, Some(Side::Inner)),
        Side::Right => (Some(Side::Inner), None),
        Side::Full => (Some(Side::Left), Some(Side::Right)),
    }
}
