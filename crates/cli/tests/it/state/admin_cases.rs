//! The contract's cases of the verbs behind the commands of the queue.

use std::time::Duration;

use state::{
    Buried, DeliveryReport, Fed, Feed, Job, Need, NeededSnapshot, Outcome, OutcomeStatus, Position, Queue, QueueAdmin,
    QueuedEvent, QueuedState, Revived, SqlStore, StateError, TargetOverview, Which,
};
use testkit::Changes;

use super::contract_cases::{
    Case, assert_lost, become_worker, claimed, failed, fed, in_flight, numbers, ok, pending, run_out, seqs,
};

const HOUR: Duration = Duration::from_hours(1);

pub(super) const CASES: [(&str, Case); 14] = [
    ("an overview tells how a target stands", an_overview_tells_how_a_target_stands),
    ("an overview names dead workers", an_overview_names_dead_workers),
    ("events are shown where they are", events_are_shown_where_they_are),
    ("waiting events become due at once", waiting_events_become_due_at_once),
    ("dead letters come back behind the others", dead_letters_come_back_behind_the_others),
    ("who feeds sees numbers that were given", who_feeds_sees_numbers_that_were_given),
    ("dead letters are dropped", dead_letters_are_dropped),
    ("rows of dead letters are forgotten", rows_of_dead_letters_are_forgotten),
    ("a target is dropped as a whole", a_target_is_dropped_as_a_whole),
    ("events of a table that is gone are buried", events_of_a_table_that_is_gone_are_buried),
    ("a reset skips what is pending", a_reset_skips_what_is_pending),
    ("a reset sends the table again", a_reset_sends_the_table_again),
    ("a living worker keeps a queue from being dropped", a_living_worker_keeps_a_queue_from_being_dropped),
    ("snapshots are named that something needs", snapshots_are_named_that_something_needs),
];

fn rejected(seq: i64) -> Outcome {
    let status = OutcomeStatus::Reject(Some("{\"id\": 1}".into()));
    Outcome { seq, status, message: Some("no such contact".into()) }
}

/// Feeds so many changes of different rows, and makes dead letters of the first ones.
fn fed_and_rejected(store: &mut SqlStore, target: &str, changes: i64, dead: i64) {
    fed(store, target, 100, changes);
    let claim = claimed(store, target, usize::try_from(dead).unwrap());
    let outcomes: Vec<Outcome> = (1..=dead).map(rejected).collect();
    store.record(&claim.lease, &outcomes).unwrap();
    store.release(&claim.lease).unwrap();
}

fn dead(store: &mut SqlStore, target: &str) -> Vec<i64> {
    numbers(store, &format!("SELECT seq FROM sync_dead WHERE target = '{target}' ORDER BY seq"))
}

fn overview(store: &mut SqlStore, target: &str) -> Option<TargetOverview> {
    store.overview().unwrap().into_iter().find(|overview| overview.target == target)
}

fn position(store: &mut SqlStore, target: &str) -> Position {
    store.position(target).unwrap().expect("a position")
}

#[track_caller]
fn assert_in_flight<T: std::fmt::Debug>(result: Result<T, StateError>, worker: &str) {
    let error = result.expect_err("events are in flight");
    assert!(matches!(&error, StateError::InFlight { workers, .. } if workers == &[worker]), "{error}");
}

fn an_overview_tells_how_a_target_stands(store: &mut SqlStore, target: &str) {
    assert_eq!(overview(store, target), None);
    fed(store, target, 100, 6);
    let claim = claimed(store, target, 4);
    store.record(&claim.lease, &[rejected(1), failed(2, HOUR)]).unwrap();
    store.apply(&claim.lease).unwrap();
    for (run_id, delivered) in [("r1", 9), ("r2", 0)] {
        let duration = Duration::from_millis(1500);
        let first_error = Some("it's down");
        let report = DeliveryReport { run_id, target, delivered, rejected: 1, to_retry: 1, first_error, duration };
        store.log_delivery(&report).unwrap();
    }
    store.run_sql("UPDATE sync_log SET finished_at = finished_at - INTERVAL '1 hour' WHERE run_id = 'r1'").unwrap();
    let found = overview(store, target).unwrap();
    assert_eq!((found.pending, found.waiting, found.dead), (2, 1, 1));
    let next = found.next_retry.unwrap();
    assert!((3500..=3600).contains(&next.in_s) && next.at_ms > 1_600_000_000_000, "{next:?}");
    assert!(found.oldest_s.is_some_and(|age| age < 600), "{:?}", found.oldest_s);
    let [held] = &found.in_flight[..] else { panic!("{:?}", found.in_flight) };
    assert_eq!((held.worker.as_str(), held.events, held.is_alive), ("a", 2, true));
    assert!(held.claim_age_s < 600);
    let last = found.last_delivery.unwrap();
    assert_eq!((last.run_id.as_str(), last.delivered, last.rejected, last.to_retry), ("r2", 0, 1, 1));
    assert_eq!(last.first_error.as_deref(), Some("it's down"));
    assert_eq!(found.last_error.as_deref(), Some("it's down"));
    // What is over leaves its position, and dead letters are no reason to speak of an age.
    store.release(&claim.lease).unwrap();
    store.run_sql(&format!("DELETE FROM sync_evt WHERE target = '{target}'")).unwrap();
    let found = overview(store, target).unwrap();
    assert_eq!((found.dead, found.oldest_s, found.next_retry, found.last_error), (1, None, None, None));
    store.drop_dead(target, None).unwrap();
    assert!(overview(store, target).is_some());
}

fn an_overview_names_dead_workers(store: &mut SqlStore, target: &str) {
    fed(store, target, 100, 3);
    become_worker(store, "b");
    let claim = claimed(store, target, 3);
    run_out(store);
    become_worker(store, "a");
    let found = overview(store, target).unwrap().in_flight;
    assert_eq!((found[0].worker.as_str(), found[0].events, found[0].is_alive), ("b", 3, false));
    become_worker(store, "b");
    store.release(&claim.lease).unwrap();
}

fn events_are_shown_where_they_are(store: &mut SqlStore, target: &str) {
    fed(store, target, 100, 5);
    let claim = claimed(store, target, 3);
    store.record(&claim.lease, &[failed(1, HOUR), rejected(2)]).unwrap();
    store.apply(&claim.lease).unwrap();
    let queued = store.events(target, Which::Queued, 3).unwrap();
    assert_eq!(queued.iter().map(|found| found.event.seq).collect::<Vec<_>>(), [1, 3, 4]);
    assert!(matches!(queued[0].state, QueuedState::Waiting { due_in_s: 3500..=3600 }), "{queued:?}");
    assert_eq!((queued[0].event.attempts, queued[0].event.last_error.as_deref()), (1, Some("it's down")));
    assert_eq!(queued[1].state, QueuedState::InFlight { worker: "a".into() });
    assert_eq!(queued[1].event, claim.events[2]);
    assert_eq!(queued[2].state, QueuedState::Pending);
    let found = store.events(target, Which::Dead, 10).unwrap();
    assert_eq!((found.len(), found[0].event.seq, found[0].event.snapshot), (1, 2, 2));
    assert_eq!((found[0].event.attempts, found[0].event.last_error.as_deref()), (1, Some("no such contact")));
    let QueuedState::Dead { row_image, first_ms, last_ms } = &found[0].state else { panic!("{found:?}") };
    assert_eq!(row_image.as_deref(), Some("{\"id\": 1}"));
    assert!(first_ms <= last_ms && *first_ms > 1_600_000_000_000);
    assert_eq!(store.events("nobody.knows", Which::Queued, 10).unwrap(), []);
    store.release(&claim.lease).unwrap();
}

fn waiting_events_become_due_at_once(store: &mut SqlStore, target: &str) {
    fed(store, target, 3, 7);
    let claim = claimed(store, target, 3);
    store.record(&claim.lease, &[failed(1, HOUR), failed(2, HOUR), failed(3, HOUR)]).unwrap();
    store.release(&claim.lease).unwrap();
    assert_eq!(store.claim(target, "run", 10).unwrap(), None, "all rows wait");
    assert_eq!(store.retry(target, Some(2)).unwrap(), 1);
    assert_eq!(store.retry(target, Some(2)).unwrap(), 0, "it is due already");
    assert_eq!(store.retry(target, Some(99)).unwrap(), 0);
    let claim = claimed(store, target, 10);
    assert_eq!(seqs(&claim), [2, 5]);
    assert_eq!(claim.events[0].attempts, 1, "what failed is not forgotten");
    store.release(&claim.lease).unwrap();
    assert_eq!(store.retry(target, None).unwrap(), 2);
    assert_eq!(seqs(&claimed(store, target, 10)), [1, 2, 3, 4, 5, 6, 7]);
}

fn dead_letters_come_back_behind_the_others(store: &mut SqlStore, target: &str) {
    fed_and_rejected(store, target, 5, 3);
    let before = store.events(target, Which::Dead, 10).unwrap();
    assert_eq!(store.retry_dead(target, Some(2)).unwrap().events, 1);
    assert_eq!(store.retry_dead(target, Some(2)).unwrap().events, 0, "that number is gone");
    assert_eq!((pending(store, target), dead(store, target)), (vec![4, 5, 6], vec![1, 3]));
    assert_eq!(store.retry_dead(target, None).unwrap().events, 2);
    assert_eq!((pending(store, target), dead(store, target)), (vec![4, 5, 6, 7, 8], vec![]));
    let claim = claimed(store, target, 10);
    let back: Vec<_> = claim.events.iter().skip(2).collect();
    for (found, old) in back.iter().zip([&before[1], &before[0], &before[2]]) {
        let old = &old.event;
        assert_eq!((found.row_key, found.rowid, found.snapshot), (old.row_key, old.rowid, old.snapshot));
        assert_eq!((found.change_type, found.attempts, &found.last_error), (old.change_type, 0, &None));
    }
    store.release(&claim.lease).unwrap();
    // The numbers go on from there.
    Changes::of_rows(100).feed(store, target, 6).unwrap();
    assert_eq!(pending(store, target), [4, 5, 6, 7, 8, 9]);
}

fn who_feeds_sees_numbers_that_were_given(store: &mut SqlStore, target: &str) {
    fed_and_rejected(store, target, 2, 1);
    let seen = position(store, target);
    store.retry_dead(target, None).unwrap();
    let changes = Changes::of_rows(100);
    assert_eq!(changes.step(store, target, Some(&seen), 4).unwrap(), Fed::Elsewhere);
    changes.feed(store, target, 4).unwrap();
    assert_eq!(pending(store, target), [2, 3, 4, 5]);
}

fn rows_of_dead_letters_are_forgotten(store: &mut SqlStore, target: &str) {
    let other = &format!("{target}.other");
    for target in [target, other] {
        fed_and_rejected(store, target, 3, 2);
    }
    let claim = claimed(store, target, 1);
    store.record(&claim.lease, &[rejected(3)]).unwrap();
    for _ in 0..2 {
        store.forget_images(target).unwrap();
    }
    store.release(&claim.lease).unwrap();
    let mut images = |target: &str| -> Vec<Option<String>> {
        let image = |queued: QueuedEvent| match queued.state {
            QueuedState::Dead { row_image, .. } => row_image,
            state => panic!("{state:?}"),
        };
        store.events(target, Which::Dead, 9).unwrap().into_iter().map(image).collect()
    };
    assert_eq!(images(target), [None, None, None]);
    assert_eq!(images(other), [Some("{\"id\": 1}".to_owned()), Some("{\"id\": 1}".to_owned())]);
}

fn dead_letters_are_dropped(store: &mut SqlStore, target: &str) {
    fed_and_rejected(store, target, 5, 4);
    assert_eq!(store.drop_dead(target, Some(2)).unwrap(), 1);
    assert_eq!(store.drop_dead(target, Some(5)).unwrap(), 0, "5 is no dead letter");
    assert_eq!(dead(store, target), [1, 3, 4]);
    assert_eq!(store.drop_dead(target, None).unwrap(), 3);
    assert_eq!((pending(store, target), dead(store, target)), (vec![5], vec![]));
}

/// A worker that is gone left events in flight, two of them with an answer, and a job.
fn left_behind(store: &mut SqlStore, target: &str) {
    fed(store, target, 100, 7);
    become_worker(store, "b");
    let claim = claimed(store, target, 5);
    let job = Job { batch: 1, job_ref: "{}".into(), fingerprint: "f".into(), first_seq: 3, last_seq: 4 };
    store.put_job(&claim.lease, &job).unwrap();
    store.record(&claim.lease, &[ok(1), rejected(2)]).unwrap();
    run_out(store);
    become_worker(store, "a");
}

#[track_caller]
fn assert_nothing_in_flight(store: &mut SqlStore, target: &str) {
    for table in ["sync_evt", "sync_inflight", "sync_claim", "sync_jobref", "sync_apply_log"] {
        let sql = format!("SELECT count(*) AS n FROM {table} WHERE target = '{target}'");
        assert_eq!(numbers(store, &sql), [0], "{table}");
    }
}

fn a_target_is_dropped_as_a_whole(store: &mut SqlStore, target: &str) {
    let other = format!("{target}, another");
    fed(store, &other, 100, 2);
    left_behind(store, target);
    assert_eq!(store.drop_all(target).unwrap(), 6, "all but the one that was delivered");
    assert_nothing_in_flight(store, target);
    assert_eq!((store.position(target).unwrap(), dead(store, target)), (None, vec![]));
    assert_eq!(overview(store, target), None);
    assert_eq!(pending(store, &other), [1, 2]);
    assert_eq!(store.drop_all(target).unwrap(), 0);
    // A model of that name begins anew.
    fed(store, target, 100, 1);
    assert_eq!(pending(store, target), [1]);
}

fn events_of_a_table_that_is_gone_are_buried(store: &mut SqlStore, target: &str) {
    fed(store, target, 100, 5);
    let claim = claimed(store, target, 2);
    store.record(&claim.lease, &[failed(1, HOUR)]).unwrap();
    store.apply(&claim.lease).unwrap();
    let old = position(store, target);
    let buried = store.bury(target, old.last_seq).unwrap();
    assert_eq!(buried, Buried { events: 4, in_flight: 1 });
    let changes = Changes::of_rows(100);
    let new = Feed { target, from: Some(&old), snapshot: 7, table_uuid: "new", definition_hash: "hash" };
    store.feed(&new, &mut || changes.between(6, 7)).unwrap();
    assert_eq!((pending(store, target), in_flight(store, target)), (vec![6, 7], vec![2]));
    let found = store.events(target, Which::Dead, 10).unwrap();
    assert_eq!(found.iter().map(|found| found.event.seq).collect::<Vec<_>>(), [1, 3, 4, 5]);
    let reason = |found: &QueuedEvent| found.event.last_error.clone().unwrap_or_default();
    assert!(found.iter().all(|found| reason(found).contains("the table was dropped")), "{found:?}");
    assert_eq!(found[0].event.attempts, 1);
    // The one in flight is its worker's. When it comes back nobody takes its row for one of the new table.
    store.release(&claim.lease).unwrap();
    assert_eq!((pending(store, target), dead(store, target)), (vec![6, 7], vec![1, 2, 3, 4, 5]));
    // Nor are they sent again, or keep snapshots.
    assert_eq!(store.retry_dead(target, None).unwrap(), Revived { events: 0, of_gone_tables: 5 });
    assert_eq!(dead(store, target), [1, 2, 3, 4, 5]);
    store.run_sql(&format!("UPDATE sync_dead SET change_type = 'delete' WHERE target = '{target}'")).unwrap();
    let needed = store.needed_snapshots().unwrap();
    assert!(!needed.iter().any(|needed| needed.target == target && needed.why == Need::Dead), "{needed:?}");
}

fn a_reset_skips_what_is_pending(store: &mut SqlStore, target: &str) {
    left_behind(store, target);
    assert_eq!(store.set_position(target, 20, "u2", "h2").unwrap(), 5, "3 to 7");
    assert_nothing_in_flight(store, target);
    assert_eq!(dead(store, target), [2], "what was answered is applied first");
    let moved = position(store, target);
    assert_eq!((moved.snapshot, moved.last_seq), (20, 7));
    assert_eq!((moved.table_uuid.as_str(), moved.definition_hash.as_str()), ("u2", "h2"));
    Changes::of_rows(100).feed(store, target, 21).unwrap();
    assert_eq!(pending(store, target), [8]);
    // A target that was never fed begins there.
    let new = format!("{target}, a new one");
    assert_eq!(store.set_position(&new, 20, "u", "h").unwrap(), 0);
    assert_eq!((position(store, &new).snapshot, position(store, &new).last_seq), (20, 0));
}

fn a_reset_sends_the_table_again(store: &mut SqlStore, target: &str) {
    left_behind(store, target);
    let before = position(store, target);
    assert!(!before.is_at_beginning());
    assert_eq!(store.forget_position(target).unwrap(), 5);
    assert_nothing_in_flight(store, target);
    assert_eq!(dead(store, target), [2]);
    let moved = position(store, target);
    assert!(moved.is_at_beginning());
    assert_eq!(moved, Position { snapshot: Position::BEGINNING, ..before.clone() });
    assert_eq!(Changes::of_rows(100).step(store, target, Some(&before), 9).unwrap(), Fed::Elsewhere);
    Changes::of_rows(100).feed(store, target, 3).unwrap();
    assert_eq!(pending(store, target), [8, 9, 10]);
    assert_eq!(claimed(store, target, 1).events[0].snapshot, 1);
    let never = format!("{target}, never fed");
    assert_eq!(store.forget_position(&never).unwrap(), 0);
    assert_eq!(store.position(&never).unwrap(), None);
}

fn a_living_worker_keeps_a_queue_from_being_dropped(store: &mut SqlStore, target: &str) {
    fed(store, target, 100, 3);
    let claim = claimed(store, target, 2);
    let refuse = |store: &mut SqlStore| {
        assert_in_flight(store.drop_all(target), "a");
        assert_in_flight(store.set_position(target, 9, "u", "h"), "a");
        assert_in_flight(store.forget_position(target), "a");
        assert_eq!((pending(store, target), in_flight(store, target)), (vec![3], vec![1, 2]));
        assert_eq!(position(store, target).snapshot, 3);
    };
    refuse(store);
    // Its own events are in flight, whatever the time: another worker is asked about its lease.
    run_out(store);
    refuse(store);
    store.heartbeat().unwrap();
    become_worker(store, "b");
    if !store.backend_kind().name().contains("file") {
        refuse(store);
        run_out(store);
    }
    assert_eq!(store.forget_position(target).unwrap(), 3);
    become_worker(store, "a");
    assert_lost(store.record(&claim.lease, &[ok(1)]));
    assert_lost(store.release(&claim.lease));
    assert_nothing_in_flight(store, target);
}

fn snapshots_are_named_that_something_needs(store: &mut SqlStore, target: &str) {
    fed(store, target, 100, 30);
    let needs = |store: &mut SqlStore| {
        let all = store.needed_snapshots().unwrap().into_iter();
        all.filter(|needed| needed.target == target)
            .map(|NeededSnapshot { snapshot, why, .. }| (snapshot, why))
            .collect()
    };
    let found: Vec<(i64, Need)> = needs(store);
    assert_eq!(found, [(30, Need::Position)], "rows of inserts are read as they are now");
    for (table, change) in
        [("delete", "seq % 2 = 0"), ("update_preimage", "seq % 4 = 1"), ("update_postimage", "seq % 4 = 3")]
    {
        let sql = format!("UPDATE sync_evt SET change_type = '{table}' WHERE target = '{target}' AND {change}");
        store.run_sql(&sql).unwrap();
    }
    let claim = claimed(store, target, 4);
    let outcomes: Vec<Outcome> = (1..=4).map(rejected).collect();
    store.record(&claim.lease, &outcomes).unwrap();
    store.apply(&claim.lease).unwrap();
    store.drop_dead(target, Some(1)).unwrap();
    store.release(&claim.lease).unwrap();
    let claim = claimed(store, target, 4);
    let found: Vec<(i64, Need)> = needs(store);
    assert_eq!(found, [(1, Need::Dead), (4, Need::InFlight), (8, Need::Queued), (30, Need::Position)]);
    store.release(&claim.lease).unwrap();
    store.drop_dead(target, None).unwrap();
    store.forget_position(target).unwrap();
    let found: Vec<(i64, Need)> = needs(store);
    assert_eq!(found, [], "a target at its beginning needs nothing");
}
