//! A person acts on the queue while workers deliver from it, and while servers give no answer.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use state::{
    BackendKind, Claim, Outcome, OutcomeStatus, Queue, QueueAdmin, SqlStore, StateConfig, StateError, WorkerId,
};
use testkit::{Changes, Random, StateFixture};

use super::fixture;

const TARGET: &str = "sync.contacts";
const CHANGES: i64 = 60;
/// Few rows, so that events of one row meet.
const ROWS: i64 = 7;

/// What the test knows of the workers.
#[derive(Default)]
struct Watch {
    is_over: AtomicBool,
    /// Rows in flight, over all workers.
    rows: Mutex<BTreeSet<i64>>,
}

impl Watch {
    fn rows_of(claim: &Claim) -> BTreeSet<i64> {
        claim.events.iter().map(|event| event.row_key).collect()
    }

    /// A row is in flight once, whoever delivers it.
    fn begins(&self, claim: &Claim) {
        let mut rows = self.rows.lock().unwrap();
        for row in Self::rows_of(claim) {
            assert!(rows.insert(row), "row {row} is in flight twice");
        }
    }

    fn ends(&self, claim: &Claim) {
        let mut rows = self.rows.lock().unwrap();
        for row in Self::rows_of(claim) {
            assert!(rows.remove(&row));
        }
    }
}

/// Claims, answers without ever delivering, and gives back, until it is over.
fn disturb(mut store: SqlStore, watch: &Watch, seed: u64) {
    let mut random = Random(seed);
    while !watch.is_over.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(u64::try_from(random.below(25)).unwrap()));
        let Some(claim) = store.claim(TARGET, "run", 9).unwrap() else { continue };
        watch.begins(&claim);
        let mut outcomes = Vec::new();
        for event in &claim.events {
            let status = match random.below(4) {
                0 => OutcomeStatus::Error(Duration::from_hours(u64::try_from(random.below(2)).unwrap())),
                1 => OutcomeStatus::Reject(None),
                _ => break,
            };
            outcomes.push(Outcome { seq: event.seq, status, message: None });
        }
        store.record(&claim.lease, &outcomes).unwrap();
        watch.ends(&claim);
        store.release(&claim.lease).unwrap();
    }
}

/// Lets workers disturb what a person does.
fn race(fixture: &StateFixture, person: impl FnOnce(&mut SqlStore)) {
    let mut store = fixture.open("person");
    Changes::of_rows(ROWS).feed(&mut store, TARGET, CHANGES).unwrap();
    let watch = &Watch::default();
    std::thread::scope(|scope| {
        for at in 0..3 {
            let worker = fixture.open(&format!("w{at}"));
            scope.spawn(move || disturb(worker, watch, at + 1));
        }
        // A panic must not leave the workers at work.
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| person(&mut store)));
        watch.is_over.store(true, Ordering::Relaxed);
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

/// Events by the snapshot that made them, wherever they are: how many there are, and how many different ones.
fn everywhere(store: &mut SqlStore) -> (Option<i64>, Option<i64>) {
    let sql = "SELECT count(*) AS events, count(DISTINCT snapshot_id) AS changes FROM (\
               SELECT snapshot_id FROM sync_evt UNION ALL SELECT snapshot_id FROM sync_inflight \
               UNION ALL SELECT snapshot_id FROM sync_dead) AS e";
    let rows = store.ask_sql(sql).unwrap();
    (rows[0][0].as_i64(), rows[0][1].as_i64())
}

fn move_events_about(kind: BackendKind) {
    race(&fixture(kind), |store| {
        let mut moved = 0;
        // Long enough to meet the workers at every step.
        for round in 0..60 {
            moved += store.bury(TARGET, CHANGES / 2 * round).unwrap().events;
            moved += store.retry_dead(TARGET, None).unwrap().events;
            moved += store.retry(TARGET, None).unwrap();
            assert_eq!(everywhere(store), (Some(CHANGES), Some(CHANGES)), "each event is in one place");
        }
        assert!(moved > 0);
    });
}

#[test]
fn events_that_are_moved_while_workers_claim_stay_whole_on_postgresql() {
    move_events_about(BackendKind::Postgres);
}

#[test]
fn events_that_are_moved_while_workers_claim_stay_whole_on_a_quack_server() {
    move_events_about(BackendKind::Quack);
}

/// What a worker held during a reset would come twice: out of its claim, and out of the table.
fn reset_again_and_again(kind: BackendKind) {
    race(&fixture(kind), |store| {
        let changes = Changes::of_rows(ROWS);
        let mut done = 0;
        while done < 8 {
            match store.forget_position(TARGET) {
                Ok(_) => {
                    // Dead letters stay: they are no part of what is sent again.
                    store.drop_dead(TARGET, None).unwrap();
                    changes.feed(store, TARGET, CHANGES).unwrap();
                    done += 1;
                }
                Err(StateError::InFlight { .. }) => std::thread::sleep(Duration::from_millis(3)),
                Err(error) => panic!("{error}"),
            }
            let (events, distinct) = everywhere(store);
            assert_eq!(events, distinct, "no event is there twice");
        }
        assert_eq!(everywhere(store).1, Some(CHANGES), "all of the table is sent again");
    });
}

#[test]
fn a_reset_leaves_nothing_to_workers_on_postgresql() {
    reset_again_and_again(BackendKind::Postgres);
}

#[test]
fn a_reset_leaves_nothing_to_workers_on_a_quack_server() {
    reset_again_and_again(BackendKind::Quack);
}

/// Buries and revives all events while `trouble` keeps answers from arriving: each verb works once, and tells so.
fn move_through(fixture: &StateFixture, trouble: impl Fn(&StateFixture) + Sync) {
    let config = StateConfig { answer_wait: Duration::from_secs(1), ..fixture.config() };
    let mut store = state::open(config, WorkerId::from("person".to_owned())).unwrap();
    Changes::of_rows(ROWS).feed(&mut store, TARGET, CHANGES).unwrap();
    let (all, mut rounds) = (CHANGES.unsigned_abs(), 0);
    std::thread::scope(|scope| {
        let troubles = scope.spawn(|| trouble(fixture));
        while !troubles.is_finished() {
            assert_eq!(store.bury(TARGET, i64::MAX).unwrap().events, all);
            assert_eq!(store.retry_dead(TARGET, None).unwrap().events, all);
            rounds += 1;
        }
    });
    assert_eq!(everywhere(&mut store), (Some(CHANGES), Some(CHANGES)));
    let last = store.position(TARGET).unwrap().unwrap().last_seq;
    assert_eq!(last, CHANGES * (rounds + 1), "no number was given that no event has");
    assert_eq!(store.drop_all(TARGET).unwrap(), all);
}

#[test]
fn a_verb_whose_connection_is_cut_works_once() {
    move_through(&fixture(BackendKind::Postgres), |fixture| {
        for _ in 0..15 {
            std::thread::sleep(Duration::from_millis(150));
            fixture.postgres.as_ref().unwrap().terminate_connections();
        }
    });
}

#[test]
fn a_verb_whose_answer_is_late_works_once() {
    move_through(&fixture(BackendKind::Quack), |fixture| {
        let server = fixture.quack.as_ref().unwrap();
        for _ in 0..3 {
            std::thread::sleep(Duration::from_millis(400));
            server.freeze(true);
            // Longer than the answer is waited for.
            std::thread::sleep(Duration::from_millis(1500));
            server.freeze(false);
        }
    });
}
