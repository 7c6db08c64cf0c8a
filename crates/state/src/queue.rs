//! The queue's verbs: from a change feed to outcomes (chapter 04 §4, §5, §6.4, §8).
//!
//! Each verb says which write makes it real. All of them may be repeated: a request whose answer was lost is
//! sent again.

use std::collections::BTreeSet;
use std::time::Duration;

use engine::{EngineError, Rows};
use types::ChangeType;

use crate::{StateError, WorkerId};

/// Up to where the changes of a target's table are in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The last snapshot whose changes are in the queue.
    pub snapshot: i64,
    /// The table that the snapshot is one of.
    pub table_uuid: String,
    /// The definition with which the table was written.
    pub definition_hash: String,
    /// The number given last.
    pub last_seq: i64,
}

impl Position {
    /// Stands for a snapshot before all others: that of a target whose table is to be sent again from its beginning.
    pub const BEGINNING: i64 = -1;

    /// Whether the next changes are those of the table's first snapshot, as if the target had never been fed.
    pub fn is_at_beginning(&self) -> bool {
        self.snapshot == Self::BEGINNING
    }
}

/// A step of a target's position.
#[derive(Debug, Clone)]
pub struct Feed<'a> {
    /// The target.
    pub target: &'a str,
    /// The position that the changes follow; `None` for a target's first ones.
    pub from: Option<&'a Position>,
    /// The position's snapshot afterwards.
    pub snapshot: i64,
    /// The position's table afterwards.
    pub table_uuid: &'a str,
    /// The position's definition afterwards.
    pub definition_hash: &'a str,
}

/// What became of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fed {
    /// The changes are in the queue, and this is the position.
    Moved(Position),
    /// Another worker moved the position before: nothing was added. Look at it again.
    Elsewhere,
}

/// One change of one row, waiting for delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its place in the target's order.
    pub seq: i64,
    /// What "the same row" means.
    pub row_key: i64,
    /// The lake's row id.
    pub rowid: i64,
    /// What happened.
    pub change_type: ChangeType,
    /// The snapshot that did it.
    pub snapshot: i64,
    /// Failed deliveries so far.
    pub attempts: u32,
    /// Why the last one failed.
    pub last_error: Option<String>,
}

/// The right to deliver some events: the claim's id is the term that every later verb must match.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ClaimLease {
    /// The term.
    pub claim_id: String,
    /// The target.
    pub target: String,
}

/// Events that this worker may deliver now, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The right.
    pub lease: ClaimLease,
    /// The events.
    pub events: Vec<Event>,
}

/// What the sink said about an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The event.
    pub seq: i64,
    /// The answer.
    pub status: OutcomeStatus,
    /// The sink's words.
    pub message: Option<String>,
}

/// The kinds of answers (chapter 04 §6.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutcomeStatus {
    /// Delivered.
    Ok,
    /// Delivered, with words for the user.
    Warn,
    /// Not delivered: to be tried again after this long.
    Error(Duration),
    /// Never to be delivered; the row as it was sent, as JSON.
    Reject(Option<String>),
}

/// A job that the sink works on by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The batch within its claim.
    pub batch: u32,
    /// What the sink calls it, as JSON.
    pub job_ref: String,
    /// What the job depends on.
    pub fingerprint: String,
    /// The job's events are those of the claim from this one …
    pub first_seq: i64,
    /// … to this one.
    pub last_seq: i64,
}

/// A dead worker's claim whose job the sink still works on: this worker's now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdoptedClaim {
    /// The claim with the events of the job.
    pub claim: Claim,
    /// The jobs to poll.
    pub jobs: Vec<Job>,
}

/// What was left behind by workers that are gone.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Claims whose outcomes were applied and whose events are in the queue again.
    pub released: usize,
    /// Claims with jobs to poll.
    pub adopted: Vec<AdoptedClaim>,
}

/// How many events of a target are where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts {
    /// The target.
    pub target: String,
    /// To be delivered.
    pub pending: u64,
    /// Of them, those that wait for a retry are not in `pending` but here.
    pub waiting: u64,
    /// Being delivered.
    pub in_flight: u64,
    /// Dead letters.
    pub dead: u64,
    /// Age of the oldest, in seconds.
    pub oldest_s: u64,
}

/// What a run delivered to a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryReport<'a> {
    /// The run.
    pub run_id: &'a str,
    /// The target.
    pub target: &'a str,
    /// Events delivered.
    pub delivered: u64,
    /// Events rejected.
    pub rejected: u64,
    /// Events that failed and wait.
    pub to_retry: u64,
    /// The first failure's words.
    pub first_error: Option<&'a str>,
    /// How long it took.
    pub duration: Duration,
}

/// The queue.
pub trait Queue {
    /// Whose claims these are.
    fn worker(&self) -> &WorkerId;

    /// Up to where a target is fed; `None` if it never was.
    fn position(&mut self, target: &str) -> Result<Option<Position>, StateError>;

    /// Adds changes and moves the position, both or nothing. `changes` gives rows of `row_key BIGINT, rowid
    /// BIGINT, change_type VARCHAR, snapshot_id BIGINT` in the order of delivery; it is called again if the
    /// connection to the state was lost. The write of `sync_feed` makes it real.
    fn feed(
        &mut self,
        feed: &Feed<'_>,
        changes: &mut dyn FnMut() -> Result<Rows, EngineError>,
    ) -> Result<Fed, StateError>;

    /// Takes up to `limit` due events of a target; `None` if there are none that may be taken now: rows that are in
    /// flight or wait, and events that another worker is just taking, are passed over. The move to `sync_inflight` makes
    /// it real.
    fn claim(&mut self, target: &str, run_id: &str, limit: usize) -> Result<Option<Claim>, StateError>;

    /// Notes what the sink answered, and renews the claim. From here on a crash repeats nothing of it.
    fn record(&mut self, claim: &ClaimLease, outcomes: &[Outcome]) -> Result<(), StateError>;

    /// Applies the noted outcomes: delivered events are gone, failed ones wait, rejected ones are dead.
    fn apply(&mut self, claim: &ClaimLease) -> Result<(), StateError>;

    /// Applies the noted outcomes, gives the rest back as it was, and ends the claim.
    fn release(&mut self, claim: &ClaimLease) -> Result<(), StateError>;

    /// Renews all that this worker holds, and names it: claims, leases and fetches by their terms. What is
    /// missing was lost.
    fn heartbeat(&mut self) -> Result<BTreeSet<String>, StateError>;

    /// Cleans up after workers that are gone, one transaction a claim, in the order of chapter 04 §8. On a
    /// local file every other worker is; on a server, one whose lease has run out.
    fn recover(&mut self) -> Result<Recovery, StateError>;

    /// Keeps a job's reference, before the job is polled for the first time.
    fn put_job(&mut self, claim: &ClaimLease, job: &Job) -> Result<(), StateError>;

    /// Forgets a job whose outcomes were recorded.
    fn end_job(&mut self, claim: &ClaimLease, batch: u32) -> Result<(), StateError>;

    /// How many events are where, by target.
    fn counts(&mut self) -> Result<Vec<Counts>, StateError>;

    /// Adds a line to the history of deliveries.
    fn log_delivery(&mut self, report: &DeliveryReport<'_>) -> Result<(), StateError>;
}
