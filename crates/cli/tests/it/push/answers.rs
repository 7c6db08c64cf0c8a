//! What becomes of rows by what the sink says of them.

use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::Duration;

use super::sink::Say;
use super::{ASYNC, ATOMIC, MERGE, SYNC, Scene, has};

/// Longer than the first wait after a failure, whose length is spread by a quarter.
pub const WAIT: Duration = Duration::from_millis(1_300);

#[test]
fn each_row_goes_its_own_way() {
    let scene = Scene::new(MERGE, "\"batch_size\": 50", SYNC);
    scene.add(1..=6);
    scene.sink.always(Say::Each(|row| match row.number("id") {
        1 => "warn: a bit long",
        2 => "error: the row is locked",
        3 => "reject: no such country",
        4 => "what",
        _ => "ok",
    }));
    let text = scene.bad();
    has(&text, "[FAILED] sync.x");
    has(&text, "PUSH: 3 delivered, 1 rejected, 2 to retry, 2 pending");
    has(&text, "a bit long");
    has(&text, "the row is locked");
    let counts = scene.counts();
    assert_eq!((counts.pending + counts.waiting, counts.in_flight, counts.dead), (2, 0, 1));
    assert_eq!(scene.sink.finalized(), []);
    sleep(WAIT);
    scene.sink.always(Say::Ok);
    has(&scene.good(), "PUSH: 2 delivered, 0 rejected, 0 to retry, 0 pending");
    let sent: BTreeSet<i64> = scene.sink.calls()[1].sent.iter().map(|row| row.number("id")).collect();
    assert_eq!(sent, BTreeSet::from([2, 4]), "the rejected row is not sent again");
    assert_eq!((scene.counts().dead, scene.sink.finalized()), (1, vec![(2, 0)]));
    assert!(scene.sink.calls()[0].sent.iter().any(|row| row.event == scene.sink.calls()[1].sent[0].event));
}

#[test]
fn a_row_that_waits_holds_back_its_later_changes_and_only_those() {
    let scene = Scene::new(MERGE, "\"batch_size\": 50, \"retry_backoff\": 60", SYNC);
    scene.add(1..=3);
    scene.sink.always(Say::Each(|row| if row.number("id") == 2 { "error: locked" } else { "ok" }));
    scene.bad();
    scene.change("true");
    scene.sink.always(Say::Ok);
    has(&scene.good(), "PUSH: 4 delivered, 0 rejected, 0 to retry, 3 pending");
    assert!(scene.sink.calls()[1].sent.iter().all(|row| row.number("id") != 2));
    assert_eq!(scene.sink.finalized(), [], "something is left");
}

#[test]
fn missing_statuses_fail_the_batch_and_name_the_first_key() {
    let scene = Scene::new(MERGE, "\"batch_size\": 4", SYNC);
    scene.add(1..=6);
    scene.sink.script(|asked| if asked.number == 0 { Say::Missing } else { Say::Ok });
    let text = scene.bad();
    has(&text, "PUSH: 2 delivered, 0 rejected, 4 to retry, 4 pending");
    has(&text, ":insert\" has none (2 of 4 rows)");
    sleep(WAIT);
    scene.good();
    assert_eq!(scene.check().twice, 4, "the sink had taken them");
}

#[test]
fn an_answer_that_is_lost_after_the_effect_is_sent_again_under_the_same_key() {
    let keys = "\"batch_size\": 6, \"retry_backoff\": 0, \"idempotency_header\": \"Idempotency-Key\"";
    let scene = Scene::new(MERGE, keys, SYNC);
    scene.add(1..=6);
    for say in [Say::TimeOut, Say::HangUp] {
        scene.sink.always(say);
        has(&scene.bad(), "PUSH: 0 delivered, 0 rejected, 6 to retry, 6 pending");
    }
    scene.sink.always(Say::Ok);
    scene.good();
    let [first, second, third] = &scene.sink.calls()[..] else { panic!("three calls") };
    assert!(first.idempotency_key.is_some());
    for again in [second, third] {
        assert_eq!((&first.sent, &first.idempotency_key), (&again.sent, &again.idempotency_key));
    }
    assert_eq!(scene.check().twice, 12);
}

#[test]
fn half_a_batch_is_sent_again_alone() {
    let scene = Scene::new(MERGE, "\"batch_size\": 6", SYNC);
    scene.add(1..=6);
    scene.sink.always(Say::Half);
    has(&scene.bad(), "PUSH: 3 delivered, 0 rejected, 3 to retry, 3 pending");
    scene.sink.always(Say::Ok);
    sleep(WAIT);
    has(&scene.good(), "PUSH: 3 delivered");
    assert_eq!(scene.check().twice, 0);
}

#[test]
fn too_many_requests_pause_and_go_on() {
    // Without a time the call fails; with one, and a further attempt allowed, the request waits.
    let scene = Scene::new(MERGE, "\"batch_size\": 3, \"retry\": 1", SYNC);
    scene.add(1..=6);
    scene.sink.script(|asked| if asked.number == 0 { Say::TooMany(Some(1)) } else { Say::Ok });
    has(&scene.good(), "PUSH: 6 delivered");
    let seen = scene.sink.server.seen();
    assert!(seen[1].at - seen[0].at >= Duration::from_secs(1));
    let scene = Scene::new(MERGE, "\"batch_size\": 3", SYNC);
    scene.add(1..=6);
    scene.sink.script(|asked| match asked.number {
        0 => Say::TooMany(None),
        _ => Say::Ok,
    });
    has(&scene.bad(), "PUSH: 3 delivered, 0 rejected, 3 to retry, 3 pending");
    scene.sink.script(|asked| if asked.number == 2 { Say::TooMany(Some(2)) } else { Say::Ok });
    scene.add(7..=12);
    sleep(WAIT);
    has(&scene.bad(), "429");
    let seen = scene.sink.server.seen();
    let (asked, next) = (&seen[2], &seen[3]);
    assert!(next.at - asked.at >= Duration::from_secs(2), "all calls wait for what the sink asked for");
}

#[test]
fn an_atomic_batch_comes_again_as_a_whole() {
    let scene = Scene::new(MERGE, "\"batch_size\": 3, \"batch_mode\": \"atomic\"", ATOMIC);
    scene.add(1..=6);
    scene.sink.script(|asked| if asked.number == 0 { Say::Status(500) } else { Say::Ok });
    has(&scene.bad(), "PUSH: 3 delivered, 0 rejected, 3 to retry, 3 pending");
    sleep(WAIT);
    has(&scene.good(), "PUSH: 3 delivered");
    assert_eq!(scene.sink.calls()[0].sent, scene.sink.calls()[2].sent);
    assert_eq!(scene.check().twice, 0);
    scene.lib("\"batch_size\": 3, \"batch_mode\": \"atomic\"", SYNC);
    scene.change("id = 1");
    has(&scene.good(), "may be meant as \"sync\"");
}

#[test]
fn a_row_is_given_up_after_so_many_attempts() {
    let scene = Scene::new(MERGE, "\"batch_size\": 9, \"max_attempts\": 2", SYNC);
    scene.add(1..=3);
    scene.sink.always(Say::Each(|row| if row.number("id") == 2 { "error: no" } else { "ok" }));
    has(&scene.bad(), "PUSH: 2 delivered, 0 rejected, 1 to retry, 1 pending");
    sleep(WAIT);
    has(&scene.bad(), "PUSH: 0 delivered, 1 rejected, 0 to retry, 0 pending");
    assert_eq!(scene.counts().dead, 1);
    scene.good();
    assert_eq!(scene.sink.calls().len(), 2);
}

#[test]
fn finalize_that_fails_fails_the_run_and_sends_nothing_again() {
    let scene = Scene::new(MERGE, "\"batch_size\": 9", SYNC);
    let path = scene.fixture.project.root().join("lib/crm.star");
    let text = std::fs::read_to_string(path).unwrap();
    scene.fixture.project.write("lib/crm.star", &text.replace(".ok\n", ".ok\n    fail(\"no close\")\n"));
    scene.add(1..=3);
    let text = scene.bad();
    has(&text, "PUSH: 3 delivered, 0 rejected, 0 to retry, 0 pending");
    has(&text, "no close");
    scene.good();
    assert_eq!(scene.check().twice, 0);
}

#[test]
fn rows_that_always_fail_do_not_keep_others_from_the_sink() {
    let poison = SYNC.replace("    resp =", "    if rows[0][\"id\"] <= 3:\n        fail(\"poison\")\n    resp =");
    let status = SYNC.replace(
        "return resp.json",
        "return {key: \"error: \" if rows[0][\"id\"] <= 3 else said for key, said in resp.json.items()}",
    );
    // A call that fails looks like a sink that is down; rows that are due again at once fill a small chunk.
    for (functions, chunk) in [(&poison, 100), (&status, 2)] {
        let scene = Scene::new(MERGE, "\"retry_backoff\": 0", functions);
        scene.env(&format!("ONDATRA_CLAIM_CHUNK={chunk}\n"));
        scene.add(1..=9);
        scene.bad();
        has(&scene.bad(), "3 to retry, 3 pending");
        let ids: Vec<i64> = scene.sink.taken().iter().map(|row| row.number("id")).filter(|id| *id > 3).collect();
        assert_eq!(ids, [4, 5, 6, 7, 8, 9]);
    }
}

#[test]
fn jobs_that_always_fail_do_not_keep_others_from_the_sink() {
    let poison = ASYNC.replace(
        "    resp = http.post",
        "    if rows[0][\"id\"] <= 3:\n        fail(\"poison\")\n    resp = http.post",
    );
    let keys = "\"retry_backoff\": 0, \"batch_mode\": \"async\", \"poll_interval\": \"10ms\"";
    let scene = Scene::new(MERGE, keys, &poison);
    scene.add(1..=6);
    scene.bad();
    has(&scene.bad(), "3 to retry, 3 pending");
    let ids: Vec<i64> = scene.sink.taken().iter().map(|row| row.number("id")).collect();
    assert_eq!(ids, [4, 5, 6]);
}

#[test]
fn a_row_that_makes_its_whole_batch_fail_is_found() {
    let poison = SYNC
        .replace("    resp =", "    if any([row[\"id\"] == 3 for row in rows]):\n        fail(\"poison\")\n    resp =");
    let scene = Scene::new(MERGE, "\"batch_size\": 8, \"retry_backoff\": 0", &poison);
    scene.add(1..=8);
    for _ in 0..3 {
        has(&scene.bad(), "PUSH: 0 delivered, 0 rejected, 8 to retry, 8 pending");
    }
    // Then in halves.
    has(&scene.bad(), "PUSH: 4 delivered, 0 rejected, 4 to retry, 4 pending");
    has(&scene.bad(), "PUSH: 2 delivered, 0 rejected, 2 to retry, 2 pending");
    has(&scene.bad(), "PUSH: 1 delivered, 0 rejected, 1 to retry, 1 pending");
    let mut ids: Vec<i64> = scene.sink.taken().iter().map(|row| row.number("id")).collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 4, 5, 6, 7, 8]);
}

#[test]
fn only_the_row_at_fault_is_given_up() {
    let poison = SYNC
        .replace("    resp =", "    if any([row[\"id\"] == 3 for row in rows]):\n        fail(\"poison\")\n    resp =");
    let scene = Scene::new(MERGE, "\"batch_size\": 4, \"retry_backoff\": 0, \"max_attempts\": 2", &poison);
    scene.add(1..=4);
    for _ in 0..4 {
        has(&scene.bad(), " 0 rejected, ");
    }
    has(&scene.bad(), "PUSH: 1 delivered, 1 rejected, 0 to retry, 0 pending");
    let mut ids: Vec<i64> = scene.sink.taken().iter().map(|row| row.number("id")).collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 4]);
}

#[test]
fn calls_keep_to_the_rate_over_all_lanes() {
    let keys = "\"max_concurrent\": 4, \"rate_limit\": {\"requests\": 3, \"per\": \"1s\"}";
    let scene = Scene::new(MERGE, keys, SYNC);
    scene.add(1..=7);
    scene.good();
    let seen = scene.sink.server.seen();
    let at: Vec<_> = seen.iter().filter(|request| request.path() == "/rows").map(|request| request.at).collect();
    // A request travels for a while after its call began.
    assert!(at.windows(4).all(|four| four[3] - four[0] >= Duration::from_millis(700)), "{at:?}");
    assert_eq!(scene.check().twice, 0);
}
