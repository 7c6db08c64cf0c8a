//! Folds several changes of a row into the one that is left of them, for `"changes": "net"` (chapter 04 §4).

use std::collections::BTreeMap;

use types::ChangeType;

use crate::change::Change;

/// What is to be sent, in order, and the numbers of the events that are settled without being sent.
pub(crate) struct Folded {
    pub changes: Vec<Change>,
    pub settled: Vec<i64>,
}

/// Folds the changes of each row. A row is what has one key where keys are unique, else what has one row id.
pub(crate) fn fold(changes: Vec<Change>, keys_are_unique: bool) -> Folded {
    let mut rows: BTreeMap<i64, Vec<Change>> = BTreeMap::new();
    for change in changes {
        let row = if keys_are_unique { change.event.row_key } else { change.event.rowid };
        rows.entry(row).or_default().push(change);
    }
    let mut folded = Folded { changes: Vec::new(), settled: Vec::new() };
    for changes in rows.into_values() {
        let all: Vec<i64> = changes.iter().map(|change| change.event.seq).collect();
        let kept = net(changes);
        let is_kept = |seq: &i64| kept.iter().any(|change| change.event.seq == *seq);
        folded.settled.extend(all.into_iter().filter(|seq| !is_kept(seq)));
        folded.changes.extend(kept);
    }
    folded.changes.sort_by_key(|change| change.event.seq);
    folded
}

/// What is left of the changes of one row, at most two.
fn net(mut changes: Vec<Change>) -> Vec<Change> {
    // The other half of the last change is not here: it stays as it is.
    let is_half = changes.last().is_some_and(|change| change.event.change_type == ChangeType::UpdatePreimage);
    let half = if is_half { changes.pop() } else { None };
    let first = if changes.is_empty() { None } else { Some(changes.remove(0)) };
    let kept = match (first, changes.pop()) {
        (None, _) => Vec::new(),
        (Some(only), None) => vec![only],
        // It was there before and is there now. That it is the same again does not mean that the sink has it: what was
        // in between may have been sent by a worker that died.
        (Some(first), Some(last)) if first.is_old() && !last.is_old() => vec![first, last],
        // It is gone. The sink may have got it meanwhile.
        (Some(_), Some(last)) if last.is_old() => vec![last],
        // It came, and changed since. The sink may know an insert that was tried, and takes no other values under its id.
        (Some(first), Some(last)) if first.event.change_type == ChangeType::Insert && first.event.attempts > 0 => {
            vec![first, last]
        }
        (Some(first), Some(last)) if first.event.change_type == ChangeType::Insert => {
            vec![Change { event: first.event, row: last.row }]
        }
        (Some(_), Some(last)) => vec![last],
    };
    kept.into_iter().chain(half).collect()
}

#[cfg(test)]
mod tests {
    use types::ChangeType::{self, Delete, Insert, UpdatePostimage, UpdatePreimage};

    use super::fold;
    use crate::change::tests::change;

    /// A change with its value.
    type Told = (ChangeType, i128);

    /// Folds changes of one row; gives what is left, and how many are settled.
    fn folded(changes: &[Told]) -> (Vec<Told>, usize) {
        let all = (1..).zip(changes).map(|(seq, (change_type, value))| change(seq, 7, *change_type, seq, *value));
        let folded = fold(all.collect(), true);
        let left = folded.changes.iter().map(|change| match change.row.values[..] {
            [engine::Value::Int(value)] => (change.event.change_type, value),
            _ => unreachable!(),
        });
        (left.collect(), folded.settled.len())
    }

    #[test]
    fn what_is_left_of_a_rows_changes_is_the_difference() {
        let cases: [(&[Told], &[Told]); 10] = [
            (&[(Insert, 1)], &[(Insert, 1)]),
            (&[(Insert, 2), (UpdatePreimage, 1), (UpdatePostimage, 2)], &[(Insert, 2)]),
            (&[(Insert, 1), (Delete, 1)], &[(Delete, 1)]),
            (&[(UpdatePreimage, 1), (UpdatePostimage, 2)], &[(UpdatePreimage, 1), (UpdatePostimage, 2)]),
            (
                &[(UpdatePreimage, 1), (UpdatePostimage, 3), (UpdatePreimage, 2), (UpdatePostimage, 3)],
                &[(UpdatePreimage, 1), (UpdatePostimage, 3)],
            ),
            (
                &[(UpdatePreimage, 1), (UpdatePostimage, 1), (UpdatePreimage, 2), (UpdatePostimage, 1)],
                &[(UpdatePreimage, 1), (UpdatePostimage, 1)],
            ),
            (&[(UpdatePreimage, 1), (UpdatePostimage, 2), (Delete, 2)], &[(Delete, 2)]),
            (&[(Delete, 1), (Insert, 1)], &[(Delete, 1), (Insert, 1)]),
            (&[(Delete, 1), (Insert, 2)], &[(Delete, 1), (Insert, 2)]),
            (&[(UpdatePostimage, 2), (Delete, 2)], &[(Delete, 2)]),
        ];
        for (changes, expected) in cases {
            assert_eq!(folded(changes), (expected.to_vec(), changes.len() - expected.len()), "{changes:?}");
        }
    }

    #[test]
    fn an_insert_that_was_tried_keeps_its_id_and_what_changed_since_has_its_own() {
        let mut changes =
            vec![change(1, 7, Insert, 1, 2), change(2, 7, UpdatePreimage, 2, 1), change(3, 7, UpdatePostimage, 2, 2)];
        let left = |changes: &[crate::change::Change]| -> Vec<i64> {
            fold(changes.to_vec(), true).changes.iter().map(|change| change.event.seq).collect()
        };
        assert_eq!(left(&changes), [1]);
        changes[0].event.attempts = 1;
        assert_eq!(left(&changes), [1, 3]);
    }

    #[test]
    fn a_half_of_a_change_whose_other_half_comes_later_stays() {
        let changes = [(UpdatePreimage, 1), (UpdatePostimage, 3), (UpdatePreimage, 2)];
        assert_eq!(folded(&changes), (changes.to_vec(), 0));
    }

    #[test]
    fn rows_of_a_group_are_told_apart_by_their_ids() {
        let mut changes = vec![change(1, 7, Insert, 1, 0), change(2, 8, Insert, 1, 1), change(3, 7, Delete, 2, 0)];
        for change in &mut changes {
            change.event.row_key = 1;
        }
        let folded = fold(changes, false);
        let left: Vec<i64> = folded.changes.iter().map(|change| change.event.seq).collect();
        assert_eq!((left, folded.settled), (vec![2, 3], vec![1]));
    }
}
