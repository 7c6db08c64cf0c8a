//! What a delivery would send, without sending it: for `push --dry-run` and `queue show`.

use lib_functions::{BatchMode, HostValue, PushApi};
use serde_json::Value;
use state::Event;

use crate::batch::{Cut, Queued, first_size};
use crate::change::{Change, Row};
use crate::chunk::{Ready, deal, ready};
use crate::delivery::{Images, Sink};
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
    target: &'a str,
    /// Its table.
    table_uuid: &'a str,
    /// Rows of a call.
    batch_size: usize,
    /// Calls at a time.
    lanes: usize,
    /// How changes are cut into batches.
    cut: Cut,
    /// Whether each row is for itself.
    shrinks: bool,
    /// Where several changes of a row are folded into one: whether a key stands for one row.
    folds: Option<bool>,
}

impl<'a> Preview<'a> {
    /// A delivery to a sink.
    pub fn of(target: &'a str, table_uuid: &'a str, api: &PushApi, sink: &Sink) -> Self {
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        Self {
            target,
            table_uuid,
            batch_size: size(api.batch_size),
            lanes: size(api.max_concurrent),
            cut: sink.cut(api),
            shrinks: api.batch_mode == BatchMode::Sync,
            folds: api.is_net.then_some(sink.keys_are_unique),
        }
    }

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
        let failures = events.iter().map(|event| event.attempts).max().unwrap_or(0);
        let mut size = if self.shrinks { first_size(self.batch_size, failures) } else { self.batch_size };
        let Ready { changes, .. } = ready(events, images, self.folds)?;
        let lanes = deal(changes, self.lanes);
        let mut lanes: Vec<Queued> = lanes.into_iter().map(|changes| Queued::new(changes, self.cut)).collect();
        let mut batches = Vec::new();
        while batches.len() < most {
            let before = batches.len();
            for lane in lanes.iter_mut().take(most - before) {
                let changes = lane.next(size);
                if !changes.is_empty() {
                    batches.push(self.batch(&changes, first + batches.len() as u64));
                }
            }
            if batches.len() == before {
                break;
            }
            size = size.saturating_mul(2).min(self.batch_size);
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
    use crate::batch::Cut;
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
            cut: Cut::default(),
            shrinks: true,
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
