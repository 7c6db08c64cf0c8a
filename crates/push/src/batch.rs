//! Cuts the changes of a lane into batches, one at a time: what failed holds back what comes after it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::change::Change;

/// The changes that a lane has still to send, in order.
pub(crate) struct Queued {
    changes: VecDeque<Change>,
    /// Rows that a change failed of: their later ones are not sent.
    held: BTreeSet<i64>,
    /// Whether a batch holds all changes from its first to its last, as those of a job must.
    is_contiguous: bool,
}

impl Queued {
    pub fn new(changes: Vec<Change>, is_contiguous: bool) -> Self {
        Self { changes: changes.into(), held: BTreeSet::new(), is_contiguous }
    }

    /// Holds back the later changes of a row.
    pub fn hold(&mut self, row_key: i64) {
        self.held.insert(row_key);
    }

    /// The next batch, empty when there is none. It holds a row twice only where the sink cannot take them for each
    /// other: how it was and how it is then, or rows of one group at one snapshot.
    pub fn next(&mut self, size: usize) -> Vec<Change> {
        let mut batch: Vec<Change> = Vec::new();
        // Where the last change of a row stands in the batch.
        let mut last: BTreeMap<i64, usize> = BTreeMap::new();
        while batch.len() < size {
            let Some(change) = self.changes.pop_front() else { break };
            let row_key = change.event.row_key;
            if self.held.contains(&row_key) {
                if self.is_contiguous && !batch.is_empty() {
                    break;
                }
                continue;
            }
            if let Some(before) = last.get(&row_key).and_then(|at| batch.get(*at))
                && !may_follow(before, &change)
            {
                self.changes.push_front(change);
                break;
            }
            last.insert(row_key, batch.len());
            batch.push(change);
        }
        batch
    }
}

fn may_follow(before: &Change, change: &Change) -> bool {
    before.event.snapshot == change.event.snapshot || before.is_old() && !change.is_old()
}

#[cfg(test)]
mod tests {
    use types::ChangeType::{Delete, Insert, UpdatePostimage, UpdatePreimage};

    use super::Queued;
    use crate::change::Change;
    use crate::change::tests::change;

    fn seqs(batch: &[Change]) -> Vec<i64> {
        batch.iter().map(|change| change.event.seq).collect()
    }

    #[test]
    fn batches_are_cut_by_size_and_keep_the_order() {
        let mut queued = Queued::new((1..=5).map(|seq| change(seq, seq, Insert, 1, 0)).collect(), false);
        assert_eq!([seqs(&queued.next(2)), seqs(&queued.next(2))], [[1, 2], [3, 4]]);
        assert_eq!((seqs(&queued.next(2)), seqs(&queued.next(2))), (vec![5], vec![]));
    }

    #[test]
    fn a_row_comes_into_a_batch_again_only_as_the_other_half_of_its_change() {
        let mut queued = Queued::new(
            vec![
                change(1, 7, Insert, 1, 0),
                change(2, 8, Insert, 1, 0),
                change(3, 7, UpdatePreimage, 2, 0),
                change(4, 7, UpdatePostimage, 2, 0),
                change(5, 8, Delete, 3, 0),
                change(6, 7, Delete, 3, 0),
            ],
            false,
        );
        assert_eq!(seqs(&queued.next(9)), [1, 2]);
        assert_eq!(seqs(&queued.next(9)), [3, 4, 5]);
        assert_eq!(seqs(&queued.next(9)), [6]);
    }

    #[test]
    fn the_rows_of_a_group_come_together() {
        let mut changes = vec![change(1, 7, Delete, 2, 0), change(2, 8, Delete, 2, 0), change(3, 9, Insert, 2, 0)];
        for change in &mut changes {
            change.event.row_key = 1;
        }
        assert_eq!(seqs(&Queued::new(changes, false).next(9)), [1, 2, 3]);
    }

    #[test]
    fn later_changes_of_a_row_that_failed_are_not_sent() {
        for (is_contiguous, expected) in [(false, [vec![3, 5], vec![]]), (true, [vec![3], vec![5]])] {
            let changes = [(1, 7, 1), (2, 7, 2), (3, 8, 2), (4, 7, 3), (5, 9, 3)];
            let changes = changes.map(|(seq, rowid, snapshot)| change(seq, rowid, Insert, snapshot, 0));
            let mut queued = Queued::new(changes.to_vec(), is_contiguous);
            assert_eq!(seqs(&queued.next(9)), [1]);
            queued.hold(7);
            assert_eq!([seqs(&queued.next(9)), seqs(&queued.next(9))], expected);
        }
    }
}
