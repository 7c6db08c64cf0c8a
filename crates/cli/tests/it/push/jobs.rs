//! Jobs: submitted once, polled to the end.

use super::sink::Say;
use super::{ASYNC, MERGE, Scene, has};

const KEYS: &str =
    "\"batch_size\": 4, \"batch_mode\": \"async\", \"poll_interval\": \"20ms\", \"poll_timeout\": \"5s\"";

/// Kills a run that waits for its first job.
fn kill_while_polling(scene: &Scene) {
    scene.sink.script(|asked| if asked.is_poll { Say::Wait } else { Say::Ok });
    let mut run = scene.spawn();
    scene.sink.server.wait_for(|request| request.path().starts_with("/jobs/"));
    run.kill().unwrap();
    run.wait().unwrap();
}

#[test]
fn a_job_is_polled_until_it_is_done() {
    let scene = Scene::new(MERGE, KEYS, ASYNC);
    scene.add(1..=6);
    scene.sink.script(|asked| if asked.is_poll && asked.number < 3 { Say::Wait } else { Say::Ok });
    has(&scene.good(), "PUSH: 6 delivered");
    assert_eq!((scene.sink.calls().len(), scene.sink.polls()), (2, 5));
    assert_eq!((scene.check().twice, scene.sink.finalized()), (0, vec![(6, 0)]));
}

#[test]
fn a_job_that_does_not_end_fails_its_rows() {
    let scene = Scene::new(MERGE, &KEYS.replace("5s", "60ms"), ASYNC);
    scene.add(1..=4);
    scene.sink.script(|asked| if asked.is_poll { Say::Wait } else { Say::Ok });
    let text = scene.bad();
    has(&text, "PUSH: 0 delivered, 0 rejected, 4 to retry, 4 pending");
    has(&text, "did not end within");
}

#[test]
fn a_job_may_answer_for_each_row_and_polls_may_fail() {
    let scene = Scene::new(MERGE, KEYS, ASYNC);
    scene.add(1..=4);
    scene.sink.script(|asked| match (asked.is_poll, asked.number) {
        (false, _) => Say::Ok,
        (true, 0) => Say::Status(503),
        (true, 1) => Say::HangUp,
        (true, _) => Say::Each(|row| if row.number("id") == 2 { "reject: no" } else { "ok" }),
    });
    has(&scene.bad(), "PUSH: 3 delivered, 1 rejected, 0 to retry, 0 pending");
    assert_eq!((scene.sink.calls().len(), scene.sink.polls()), (1, 3));
}

#[test]
fn a_job_that_outlives_its_run_is_polled_by_the_next_one_and_not_submitted_again() {
    let scene = Scene::new(MERGE, KEYS, ASYNC);
    scene.add(1..=6);
    scene.sink.script(|asked| if asked.is_poll { Say::Wait } else { Say::Ok });
    let run = scene.spawn();
    scene.sink.server.wait_for(|request| request.path().starts_with("/jobs/"));
    super::interrupt::signal(&run);
    let output = super::interrupt::ended(run);
    assert_eq!(output.code, 1, "{output:?}");
    scene.sink.always(Say::Ok);
    has(&scene.good(), "PUSH: 6 delivered");
    assert_eq!(scene.sink.calls().len(), 2, "the second batch alone is new");
    assert_eq!(scene.check().twice, 0);
}

#[test]
fn a_job_that_nobody_can_ask_for_any_more_is_sent_again() {
    let scene = Scene::new(MERGE, KEYS, ASYNC);
    scene.add(1..=6);
    kill_while_polling(&scene);
    scene.lib("\"batch_size\": 4", super::SYNC);
    scene.sink.always(Say::Ok);
    has(&scene.good(), "PUSH: 6 delivered");
    assert_eq!(scene.check().twice, 4);
}

#[test]
fn a_job_of_a_table_that_was_dropped_is_asked_for_and_its_answer_counts() {
    for (say, told, dead) in [
        (Say::Ok, "PUSH: 10 delivered, 0 rejected, 0 to retry, 0 pending, 2 dead letters", 2),
        (Say::Each(|_| "reject: no"), "PUSH: 6 delivered, 4 rejected", 6),
        (Say::Each(|_| "error: no"), "PUSH: 6 delivered, 0 rejected, 4 to retry", 6),
    ] {
        let scene = Scene::new(MERGE, KEYS, ASYNC);
        scene.add(1..=6);
        kill_while_polling(&scene);
        scene.lake.execute("DROP TABLE lake.sync.x");
        // The first poll is that of the old job; the rows of the new table are taken.
        let polls = scene.sink.polls();
        scene.sink.script(move |asked| if asked.is_poll && asked.number == polls { say } else { Say::Ok });
        let output = scene.run();
        has(&output.stdout, told);
        assert_eq!(scene.counts().dead, dead, "{}", output.stdout);
        assert_eq!(scene.sink.calls().len(), 3, "one job of the old table, two of the new one");
    }
}

#[test]
fn rows_that_change_while_a_job_goes_on_are_sent_after_it() {
    let scene = Scene::new(MERGE, KEYS, ASYNC);
    scene.add(1..=4);
    kill_while_polling(&scene);
    scene.change("id <= 2");
    scene.sink.always(Say::Ok);
    // The insert goes on as a job; then come both sides of what changed.
    has(&scene.good(), "PUSH: 8 delivered");
    assert_eq!((scene.check().twice, scene.sink.calls().len()), (0, 2));
}

#[test]
fn a_job_that_is_done_and_does_not_say_of_every_row_is_not_asked_again() {
    let scene = Scene::new(MERGE, KEYS, ASYNC);
    scene.add(1..=4);
    scene.sink.script(|asked| if asked.is_poll { Say::Missing } else { Say::Ok });
    has(&scene.bad(), "crm.poll: 'per_row' must be a dict with a status for every row");
    assert_eq!((scene.sink.polls(), scene.counts().waiting), (1, 4));
}
