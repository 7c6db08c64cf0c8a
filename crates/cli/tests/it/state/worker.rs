//! A worker that delivers to a sink which keeps a list, and the check of that list against the promises.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use state::{Claim, Event, Heartbeat, LeaseAnswer, Outcome, OutcomeStatus, Queue, SharedStore, SqlStore, StateError};
use testkit::{Changes, Random};

pub(super) const TARGET: &str = "sync.contacts";
/// Events that a worker claims at once, and sends at once.
const CHUNK: usize = 60;
pub(super) const BATCH: usize = 7;
/// Longest wait for a delivery.
const PATIENCE: Duration = Duration::from_mins(1);
/// Rows of the table: few, so that many events share a row.
const ROWS: i64 = 23;

/// What worker, sink and test share.
#[derive(Clone)]
pub(super) struct Place {
    /// Each line is an event that the sink took.
    pub(super) sink: PathBuf,
    /// Once it is there, nothing new happens in the table.
    pub(super) stop: PathBuf,
}

impl Place {
    pub(super) fn below(root: &Path) -> Self {
        Self { sink: root.join("sink"), stop: root.join("stop") }
    }

    /// Waits until the sink took so many more events; false if `is_over`, or if it takes too long.
    pub(super) fn wait_for_more(&self, more: usize, is_over: impl Fn() -> bool) -> bool {
        let arrivals = || fs::read_to_string(&self.sink).map_or(0, |text| text.lines().count());
        let (before, started) = (arrivals(), Instant::now());
        while arrivals() < before + more {
            if is_over() || started.elapsed() > PATIENCE {
                return false;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        true
    }

    pub(super) fn stop(&self) {
        fs::write(&self.stop, "").unwrap();
    }
}

/// Feeds, claims, delivers, records and applies, until the queue is empty after the stop.
pub(super) fn work(store: SqlStore, place: &Place, seed: u64) -> Result<(), StateError> {
    let changes = Changes::of_rows(ROWS);
    let mut random = Random(seed);
    let heartbeat = Heartbeat::start(&store).unwrap();
    let store = SharedStore::new(Box::new(store));
    loop {
        store.lock().recover()?;
        if !place.stop.exists() {
            let fed = store.lock().position(TARGET)?.map_or(0, |position| position.snapshot);
            let more = i64::try_from(random.below(80)).unwrap();
            changes.feed(store.lock().as_mut(), TARGET, fed + more)?;
        }
        // A lease is taken and given back as a model's is.
        let answer = store.lock().take_lease(TARGET, "run")?;
        if let LeaseAnswer::Taken(lease) = answer {
            is_held(store.lock().release_lease(&lease))?;
        }
        let claim = store.lock().claim(TARGET, "run", CHUNK)?;
        let Some(claim) = claim else {
            if place.stop.exists() && store.lock().counts()?.is_empty() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(20));
            continue;
        };
        deliver(&store, &heartbeat, &claim, place, &mut random)?;
    }
}

/// Delivers a claim batch by batch; what fails holds back its row.
fn deliver(
    store: &SharedStore,
    heartbeat: &Heartbeat,
    claim: &Claim,
    place: &Place,
    random: &mut Random,
) -> Result<(), StateError> {
    let mut failed_rows = BTreeSet::new();
    for batch in claim.events.chunks(BATCH) {
        if !heartbeat.is_alive() {
            break;
        }
        let mut taken: Vec<&Event> = Vec::new();
        let mut outcomes = Vec::new();
        for event in batch {
            if failed_rows.contains(&event.row_key) {
                continue;
            }
            let status = if random.below(12) == 0 {
                failed_rows.insert(event.row_key);
                OutcomeStatus::Error(Duration::from_millis(5))
            } else {
                taken.push(event);
                OutcomeStatus::Ok
            };
            outcomes.push(Outcome { seq: event.seq, status, message: None });
        }
        accept(place, &taken);
        if !is_held(store.lock().record(&claim.lease, &outcomes))? {
            return Ok(());
        }
        if random.below(3) == 0 && !is_held(store.lock().apply(&claim.lease))? {
            return Ok(());
        }
    }
    is_held(store.lock().release(&claim.lease)).map(drop)
}

/// Whether the lease was still held.
fn is_held(answer: Result<(), StateError>) -> Result<bool, StateError> {
    match answer {
        Ok(()) => Ok(true),
        Err(StateError::LeaseLost { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The sink takes events: all of the batch or none.
fn accept(place: &Place, events: &[&Event]) {
    let lines: String = events.iter().map(|event| format!("{} {}\n", event.row_key, event.seq)).collect();
    let mut file = OpenOptions::new().append(true).create(true).open(&place.sink).unwrap();
    file.write_all(lines.as_bytes()).unwrap();
}

/// Every event arrived, those of a row in order; gives how many arrived and how many twice.
pub(super) fn check(store: &mut SqlStore, place: &Place) -> (usize, usize) {
    assert!(store.counts().unwrap().is_empty(), "the queue is empty: {:?}", store.counts().unwrap());
    let left = store.ask_sql("SELECT (SELECT count(*) FROM sync_claim) + (SELECT count(*) FROM sync_apply_log) AS n");
    assert_eq!(left.unwrap()[0][0].as_i64(), Some(0), "nothing is left of claims and outcomes");
    let last = store.position(TARGET).unwrap().expect("something was fed").last_seq;
    let text = fs::read_to_string(&place.sink).unwrap();
    let mut rows: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    let mut arrivals = 0;
    for line in text.lines() {
        let (row, seq) = line.split_once(' ').unwrap();
        rows.entry(row.parse().unwrap()).or_default().push(seq.parse().unwrap());
        arrivals += 1;
    }
    let mut all = BTreeSet::new();
    for (row, arrived) in rows {
        let mut seen = BTreeSet::new();
        for seq in arrived {
            let newest = seen.last().copied().unwrap_or(0);
            let skipped = (newest + 1..seq).filter(|&other| Changes::row_of(other, ROWS) == row).count();
            assert_eq!(skipped, 0, "event {seq} overtook an earlier one of row {row}");
            seen.insert(seq);
        }
        all.extend(seen);
    }
    assert_eq!(all.len(), usize::try_from(last).unwrap(), "every event arrived");
    (all.len(), arrivals - all.len())
}
