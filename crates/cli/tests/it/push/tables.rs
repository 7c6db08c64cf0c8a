//! Tables that were there before, are not there, or are made again.

use super::sink::Say;
use super::{MERGE, SELECT, SYNC, Scene, has};

#[test]
fn a_table_that_has_a_history_is_sent_as_it_is() {
    let scene = Scene::new(MERGE, "\"batch_size\": 50", SYNC);
    scene.fixture.project.model("sync/x", &format!("-- @kind: {MERGE}\n{SELECT}\n"));
    scene.add(1..=6);
    scene.good();
    scene.change("id <= 4");
    scene.good();
    scene.model(MERGE, SELECT);
    has(&scene.good(), "PUSH: 6 delivered");
    assert!(
        scene
            .sink
            .taken()
            .iter()
            .all(|row| row.change == "insert" && row.number("v") == i64::from(row.number("id") <= 4))
    );
    scene.change("id = 1");
    has(&scene.good(), "PUSH: 2 delivered");
    super::checker::converged(&scene.lake, &scene.sink, "x");
}

#[test]
fn what_waits_of_a_table_that_was_dropped_is_kept_as_dead_letters() {
    let scene = Scene::new(MERGE, "\"batch_size\": 50", SYNC);
    scene.add(1..=4);
    scene.sink.always(Say::Status(500));
    scene.bad();
    scene.lake.execute("DROP TABLE lake.sync.x");
    scene.sink.always(Say::Ok);
    let text = scene.good();
    has(&text, "4 event(s) of a table that was dropped are dead letters now");
    has(&text, "PUSH: 4 delivered");
    assert_eq!(scene.counts().dead, 4);
    let events: std::collections::BTreeSet<String> =
        scene.sink.calls().iter().flat_map(|call| call.sent.iter().map(|row| row.event.clone())).collect();
    assert_eq!(events.len(), 8, "the rows of the new table are others");
    // Their rows are gone: what has their row ids now is something else.
    let output = scene.fixture.project.run(&["queue", "retry", "sync.x", "--dead"]).success();
    has(&output.stderr, "4 dead letters are of a table that was dropped");
    let calls = scene.sink.calls().len();
    scene.good();
    assert_eq!((scene.sink.calls().len(), scene.counts().dead), (calls, 4));
}

#[test]
fn a_model_without_a_table_sends_nothing() {
    let scene = Scene::new(MERGE, "", SYNC);
    scene.model(MERGE, "SELECT id::BIGINT AS id, k::BIGINT AS k, error('broken')::BIGINT AS v FROM ext.t");
    scene.add(1..=2);
    scene.bad();
    assert_eq!(scene.sink.calls().len(), 0);
    scene.model(MERGE, SELECT);
    has(&scene.good(), "PUSH: 2 delivered");
}

#[test]
fn what_waits_of_an_older_layout_is_sent_with_the_columns_that_it_had() {
    let scene = Scene::new(MERGE, "\"batch_size\": 50, \"retry_backoff\": 0", SYNC);
    scene.add(1..=3);
    scene.good();
    scene.change("id <= 2");
    scene.sink.always(Say::Status(500));
    scene.bad();
    scene.model(MERGE, &SELECT.replace(" FROM", ", (v * 10)::BIGINT AS w FROM"));
    scene.sink.always(Say::Ok);
    scene.good();
    for row in scene.sink.taken().iter().skip(3) {
        let was_before = row.change == "update_preimage" && row.number("v") == 0 && row.number("id") <= 2;
        let expected = (!was_before).then(|| row.number("v") * 10);
        let w = row.values.get("w").and_then(serde_json::Value::as_i64);
        assert!(w == expected || row.change == "update_preimage" && w.is_none(), "{row:?}");
    }
    super::checker::converged(&scene.lake, &scene.sink, "x");
    assert_eq!(scene.counts().pending + scene.counts().waiting, 0);
}

#[test]
fn two_models_of_one_sink_have_nothing_to_do_with_each_other() {
    let scene = Scene::new(MERGE, "\"batch_size\": 50", SYNC);
    scene.add(1..=3);
    let other =
        "-- @kind: append\n-- @push: crm\nSELECT (id + 100)::BIGINT AS id, k::BIGINT AS k, v::BIGINT AS v FROM ext.t";
    scene.fixture.project.model("sync/a", other);
    scene.sink.always(Say::Each(|row| if row.number("id") > 100 { "reject: not here" } else { "ok" }));
    let text = scene.bad();
    has(&text, "[FAILED] sync.a");
    has(&text, "PUSH: 0 delivered, 3 rejected, 0 to retry, 0 pending");
    has(&text, "[OK] sync.x");
    assert_eq!(scene.sink.finalized(), [(3, 0)]);
    scene.check();
}

#[test]
fn rows_that_the_catalog_itself_holds_are_sent_as_others_are() {
    let scene = Scene::new(MERGE, "\"batch_size\": 3, \"max_concurrent\": 2", SYNC);
    let attach = testkit::Catalog::Sqlite.attach().replace("ROW_LIMIT 0", "ROW_LIMIT 10");
    scene.fixture.project.write("config/catalog.sql", &attach);
    scene.add(1..=5);
    scene.good();
    scene.add(6..=30);
    scene.change("id <= 2");
    scene.good();
    scene.change("id IN (2, 3, 20)");
    scene.good();
    assert_eq!(scene.check().twice, 0);
}

#[test]
fn a_model_whose_file_is_renamed_by_case_goes_on_where_it_was() {
    let scene = Scene::new(MERGE, "\"batch_size\": 50, \"retry_backoff\": 0", SYNC);
    scene.add(1..=3);
    scene.good();
    scene.sink.always(Say::Status(500));
    scene.change("id = 1");
    scene.bad();
    let models = scene.fixture.project.root().join("models/sync");
    std::fs::rename(models.join("x.sql"), models.join("X.sql")).unwrap();
    scene.sink.always(Say::Ok);
    has(&scene.good(), "PUSH: 2 delivered");
    scene.change("id = 2");
    has(&scene.good(), "PUSH: 2 delivered");
    assert_eq!(scene.check().twice, 0);
}

#[test]
fn a_table_that_is_empty_at_first_sends_the_rows_that_come() {
    let scene = Scene::new(MERGE, "\"batch_size\": 50", SYNC);
    has(&scene.good(), "[OK] sync.x");
    scene.lake.execute("CREATE TABLE ext.other (a INTEGER)");
    scene.good();
    scene.add(1..=2);
    has(&scene.good(), "PUSH: 2 delivered");
    assert_eq!(scene.check().rows, 2);
}

#[test]
fn a_lake_that_is_older_than_the_queue_is_an_error() {
    let scene = Scene::new(MERGE, "\"batch_size\": 50", SYNC);
    scene.add(1..=3);
    scene.good();
    // As if the lake was restored from a backup.
    let moved = "UPDATE sync_feed SET snapshot_id = 999";
    scene.fixture.open("test").run_sql(moved).unwrap();
    scene.add(4..=4);
    let text = scene.bad();
    has(&text, "snapshot 999 of the lake is gone");
    has(&text, "queue reset");
}
