//! The contract's cases. Each works on a target of its own, so that none sees another's events.

use std::time::Duration;

use engine::Value;
use state::{
    Claim, ClaimLease, DeliveryReport, Fed, Job, LeaseAnswer, Leases, Outcome, OutcomeStatus, Queue, SqlStore, Staging,
    StateError, Token, Tokens,
};
use testkit::Changes;

pub(super) type Case = fn(&mut SqlStore, &str);

pub(super) const CASES: [(&str, Case); 26] = [
    ("feeding twice adds nothing", feeding_twice_adds_nothing),
    ("a position that moved stops the feed", a_position_that_moved_stops_the_feed),
    ("claims are cut in order", claims_are_cut_in_order),
    ("an empty queue gives no claim", an_empty_queue_gives_no_claim),
    ("a row is in flight once", a_row_is_in_flight_once),
    ("outcomes move events", outcomes_move_events),
    ("the first outcome stands", the_first_outcome_stands),
    ("a waiting event holds back its row only", a_waiting_event_holds_back_its_row_only),
    ("what failed comes after what did not", what_failed_comes_after_what_did_not),
    ("what always fails stands in front of nothing", what_always_fails_stands_in_front_of_nothing),
    ("a group is claimed as a whole", a_group_is_claimed_as_a_whole),
    ("released events come back unchanged", released_events_come_back_unchanged),
    ("a late holder changes nothing", a_late_holder_changes_nothing),
    ("a worker that comes back to life keeps its claim", a_worker_that_comes_back_to_life_keeps_its_claim),
    ("recovery applies before it gives back", recovery_applies_before_it_gives_back),
    ("jobs outlive their worker", jobs_outlive_their_worker),
    ("a heartbeat names what is held", a_heartbeat_names_what_is_held),
    ("what nobody knows of runs out", what_nobody_knows_of_runs_out),
    ("leases are held by one", leases_are_held_by_one),
    ("staged rows arrive once and in order", staged_rows_arrive_once_and_in_order),
    ("large parts of a fetch keep their order", large_parts_of_a_fetch_keep_their_order),
    ("a small fetch is staged at once", a_small_fetch_is_staged_at_once),
    ("a complete fetch outlives its worker", a_complete_fetch_outlives_its_worker),
    ("tokens are replaced and removed", tokens_are_replaced_and_removed),
    ("any text is only text", any_text_is_only_text),
    ("the history has one line a run", the_history_has_one_line_a_run),
];

/// Lets the time of every lease run out.
pub(super) fn run_out(store: &mut SqlStore) {
    for table in ["sync_claim", "sync_lease", "sync_fetch"] {
        store.run_sql(&format!("UPDATE {table} SET lease_until = now() - INTERVAL '1 hour'")).unwrap();
    }
}

pub(super) fn become_worker(store: &mut SqlStore, name: &str) {
    store.set_worker(name.to_owned().into());
}

pub(super) fn fed(store: &mut SqlStore, target: &str, rows: i64, changes: i64) {
    Changes::of_rows(rows).feed(store, target, changes).unwrap();
}

pub(super) fn claimed(store: &mut SqlStore, target: &str, limit: usize) -> Claim {
    store.claim(target, "run", limit).unwrap().expect("events to claim")
}

pub(super) fn seqs(claim: &Claim) -> Vec<i64> {
    claim.events.iter().map(|event| event.seq).collect()
}

pub(super) fn ok(seq: i64) -> Outcome {
    Outcome { seq, status: OutcomeStatus::Ok, message: None }
}

pub(super) fn failed(seq: i64, pause: Duration) -> Outcome {
    Outcome { seq, status: OutcomeStatus::Error(pause), message: Some("it's down".into()) }
}

/// Numbers of a query's only column.
pub(super) fn numbers(store: &mut SqlStore, sql: &str) -> Vec<i64> {
    store.ask_sql(sql).unwrap().iter().map(|row| row[0].as_i64().unwrap()).collect()
}

pub(super) fn pending(store: &mut SqlStore, target: &str) -> Vec<i64> {
    numbers(store, &format!("SELECT seq FROM sync_evt WHERE target = '{target}' ORDER BY seq"))
}

pub(super) fn in_flight(store: &mut SqlStore, target: &str) -> Vec<i64> {
    numbers(store, &format!("SELECT seq FROM sync_inflight WHERE target = '{target}' ORDER BY seq"))
}

#[track_caller]
pub(super) fn assert_lost<T: std::fmt::Debug>(result: Result<T, StateError>) {
    let error = result.expect_err("the lease is lost");
    assert!(matches!(error, StateError::LeaseLost { .. }), "{error}");
}

fn feeding_twice_adds_nothing(store: &mut SqlStore, target: &str) {
    let changes = Changes::of_rows(100);
    assert_eq!(store.position(target).unwrap(), None);
    let Fed::Moved(first) = changes.step(store, target, None, 3).unwrap() else { panic!("not fed") };
    assert_eq!((first.snapshot, first.last_seq), (3, 3));
    assert_eq!(store.position(target).unwrap(), Some(first.clone()));
    changes.feed(store, target, 3).unwrap();
    assert_eq!(pending(store, target), [1, 2, 3]);
    // A step without changes moves the position alone.
    let nothing = state::Feed { target, from: Some(&first), snapshot: 9, table_uuid: "u2", definition_hash: "h2" };
    let Fed::Moved(moved) = store.feed(&nothing, &mut || changes.between(1, 0)).unwrap() else { panic!("not fed") };
    assert_eq!((moved.snapshot, moved.last_seq, moved.table_uuid.as_str()), (9, 3, "u2"));
    // The numbers go on where they were, also after the queue was emptied.
    let claim = claimed(store, target, 10);
    store.record(&claim.lease, &[ok(1), ok(2), ok(3)]).unwrap();
    store.release(&claim.lease).unwrap();
    let next = state::Feed { target, from: Some(&moved), snapshot: 10, table_uuid: "u2", definition_hash: "h2" };
    store.feed(&next, &mut || changes.between(10, 10)).unwrap();
    assert_eq!(pending(store, target), [4]);
}

fn a_position_that_moved_stops_the_feed(store: &mut SqlStore, target: &str) {
    let changes = Changes::of_rows(100);
    let Fed::Moved(first) = changes.step(store, target, None, 2).unwrap() else { panic!("not fed") };
    assert_eq!(changes.step(store, target, None, 2).unwrap(), Fed::Elsewhere);
    changes.step(store, target, Some(&first), 4).unwrap();
    assert_eq!(changes.step(store, target, Some(&first), 4).unwrap(), Fed::Elsewhere);
    assert_eq!(pending(store, target), [1, 2, 3, 4]);
}

fn claims_are_cut_in_order(store: &mut SqlStore, target: &str) {
    fed(store, target, 100, 7);
    let first = claimed(store, target, 5);
    assert_eq!(seqs(&first), [1, 2, 3, 4, 5]);
    assert_eq!((first.events[1].row_key, first.events[1].rowid, first.events[1].snapshot), (14, 2, 2));
    assert_eq!((first.events[1].change_type, first.events[1].attempts), (types::ChangeType::Insert, 0));
    assert_eq!(seqs(&claimed(store, target, 5)), [6, 7]);
    assert_eq!(in_flight(store, target), [1, 2, 3, 4, 5, 6, 7]);
}

fn an_empty_queue_gives_no_claim(store: &mut SqlStore, target: &str) {
    assert_eq!(store.claim(target, "run", 10).unwrap(), None);
    let claims = format!("SELECT count(*) AS n FROM sync_claim WHERE target = '{target}'");
    assert_eq!(numbers(store, &claims), [0]);
}

fn a_row_is_in_flight_once(store: &mut SqlStore, target: &str) {
    // Three rows, in the order 1 2 0 1 2 0 1.
    fed(store, target, 3, 7);
    let first = claimed(store, target, 2);
    assert_eq!(seqs(&first), [1, 2]);
    let second = claimed(store, target, 10);
    assert_eq!(seqs(&second), [3, 6], "only row 0 is free");
    assert_eq!(store.claim(target, "run", 10).unwrap(), None);
    store.record(&first.lease, &[ok(1), ok(2)]).unwrap();
    store.release(&first.lease).unwrap();
    assert_eq!(seqs(&claimed(store, target, 10)), [4, 5, 7]);
}

fn outcomes_move_events(store: &mut SqlStore, target: &str) {
    fed(store, target, 100, 4);
    let claim = claimed(store, target, 10);
    let rejected = Outcome {
        seq: 3,
        status: OutcomeStatus::Reject(Some("{\"id\": 1}".into())),
        message: Some("no such contact".into()),
    };
    let warned = Outcome { seq: 2, status: OutcomeStatus::Warn, message: Some("slow".into()) };
    let outcomes = [ok(1), warned, rejected, failed(4, Duration::from_hours(1))];
    store.record(&claim.lease, &outcomes).unwrap();
    assert_eq!(in_flight(store, target), [1, 2, 3, 4], "a note alone moves nothing");
    store.apply(&claim.lease).unwrap();
    assert_eq!((pending(store, target), in_flight(store, target)), (vec![4], vec![]));
    let dead = store
        .ask_sql(&format!("SELECT reason, row_image, attempts FROM sync_dead WHERE target = '{target}' AND seq = 3"))
        .unwrap();
    assert_eq!(dead[0][..2], [Value::Text("no such contact".into()), Value::Text("{\"id\": 1}".into())]);
    let counts = store.counts().unwrap().into_iter().find(|counts| counts.target == target).unwrap();
    assert_eq!((counts.pending, counts.waiting, counts.in_flight, counts.dead), (0, 1, 0, 1));
    store.release(&claim.lease).unwrap();
    assert_lost(store.apply(&claim.lease));
}

fn the_first_outcome_stands(store: &mut SqlStore, target: &str) {
    fed(store, target, 100, 2);
    let claim = claimed(store, target, 10);
    store.record(&claim.lease, &[ok(1)]).unwrap();
    store.record(&claim.lease, &[failed(1, Duration::ZERO), ok(2), ok(77)]).unwrap();
    store.release(&claim.lease).unwrap();
    assert_eq!(pending(store, target), Vec::<i64>::new());
}

fn a_waiting_event_holds_back_its_row_only(store: &mut SqlStore, target: &str) {
    fed(store, target, 3, 7);
    let claim = claimed(store, target, 1);
    store.record(&claim.lease, &[failed(1, Duration::from_hours(1))]).unwrap();
    store.release(&claim.lease).unwrap();
    let rest = claimed(store, target, 10);
    assert_eq!(seqs(&rest), [2, 3, 5, 6], "4 and 7 are of the waiting row");
}

fn what_failed_comes_after_what_did_not(store: &mut SqlStore, target: &str) {
    fed(store, target, 3, 7);
    let claim = claimed(store, target, 1);
    store.record(&claim.lease, &[failed(1, Duration::ZERO)]).unwrap();
    store.release(&claim.lease).unwrap();
    let fresh = claimed(store, target, 10);
    assert_eq!(seqs(&fresh), [2, 3, 5, 6]);
    let again = claimed(store, target, 10);
    assert_eq!(seqs(&again), [1, 4, 7], "a retried event keeps its place among those of its row");
    assert_eq!((again.events[0].attempts, again.events[0].last_error.as_deref()), (1, Some("it's down")));
}

fn what_always_fails_stands_in_front_of_nothing(store: &mut SqlStore, target: &str) {
    fed(store, target, 100, 3);
    let fail = |store: &mut SqlStore, limit, expected: &[i64]| {
        let claim = claimed(store, target, limit);
        assert_eq!(seqs(&claim), expected);
        let outcomes: Vec<Outcome> = expected.iter().map(|seq| failed(*seq, Duration::ZERO)).collect();
        store.record(&claim.lease, &outcomes).unwrap();
        store.release(&claim.lease).unwrap();
    };
    fail(store, 1, &[1]);
    fail(store, 2, &[2, 3]);
    fail(store, 1, &[1]);
    // 1 failed twice now.
    fail(store, 9, &[2, 3]);
    fail(store, 9, &[1, 2, 3]);
}

fn a_group_is_claimed_as_a_whole(store: &mut SqlStore, target: &str) {
    fed(store, target, 100, 7);
    // 2 to 4 changed at once in one group; so did 6, and 7 did later.
    for (key, snapshot, seqs) in [(50, 2, "2, 3, 4"), (60, 6, "6"), (60, 7, "7")] {
        let set = format!("row_key = {key}, snapshot_id = {snapshot}");
        store.run_sql(&format!("UPDATE sync_evt SET {set} WHERE target = '{target}' AND seq IN ({seqs})")).unwrap();
    }
    let first = claimed(store, target, 2);
    assert_eq!(seqs(&first), [1, 2, 3, 4]);
    let second = claimed(store, target, 2);
    assert_eq!(seqs(&second), [5, 6]);
    let outcomes = [2, 3, 4].map(|seq| failed(seq, Duration::ZERO));
    store.record(&first.lease, &outcomes).unwrap();
    store.release(&first.lease).unwrap();
    store.record(&second.lease, &[ok(5), ok(6)]).unwrap();
    store.release(&second.lease).unwrap();
    assert_eq!(seqs(&claimed(store, target, 1)), [1], "given back as it was");
    assert_eq!(seqs(&claimed(store, target, 1)), [7]);
    assert_eq!(seqs(&claimed(store, target, 1)), [2, 3, 4], "also when it failed");
}

fn released_events_come_back_unchanged(store: &mut SqlStore, target: &str) {
    fed(store, target, 100, 3);
    let before = claimed(store, target, 10);
    store.release(&before.lease).unwrap();
    let after = claimed(store, target, 10);
    assert_ne!(before.lease, after.lease);
    assert_eq!(before.events, after.events);
    store.release(&after.lease).unwrap();
}

fn a_late_holder_changes_nothing(store: &mut SqlStore, target: &str) {
    fed(store, target, 100, 3);
    let late = claimed(store, target, 10);
    store.record(&late.lease, &[ok(1)]).unwrap();
    let LeaseAnswer::Taken(late_lease) = store.take_lease(target, "run").unwrap() else { panic!("held") };
    let late_fetch = store.begin_fetch(target, "run", "f").unwrap();
    run_out(store);
    // Out of time, but nobody has taken over: the term still matches.
    store.record(&late.lease, &[ok(2)]).unwrap();
    run_out(store);
    become_worker(store, "b");
    store.recover().unwrap();
    assert!(matches!(store.take_lease(target, "run").unwrap(), LeaseAnswer::Taken(_)));
    store.adopt_fetch(target, &late_fetch.claim_id, "run").unwrap();
    let now = claimed(store, target, 10);
    assert_eq!(seqs(&now), [3]);

    become_worker(store, "a");
    assert_lost(store.record(&late.lease, &[ok(3)]));
    assert_lost(store.apply(&late.lease));
    assert_lost(store.release(&late.lease));
    let job = Job { batch: 1, job_ref: "{}".into(), fingerprint: "f".into(), first_seq: 1, last_seq: 3 };
    assert_lost(store.put_job(&late.lease, &job));
    assert_lost(store.end_job(&late.lease, 1));
    assert_lost(store.release_lease(&late_lease));
    assert_lost(store.stage_rows(&late_fetch, 0, &["{}".into()]));
    assert_lost(store.complete_fetch(&late_fetch, 0, None));
    assert_lost(store.staged_rows(&late_fetch, 0, 10).map(drop));
    assert_lost(store.drop_fetch(&late_fetch));
    // The other worker's claim by its term, but not by its name.
    assert_lost(store.apply(&now.lease));
    let held = store.heartbeat().unwrap();
    assert!(!held.contains(&late.lease.claim_id) && !held.contains(&late_lease.term));
    become_worker(store, "b");
    store.record(&now.lease, &[ok(3)]).unwrap();
    store.release(&now.lease).unwrap();
    assert_eq!(pending(store, target), Vec::<i64>::new());
    // A rescuer that comes late finds nothing to rescue.
    become_worker(store, "c");
    run_out(store);
    store.recover().unwrap();
    assert_eq!(pending(store, target), Vec::<i64>::new());
}

fn a_worker_that_comes_back_to_life_keeps_its_claim(store: &mut SqlStore, target: &str) {
    fed(store, target, 100, 1);
    let claim = claimed(store, target, 1);
    run_out(store);
    become_worker(store, "b");
    let dead = store.dead_claims().unwrap();
    become_worker(store, "a");
    // On a file, where every other worker is dead, the claim ends meanwhile instead.
    let is_file = store.backend_kind().name().contains("file");
    if is_file {
        store.release(&claim.lease).unwrap();
    } else {
        store.heartbeat().unwrap();
    }
    become_worker(store, "b");
    for dead in dead {
        assert!(!store.take_over(&dead).unwrap(), "{dead:?}");
    }
    become_worker(store, "a");
    if !is_file {
        store.record(&claim.lease, &[ok(1)]).unwrap();
        store.release(&claim.lease).unwrap();
    }
}

fn recovery_applies_before_it_gives_back(store: &mut SqlStore, target: &str) {
    fed(store, target, 100, 4);
    let claim = claimed(store, target, 3);
    store.record(&claim.lease, &[ok(1), failed(2, Duration::ZERO)]).unwrap();
    become_worker(store, "b");
    if !store.backend_kind().name().contains("file") {
        let recovered = store.recover().unwrap();
        assert_eq!(recovered.released, 0, "a living worker's claim stays");
        run_out(store);
    }
    assert!(store.recover().unwrap().released >= 1);
    let (rest, again) = (claimed(store, target, 10), claimed(store, target, 10));
    assert_eq!((seqs(&rest), seqs(&again)), (vec![3, 4], vec![2]));
    assert_eq!((rest.events[0].attempts, again.events[0].attempts), (0, 1));
    assert_eq!(store.recover().unwrap(), state::Recovery::default());
    store.release(&rest.lease).unwrap();
    store.release(&again.lease).unwrap();
}

fn jobs_outlive_their_worker(store: &mut SqlStore, target: &str) {
    fed(store, target, 100, 6);
    let claim = claimed(store, target, 5);
    let job = |batch, first_seq, last_seq| Job {
        batch,
        job_ref: format!("{{\"id\": {batch}}}"),
        fingerprint: "f".into(),
        first_seq,
        last_seq,
    };
    store.put_job(&claim.lease, &job(1, 1, 2)).unwrap();
    store.record(&claim.lease, &[ok(1), ok(2)]).unwrap();
    store.end_job(&claim.lease, 1).unwrap();
    store.put_job(&claim.lease, &job(2, 3, 4)).unwrap();
    store.put_job(&claim.lease, &job(2, 3, 4)).unwrap();
    run_out(store);
    become_worker(store, "b");
    let recovery = store.recover().unwrap();
    let adopted = recovery.adopted.iter().find(|adopted| adopted.claim.lease.target == target).unwrap();
    assert_eq!(adopted.jobs, [job(2, 3, 4)]);
    assert_eq!(seqs(&adopted.claim), [3, 4]);
    assert_eq!(pending(store, target), [5, 6]);
    let lease = ClaimLease { ..adopted.claim.lease.clone() };
    store.record(&lease, &[ok(3), ok(4)]).unwrap();
    store.release(&lease).unwrap();
    assert_eq!(in_flight(store, target), Vec::<i64>::new());
}

fn a_heartbeat_names_what_is_held(store: &mut SqlStore, target: &str) {
    become_worker(store, target);
    assert!(store.heartbeat().unwrap().is_empty());
    fed(store, target, 100, 1);
    let claim = claimed(store, target, 1);
    let LeaseAnswer::Taken(lease) = store.take_lease(target, "run").unwrap() else { panic!("held") };
    let fetch = store.begin_fetch(target, "run", "f").unwrap();
    run_out(store);
    let held = store.heartbeat().unwrap();
    let expected = [&claim.lease.claim_id, &lease.term, &fetch.claim_id];
    assert_eq!(held.len(), 3);
    assert!(expected.into_iter().all(|term| held.contains(term)));
    let late = "SELECT (SELECT count(*) FROM sync_claim WHERE worker = '$1' AND lease_until < now()) \
                + (SELECT count(*) FROM sync_lease WHERE worker = '$1' AND lease_until < now()) \
                + (SELECT count(*) FROM sync_fetch WHERE worker = '$1' AND lease_until < now()) AS n";
    assert_eq!(numbers(store, &late.replace("$1", target)), [0]);
    store.release(&claim.lease).unwrap();
    store.release_lease(&lease).unwrap();
    store.drop_fetch(&fetch).unwrap();
    assert!(store.heartbeat().unwrap().is_empty());
}

/// A request may be executed after its worker stopped waiting: what it took is renewed by nobody, and the worker
/// itself may take it over.
fn what_nobody_knows_of_runs_out(store: &mut SqlStore, target: &str) {
    fed(store, target, 100, 2);
    become_worker(store, "late");
    let claim = claimed(store, target, 1);
    let LeaseAnswer::Taken(lease) = store.take_lease(target, "run").unwrap() else { panic!("held") };
    let fetch = store.begin_fetch(target, "run", "f").unwrap();
    for table in ["sync_claim", "sync_lease", "sync_fetch"] {
        store.run_sql(&format!("UPDATE {table} SET worker = 'a' WHERE worker = 'late'")).unwrap();
    }
    become_worker(store, "a");
    let held = store.heartbeat().unwrap();
    assert!([&claim.lease.claim_id, &lease.term, &fetch.claim_id].into_iter().all(|term| !held.contains(term)));
    run_out(store);
    store.heartbeat().unwrap();
    assert_eq!(store.recover().unwrap().released, 1);
    assert!(matches!(store.take_lease(target, "run").unwrap(), LeaseAnswer::Taken(_)));
    let found = store.fetches(target).unwrap();
    assert!(found.iter().any(|found| found.claim_id == fetch.claim_id && found.is_dead), "{found:?}");
    store.adopt_fetch(target, &fetch.claim_id, "run").unwrap();
    assert!(store.heartbeat().unwrap().contains(&fetch.claim_id));
    assert!(store.fetches(target).unwrap().iter().all(|found| !found.is_dead));
}

fn leases_are_held_by_one(store: &mut SqlStore, target: &str) {
    let LeaseAnswer::Taken(first) = store.take_lease(target, "run").unwrap() else { panic!("held") };
    assert_eq!(store.take_lease(target, "run").unwrap(), LeaseAnswer::Held("a".to_owned().into()), "not twice");
    become_worker(store, "b");
    if store.backend_kind().name().contains("file") {
        // On a local file every other worker is gone.
        assert!(matches!(store.take_lease(target, "run").unwrap(), LeaseAnswer::Taken(_)));
    } else {
        assert_eq!(store.take_lease(target, "run").unwrap(), LeaseAnswer::Held("a".to_owned().into()));
        run_out(store);
        assert!(matches!(store.take_lease(target, "run").unwrap(), LeaseAnswer::Taken(_)));
    }
    become_worker(store, "a");
    assert_lost(store.release_lease(&first));
    become_worker(store, "b");
    let holder = format!("SELECT count(*) AS n FROM sync_lease WHERE target = '{target}' AND worker = 'b'");
    assert_eq!(numbers(store, &holder), [1]);
}

fn read_rows(store: &mut SqlStore, fetch: &state::FetchLease) -> Vec<String> {
    let mut rows = Vec::new();
    loop {
        let chunk = store.staged_rows(fetch, rows.len() as u64, 400).unwrap();
        let texts: Vec<String> = chunk.into_values().filter_map(|mut row| row.remove(0).into_text()).collect();
        let is_last = texts.len() < 400;
        rows.extend(texts);
        if is_last {
            return rows;
        }
    }
}

fn staged_rows_arrive_once_and_in_order(store: &mut SqlStore, target: &str) {
    let fetch = store.begin_fetch(target, "run", "f").unwrap();
    let other = store.begin_fetch(target, "run", "f").unwrap();
    let rows = |from: u64, count: u64| -> Vec<String> {
        (from..from + count).map(|n| format!("{{\"n\": {n}, \"t\": \"it's \\\\ \\\" é\\u0001 日本 {{x}}\"}}")).collect()
    };
    store.stage_rows(&fetch, 0, &rows(0, 1000)).unwrap();
    store.stage_rows(&fetch, 0, &rows(0, 1000)).unwrap();
    store.stage_rows(&fetch, 1000, &rows(1000, 3)).unwrap();
    store.stage_rows(&fetch, 1003, &[]).unwrap();
    store.stage_rows(&other, 0, &["other".into()]).unwrap();
    assert_eq!(read_rows(store, &fetch), rows(0, 1003));
    assert_eq!(read_rows(store, &other), ["other"]);
    store.complete_fetch(&fetch, 1003, Some("no_change")).unwrap();
    assert_lost(store.stage_rows(&fetch, 1003, &["more".into()]));
    let found = store.fetches(target).unwrap();
    assert_eq!(
        found.iter().map(|fetch| (fetch.is_complete, fetch.row_count)).collect::<Vec<_>>(),
        [(true, 1003), (false, 0)]
    );
    assert_eq!(found[0].empty_result.as_deref(), Some("no_change"));
    assert!(found.iter().all(|fetch| !fetch.is_dead), "they are this worker's");
    store.drop_fetch(&fetch).unwrap();
    assert_eq!(store.fetches(target).unwrap().len(), 1);
    assert_eq!(read_rows(store, &other), ["other"]);
}

fn large_parts_of_a_fetch_keep_their_order(store: &mut SqlStore, target: &str) {
    let rows: Vec<String> = (0..4000).map(|at| format!("{{\"é'{at}\": \"{}\"}}", "x".repeat(150))).collect();
    let fetch = store.begin_fetch(target, "run", "f").unwrap();
    store.stage_rows(&fetch, 0, &rows[..3000]).unwrap();
    // An answer that was lost has the part sent once more.
    store.stage_rows(&fetch, 0, &rows[..3000]).unwrap();
    store.stage_rows(&fetch, 3000, &rows[3000..]).unwrap();
    assert_eq!(read_rows(store, &fetch), rows);
    let whole = store.stage_whole(target, "run", "f", &rows, None).unwrap();
    assert_eq!(read_rows(store, &whole), rows);
    store.drop_fetches(&[fetch, whole]).unwrap();
}

fn a_small_fetch_is_staged_at_once(store: &mut SqlStore, target: &str) {
    let rows = ["{\"id\": 1}", "it's {x}"].map(str::to_owned);
    let whole = store.stage_whole(target, "run", "f", &rows, None).unwrap();
    assert_eq!(read_rows(store, &whole), rows);
    let empty = store.stage_whole(target, "run", "f", &[], Some("no_change")).unwrap();
    assert_eq!(read_rows(store, &empty), Vec::<String>::new());
    let found = store.fetches(target).unwrap();
    let told = |at: usize| (found[at].is_complete, found[at].row_count, found[at].empty_result.as_deref());
    assert_eq!([told(0), told(1)], [(true, 2, None), (true, 0, Some("no_change"))]);
    assert!(store.heartbeat().unwrap().contains(&whole.claim_id), "it is held");
    // Several go at once, or none where one has gone to somebody else.
    let gone = store.begin_fetch(target, "run", "f").unwrap();
    store.drop_fetch(&gone).unwrap();
    assert_lost(store.drop_fetches(&[whole.clone(), gone, empty.clone()]));
    assert_eq!(read_rows(store, &whole), rows);
    store.drop_fetches(&[]).unwrap();
    store.drop_fetches(&[whole.clone(), empty]).unwrap();
    assert_eq!(store.fetches(target).unwrap(), []);
    assert!(!store.heartbeat().unwrap().contains(&whole.claim_id), "it is not held any more");
}

fn a_complete_fetch_outlives_its_worker(store: &mut SqlStore, target: &str) {
    let fetch = store.begin_fetch(target, "run", "f1").unwrap();
    store.stage_rows(&fetch, 0, &["{}".into()]).unwrap();
    store.complete_fetch(&fetch, 1, None).unwrap();
    become_worker(store, "b");
    run_out(store);
    let found = store.fetches(target).unwrap();
    assert!(found[0].is_dead && found[0].is_complete && found[0].fingerprint == "f1");
    assert_eq!(store.fetches(&target.to_uppercase()).unwrap(), found, "the case does not matter");
    assert!(found[0].target == target && store.all_fetches().unwrap().contains(&found[0]));
    let adopted = store.adopt_fetch(target, &found[0].claim_id, "run 2").unwrap();
    assert_eq!(read_rows(store, &adopted), ["{}"]);
    store.drop_fetch(&adopted).unwrap();
    assert!(store.fetches(target).unwrap().is_empty());
    assert_lost(store.adopt_fetch(target, &adopted.claim_id, "run 2"));
}

fn tokens_are_replaced_and_removed(store: &mut SqlStore, target: &str) {
    const HOUR_MS: i64 = 3_600_000;
    let token = |refresh: &str, access: Option<&str>| Token {
        provider: target.to_owned(),
        refresh_token: refresh.to_owned(),
        access_token: access.map(str::to_owned),
        expires_in_ms: access.map(|_| HOUR_MS),
        scope: Some("a b".into()),
        token_url: "https://example.com/token?a='b'".into(),
    };
    assert_eq!(store.token(target).unwrap(), None);
    assert!(store.put_token(&token("r1", None), None).unwrap());
    assert!(store.put_token(&token("r1", None), None).unwrap(), "an answer that was lost");
    assert_eq!(store.token(target).unwrap(), Some(token("r1", None)));
    assert!(store.put_token(&token("r'2", Some("a\\2")), Some("r1")).unwrap());
    // Requests that come late bring nothing back, and remove nothing.
    assert!(!store.put_token(&token("r1", None), None).unwrap());
    assert!(!store.put_token(&token("other", None), Some("r1")).unwrap());
    store.remove_token(target, "r1").unwrap();
    let stored = store.token(target).unwrap().unwrap();
    // What is left is told by the database, whose time goes on.
    let left = stored.expires_in_ms.unwrap();
    assert!((HOUR_MS - 600_000..=HOUR_MS).contains(&left), "{left}");
    // Some live for months.
    let days = |days: i64| Token { expires_in_ms: Some(days * 24 * HOUR_MS), ..stored.clone() };
    for (asked, kept) in [(60, 60), (1_000_000, 3_650)] {
        assert!(store.put_token(&days(asked), Some(&stored.refresh_token)).unwrap());
        let left = store.token(target).unwrap().unwrap().expires_in_ms.unwrap();
        assert_eq!((left + HOUR_MS) / (24 * HOUR_MS), kept, "{left}");
    }
    assert_eq!(Token { expires_in_ms: Some(HOUR_MS), ..stored }, token("r'2", Some("a\\2")));
    let expired = Token { expires_in_ms: Some(-5_000), ..token("r'2", Some("a3")) };
    assert!(store.put_token(&expired, Some("r'2")).unwrap());
    assert!(store.token(target).unwrap().unwrap().expires_in_ms.unwrap() <= -5_000);
    let all = store.tokens().unwrap();
    assert_eq!(all.len(), 1);
    assert!((0..600_000).contains(&all[0].stored_ms_ago), "{}", all[0].stored_ms_ago);
    store.remove_token(target, "r'2").unwrap();
    assert_eq!(store.token(target).unwrap(), None);
}

fn any_text_is_only_text(store: &mut SqlStore, _: &str) {
    for target in
        ["it's; DROP TABLE sync_evt; --", "\"q\".{claim}", "$$x$$ \\' %s", "é日本\u{1F600}", "fence:lease_lost:0"]
    {
        let changes = Changes::of_rows(10);
        changes.feed(store, target, 3).unwrap();
        let claim = store.claim(target, target, 10).unwrap().unwrap();
        assert_eq!((claim.events.len(), claim.lease.target.as_str()), (3, target));
        let message = format!("{target}\0\u{1}\n'\"\\ could not serialize access, server closed the connection");
        let outcome = |seq, status| Outcome { seq, status, message: Some(message.clone()) };
        let outcomes = [
            outcome(1, OutcomeStatus::Error(Duration::ZERO)),
            outcome(2, OutcomeStatus::Reject(Some(message.clone()))),
            outcome(3, OutcomeStatus::Warn),
        ];
        store.record(&claim.lease, &outcomes).unwrap();
        store.release(&claim.lease).unwrap();
        let again = store.claim(target, "run", 10).unwrap().unwrap();
        assert_eq!(seqs(&again), [1]);
        assert_eq!(again.events[0].last_error, Some(message.replace('\0', "\u{fffd}")));
        store.release(&again.lease).unwrap();
        let LeaseAnswer::Taken(lease) = store.take_lease(target, target).unwrap() else { panic!("held") };
        store.release_lease(&lease).unwrap();
        let fetch = store.begin_fetch(target, target, target).unwrap();
        store.stage_rows(&fetch, 0, std::slice::from_ref(&message)).unwrap();
        assert_eq!(read_rows(store, &fetch), [message.replace('\0', "\u{fffd}")]);
        store.drop_fetch(&fetch).unwrap();
    }
}

fn the_history_has_one_line_a_run(store: &mut SqlStore, target: &str) {
    let report = DeliveryReport {
        run_id: "r1",
        target,
        delivered: 5,
        rejected: 1,
        to_retry: 2,
        first_error: Some("it's down"),
        duration: Duration::from_millis(1500),
    };
    store.log_delivery(&report).unwrap();
    store.log_delivery(&report).unwrap();
    let sql = format!("SELECT delivered FROM sync_log WHERE target = '{target}'");
    assert_eq!(numbers(store, &sql), [5]);
}
