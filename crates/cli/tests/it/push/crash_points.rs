//! kill -9 exactly between two steps of a delivery.

use std::time::{Duration, Instant};

use state::BackendKind;

use super::sink::{Asked, Say};
use super::{ASYNC, MERGE, SYNC, Scene, has};

/// A run that is killed when the script says so.
#[track_caller]
fn killed(scene: &Scene, script: impl FnMut(&Asked) -> Say + Send + 'static) {
    scene.sink.script(script);
    let run = scene.spawn();
    scene.sink.aim_at(Some(run.id()));
    let output = super::interrupt::ended(run);
    assert_eq!(output.code, -1, "it was not killed: {output:?}");
    scene.sink.aim_at(None);
    scene.sink.always(Say::Ok);
}

#[test]
fn between_the_commit_and_the_feed() {
    let scene = Scene::on(BackendKind::Postgres, MERGE, "\"batch_size\": 5", SYNC);
    // The dead worker has the model's lease.
    scene.env("ONDATRA_LEASE=2\n");
    scene.add(1..=5);
    scene.good();
    scene.add(6..=7);
    let committed = "SELECT count(*) FROM lake.sync.x";
    // The position cannot be moved: the run commits, and waits with the feed.
    let postgres = scene.fixture.postgres.as_ref().unwrap();
    let mut holder = postgres.hold_rows("state", "SELECT * FROM sync_feed");
    let mut run = scene.spawn();
    let started = Instant::now();
    while scene.lake.number(committed) != 7 {
        assert!(started.elapsed() < Duration::from_mins(1), "no commit");
        std::thread::sleep(Duration::from_millis(20));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    holder.kill().unwrap();
    holder.wait().unwrap();
    postgres.terminate_connections();
    assert_eq!((scene.sink.taken().len(), scene.counts().pending), (5, 0));
    has(&scene.good(), "PUSH: 2 delivered");
    assert_eq!(scene.check().twice, 0);
}

#[test]
fn between_the_answer_and_its_record() {
    let scene = Scene::new(MERGE, "\"batch_size\": 5", SYNC);
    scene.add(1..=15);
    killed(&scene, |asked| if asked.number == 1 { Say::Kill } else { Say::Ok });
    has(&scene.good(), "PUSH: 10 delivered");
    let calls = scene.sink.calls();
    assert_eq!(calls[1].sent, calls[2].sent, "the batch that nobody knew of, with the same event ids");
    assert_eq!(scene.check().twice, 5);
}

#[test]
fn between_the_record_and_its_application() {
    let scene = Scene::new(MERGE, "\"batch_size\": 5, \"retry_backoff\": 600", SYNC);
    scene.add(1..=15);
    // The third call begins when two are recorded; outcomes are applied at the end of the chunk.
    killed(&scene, |asked| match asked.number {
        0 => Say::Each(|row| match row.number("id") {
            1 => "reject: no",
            2 => "error: later",
            _ => "ok",
        }),
        2 => Say::Kill,
        _ => Say::Ok,
    });
    has(&scene.good(), "PUSH: 5 delivered, 0 rejected, 0 to retry, 1 pending");
    let counts = scene.counts();
    assert_eq!((counts.dead, counts.waiting, counts.in_flight), (1, 1, 0), "what was recorded is applied");
    let mut ids: Vec<i64> = scene.sink.taken().iter().map(|row| row.number("id")).collect();
    ids.sort_unstable();
    assert_eq!(ids, [3, 4, 5, 6, 7, 8, 9, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15]);
}

const JOB: &str = "\"batch_size\": 4, \"batch_mode\": \"async\", \"poll_interval\": \"20ms\"";

#[test]
fn between_a_jobs_reference_and_its_first_poll() {
    let scene = Scene::new(MERGE, JOB, ASYNC);
    scene.add(1..=6);
    // The poll arrives, and its answer is not heard.
    killed(&scene, |asked| if asked.is_poll { Say::Kill } else { Say::Ok });
    has(&scene.good(), "PUSH: 6 delivered");
    assert_eq!(scene.sink.calls().len(), 2, "the job is not submitted again");
    assert_eq!(scene.check().twice, 0);
}

#[test]
fn between_a_jobs_submission_and_its_reference() {
    let scene = Scene::new(MERGE, JOB, ASYNC);
    scene.add(1..=6);
    killed(&scene, |_| Say::Kill);
    has(&scene.good(), "PUSH: 6 delivered");
    let calls = scene.sink.calls();
    assert_eq!((calls.len(), &calls[0].sent), (3, &calls[1].sent), "nobody knew of the job");
    assert_eq!(scene.check().twice, 4);
}

#[test]
fn connections_that_break_during_a_push_are_no_kill() {
    let scene = Scene::on(BackendKind::Postgres, MERGE, "\"batch_size\": 5, \"max_concurrent\": 2", SYNC);
    scene.add(1..=60);
    scene.sink.always(Say::Slow(Duration::from_millis(50)));
    let run = scene.spawn();
    scene.sink.server.wait_for(|request| request.path() == "/rows");
    for _ in 0..3 {
        scene.fixture.postgres.as_ref().unwrap().terminate_connections();
        std::thread::sleep(Duration::from_millis(100));
    }
    let output = super::interrupt::ended(run).success();
    has(&output.stdout, "PUSH: 60 delivered");
    assert_eq!(scene.check().twice, 0);
}

#[test]
fn a_state_that_does_not_answer_in_time_stops_the_delivery_and_the_next_run_goes_on() {
    let scene = Scene::on(BackendKind::Quack, MERGE, "", SYNC);
    scene.env("ONDATRA_LEASE=2\n");
    scene.add(1..=5);
    scene.sink.script(|asked| if asked.number == 0 { Say::Slow(Duration::from_millis(900)) } else { Say::Ok });
    let run = scene.spawn();
    scene.sink.server.wait_for(|request| request.path() == "/rows");
    let server = scene.fixture.quack.as_ref().unwrap();
    server.freeze(true);
    std::thread::sleep(Duration::from_millis(4_500));
    server.freeze(false);
    let output = super::interrupt::ended(run).success();
    // It may have renewed just in time.
    if !output.stdout.contains("PUSH: 5 delivered") {
        has(&output.stdout, "the state did not answer in time");
        scene.good();
    }
    assert_eq!(scene.check().twice, 0);
}
