//! The verbs behind the commands of the queue, and what maintenance asks of it (chapter 04 §9, §10).
//!
//! Those that change something tell how many events they changed, also when the answer was lost: a receipt that is
//! written with the change makes it real, and keeps a request that is executed twice from doing it twice.

use crate::StateError;
use crate::queue::Event;

/// How a target stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetOverview {
    /// The target.
    pub target: String,
    /// To be delivered now.
    pub pending: u64,
    /// Failed, to be tried again later.
    pub waiting: u64,
    /// When the first of those that wait is due.
    pub next_retry: Option<NextRetry>,
    /// Being delivered, by worker.
    pub in_flight: Vec<InFlight>,
    /// Dead letters.
    pub dead: u64,
    /// Age in seconds of the oldest that is still to be delivered.
    pub oldest_s: Option<u64>,
    /// What the last run delivered.
    pub last_delivery: Option<LastDelivery>,
    /// Why the first one of the queue that failed did so.
    pub last_error: Option<String>,
}

/// When something is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextRetry {
    /// The time, in milliseconds since 1970.
    pub at_ms: i64,
    /// Seconds from now.
    pub in_s: u64,
}

/// What a worker is delivering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InFlight {
    /// The worker.
    pub worker: String,
    /// Its events.
    pub events: u64,
    /// Age of its oldest claim, in seconds.
    pub claim_age_s: u64,
    /// Whether it has shown a sign of life within its lease. If not, the next run takes its events back.
    pub is_alive: bool,
}

/// A run's deliveries to a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastDelivery {
    /// The run.
    pub run_id: String,
    /// Events delivered.
    pub delivered: u64,
    /// Events rejected.
    pub rejected: u64,
    /// Events that failed and waited.
    pub to_retry: u64,
    /// The first failure's words.
    pub first_error: Option<String>,
    /// When it ended, in milliseconds since 1970.
    pub finished_ms: i64,
}

/// Which events of a target to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Those to be delivered, in flight or not.
    Queued,
    /// Dead letters.
    Dead,
}

/// An event and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedEvent {
    /// The event. Of a dead letter, `last_error` is the reason.
    pub event: Event,
    /// Where it is.
    pub state: QueuedState,
}

/// Where an event is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueuedState {
    /// To be delivered as soon as a worker has time.
    Pending,
    /// To be tried again.
    Waiting {
        /// Seconds from now.
        due_in_s: u64,
    },
    /// Being delivered.
    InFlight {
        /// By whom.
        worker: String,
    },
    /// Not delivered any more.
    Dead {
        /// The row as it was sent, as JSON, if it was.
        row_image: Option<String>,
        /// When the event came into the queue, in milliseconds since 1970.
        first_ms: i64,
        /// When it became a dead letter, in milliseconds since 1970.
        last_ms: i64,
    },
}

/// What became of dead letters that were to be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Revived {
    /// In the queue again.
    pub events: u64,
    /// Left: they are of a table that was dropped.
    pub of_gone_tables: u64,
}

/// What became of a target's events whose table is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buried {
    /// Dead letters now.
    pub events: u64,
    /// Still in flight: they are in the queue again, or gone, when their claims end.
    pub in_flight: u64,
}

/// A snapshot that maintenance must leave, with all that come after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeededSnapshot {
    /// The target that needs it.
    pub target: String,
    /// The snapshot.
    pub snapshot: i64,
    /// What it is needed for.
    pub why: Need,
}

/// What a snapshot is needed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// The changes after it are not in the queue yet.
    Position,
    /// The row before a change that is to be delivered.
    Queued,
    /// The row before a change that is being delivered.
    InFlight,
    /// The row before a change that is a dead letter, and may be sent again.
    Dead,
}

/// The queue, as a person and maintenance see it. An `id` is an event's `seq`; without one, all of the target are meant.
pub trait QueueAdmin {
    /// How every target stands that has events, dead letters or a position.
    fn overview(&mut self) -> Result<Vec<TargetOverview>, StateError>;

    /// The first events of a target, in order.
    fn events(&mut self, target: &str, which: Which, limit: usize) -> Result<Vec<QueuedEvent>, StateError>;

    /// Makes waiting events due now. The write of their `not_before` makes it real.
    fn retry(&mut self, target: &str, id: Option<i64>) -> Result<u64, StateError>;

    /// Puts dead letters back behind all other events, under new numbers, but for those of a table that was dropped. The
    /// write of `sync_feed.last_seq` and the move to `sync_evt` make it real.
    fn retry_dead(&mut self, target: &str, id: Option<i64>) -> Result<Revived, StateError>;

    /// Removes dead letters, for good.
    fn drop_dead(&mut self, target: &str, id: Option<i64>) -> Result<u64, StateError>;

    /// Forgets the rows that were kept with a target's dead letters, and with answers that will make some; the letters
    /// stay. The write of the rows makes it real.
    fn forget_images(&mut self, target: &str) -> Result<(), StateError>;

    /// Removes all of a target, for good: events, dead letters, what workers that are gone held, and its position.
    /// `StateError::InFlight` while a living worker, or this one, delivers to it.
    fn drop_all(&mut self, target: &str) -> Result<u64, StateError>;

    /// Makes dead letters of a target's events up to number `up_to` whose table is gone: `up_to` is the
    /// `last_seq` of the position that still names that table, so that events of a new one are spared. What is in
    /// flight follows when it comes back after the position moved to the new table.
    fn bury(&mut self, target: &str, up_to: i64) -> Result<Buried, StateError>;

    /// Drops what is to be delivered, also what workers that are gone held, and sets the position: only later
    /// changes are sent. Dead letters stay. Gives the number of dropped events. `StateError::InFlight` while a living
    /// worker, or this one, delivers to the target. The write of `sync_feed` makes it real.
    fn set_position(
        &mut self,
        target: &str,
        snapshot: i64,
        table_uuid: &str,
        definition_hash: &str,
    ) -> Result<u64, StateError>;

    /// Like `set_position`, but to before the table's first snapshot (`Position::is_at_beginning`): the next feed
    /// sends the whole table. The numbers of events go on. A target that was never fed stays so.
    fn forget_position(&mut self, target: &str) -> Result<u64, StateError>;

    /// The oldest snapshot of each target's table that each of its needs asks for.
    fn needed_snapshots(&mut self) -> Result<Vec<NeededSnapshot>, StateError>;
}
