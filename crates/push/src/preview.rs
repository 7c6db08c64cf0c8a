//! What a delivery would send, without sending it: for `push --dry-run` and `queue show`.

use lib_functions::HostValue;
use serde_json::Value;
use state::Event;

use crate::batch::Queued;
use crate::change::{Change, Row};
use crate::chunk::{Ready, deal, put_failed_last, ready};
use crate::delivery::Images;
use crate::json::shown;
use crate::rows::sent_rows;

/// A batch as the function would get it.
#[derive(Debug, Clone, PartialEq)]
pub struct SentBatch {
    /// Its number in the run, from 1.
    pub number: u64,
    /// Its rows, as JSON.
    pub rows: Vec<Value>,
    /// What the user would be told of it.
    pub warning: Option<String>,
}

/// A delivery that is looked at.
pub struct Preview<'a> {
    /// The target.
    pub target: &'a str,
    /// Its table.
    pub table_uuid: &'a str,
    /// Rows of a call.
    pub batch_size: usize,
    /// Calls at a time.
    pub lanes: usize,
    /// Whether batches are jobs.
    pub is_contiguous: bool,
    /// Where several changes of a row are folded into one: whether a key stands for one row.
    pub folds: Option<bool>,
}

impl Preview<'_> {
    /// The first batches of the events of one claim, at most `most`, numbered from `first`. With several lanes each has
    /// its turn: which of them calls first is up to chance.
    ///
    /// # Errors
    /// Rows cannot be read.
    pub fn batches<I: Images>(
        &self,
        events: &[Event],
        images: &mut I,
        (first, most): (u64, usize),
    ) -> Result<Vec<SentBatch>, I::Error> {
        let Ready { mut changes, .. } = ready(events, images, self.folds)?;
        if !self.is_contiguous {
            put_failed_last(&mut changes);
        }
        let lanes = deal(changes, self.lanes);
        let mut lanes: Vec<Queued> =
            lanes.into_iter().map(|changes| Queued::new(changes, self.is_contiguous)).collect();
        let mut batches = Vec::new();
        while batches.len() < most {
            let before = batches.len();
            for lane in lanes.iter_mut().take(most - before) {
                let changes = lane.next(self.batch_size);
                if !changes.is_empty() {
                    batches.push(self.batch(&changes, first + batches.len() as u64));
                }
            }
            if batches.len() == before {
                break;
            }
        }
        Ok(batches)
    }

    fn batch(&self, changes: &[Change], number: u64) -> SentBatch {
        let sent = sent_rows(changes, self.target, self.table_uuid);
        SentBatch { number, rows: sent.rows.iter().map(shown).collect(), warning: sent.warning(number) }
    }
}

/// A row as the function would get it, as JSON.
pub fn sent_row(event: &Event, row: Row, target: &str, table_uuid: &str) -> Value {
    let change = Change { event: event.clone(), row };
    sent_rows([&change], target, table_uuid).rows.first().map_or(Value::Null, shown)
}

/// Values of scripts as JSON, for people.
pub fn shown_arguments(arguments: &[(String, HostValue)]) -> Vec<(String, Value)> {
    arguments.iter().map(|(name, value)| (name.clone(), shown(value))).collect()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use state::Event;
    use types::ChangeType;

    use super::Preview;
    use crate::change::tests::change;
    use crate::{Images, Row};

    /// Every row has the number of its event.
    struct Numbers;

    impl Images for Numbers {
        type Error = Infallible;

        fn rows(&mut self, events: &[Event]) -> Result<Vec<Option<Row>>, Infallible> {
            let row = |event: &Event| Some(change(1, 1, ChangeType::Insert, 1, event.seq.into()).row);
            Ok(events.iter().map(row).collect())
        }
    }

    #[test]
    fn lanes_take_turns_and_batches_end_where_a_row_comes_again() {
        let events: Vec<Event> = [(1, 2, 1), (2, 4, 1), (3, 3, 1), (4, 2, 2)]
            .map(|(seq, rowid, at)| change(seq, rowid, ChangeType::Insert, at, 0).event)
            .to_vec();
        let preview = Preview {
            target: "sync.x",
            table_uuid: "uuid",
            batch_size: 2,
            lanes: 2,
            is_contiguous: false,
            folds: None,
        };
        let batches = preview.batches(&events, &mut Numbers, (1, 9)).unwrap();
        let shown: Vec<(u64, Vec<i64>)> = batches
            .iter()
            .map(|batch| (batch.number, batch.rows.iter().map(|row| row["a"].as_i64().unwrap()).collect()))
            .collect();
        assert_eq!(shown, [(1, vec![1, 2]), (2, vec![3]), (3, vec![4])]);
        assert_eq!(preview.batches(&events, &mut Numbers, (5, 1)).unwrap()[0].number, 5);
    }
}
