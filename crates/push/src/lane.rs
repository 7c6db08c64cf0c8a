//! One after the other: the batches of a lane.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use lib_functions::{
    BatchMode, CallError, HostValue, LibErrorKind, PushAnswer, PushApi, PushCall, RowStatus, Running, Statuses,
};
use state::{Job, Outcome, OutcomeStatus, StateError};

use crate::backoff::{chance, wait};
use crate::batch::{Queued, first_size};
use crate::change::{Change, hash};
use crate::chunk::Chunk;
use crate::job::JobEnd;
use crate::json::shown;
use crate::report::{BatchCounts, BatchReport, Tally};
use crate::rows::sent_rows;

/// Calls that fail in a row until the sink counts as down.
const FAILURES_MAX: u32 = 3;

/// How a lane ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LaneEnd {
    Done,
    SinkIsDown,
    JobGoesOn,
    Lost,
}

/// What became of a batch.
pub(crate) enum BatchEnd {
    /// The sink answered for each row; these rows failed.
    Answered { failed: Vec<i64> },
    /// The call failed, and so did all rows.
    Failed { failed: Vec<i64> },
    /// The run is to end, and nobody knows what the sink did.
    Stopped,
    /// A job goes on.
    JobGoesOn,
    /// Another worker has the claim.
    Lost,
}

/// The batches of a lane.
pub(crate) struct Lane<'a> {
    pub chunk: &'a Chunk<'a>,
    /// Whether another lane found that there is no use in going on.
    is_over: &'a AtomicBool,
    /// What became of the batch that is being sent.
    of_batch: BatchCounts,
}

/// A batch as the function gets it.
pub(crate) struct Batch {
    pub changes: Vec<Change>,
    pub rows: Vec<HostValue>,
    pub keys: Vec<String>,
    /// Stands for the events of the batch.
    pub idempotency_key: String,
}

impl Batch {
    /// Whether all of it is about one row, or one group.
    fn is_of_one_row(&self) -> bool {
        let mut keys = self.changes.iter().map(|change| change.event.row_key);
        keys.next().is_none_or(|first| keys.all(|key| key == first))
    }
}

impl<'a> Lane<'a> {
    pub fn new(chunk: &'a Chunk<'a>, is_over: &'a AtomicBool) -> Self {
        Self { chunk, is_over, of_batch: BatchCounts::default() }
    }

    /// Sends all batches, until there is no use in it.
    pub fn deliver(&mut self, running: &Running<'_>, mut queued: Queued) -> Result<LaneEnd, StateError> {
        let full = usize::try_from(self.api().batch_size).unwrap_or(usize::MAX);
        let mut size = self.first_size(full);
        loop {
            if self.is_over.load(Ordering::Relaxed) || self.chunk.delivery.stop.is_requested() {
                return Ok(LaneEnd::Done);
            }
            let changes = queued.next(size);
            if changes.is_empty() {
                return Ok(LaneEnd::Done);
            }
            let number = self.chunk.batches.fetch_add(1, Ordering::Relaxed) + 1;
            let batch = self.prepared(changes, number);
            let sent = self.timed(number, &batch, |lane| lane.send(running, &batch, number));
            let failed = match sent? {
                BatchEnd::Answered { failed } => {
                    self.tally().failures = 0;
                    size = size.saturating_mul(2).min(full);
                    failed
                }
                BatchEnd::Failed { failed } => {
                    self.tally().failures += 1;
                    failed
                }
                BatchEnd::Stopped => return Ok(LaneEnd::Done),
                BatchEnd::JobGoesOn => return Ok(LaneEnd::JobGoesOn),
                BatchEnd::Lost => {
                    self.is_over.store(true, Ordering::Relaxed);
                    return Ok(LaneEnd::Lost);
                }
            };
            for row_key in failed {
                queued.hold(row_key);
            }
            if self.tally().failures >= FAILURES_MAX {
                self.is_over.store(true, Ordering::Relaxed);
                return Ok(LaneEnd::SinkIsDown);
            }
        }
    }

    /// The size of the first batch. Only where each row is for itself may batches be smaller than the author asked for.
    fn first_size(&self, full: usize) -> usize {
        let failures = self.chunk.claim.events.iter().map(|event| event.attempts).max().unwrap_or(0);
        if self.api().batch_mode == BatchMode::Sync { first_size(full, failures) } else { full }
    }

    /// Waits for a job that another worker submitted.
    pub fn resume(&mut self, running: &Running<'_>, job: &Job, changes: &[Change]) -> Result<LaneEnd, StateError> {
        let batch = self.prepared(changes.to_vec(), 0);
        let waited = self.timed(u64::from(job.batch), &batch, |lane| lane.wait_for(running, job, &batch));
        match waited? {
            JobEnd::Ended => Ok(LaneEnd::Done),
            JobEnd::GoesOn => Ok(LaneEnd::JobGoesOn),
            JobEnd::Lost => Ok(LaneEnd::Lost),
        }
    }

    pub fn api(&self) -> &'a PushApi {
        self.chunk.api()
    }

    pub fn tally(&self) -> MutexGuard<'a, Tally> {
        self.chunk.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes rows of changes.
    fn prepared(&self, changes: Vec<Change>, number: u64) -> Batch {
        let delivery = self.chunk.delivery;
        let sent = sent_rows(&changes, delivery.target, delivery.table_uuid);
        if let Some(warning) = sent.warning(number) {
            self.tally().warn(warning);
        }
        let idempotency_key = hash(sent.ids.iter().map(String::as_str));
        Batch { rows: sent.rows, keys: changes.iter().map(Change::key).collect(), idempotency_key, changes }
    }

    /// Tells what became of a batch, once `work` is done with it.
    fn timed<T>(
        &mut self,
        number: u64,
        batch: &Batch,
        work: impl FnOnce(&mut Self) -> Result<T, StateError>,
    ) -> Result<T, StateError> {
        let (started, clock) = (SystemTime::now(), Instant::now());
        self.of_batch = BatchCounts::default();
        let done = work(self);
        let counts = std::mem::take(&mut self.of_batch);
        let is_open = counts == BatchCounts::default();
        let (events, duration) = (batch.changes.len() as u64, clock.elapsed());
        (self.chunk.delivery.told)(BatchReport { number, events, started, duration, counts, is_open });
        done
    }

    fn send(&mut self, running: &Running<'_>, batch: &Batch, number: u64) -> Result<BatchEnd, StateError> {
        let delivery = self.chunk.delivery;
        let sink = &delivery.sink;
        let answer = running.push_unless(
            delivery.stop,
            &PushCall {
                rows: &batch.rows,
                keys: &batch.keys,
                batch_number: number,
                kind: sink.kind,
                key_columns: &sink.key_columns,
                columns: &sink.columns_argument,
                arguments: &sink.arguments,
                idempotency_key: Some(&batch.idempotency_key),
            },
        );
        match answer {
            Ok(PushAnswer::Rows(statuses)) => self.answered(batch, statuses),
            Ok(PushAnswer::All { warnings }) => {
                let rows = batch.changes.iter().map(|_| RowStatus::Ok).collect();
                self.answered(batch, Statuses { rows, warnings })
            }
            Ok(PushAnswer::Job(reference)) => self.submitted(running, batch, number, &reference),
            Err(error) if is_stopped(&error) => Ok(BatchEnd::Stopped),
            Err(error) => self.failed(batch, &message(&error)),
        }
    }

    /// Records what the function said.
    pub fn answered(&mut self, batch: &Batch, statuses: Statuses) -> Result<BatchEnd, StateError> {
        statuses.warnings.into_iter().for_each(|text| self.tally().warn(text));
        self.record(batch, statuses.rows, true)
    }

    /// Records that all rows failed, for the same reason.
    pub fn failed(&mut self, batch: &Batch, message: &str) -> Result<BatchEnd, StateError> {
        let statuses = batch.changes.iter().map(|_| RowStatus::Error(message.to_owned())).collect();
        // Which of them is at fault is known only once it is alone.
        let may_give_up = self.api().batch_mode != BatchMode::Sync || batch.is_of_one_row();
        Ok(match self.record(batch, statuses, may_give_up)? {
            BatchEnd::Answered { failed } => BatchEnd::Failed { failed },
            end => end,
        })
    }

    /// Records what became of each row of a batch; whether rows that failed often enough are given up.
    fn record(&mut self, batch: &Batch, statuses: Vec<RowStatus>, may_give_up: bool) -> Result<BatchEnd, StateError> {
        let mut failed = BTreeSet::new();
        let mut outcomes = Vec::with_capacity(statuses.len());
        // What failed together comes back together: the rows of a group, and all that an idempotency key stands for.
        let spread = chance();
        let most = if may_give_up { self.api().max_attempts } else { 0 };
        for ((change, row), status) in batch.changes.iter().zip(&batch.rows).zip(statuses) {
            let status = in_order(status, failed.contains(&change.event.row_key));
            let outcome = self.outcome(change, row, status, (most, spread));
            if let OutcomeStatus::Error(_) = outcome.status {
                failed.insert(change.event.row_key);
            }
            outcomes.push(outcome);
        }
        match self.chunk.delivery.store.lock().record(&self.chunk.claim.lease, &outcomes) {
            Ok(()) => {}
            Err(error @ StateError::LeaseLost { .. }) => {
                self.tally().warn(error.to_string());
                return Ok(BatchEnd::Lost);
            }
            Err(error) => return Err(error),
        }
        self.count(batch, &outcomes);
        Ok(BatchEnd::Answered { failed: failed.into_iter().collect() })
    }

    fn outcome(&self, change: &Change, row: &HostValue, status: RowStatus, (most, spread): (u64, f64)) -> Outcome {
        let failures = change.event.attempts.saturating_add(1);
        let (status, message) = match status {
            RowStatus::Ok => (OutcomeStatus::Ok, None),
            RowStatus::Warn(text) => (OutcomeStatus::Warn, Some(text)),
            RowStatus::Reject(text) => (OutcomeStatus::Reject(Some(shown(row).to_string())), Some(text)),
            RowStatus::Error(text) if most > 0 && u64::from(failures) >= most => (
                OutcomeStatus::Reject(Some(shown(row).to_string())),
                Some(format!("given up after {failures} attempt(s): {text}")),
            ),
            RowStatus::Error(text) => {
                (OutcomeStatus::Error(wait(self.api().retry_backoff, failures, spread)), Some(text))
            }
        };
        Outcome { seq: change.event.seq, status, message }
    }

    fn count(&mut self, batch: &Batch, outcomes: &[Outcome]) {
        self.of_batch = counts(outcomes);
        let mut tally = self.tally();
        for (change, outcome) in batch.changes.iter().zip(outcomes) {
            let message = outcome.message.as_deref().unwrap_or_default();
            match outcome.status {
                OutcomeStatus::Ok | OutcomeStatus::Warn => {
                    tally.report.delivered += 1;
                    // It failed before in this run.
                    tally.failed.remove(&outcome.seq);
                }
                OutcomeStatus::Error(_) => {
                    tally.failed.insert(outcome.seq);
                }
                OutcomeStatus::Reject(_) => {
                    tally.report.rejected += 1;
                    tally.failed.remove(&outcome.seq);
                }
            }
            match outcome.status {
                OutcomeStatus::Ok => {}
                OutcomeStatus::Warn => tally.warn(format!("{}: {message}", change.key())),
                OutcomeStatus::Error(_) | OutcomeStatus::Reject(_) => tally.failure(message),
            }
        }
    }
}

fn counts(outcomes: &[Outcome]) -> BatchCounts {
    let mut counts = BatchCounts::default();
    for outcome in outcomes {
        let count = match outcome.status {
            OutcomeStatus::Ok | OutcomeStatus::Warn => &mut counts.delivered,
            OutcomeStatus::Error(_) => &mut counts.to_retry,
            OutcomeStatus::Reject(_) => &mut counts.rejected,
        };
        *count += 1;
        if matches!(outcome.status, OutcomeStatus::Error(_) | OutcomeStatus::Reject(_)) {
            counts.first_error = counts.first_error.or_else(|| outcome.message.clone());
        }
    }
    counts
}

/// What a change that was delivered comes to when an earlier one of its row, in the same batch, was not: the earlier
/// one will come to the sink after it, so it has to come once more itself.
fn in_order(status: RowStatus, has_failed: bool) -> RowStatus {
    match status {
        RowStatus::Ok | RowStatus::Warn(_) if has_failed => {
            RowStatus::Error("delivered again, after an earlier change of the row that failed".into())
        }
        status => status,
    }
}

/// Why a call failed, in one text: what can be aborted is committed already.
pub(crate) fn message(error: &CallError) -> String {
    match error {
        CallError::Failed(error) => match &error.place {
            Some(place) => format!("{error} ({}:{})", place.file().display(), place.line()),
            None => error.to_string(),
        },
        CallError::Aborted => "abort() was called".to_owned(),
    }
}

/// Whether a call was ended by a stop of the run.
pub(crate) fn is_stopped(error: &CallError) -> bool {
    matches!(error, CallError::Failed(error) if error.kind == LibErrorKind::Stopped)
}
