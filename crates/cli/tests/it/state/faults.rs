//! Servers that break, restart, freeze or are gone (chapter 04 P2, P3): what was in the state stays exact.

use std::time::{Duration, Instant};

use state::{BackendKind, Queue, Staging, StateConfig, StateError, WorkerId};
use testkit::{Changes, StateFixture};

use super::fixture;
use super::worker::{Place, TARGET, check, work};

const LEASE: Duration = Duration::from_secs(20);

/// A worker delivers while `trouble` happens. It never dies, so each event arrives exactly once.
fn deliver_through(fixture: &mut StateFixture, times: usize, trouble: impl Fn(&mut StateFixture)) {
    let place = Place::below(&fixture.project.root());
    let config = StateConfig { lease: LEASE, answer_wait: Duration::from_secs(2), ..fixture.config() };
    let ended = std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let store = state::open(config.clone(), WorkerId::from("w".to_owned()))?;
            work(store, &place, 5)
        });
        // Trouble comes only after something was delivered since the last one.
        let mut rounds = 0;
        while place.wait_for_more(5, || worker.is_finished()) && rounds < times {
            trouble(fixture);
            rounds += 1;
        }
        place.stop();
        (worker.join().unwrap(), rounds)
    });
    if let Err(error) = ended.0 {
        panic!("the worker gave up: {error}");
    }
    assert_eq!(ended.1, times, "after each trouble something was delivered");
    let mut store = fixture.open("checker");
    let (arrived, twice) = check(&mut store, &place);
    assert!(arrived > 5 * times && twice == 0, "{arrived} arrived, {twice} of them twice");
    // Requests that were executed late took no lease that nobody gives back.
    let leases = store.ask_sql("SELECT count(*) AS n FROM sync_lease WHERE worker <> ''").unwrap();
    assert_eq!(leases[0][0].as_i64(), Some(0));
}

#[test]
fn connections_that_are_cut_lose_and_double_nothing() {
    deliver_through(&mut fixture(BackendKind::Postgres), 12, |fixture| {
        fixture.postgres.as_ref().unwrap().terminate_connections();
    });
}

#[test]
fn a_restart_of_postgresql_loses_and_doubles_nothing() {
    deliver_through(&mut fixture(BackendKind::Postgres), 2, |fixture| fixture.postgres.as_mut().unwrap().restart());
}

#[test]
fn a_frozen_quack_server_loses_and_doubles_nothing() {
    deliver_through(&mut fixture(BackendKind::Quack), 2, |fixture| {
        let server = fixture.quack.as_ref().unwrap();
        server.freeze(true);
        // Longer than the worker waits for an answer.
        std::thread::sleep(Duration::from_millis(2600));
        server.freeze(false);
    });
}

#[test]
fn a_killed_quack_server_loses_and_doubles_nothing() {
    deliver_through(&mut fixture(BackendKind::Quack), 3, |fixture| fixture.quack.as_mut().unwrap().kill_and_restart());
}

#[test]
fn a_server_that_stays_away_is_an_error_in_time() {
    let fixture = fixture(BackendKind::Quack);
    let config =
        StateConfig { answer_wait: Duration::from_millis(500), patience: Duration::from_secs(1), ..fixture.config() };
    let mut store = state::open(config, WorkerId::from("w".to_owned())).unwrap();
    Changes::of_rows(3).feed(&mut store, TARGET, 3).unwrap();
    fixture.quack.as_ref().unwrap().freeze(true);
    let started = Instant::now();
    let error = store.claim(TARGET, "run", 10).unwrap_err();
    assert!(matches!(error, StateError::Unreachable { .. }), "{error}");
    assert!(started.elapsed() < Duration::from_secs(20), "it did not hang");
    fixture.quack.as_ref().unwrap().freeze(false);
    drop(store);
    // The claim may have come through after all: then it is somebody else's until its lease runs out.
    let mut store = fixture.open("w2");
    store.run_sql("UPDATE sync_claim SET lease_until = now() - INTERVAL '1 minute'").unwrap();
    store.recover().unwrap();
    assert_eq!(store.claim(TARGET, "run", 10).unwrap().map(|claim| claim.events.len()), Some(3));
}

/// On PostgreSQL a claim passes over events that another is just taking: later ones of their rows must stay.
#[test]
fn events_that_are_just_being_taken_hold_back_their_rows() {
    let fixture = fixture(BackendKind::Postgres);
    let mut store = fixture.open("w");
    // Rows 1 2 0 1 2 0 1.
    Changes::of_rows(3).feed(&mut store, TARGET, 7).unwrap();
    let query = "SELECT seq FROM sync_evt WHERE seq = 1";
    let mut holder = fixture.postgres.as_ref().unwrap().hold_rows("state", query);
    let claim = store.claim(TARGET, "run", 10).unwrap().unwrap();
    assert_eq!(claim.events.iter().map(|event| event.seq).collect::<Vec<_>>(), [2, 3, 5, 6]);
    holder.kill().unwrap();
    holder.wait().unwrap();
}

/// Several workers at once, each with a session of its own.
fn share(kind: BackendKind) {
    let fixture = fixture(kind);
    let place = Place::below(&fixture.project.root());
    let config = StateConfig { lease: LEASE, ..fixture.config() };
    // The first one makes the tables for all.
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|at| {
                let (config, place) = (config.clone(), place.clone());
                scope.spawn(move || {
                    let store = state::open(config, WorkerId::from(format!("w{at}"))).unwrap();
                    work(store, &place, at + 1)
                })
            })
            .collect();
        place.wait_for_more(200, || workers.iter().any(std::thread::ScopedJoinHandle::is_finished));
        place.stop();
        for worker in workers {
            if let Err(error) = worker.join().unwrap() {
                panic!("a worker gave up: {error}");
            }
        }
    });
    let (arrived, twice) = check(&mut fixture.open("checker"), &place);
    assert!(arrived >= 200 && twice == 0, "{arrived} arrived, {twice} of them twice");
}

#[test]
fn four_workers_share_a_queue_on_postgresql() {
    share(BackendKind::Postgres);
}

#[test]
fn four_workers_share_a_queue_on_a_quack_server() {
    share(BackendKind::Quack);
}

/// Workers that start at the same moment on a new database all make its tables: one does it, for all.
#[test]
fn the_tables_can_be_made_by_several_at_once() {
    for kind in [BackendKind::Postgres, BackendKind::Quack] {
        for round in 0..2 {
            let fixture = fixture(kind);
            let config = fixture.config();
            let start = std::sync::Barrier::new(6);
            let errors: Vec<String> = std::thread::scope(|scope| {
                let open = |at: usize| {
                    let (config, start) = (config.clone(), &start);
                    move || {
                        start.wait();
                        let mut store = state::open(config, WorkerId::from(format!("w{at}")))?;
                        store.begin_fetch("raw.rows", "run", "print").map(drop)
                    }
                };
                let workers: Vec<_> = (0..6).map(|at| scope.spawn(open(at))).collect();
                workers.into_iter().filter_map(|worker| worker.join().unwrap().err()).map(|e| e.to_string()).collect()
            });
            assert_eq!(errors, [""; 0], "{kind:?} in round {round}");
        }
    }
}
