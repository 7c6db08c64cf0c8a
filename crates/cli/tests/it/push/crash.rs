//! kill -9 of runs at random moments while they push: the sink misses nothing, rows keep their order, and only what a
//! lane was sending comes twice.

use std::time::Duration;

use state::BackendKind;
use testkit::Random;

use super::sink::Say;
use super::{ASYNC, MERGE, SYNC, Scene};

/// Latest moment of a kill, in milliseconds.
const LIFE_MS: usize = 1_500;
/// The same of a kill that waits for the first call of `push`.
const PUSHING_MS: usize = 100;
const BATCH: usize = 5;

/// Short, so that what a dead worker held is not waited for.
const LEASE: Duration = Duration::from_secs(2);

/// How rows are pushed.
struct Way {
    header: &'static str,
    lanes: usize,
    functions: &'static str,
}

const MERGED: Way = Way { header: MERGE, lanes: 4, functions: SYNC };
const WHOLE: Way = Way { header: "table", lanes: 4, functions: SYNC };
const GROUPS: Way = Way { header: "tracked\n-- @group_key: k", lanes: 1, functions: SYNC };
const JOBS: Way = Way { header: MERGE, lanes: 1, functions: ASYNC };

/// Kills a run at a random moment: of its life, or soon after it began to push.
fn kill_one(scene: &Scene, random: &mut Random) {
    let calls = scene.sink.calls().len();
    let mut run = scene.silent();
    let mut life = random.below(LIFE_MS);
    if random.below(3) > 0 {
        while scene.sink.calls().len() == calls && run.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        life = random.below(PUSHING_MS);
    }
    std::thread::sleep(Duration::from_millis(u64::try_from(life).unwrap()));
    run.kill().unwrap();
    run.wait().unwrap();
}

fn survive(kind: BackendKind, way: &Way, kills: usize, seed: u64) {
    let mode = if way.functions == ASYNC { ", \"batch_mode\": \"async\", \"poll_interval\": \"10ms\"" } else { "" };
    let keys = format!("\"batch_size\": {BATCH}, \"max_concurrent\": {}{mode}", way.lanes);
    let scene = Scene::on(kind, way.header, &keys, way.functions);
    scene.env(&format!("ONDATRA_LEASE={}\nONDATRA_CLAIM_CHUNK=40\n", LEASE.as_secs()));
    scene.add(1..=20);
    scene.good();
    scene.sink.always(Say::Slow(Duration::from_millis(30)));
    let mut random = Random(seed);
    for kill in 0..kills {
        let first = 21 + i64::try_from(kill).unwrap() * 7;
        scene.add(first..=first + 6);
        scene.change(&format!("id % 2 = {}", kill % 2));
        // Tables do not grow without end.
        scene.lake.execute(&format!("DELETE FROM ext.t WHERE id < {first} - 60"));
        kill_one(&scene, &mut random);
    }
    if kind != BackendKind::File {
        std::thread::sleep(LEASE + Duration::from_millis(500));
    }
    scene.deliver_all();
    let arrived = scene.check();
    // A group is one call, however large.
    let largest = scene.sink.calls().iter().map(|call| call.taken.len()).max().unwrap_or(0);
    assert!(way.header == GROUPS.header || largest <= BATCH, "{largest} rows in a call");
    assert!(arrived.twice <= kills * way.lanes * largest, "{arrived:?} after {kills} kills");
}

#[test]
fn killed_runs_lose_nothing() {
    survive(BackendKind::File, &MERGED, 2, 21);
    survive(BackendKind::File, &JOBS, 2, 26);
}

#[test]
fn killed_runs_with_a_state_on_postgresql_lose_nothing() {
    survive(BackendKind::Postgres, &WHOLE, 2, 22);
}

#[test]
fn killed_runs_with_a_state_on_a_quack_server_lose_nothing() {
    survive(BackendKind::Quack, &GROUPS, 2, 23);
}

/// Runs are killed before any of them came to its end: what was fed first is not the table's first version.
#[test]
fn killed_first_runs_lose_nothing() {
    let scene = Scene::new(MERGE, "\"batch_size\": 2, \"max_concurrent\": 2", SYNC);
    scene.sink.always(Say::Slow(Duration::from_millis(30)));
    let mut random = Random(27);
    for kill in 0..3 {
        scene.add(kill * 20 + 1..=kill * 20 + 20);
        scene.change("id % 3 = 0");
        kill_one(&scene, &mut random);
    }
    scene.good();
    super::checker::converged(&scene.lake, &scene.sink, "x");
    assert_eq!(scene.counts().pending + scene.counts().waiting, 0);
}

fn soak(kind: BackendKind) {
    // 200 kills, a quarter of them each way.
    for (way, seed) in [MERGED, WHOLE, GROUPS, JOBS].iter().zip(31..) {
        survive(kind, way, 50, seed);
    }
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
