//! The events of one claim: their rows are read at once, and dealt to lanes.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use lib_functions::{BatchMode, Direction, LibError, PushApi, Running, with_lib};
use state::{Claim, Event, Job, Outcome, OutcomeStatus, StateError};

use crate::batch::Queued;
use crate::change::Change;
use crate::delivery::{Delivery, DeliveryError, Images};
use crate::fold::fold;
use crate::lane::{Lane, LaneEnd};
use crate::report::Tally;

/// How often outcomes are applied while a chunk is delivered (chapter 04 §6.4).
const APPLY: Duration = Duration::from_secs(5);

/// How a chunk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChunkEnd {
    /// All of it was tried, or the run is to end.
    Done,
    /// The sink answers no call: the rest would fail too.
    SinkIsDown,
    /// The sink works on a job that was not waited for to the end: the claim stays.
    JobGoesOn,
    /// Another worker has the claim now.
    Lost,
}

/// The events of one claim.
pub(crate) struct Chunk<'a> {
    pub delivery: &'a Delivery<'a>,
    pub claim: &'a Claim,
    pub tally: &'a Mutex<Tally>,
    /// The number of the last batch.
    pub batches: &'a AtomicU64,
}

impl<'a> Chunk<'a> {
    /// Delivers its rows; `meanwhile` is done beside.
    pub fn deliver<E>(&self, ready: Ready, meanwhile: impl FnOnce()) -> Result<ChunkEnd, DeliveryError<E>> {
        let api = self.api();
        let Ready { changes, settled } = ready;
        if !settled.is_empty() && self.settle(&settled)? {
            return Ok(ChunkEnd::Lost);
        }
        let cut = self.delivery.sink.cut(api);
        let lanes = deal(changes, usize::try_from(api.max_concurrent).unwrap_or(usize::MAX));
        let deliver =
            |lane: &mut Lane<'_>, running: &Running<'_>, changes| lane.deliver(running, Queued::new(changes, cut));
        Ok(worst(&self.run(lanes, deliver, meanwhile)?))
    }

    /// Polls jobs that another worker submitted.
    pub fn resume<I: Images>(&self, jobs: &[Job], images: &mut I) -> Result<ChunkEnd, DeliveryError<I::Error>> {
        if self.api().batch_mode != BatchMode::Async {
            // The function was changed: nobody can ask for the job any more, so its rows are sent again.
            let told = "push() is not `async` any more: rows that were in a job are sent again, whatever becomes of it";
            self.tally.lock().unwrap_or_else(PoisonError::into_inner).warn(told.into());
            return Ok(ChunkEnd::Done);
        }
        let mut ends = Vec::new();
        for job in jobs {
            let of_job = |event: &&Event| (job.first_seq..=job.last_seq).contains(&event.seq);
            let events: Vec<Event> = self.claim.events.iter().filter(of_job).cloned().collect();
            // The job has the rows, and its answer is of all of them: here they are only for dead letters.
            let rows = images.rows(&events).unwrap_or_else(|_| vec![None; events.len()]);
            let changes = events.into_iter().zip(rows);
            let changes = changes.map(|(event, row)| Change { event, row: row.unwrap_or_default() });
            ends.extend(self.run(
                vec![changes.collect()],
                |lane, running, changes| lane.resume(running, job, &changes),
                || (),
            )?);
        }
        Ok(worst(&ends))
    }

    pub fn api(&self) -> &'a PushApi {
        self.delivery.lib.api.push.as_ref().expect("only libs that push are pushed to")
    }

    /// Records events as done; whether the claim is lost.
    fn settle(&self, seqs: &[i64]) -> Result<bool, StateError> {
        let outcome = |seq: &i64| Outcome { seq: *seq, status: OutcomeStatus::Ok, message: None };
        let outcomes: Vec<Outcome> = seqs.iter().map(outcome).collect();
        let recorded = self.delivery.store.lock().record(&self.claim.lease, &outcomes);
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        match recorded {
            Ok(()) => {
                tally.report.delivered += seqs.len() as u64;
                Ok(false)
            }
            Err(error @ StateError::LeaseLost { .. }) => {
                tally.warn(error.to_string());
                Ok(true)
            }
            Err(error) => Err(error),
        }
    }

    /// Runs the lanes side by side and `meanwhile` beside them, and applies what they record from time to time.
    fn run<E>(
        &self,
        lanes: Vec<Vec<Change>>,
        work: impl Fn(&mut Lane<'_>, &Running<'_>, Vec<Change>) -> Result<LaneEnd, StateError> + Sync,
        meanwhile: impl FnOnce(),
    ) -> Result<Vec<LaneEnd>, DeliveryError<E>> {
        let Delivery { lib, host, store, .. } = self.delivery;
        let is_over = AtomicBool::new(false);
        let (done, ended) = channel::<()>();
        let ends: Vec<Result<Result<LaneEnd, StateError>, LibError>> = std::thread::scope(|scope| {
            let start = |changes: Vec<Change>| {
                let (done, work, is_over) = (done.clone(), &work, &is_over);
                scope.spawn(move || {
                    // Dropped at the end: that is how the lane says so.
                    let _done = done;
                    let mut lane = Lane::new(self, is_over);
                    with_lib(lib, host, Direction::Push, |running| work(&mut lane, running, changes))
                })
            };
            let threads: Vec<_> = lanes.into_iter().map(start).collect();
            drop(done);
            meanwhile();
            while ended.recv_timeout(APPLY) == Err(RecvTimeoutError::Timeout) {
                // What goes wrong here is met again when the claim is given back.
                let _ = store.lock().apply(&self.claim.lease);
            }
            threads.into_iter().map(|thread| thread.join().expect("lanes do not panic")).collect()
        });
        let ends = ends.into_iter().map(|end| Ok(end.map_err(DeliveryError::Lib)??));
        ends.collect()
    }
}

/// What is to be sent of some events, and the numbers of those that need no call.
#[derive(Default)]
pub(crate) struct Ready {
    pub changes: Vec<Change>,
    pub settled: Vec<i64>,
}

/// The events with their rows. Those whose rows are gone need no call: a later event says so. With `folds` the changes
/// of a row become one; it says whether a key stands for one row.
pub(crate) fn ready<I: Images>(events: &[Event], images: &mut I, folds: Option<bool>) -> Result<Ready, I::Error> {
    let rows = images.rows(events)?;
    let mut ready = Ready { changes: Vec::with_capacity(rows.len()), settled: Vec::new() };
    for (event, row) in events.iter().zip(rows) {
        match row {
            Some(row) => ready.changes.push(Change { event: event.clone(), row }),
            None => ready.settled.push(event.seq),
        }
    }
    if let Some(keys_are_unique) = folds {
        let folded = fold(ready.changes, keys_are_unique);
        ready.changes = folded.changes;
        ready.settled.extend(folded.settled);
    }
    Ok(ready)
}

/// Deals changes to lanes, all of a row to one.
pub(crate) fn deal(changes: Vec<Change>, most: usize) -> Vec<Vec<Change>> {
    let count = most.min(changes.len()).max(1);
    let mut lanes: Vec<Vec<Change>> = (0..count).map(|_| Vec::new()).collect();
    for change in changes {
        let lane = change.event.row_key.unsigned_abs() % count as u64;
        lanes[usize::try_from(lane).expect("less than their number")].push(change);
    }
    lanes.retain(|lane| !lane.is_empty());
    lanes
}

fn worst(ends: &[LaneEnd]) -> ChunkEnd {
    let has = |end: LaneEnd| ends.contains(&end);
    match () {
        () if has(LaneEnd::Lost) => ChunkEnd::Lost,
        () if has(LaneEnd::JobGoesOn) => ChunkEnd::JobGoesOn,
        () if has(LaneEnd::SinkIsDown) => ChunkEnd::SinkIsDown,
        () => ChunkEnd::Done,
    }
}
