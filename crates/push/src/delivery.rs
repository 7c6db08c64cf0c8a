//! All that is due for a target, chunk by chunk.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use http_client::Stop;
use lib_functions::{BatchMode, Direction, Host, HostValue, Lib, LibError, PushApi, with_lib};
use state::{Claim, ClaimLease, DeliveryReport, Event, Recovery, SharedStore, StateError};
use types::Kind;

use crate::batch::Cut;
use crate::change::Row;
use crate::chunk::{Chunk, ChunkEnd, Ready, ready};
use crate::lane::message;
use crate::report::{BatchReport, Report, Tally};

/// Where events go, and as what.
#[derive(Debug, Clone)]
pub struct Sink {
    /// The model's kind.
    pub kind: Kind,
    /// The columns that make a row's key; empty if it has none.
    pub key_columns: Vec<String>,
    /// Whether a key stands for one row, not for a group of them.
    pub keys_are_unique: bool,
    /// What the function gets as `columns`.
    pub columns_argument: HostValue,
    /// The arguments of `@push`, by name.
    pub arguments: Vec<(String, HostValue)>,
}

impl Sink {
    /// How changes are cut into batches for it.
    pub(crate) fn cut(&self, api: &PushApi) -> Cut {
        Cut { is_contiguous: api.batch_mode == BatchMode::Async, keeps_groups: self.kind == Kind::Tracked }
    }
}

/// Reads the rows of events; `None` for a row that is gone.
pub trait Images {
    /// Why they cannot be read.
    type Error;

    /// The rows, in the order of the events.
    fn rows(&mut self, events: &[Event]) -> Result<Vec<Option<Row>>, Self::Error>;
}

/// Why a delivery ended early. What was recorded till then stands.
#[derive(Debug)]
pub enum DeliveryError<E> {
    /// Rows cannot be read.
    Images(E),
    /// The state.
    State(StateError),
    /// The lib file cannot be executed.
    Lib(LibError),
}

impl<E> From<StateError> for DeliveryError<E> {
    fn from(error: StateError) -> Self {
        Self::State(error)
    }
}

/// The delivery of a target's events.
pub struct Delivery<'a> {
    /// The function.
    pub lib: &'a Lib,
    /// What it has around it. It is stopped only when a running call shall not end by itself.
    pub host: &'a Host,
    /// The queue.
    pub store: &'a SharedStore,
    /// The target.
    pub target: &'a str,
    /// Its table.
    pub table_uuid: &'a str,
    /// The run.
    pub run_id: &'a str,
    /// Where events go.
    pub sink: Sink,
    /// Whether to begin no new call.
    pub stop: &'a Stop,
    /// Most events of a claim.
    pub chunk: usize,
    /// Is told of each batch when it has ended, by the lane that sent it; must not take long.
    pub told: &'a (dyn Fn(BatchReport) + Sync),
}

/// A claim with its rows.
struct Taken {
    claim: Claim,
    ready: Ready,
}

/// The claims of a delivery, besides the one that is being delivered.
#[derive(Default)]
struct Claims {
    /// Of what a run does not try again: as long as they are held, the next claim gives something else.
    aside: Vec<ClaimLease>,
    /// What was delivered and not given back yet.
    delivered: Vec<ClaimLease>,
    /// What comes next.
    ahead: Option<Taken>,
}

impl Delivery<'_> {
    /// Polls the jobs that a dead worker left, then delivers what is due. A claim that it takes is given back, whatever
    /// happens, unless a job goes on in it.
    ///
    /// # Errors
    /// What keeps the target from being delivered. What fails for single events is in the report.
    pub fn run<I: Images>(&self, left: Recovery, images: &mut I) -> Result<Report, DeliveryError<I::Error>> {
        let clock = Instant::now();
        let tally = Mutex::new(Tally::default());
        let ended = self.claims(left, images, &tally);
        let mut tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
        let told = self.tell(&mut tally, clock);
        ended?;
        told?;
        if self.is_to_finalize(&tally.report) {
            tally.report.finalize_error = self.finalize(tally.report.delivered).map_err(DeliveryError::Lib)?;
        }
        Ok(tally.report)
    }

    fn claims<I: Images>(
        &self,
        left: Recovery,
        images: &mut I,
        tally: &Mutex<Tally>,
    ) -> Result<(), DeliveryError<I::Error>> {
        let batches = AtomicU64::new(0);
        for adopted in left.adopted {
            let chunk = Chunk { delivery: self, claim: &adopted.claim, tally, batches: &batches };
            self.end(&adopted.claim.lease, chunk.resume(&adopted.jobs, images), tally)?;
        }
        let mut claims = Claims::default();
        let ended = self.claim_all(images, tally, &batches, &mut claims);
        let mut left = claims.aside;
        left.append(&mut claims.delivered);
        left.extend(claims.ahead.map(|taken| taken.claim.lease));
        let given_back = self.end_all(&mut left, tally);
        ended?;
        given_back
    }

    /// Gives claims back that are delivered, as far as they will be.
    fn end_all<E>(&self, leases: &mut Vec<ClaimLease>, tally: &Mutex<Tally>) -> Result<(), DeliveryError<E>> {
        let ended: Vec<_> = leases.drain(..).map(|lease| self.end(&lease, Ok(ChunkEnd::Done), tally)).collect();
        ended.into_iter().try_for_each(|end| end.map(drop))
    }

    fn claim_all<I: Images>(
        &self,
        images: &mut I,
        tally: &Mutex<Tally>,
        batches: &AtomicU64,
        Claims { aside, delivered, ahead }: &mut Claims,
    ) -> Result<(), DeliveryError<I::Error>> {
        while !self.stop.is_requested() {
            if ahead.is_none() {
                self.end_all(delivered, tally)?;
                *ahead = self.take(images, tally)?;
            }
            let Some(taken) = ahead.take() else { break };
            if is_all_tried(&taken.claim, tally) {
                aside.push(taken.claim.lease);
                continue;
            }
            let chunk = Chunk { delivery: self, claim: &taken.claim, tally, batches };
            let (mut given_back, mut following) = (Ok(()), Ok(None));
            let ended = chunk.deliver(taken.ready, || {
                given_back = self.end_all(delivered, tally);
                if given_back.is_ok() && self.reads_ahead(&taken.claim) {
                    following = self.take(images, tally);
                }
            });
            if matches!((&ended, &following), (Ok(ChunkEnd::Done), Ok(Some(_)))) {
                // What comes next need not wait for it.
                delivered.push(taken.claim.lease);
                *ahead = following?;
                continue;
            }
            let ended = self.end(&taken.claim.lease, ended, tally);
            *ahead = following?;
            given_back?;
            if ended? == ChunkEnd::SinkIsDown {
                break;
            }
        }
        Ok(())
    }

    /// Whether the next claim is made while this one is delivered. A job can go on for long: then others may have it.
    fn reads_ahead(&self, claim: &Claim) -> bool {
        let is_async = self.lib.api.push.as_ref().is_some_and(|api| api.batch_mode == BatchMode::Async);
        claim.events.len() >= self.chunk && !is_async && !self.stop.is_requested()
    }

    /// Claims what is due next and reads its rows. Those of a claim that will not be tried are not read.
    fn take<I: Images>(&self, images: &mut I, tally: &Mutex<Tally>) -> Result<Option<Taken>, DeliveryError<I::Error>> {
        let claim = self.store.lock().claim(self.target, self.run_id, self.chunk)?;
        let Some(claim) = claim.filter(|claim| !claim.events.is_empty()) else { return Ok(None) };
        if is_all_tried(&claim, tally) {
            return Ok(Some(Taken { claim, ready: Ready::default() }));
        }
        let api = self.lib.api.push.as_ref().expect("only libs that push are pushed to");
        let folds = api.is_net.then_some(self.sink.keys_are_unique);
        match ready(&claim.events, images, folds) {
            Ok(ready) => Ok(Some(Taken { claim, ready })),
            Err(error) => self.end(&claim.lease, Err(DeliveryError::Images(error)), tally).map(|_| None),
        }
    }

    /// Gives a claim back, unless a job goes on in it. A lost one is the other worker's now.
    fn end<E>(
        &self,
        lease: &ClaimLease,
        ended: Result<ChunkEnd, DeliveryError<E>>,
        tally: &Mutex<Tally>,
    ) -> Result<ChunkEnd, DeliveryError<E>> {
        if !matches!(ended, Ok(ChunkEnd::JobGoesOn)) {
            match (self.store.lock().release(lease), &ended) {
                (Err(error @ StateError::LeaseLost { .. }), Ok(_)) => {
                    tally.lock().unwrap_or_else(PoisonError::into_inner).warn(error.to_string());
                }
                (Err(error), Ok(_)) => return Err(error.into()),
                // The first error is the one that tells; what stays is recovered.
                _ => {}
            }
        }
        ended
    }

    fn tell(&self, tally: &mut Tally, clock: Instant) -> Result<(), StateError> {
        let mut store = self.store.lock();
        let counts = store.counts()?.into_iter().find(|counts| counts.target == self.target);
        let report = &mut tally.report;
        let waiting = counts.as_ref().map_or(0, |counts| counts.waiting);
        report.dead = counts.as_ref().map_or(0, |counts| counts.dead);
        report.pending = counts.map_or(0, |counts| counts.pending + counts.waiting + counts.in_flight);
        report.to_retry = tally.failed.len() as u64;
        if report.delivered + report.rejected + report.to_retry == 0 {
            if waiting > 0 {
                let look = format!("`ondatrasql queue show {}` says why", self.target);
                tally.warn(format!(
                    "nothing was due: {waiting} change(s) failed before and wait for their retry; {look}"
                ));
            }
            return Ok(());
        }
        store.log_delivery(&DeliveryReport {
            run_id: self.run_id,
            target: self.target,
            delivered: report.delivered,
            rejected: report.rejected,
            to_retry: report.to_retry,
            first_error: report.first_error.as_deref(),
            duration: clock.elapsed(),
        })
    }

    fn is_to_finalize(&self, report: &Report) -> bool {
        report.delivered > 0 && !report.has_failures() && report.pending == 0 && !self.stop.is_requested()
    }

    /// Calls `finalize`, if there is one; why it failed.
    fn finalize(&self, succeeded: u64) -> Result<Option<String>, LibError> {
        if !self.lib.functions.contains_key("finalize") {
            return Ok(None);
        }
        let ended = with_lib(self.lib, self.host, Direction::Push, |running| running.finalize(succeeded, 0))?;
        Ok(ended.err().as_ref().map(message))
    }
}

/// Whether all rows of a claim failed in this run already: a run does not wait for them, and what comes after a change
/// that failed is not sent.
fn is_all_tried(claim: &Claim, tally: &Mutex<Tally>) -> bool {
    let tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
    let mut rows = BTreeSet::new();
    let mut oldest = claim.events.iter().filter(|event| rows.insert(event.row_key));
    oldest.all(|event| tally.failed.contains(&event.seq))
}
