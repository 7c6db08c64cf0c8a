//! Cuts the changes of a lane into batches, one at a time: what failed holds back what comes after it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::change::Change;

/// Failures after which the rows of a batch come in smaller ones. Before, the same rows come together again, so that
/// who knows a batch by its idempotency key can tell.
const WHOLE_FAILURES: u32 = 2;

/// How changes are cut into batches.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cut {
    /// Whether a batch holds all changes from its first to its last, as those of a job must.
    pub is_contiguous: bool,
    /// Whether what changed at once in a group stays in one batch.
    pub keeps_groups: bool,
}

/// The changes that a lane has still to send, in order.
pub(crate) struct Queued {
    changes: VecDeque<Change>,
    /// Rows that a change failed of: their later ones are not sent.
    held: BTreeSet<i64>,
    cut: Cut,
}

/// The size of the first batch of rows that failed so often: halved each time, until a row that makes its whole batch
/// fail is alone.
pub(crate) fn first_size(size: usize, failures: u32) -> usize {
    size.checked_shr(failures.saturating_sub(WHOLE_FAILURES)).unwrap_or(0).max(1)
}

impl Queued {
    pub fn new(changes: Vec<Change>, cut: Cut) -> Self {
        Self { changes: changes.into(), held: BTreeSet::new(), cut }
    }

    /// Holds back the later changes of a row.
    pub fn hold(&mut self, row_key: i64) {
        self.held.insert(row_key);
    }

    /// The next batch, empty when there is none. It holds a row twice only where the sink cannot take them for each
    /// other: how it was and how it is then, or rows of one group at one snapshot. Where groups are kept it ends before
    /// one that does not fit any more; one that is larger than a batch is a batch of its own.
    pub fn next(&mut self, size: usize) -> Vec<Change> {
        let mut batch: Vec<Change> = Vec::new();
        // Where the last change of a row stands in the batch.
        let mut last: BTreeMap<i64, usize> = BTreeMap::new();
        while let Some(change) = self.changes.pop_front() {
            let goes_on = self.cut.keeps_groups && batch.last().is_some_and(|before| is_one_group(before, &change));
            if !goes_on && !self.fits(&change, batch.len(), size) {
                self.changes.push_front(change);
                break;
            }
            let row_key = change.event.row_key;
            if self.held.contains(&row_key) {
                if self.cut.is_contiguous && !batch.is_empty() {
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

    /// Whether a batch that holds so many changes has room for one more, and for those that have to come with it.
    fn fits(&self, change: &Change, held: usize, size: usize) -> bool {
        let rest = self.changes.iter().take(size).take_while(|next| is_one_group(change, next));
        let wanted = if self.cut.keeps_groups { 1 + rest.count() } else { 1 };
        held == 0 || held + wanted <= size
    }
}

fn is_one_group(one: &Change, other: &Change) -> bool {
    one.event.row_key == other.event.row_key && one.event.snapshot == other.event.snapshot
}

fn may_follow(before: &Change, change: &Change) -> bool {
    before.event.snapshot == change.event.snapshot || before.is_old() && !change.is_old()
}

#[cfg(test)]
mod tests {
    use types::ChangeType::{Delete, Insert, UpdatePostimage, UpdatePreimage};

    use super::{Cut, Queued, first_size};
    use crate::change::Change;
    use crate::change::tests::change;

    fn seqs(batch: &[Change]) -> Vec<i64> {
        batch.iter().map(|change| change.event.seq).collect()
    }

    #[test]
    fn batches_are_cut_by_size_and_keep_the_order() {
        let mut queued = Queued::new((1..=5).map(|seq| change(seq, seq, Insert, 1, 0)).collect(), Cut::default());
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
            Cut::default(),
        );
        assert_eq!(seqs(&queued.next(9)), [1, 2]);
        assert_eq!(seqs(&queued.next(9)), [3, 4, 5]);
        assert_eq!(seqs(&queued.next(9)), [6]);
    }

    #[test]
    fn a_group_is_cut_by_no_batch() {
        // Groups of 3, 2, 2 and 1 rows, the last two at different snapshots.
        let all = [(1, 1, 2), (2, 1, 2), (3, 1, 2), (4, 2, 2), (5, 2, 2), (6, 3, 2), (7, 3, 2), (8, 3, 3)];
        let changes: Vec<Change> = all
            .map(|(seq, key, snapshot)| {
                let mut change = change(seq, seq, Insert, snapshot, 0);
                change.event.row_key = key;
                change
            })
            .to_vec();
        let batches = |size, keeps_groups| {
            let mut queued = Queued::new(changes.clone(), Cut { keeps_groups, ..Cut::default() });
            std::iter::from_fn(|| Some(seqs(&queued.next(size))).filter(|batch| !batch.is_empty())).collect::<Vec<_>>()
        };
        assert_eq!(batches(2, true), [vec![1, 2, 3], vec![4, 5], vec![6, 7], vec![8]]);
        assert_eq!(batches(4, true), [vec![1, 2, 3], vec![4, 5, 6, 7], vec![8]]);
        assert_eq!(batches(5, true), [vec![1, 2, 3, 4, 5], vec![6, 7], vec![8]]);
        assert_eq!(batches(4, false), [vec![1, 2, 3, 4], vec![5, 6, 7], vec![8]]);
    }

    #[test]
    fn what_fails_again_and_again_comes_in_smaller_batches() {
        let sizes = [0, 1, 2, 3, 4, 9, 70].map(|failures| first_size(100, failures));
        assert_eq!(sizes, [100, 100, 100, 50, 25, 1, 1]);
    }

    #[test]
    fn later_changes_of_a_row_that_failed_are_not_sent() {
        for (is_contiguous, expected) in [(false, [vec![3, 5], vec![]]), (true, [vec![3], vec![5]])] {
            let changes = [(1, 7, 1), (2, 7, 2), (3, 8, 2), (4, 7, 3), (5, 9, 3)];
            let changes = changes.map(|(seq, rowid, snapshot)| change(seq, rowid, Insert, snapshot, 0));
            let mut queued = Queued::new(changes.to_vec(), Cut { is_contiguous, ..Cut::default() });
            assert_eq!(seqs(&queued.next(9)), [1]);
            queued.hold(7);
            assert_eq!([seqs(&queued.next(9)), seqs(&queued.next(9))], expected);
        }
    }
}
