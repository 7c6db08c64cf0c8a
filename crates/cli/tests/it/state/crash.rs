//! kill -9 of worker processes at random moments (chapter 04 §12): no event is lost, rows stay in order, and what
//! arrives twice is bounded by what was in flight.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use state::{BackendKind, StateConfig, WorkerId};
use testkit::{Random, StateFixture, state_config};

use super::fixture;
use super::worker::{BATCH, Place, check, work};

/// Short, so that what a dead worker held is not waited for.
const LEASE: Duration = Duration::from_secs(2);
/// Longest life of a worker, in milliseconds.
const LIFE_MS: usize = 700;

/// Not a test: what the processes run that the tests below start and kill.
#[test]
#[ignore = "a process of the tests below"]
fn worker_process() {
    let variable = |name: &str| std::env::var(name).unwrap();
    let root = PathBuf::from(variable("ONDATRA_TEST_ROOT"));
    let seed = variable("ONDATRA_TEST_SEED").parse().unwrap();
    let config = StateConfig { lease: LEASE, ..state_config(&root, &std::env::temp_dir()) };
    let store = state::open(config, WorkerId::of_this_process().unwrap()).unwrap();
    if let Err(error) = work(store, &Place::below(&root), seed) {
        panic!("the worker gave up: {error}");
    }
}

fn spawn(fixture: &StateFixture, seed: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "state::crash::worker_process", "--ignored", "--nocapture"])
        .env("ONDATRA_TEST_ROOT", fixture.project.root())
        .env("ONDATRA_TEST_SEED", seed.to_string())
        .env("TMPDIR", fixture.project.temp_root())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn survive(kind: BackendKind, workers: usize, kills: usize) {
    let fixture = fixture(kind);
    let place = Place::below(&fixture.project.root());
    let mut random = Random(kills as u64);
    let mut seed = 0;
    let mut next = || {
        seed += 1;
        spawn(&fixture, seed)
    };
    let mut running: Vec<Child> = (0..workers).map(|_| next()).collect();
    for _ in 0..kills {
        std::thread::sleep(Duration::from_millis(u64::try_from(random.below(LIFE_MS)).unwrap()));
        let victim = random.below(workers);
        running[victim].kill().unwrap();
        running[victim].wait().unwrap();
        running[victim] = next();
    }
    // On a slow machine no worker may have come so far before it was killed.
    assert!(place.wait_for_more(1, || false), "those that live deliver");
    place.stop();
    for worker in running {
        let output = worker.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let (arrived, twice) = check(&mut fixture.open("checker"), &place);
    assert!(arrived > 0 && twice <= kills * BATCH, "{arrived} arrived, {twice} of them twice after {kills} kills");
}

#[test]
fn a_file_survives_kills() {
    survive(BackendKind::File, 1, 6);
}

#[test]
fn postgresql_survives_kills() {
    survive(BackendKind::Postgres, 2, 6);
}

#[test]
fn a_quack_server_survives_kills() {
    survive(BackendKind::Quack, 2, 6);
}

fn soak(kind: BackendKind) {
    survive(kind, if kind == BackendKind::File { 1 } else { 4 }, 200);
}

#[test]
#[ignore = "make soak"]
fn soak_a_file_survives_200_kills() {
    soak(BackendKind::File);
}

#[test]
#[ignore = "make soak"]
fn soak_postgresql_survives_200_kills() {
    soak(BackendKind::Postgres);
}

#[test]
#[ignore = "make soak"]
fn soak_a_quack_server_survives_200_kills() {
    soak(BackendKind::Quack);
}
