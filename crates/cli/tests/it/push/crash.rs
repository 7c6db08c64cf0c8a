//! kill -9 of runs at random moments while they push: the sink misses nothing, rows keep their order, and only what a
//! lane was sending comes twice.

use std::process::Stdio;
use std::time::Duration;

use state::BackendKind;
use testkit::Random;

use super::sink::Say;
use super::{MERGE, SYNC, Scene};

/// Latest moment of a kill, in milliseconds.
const LIFE_MS: usize = 1_500;
const BATCH: usize = 5;

/// Short, so that what a dead worker held is not waited for.
const LEASE: Duration = Duration::from_secs(2);

fn survive(kind: BackendKind, lanes: usize, kills: usize, seed: u64) {
    let keys = format!("\"batch_size\": {BATCH}, \"max_concurrent\": {lanes}");
    let scene = Scene::on(kind, MERGE, &keys, SYNC);
    let env = std::fs::read_to_string(scene.fixture.project.root().join(".env")).unwrap();
    scene.fixture.project.write(".env", &format!("{env}ONDATRA_LEASE={}\nONDATRA_CLAIM_CHUNK=40\n", LEASE.as_secs()));
    scene.add(1..=20);
    scene.good();
    scene.sink.always(Say::Slow(Duration::from_millis(10)));
    let mut random = Random(seed);
    for kill in 0..kills {
        let first = 21 + i64::try_from(kill).unwrap() * 7;
        scene.add(first..=first + 6);
        scene.change(&format!("id % 4 = {}", kill % 4));
        let mut run =
            scene.fixture.project.command(&["run"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(u64::try_from(random.below(LIFE_MS)).unwrap()));
        run.kill().unwrap();
        run.wait().unwrap();
    }
    if kind != BackendKind::File {
        std::thread::sleep(LEASE + Duration::from_millis(500));
    }
    scene.good();
    let arrived = scene.check();
    assert!(arrived.twice <= kills * lanes * BATCH, "{arrived:?} after {kills} kills");
}

#[test]
fn killed_runs_lose_nothing() {
    survive(BackendKind::File, 4, 6, 21);
}

#[test]
fn killed_runs_with_a_state_on_postgresql_lose_nothing() {
    survive(BackendKind::Postgres, 4, 3, 22);
}

#[test]
fn killed_runs_with_a_state_on_a_quack_server_lose_nothing() {
    survive(BackendKind::Quack, 1, 3, 23);
}

fn soak(kind: BackendKind) {
    survive(kind, 1, 200, 24);
    survive(kind, 4, 200, 25);
}

#[test]
#[ignore = "make soak"]
fn soak_200_killed_runs_lose_nothing() {
    soak(BackendKind::File);
}

#[test]
#[ignore = "make soak"]
fn soak_200_killed_runs_with_a_state_on_postgresql_lose_nothing() {
    soak(BackendKind::Postgres);
}

#[test]
#[ignore = "make soak"]
fn soak_200_killed_runs_with_a_state_on_a_quack_server_lose_nothing() {
    soak(BackendKind::Quack);
}
