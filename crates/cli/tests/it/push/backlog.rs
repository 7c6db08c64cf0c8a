//! What is left of earlier runs, and what a push that fails leaves alone.

use std::time::Duration;

use super::sink::Say;
use super::{MERGE, SYNC, Scene, has};

#[test]
fn a_model_that_is_skipped_sends_what_is_left() {
    let scene = Scene::new(MERGE, "\"batch_size\": 5", SYNC);
    scene.add(1..=5);
    scene.fixture.project.model("below/y", "SELECT count(*) AS n FROM sync.x");
    scene.sink.always(Say::Status(500));
    let text = scene.bad();
    has(&text, "[FAILED] sync.x");
    has(&text, "[OK] below.y");
    assert_eq!(scene.fixture.project.rows("FROM below.y"), "5\n");
    scene.sink.always(Say::Ok);
    std::thread::sleep(Duration::from_millis(1_300));
    let text = scene.good();
    has(&text, "PUSH: 5 delivered, 0 rejected, 0 to retry, 0 pending");
    scene.check();
}

#[test]
fn a_model_whose_upstream_fails_sends_what_is_left() {
    let scene = Scene::new(MERGE, "\"batch_size\": 5", SYNC);
    scene.add(1..=5);
    scene.sink.always(Say::Status(500));
    scene.fixture.project.model("up/z", "SELECT id, k, v FROM ext.t");
    scene.model(MERGE, "SELECT id::BIGINT AS id, k::BIGINT AS k, v::BIGINT AS v FROM up.z");
    scene.bad();
    scene.fixture.project.model("up/z", "SELECT id, k, error('broken') AS v FROM ext.t");
    scene.sink.always(Say::Ok);
    std::thread::sleep(Duration::from_millis(1_300));
    has(&scene.bad(), "PUSH: 5 delivered");
}

/// The service is away for some runs with changing data.
fn survive_outage(runs: i64) {
    let scene = Scene::new(MERGE, "\"batch_size\": 4, \"max_concurrent\": 2, \"retry_backoff\": 0", SYNC);
    scene.add(1..=10);
    scene.good();
    scene.sink.always(Say::Status(503));
    for step in 1..=runs {
        scene.add(10 + step..=10 + step);
        scene.change(&format!("id % 3 = {}", step % 3));
        scene.bad();
    }
    scene.sink.always(Say::Ok);
    scene.good();
    assert_eq!(scene.check().twice, 0);
    assert_eq!(scene.sink.finalized().len(), 2, "after the first run and the last");
}

#[test]
fn an_outage_over_ten_runs_loses_nothing() {
    survive_outage(10);
}

#[test]
#[ignore = "make soak"]
fn soak_an_outage_over_50_runs_loses_nothing() {
    survive_outage(50);
}

/// The table is rebuilt while changes of it wait: what they say is sent, and what the rebuild changed.
#[test]
fn a_backfill_while_changes_wait_loses_nothing() {
    for header in [MERGE, "table", "tracked\n-- @group_key: k"] {
        let scene = Scene::new(header, "\"batch_size\": 4, \"retry_backoff\": 0", SYNC);
        scene.add(1..=10);
        scene.good();
        scene.sink.always(Say::Status(503));
        scene.add(11..=14);
        scene.change("id % 3 = 0");
        scene.lake.execute("DELETE FROM ext.t WHERE id = 5");
        scene.bad();
        scene.change("id % 2 = 0");
        let refresh = ["run", "sync.x", "--full-refresh", "--yes"];
        scene.fixture.project.run(&refresh).failure(1);
        scene.model(header, "SELECT id::BIGINT AS id, k::BIGINT AS k, (v + 10)::BIGINT AS v FROM ext.t");
        scene.bad();
        assert!(scene.counts().pending > 0);
        scene.sink.always(Say::Ok);
        scene.good();
        assert_eq!(scene.check().twice, 0, "{header}");
    }
}

#[test]
fn json_tells_what_was_delivered() {
    let scene = Scene::new(MERGE, "\"batch_size\": 9", SYNC);
    scene.add(1..=5);
    scene.fixture.project.model("other/y", "SELECT 1 AS a");
    scene.sink.always(Say::Each(|row| match row.number("id") {
        1 => "reject: no",
        2 => "error: later",
        _ => "ok",
    }));
    let output = scene.fixture.project.run(&["run", "--json"]).failure(1);
    let records: Vec<serde_json::Value> =
        output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |model: &str| records.iter().find(|record| record["model"] == model).unwrap();
    let counts = ["push_delivered", "push_rejected", "push_retry", "push_pending"].map(|key| of("sync.x")[key].clone());
    assert_eq!(counts, [3, 1, 1, 1].map(serde_json::Value::from));
    assert_eq!((&of("sync.x")["status"], &of("sync.x")["rows_affected"]), (&"error".into(), &5.into()));
    assert!(of("other.y").get("push_delivered").is_none());
}

#[test]
fn a_service_that_is_down_is_not_called_again_for_every_claim() {
    let scene = Scene::new(MERGE, "\"batch_size\": 2, \"retry_backoff\": 600", SYNC);
    scene.env("ONDATRA_CLAIM_CHUNK=4\n");
    scene.add(1..=40);
    scene.sink.always(Say::Status(500));
    scene.bad();
    assert_eq!(scene.sink.calls().len(), 3);
}

/// What was delivered before an earlier change of its row, in one batch, comes once more behind it.
#[test]
fn a_change_that_failed_takes_the_later_ones_of_its_row_with_it() {
    let scene = Scene::new("tracked\n-- @group_key: id", "\"batch_size\": 50, \"retry_backoff\": 0", SYNC);
    scene.add(1..=2);
    scene.good();
    scene.sink.always(Say::Status(500));
    scene.lake.execute("DELETE FROM ext.t WHERE id = 1");
    scene.bad();
    scene.add(1..=1);
    scene.sink.always(Say::Each(|row| if row.change == "delete" { "error: locked" } else { "ok" }));
    scene.bad();
    scene.sink.always(Say::Ok);
    scene.good();
    let taken = scene.sink.taken();
    let of_row: Vec<&str> = taken.iter().filter(|row| row.number("id") == 1).map(|row| row.change.as_str()).collect();
    assert_eq!(of_row.last(), Some(&"insert"), "{of_row:?}");
}

/// Rows that fail do not keep back what comes after others: what was delivered is given back before more is looked for.
#[test]
fn all_changes_of_a_row_come_in_one_run_whatever_fails_beside() {
    let scene = Scene::new(MERGE, "\"batch_size\": 2, \"retry_backoff\": 0", SYNC);
    scene.env("ONDATRA_CLAIM_CHUNK=2\n");
    scene.add(1..=4);
    scene.sink.always(Say::Status(500));
    scene.bad();
    scene.change("id > 2");
    scene.sink.always(Say::Each(|row| if row.number("id") <= 2 { "error: no" } else { "ok" }));
    has(&scene.bad(), "PUSH: 6 delivered, 0 rejected, 2 to retry, 2 pending");
    scene.sink.always(Say::Ok);
    scene.good();
    scene.check();
}
