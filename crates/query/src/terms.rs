//! The queries that together give the rows which contain a new row (chapter 02 §4.4).
//!
//! With L and R the operands of a join at the present snapshot, ΔL and ΔR their new rows, and L⁻ and R⁻ all
//! others, these are ΔL ⋈ R and L⁻ ⋈ ΔR, each row once. An outer join keeps rows without a partner: those
//! have none in R, new or not. So what is left of L ⟕ R without its new rows is L⁻ ⋈ R⁻ and the rows of L⁻
//! that have no partner in R, where L⁻ ⟕ R⁻ would also keep those whose partners are all new.

use std::collections::{BTreeMap, BTreeSet};

use crate::shape::{Shape, Side};

/// More queries than this are not worth it.
const TERMS_MAX: usize = 32;

/// One query: what is put in the place of its parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Term {
    /// References that are read as their delta.
    pub deltas: BTreeSet<usize>,
    /// References that are read without their delta.
    pub befores: BTreeSet<usize>,
    /// Pointers of branches that give no row.
    pub(crate) empty: BTreeSet<String>,
    /// What becomes of joins, by pointer.
    pub(crate) joins: BTreeMap<String, JoinEdit>,
}

/// What becomes of a join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JoinEdit {
    /// Rows without a partner go.
    Inner,
    /// Those of the left operand stay, those of the right one go.
    Left,
    /// Only those of the left operand stay that have no partner in the whole right one.
    LeftAlone,
    /// Only those of the right operand stay that have no partner in the whole left one.
    RightAlone,
}

/// A sum of queries; `None` where there is no such sum.
type Sum = Option<Vec<Term>>;

impl Term {
    fn and(mut self, other: &Self) -> Self {
        self.deltas.extend(&other.deltas);
        self.befores.extend(&other.befores);
        self.empty.extend(other.empty.iter().cloned());
        self.joins.extend(other.joins.iter().map(|(pointer, edit)| (pointer.clone(), *edit)));
        self
    }

    fn with_join(mut self, pointer: &str, edit: Option<JoinEdit>) -> Self {
        self.joins.extend(edit.map(|edit| (pointer.to_owned(), edit)));
        self
    }

    fn without_branch(mut self, pointer: &str) -> Self {
        self.empty.insert(pointer.to_owned());
        self
    }
}

/// The terms, given the references whose tables changed and that count (driving and aggregated ones); `None`
/// if no queries of this form give exactly those rows.
pub(crate) fn terms(shape: &Shape, changed: &BTreeSet<usize>) -> Option<Vec<Term>> {
    Algebra { changed }.fresh(shape, true).filter(|terms| terms.len() <= TERMS_MAX)
}

struct Algebra<'a> {
    changed: &'a BTreeSet<usize>,
}

impl Algebra<'_> {
    /// The rows that contain a new one.
    fn fresh(&self, shape: &Shape, driving: bool) -> Sum {
        match shape {
            Shape::Table(at) if self.changed.contains(at) => {
                Some(vec![Term { deltas: [*at].into(), ..Term::default() }])
            }
            // Nobody knows which of its rows are new, so all are.
            Shape::Whole if driving => Some(vec![Term::default()]),
            Shape::Table(_) | Shape::Whole | Shape::Opaque(_) => Some(Vec::new()),
            Shape::Union(branches) => self.union(branches, driving),
            Shape::Join { pointer, side, left, right } => self.join(pointer, *side, (left, right), driving),
        }
    }

    fn join(&self, pointer: &str, side: Side, (left, right): (&Shape, &Shape), driving: bool) -> Sum {
        let (left_drives, right_drives) = drives(side, driving);
        let new_left = self.fresh(left, left_drives)?;
        let new_right = if side == Side::Filter { Vec::new() } else { self.fresh(right, right_drives)? };
        let edited = |terms: Vec<Term>, edit| terms.into_iter().map(move |term| term.with_join(pointer, edit));
        // L⁻, or R⁻, is only asked for if there is something to join it with.
        let rest_left = |with: &[Term]| if with.is_empty() { Some(Vec::new()) } else { self.rest(left, left_drives) };
        let rest_right =
            |with: &[Term]| if with.is_empty() { Some(Vec::new()) } else { self.rest(right, right_drives) };
        Some(match side {
            Side::Inner => {
                let old_with_new = product(&rest_left(&new_right)?, &new_right);
                new_left.into_iter().chain(old_with_new).collect()
            }
            Side::Left => {
                let old_with_new = product(&rest_left(&new_right)?, &new_right);
                new_left.into_iter().chain(edited(old_with_new, Some(JoinEdit::Inner))).collect()
            }
            Side::Right => {
                let new_with_old = product(&new_left, &rest_right(&new_left)?);
                new_right.into_iter().chain(edited(new_with_old, Some(JoinEdit::Inner))).collect()
            }
            Side::Full => {
                let old_with_new = product(&rest_left(&new_right)?, &new_right);
                let matched = edited(old_with_new.clone(), Some(JoinEdit::Inner));
                let alone = edited(old_with_new, Some(JoinEdit::RightAlone));
                edited(new_left, Some(JoinEdit::Left)).chain(matched).chain(alone).collect()
            }
            // Which row is nearest, or in the same place, depends on all others.
            Side::Nearest | Side::Positional if !new_right.is_empty() => return None,
            Side::Filter | Side::Nearest | Side::Positional => new_left,
        })
    }

    /// Changes in different branches go into one query; a branch without any gives nothing.
    fn union(&self, branches: &[(String, Shape)], driving: bool) -> Sum {
        let lists: Option<Vec<Vec<Term>>> = branches.iter().map(|(_, branch)| self.fresh(branch, driving)).collect();
        let lists = lists?;
        let count = lists.iter().map(Vec::len).max().unwrap_or(0);
        let term = |at: usize| {
            branches.iter().zip(&lists).fold(Term::default(), |term, ((pointer, _), list)| match list.get(at) {
                Some(part) => term.and(part),
                None => term.without_branch(pointer),
            })
        };
        Some((0..count).map(term).collect())
    }

    /// The rows that contain no new one.
    fn rest(&self, shape: &Shape, driving: bool) -> Sum {
        match shape {
            Shape::Table(at) if self.changed.contains(at) => {
                Some(vec![Term { befores: [*at].into(), ..Term::default() }])
            }
            Shape::Whole if driving => Some(Vec::new()),
            Shape::Table(_) | Shape::Whole | Shape::Opaque(_) => Some(vec![Term::default()]),
            Shape::Union(branches) => self.rest_of_union(branches, driving),
            Shape::Join { pointer, side, left, right } => self.rest_of_join(pointer, *side, (left, right), driving),
        }
    }

    fn rest_of_join(&self, pointer: &str, side: Side, (left, right): (&Shape, &Shape), driving: bool) -> Sum {
        let (left_drives, right_drives) = drives(side, driving);
        let rest_left = self.rest(left, left_drives)?;
        if side == Side::Filter {
            return Some(rest_left);
        }
        let both = product(&rest_left, &self.rest(right, right_drives)?);
        let (left_changes, right_changes) = (self.changes(left), self.changes(right));
        let edits: &[Option<JoinEdit>] = match side {
            Side::Left if right_changes => &[Some(JoinEdit::Inner), Some(JoinEdit::LeftAlone)],
            Side::Right if left_changes => &[Some(JoinEdit::Inner), Some(JoinEdit::RightAlone)],
            Side::Full if left_changes || right_changes => {
                &[Some(JoinEdit::Inner), Some(JoinEdit::LeftAlone), Some(JoinEdit::RightAlone)]
            }
            Side::Nearest | Side::Positional if right_changes => return None,
            // What has all its partners still, or none to begin with.
            _ => &[None],
        };
        let edited = |edit: &Option<JoinEdit>| {
            let edit = *edit;
            both.iter().map(move |term| term.clone().with_join(pointer, edit)).collect::<Vec<_>>()
        };
        Some(edits.iter().flat_map(edited).collect())
    }

    fn rest_of_union(&self, branches: &[(String, Shape)], driving: bool) -> Sum {
        let mut found = vec![Term::default()];
        let mut is_empty = true;
        for (pointer, branch) in branches {
            let rest = self.rest(branch, driving)?;
            match &rest[..] {
                [] => found = found.into_iter().map(|term| term.without_branch(pointer)).collect(),
                // Several would have to be added up within the branch.
                [_, _, ..] => return None,
                [_] => {
                    is_empty = false;
                    found = product(&found, &rest);
                }
            }
        }
        Some(if is_empty { Vec::new() } else { found })
    }

    fn changes(&self, shape: &Shape) -> bool {
        shape.leaves().iter().any(|at| self.changed.contains(at))
    }
}

/// Every part of one sum joined with every part of another.
fn product(left: &[Term], right: &[Term]) -> Vec<Term> {
    left.iter().flat_map(|left| right.iter().map(|right| left.clone().and(right))).collect()
}

fn drives(side: Side, driving: bool) -> (bool, bool) {
    match side {
        Side::Inner | Side::Left | Side::Filter | Side::Nearest => (driving, false),
        Side::Right => (false, driving),
        Side::Full | Side::Positional => (false, false),
    }
}
