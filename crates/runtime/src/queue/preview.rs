//! What a delivery would send next, without claiming, feeding or calling anything.

use std::collections::{BTreeMap, BTreeSet};

use feed::table_at;
use lib_functions::PushApi;
use push::{Preview, SentBatch, shown_arguments};
use serde_json::Value;
use state::{Event, InFlight, Queue as _, QueueAdmin, QueuedEvent, QueuedState, SqlStore, Which};
use types::ChangeType;

use super::target::{Pushing, pushing_model};
use super::{QueueError, QueueOptions};
use crate::masking::refuse_clear;
use crate::planning::PlannedModel;
use crate::pushing::{LakeImages, changes, claim_chunk, known, masked, sink};
use crate::{RunError, Session};

/// What a delivery would send next.
#[derive(Debug, Clone, PartialEq)]
pub struct PushPreview {
    /// The target.
    pub target: String,
    /// The function.
    pub function: String,
    /// What it is called with besides rows, by name.
    pub arguments: Vec<(String, Value)>,
    /// The first batches.
    pub batches: Vec<SentBatch>,
    /// Events in the queue that are due, those that a dead worker held included.
    pub pending: u64,
    /// Events in the queue that failed and wait.
    pub waiting: u64,
    /// Events that a living worker delivers.
    pub in_flight: u64,
    /// Changes of the table that are not in the queue yet.
    pub to_feed: u64,
    /// Events that would become dead letters: their table was dropped.
    pub to_bury: u64,
}

/// The next batches of a target, at most `most`.
pub fn preview(options: &QueueOptions, name: &str, most: usize) -> Result<PushPreview, RunError> {
    let model = pushing_model(options, name)?;
    let chunk = claim_chunk(&options.environment)?;
    let session = options.lake()?;
    let pushing = Pushing::of(options, &session, vec![model])?;
    let (Some(planned), Some(plan)) = (pushing.planned.first(), pushing.plans.values().next()) else {
        return Err(QueueError::NoPush { target: name.into() }.into());
    };
    refuse_clear(&session, &planned.model)?;
    let Some(api) = pushing.registry.get(&plan.lib).and_then(|lib| lib.api.push.as_ref()) else {
        return Err(QueueError::NoPush { target: name.into() }.into());
    };
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let chunk = chunk.max(size(api.batch_size));
    let wanted = most.saturating_mul(size(api.batch_size)).max(chunk);
    let mut next = next_events(options, &session, planned, api, wanted)?;
    let sink = sink(&session, planned, &plan.arguments)?;
    let target = planned.target().key();
    let preview = Preview::of(&target, &next.table_uuid, api, &sink);
    let mut images = LakeImages {
        session: &session,
        target: planned.target(),
        kind: planned.model.kind,
        masked: masked(&planned.model),
    };
    let mut batches: Vec<SentBatch> = Vec::new();
    for events in claims(std::mem::take(&mut next.events), chunk) {
        let first = batches.len() as u64 + 1;
        batches.extend(preview.batches(&events, &mut images, (first, most - batches.len()))?);
        if batches.len() >= most {
            break;
        }
    }
    let Next { counts, to_feed, .. } = next;
    Ok(PushPreview {
        function: plan.lib.clone(),
        arguments: shown_arguments(&sink.arguments),
        batches,
        pending: counts.pending,
        waiting: counts.waiting,
        in_flight: counts.in_flight,
        to_feed,
        to_bury: counts.to_bury,
        target,
    })
}

/// Events as they would be claimed: rows of which nothing failed first, then those that failed least often.
fn claims(events: Vec<Event>, chunk: usize) -> Vec<Vec<Event>> {
    let mut failures: BTreeMap<i64, u32> = BTreeMap::new();
    for event in events.iter().filter(|event| event.attempts > 0) {
        let least = failures.entry(event.row_key).or_insert(event.attempts);
        *least = event.attempts.min(*least);
    }
    let mut levels: BTreeMap<u32, Vec<Event>> = BTreeMap::new();
    for event in events {
        levels.entry(failures.get(&event.row_key).copied().unwrap_or(0)).or_default().push(event);
    }
    levels.into_values().flat_map(|level| chunks(level, chunk)).collect()
}

/// Cuts events into claims. One takes what is left of the group that it ends with.
fn chunks(mut events: Vec<Event>, chunk: usize) -> Vec<Vec<Event>> {
    let mut chunks = Vec::new();
    while let Some(last) = events.get(chunk.min(events.len()).saturating_sub(1)) {
        let is_rest = |next: &&Event| next.row_key == last.row_key && next.snapshot == last.snapshot;
        let end = chunk.min(events.len());
        let end = end + events[end..].iter().take_while(is_rest).count();
        let rest = events.split_off(end);
        chunks.push(std::mem::replace(&mut events, rest));
    }
    chunks
}

/// The events that would be delivered next.
struct Next {
    table_uuid: String,
    events: Vec<Event>,
    counts: Counts,
    to_feed: u64,
}

/// Those of the queue, then those that a feed would add; at least `wanted`, if there are so many.
fn next_events(
    options: &QueueOptions,
    session: &Session,
    planned: &PlannedModel,
    api: &PushApi,
    wanted: usize,
) -> Result<Next, RunError> {
    let target = planned.target().key();
    let now = table_at(&session.connection, &session.lake, &session.metadata, planned.target())?;
    let Some(now) = now else { return Err(QueueError::NoTable { target }.into()) };
    let (position, queue) = {
        let mut store = options.store()?;
        let position = store.position(&target)?;
        let is_other = position.as_ref().is_some_and(|position| position.table_uuid != now.uuid);
        (position, Queued::read(&mut store, &target, is_other, wanted)?)
    };
    let Queued { mut events, held, counts } = queue;
    let known = known(position.as_ref(), &now);
    let mut to_feed = 0;
    if known != Some(now.newest_snapshot) {
        let is_net = api.is_net && counts.is_empty();
        let sql = changes(session, &planned.model, is_net, (known, now.newest_snapshot))?.sql;
        let count = session.connection.query_value(&format!("SELECT count(*) FROM ({sql})"))?;
        to_feed = count.as_i64().and_then(|count| u64::try_from(count).ok()).unwrap_or(0);
        let rows = session.connection.query(&format!("{sql} LIMIT {wanted}"))?;
        let last = position.as_ref().map_or(0, |position| position.last_seq);
        let fed = rows.into_values().zip(last + 1..).filter_map(|(row, seq)| fed_event(&row, seq));
        events.extend(fed.filter(|event| !held.contains(&event.row_key)));
    }
    Ok(Next { table_uuid: now.uuid, events, counts, to_feed })
}

#[derive(Default)]
struct Counts {
    pending: u64,
    waiting: u64,
    in_flight: u64,
    to_bury: u64,
}

impl Counts {
    fn is_empty(&self) -> bool {
        self.pending + self.waiting + self.in_flight == 0
    }
}

/// What is in the queue.
#[derive(Default)]
struct Queued {
    /// What can be claimed, in order.
    events: Vec<Event>,
    /// Rows whose later events must wait.
    held: BTreeSet<i64>,
    counts: Counts,
}

impl Queued {
    /// Reads at least `wanted` events that can be claimed, if there are so many. Where the events are those of another
    /// table than the one that is there, none can.
    fn read(store: &mut SqlStore, target: &str, is_other: bool, wanted: usize) -> Result<Self, RunError> {
        let Some(overview) = store.overview()?.into_iter().find(|overview| overview.target == target) else {
            return Ok(Self::default());
        };
        let (alive, dead): (Vec<&InFlight>, Vec<&InFlight>) =
            overview.in_flight.iter().partition(|worker| worker.is_alive);
        let sum = |workers: &[&InFlight]| workers.iter().map(|worker| worker.events).sum::<u64>();
        let (pending, in_flight) = (overview.pending + sum(&dead), sum(&alive));
        if is_other {
            let counts = Counts { in_flight, to_bury: pending + overview.waiting, ..Counts::default() };
            return Ok(Self { counts, ..Self::default() });
        }
        let counts = Counts { pending, waiting: overview.waiting, in_flight, to_bury: 0 };
        let alive: BTreeSet<&str> = alive.iter().map(|worker| worker.worker.as_str()).collect();
        let mut limit = wanted.saturating_add(usize::try_from(counts.waiting + in_flight).unwrap_or(usize::MAX));
        loop {
            let queued = store.events(target, Which::Queued, limit)?;
            let is_all = queued.len() < limit;
            let mut held = BTreeSet::new();
            let due = |queued: QueuedEvent| due(queued, &alive, &mut held);
            let events: Vec<Event> = queued.into_iter().filter_map(due).collect();
            // Those that never failed come first, wherever they stand.
            if is_all || events.iter().filter(|event| event.attempts == 0).count() >= wanted {
                return Ok(Self { events, held, counts });
            }
            limit = limit.saturating_mul(2);
        }
    }
}

/// The event, if a worker could claim it now: it does not wait, no living worker has it, and that is true of all before
/// it that are of its row. What a dead worker had is in the queue again before anything is claimed.
fn due(queued: QueuedEvent, alive: &BTreeSet<&str>, held: &mut BTreeSet<i64>) -> Option<Event> {
    let is_due = match &queued.state {
        QueuedState::Pending => true,
        QueuedState::InFlight { worker } => !alive.contains(worker.as_str()),
        QueuedState::Waiting { .. } | QueuedState::Dead { .. } => false,
    };
    if !is_due || held.contains(&queued.event.row_key) {
        held.insert(queued.event.row_key);
        return None;
    }
    Some(queued.event)
}

/// A row of the changes as the event that it would be.
fn fed_event(row: &[engine::Value], seq: i64) -> Option<Event> {
    let [row_key, rowid, change_type, snapshot] = row else { return None };
    Some(Event {
        seq,
        row_key: row_key.as_i64()?,
        rowid: rowid.as_i64()?,
        change_type: ChangeType::parse(change_type.as_text()?)?,
        snapshot: snapshot.as_i64()?,
        attempts: 0,
        last_error: None,
    })
}
