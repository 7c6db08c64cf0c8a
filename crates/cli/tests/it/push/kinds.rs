//! What each kind sends over several runs.

use std::collections::BTreeMap;

use super::sink::Say;
use super::{MERGE, SYNC, Scene, has};

fn counts(expected: &[(&str, usize)]) -> BTreeMap<String, usize> {
    expected.iter().map(|(change, count)| ((*change).to_owned(), *count)).collect()
}

/// Three runs: rows 1 to 12, then row 13 and changes of rows 2, 4 and 6, then nothing.
fn three_runs(header: &str, keys: &str, second: &[(&str, usize)]) -> Scene {
    let scene = Scene::new(header, keys, SYNC);
    scene.add(1..=12);
    has(&scene.good(), "PUSH: 12 delivered, 0 rejected, 0 to retry, 0 pending");
    assert_eq!(scene.sink.changes_since(0), counts(&[("insert", 12)]));
    let calls = scene.sink.calls().len();
    scene.add(13..=13);
    scene.change("id IN (2, 4, 6)");
    scene.good();
    assert_eq!(scene.sink.changes_since(calls), counts(second));
    let calls = scene.sink.calls().len();
    scene.good();
    assert_eq!(scene.sink.calls().len(), calls, "nothing changed");
    assert_eq!(scene.check().twice, 0);
    scene
}

#[test]
fn a_merge_sends_what_came_and_both_sides_of_what_changed() {
    let second = [("insert", 1), ("update_preimage", 3), ("update_postimage", 3)];
    let scene = three_runs(MERGE, "\"batch_size\": 5", &second);
    let batches: Vec<i64> = scene.sink.calls().iter().map(|call| call.batch).collect();
    assert_eq!(batches, [1, 2, 3, 1, 2], "they are counted anew in each run");
    assert_eq!(scene.sink.finalized(), [(12, 0), (7, 0)]);
}

#[test]
fn an_append_sends_what_it_added() {
    let scene = Scene::new("append", "\"batch_size\": 5", SYNC);
    scene.add(1..=12);
    scene.good();
    scene.add(13..=14);
    scene.good();
    assert_eq!(scene.sink.changes_since(0), counts(&[("insert", 14)]));
    assert_eq!(scene.check().twice, 0);
}

#[test]
fn a_tracked_model_sends_the_groups_that_changed() {
    // Row 13 is of group 3, as are 3 and 8; rows 2, 4 and 6 of 2, 4 and 1. Group 0 (5, 10) stays.
    three_runs("tracked\n-- @group_key: k", "\"batch_size\": 50", &[("delete", 10), ("insert", 11)]);
}

#[test]
fn a_group_is_one_call_however_large_and_whatever_failed() {
    for keys in ["\"batch_size\": 2", "\"batch_size\": 9, \"max_concurrent\": 3"] {
        let scene = Scene::new("tracked\n-- @group_key: k", keys, SYNC);
        // Less than a group.
        scene.env("ONDATRA_CLAIM_CHUNK=3\n");
        scene.add(1..=20);
        scene.sink.script(|asked| if asked.number == 1 { Say::Status(500) } else { Say::Ok });
        has(&scene.bad(), " to retry, ");
        scene.sink.always(Say::Ok);
        std::thread::sleep(super::answers::WAIT);
        scene.good();
        scene.change("id IN (1, 2, 7)");
        scene.good();
        for call in scene.sink.calls() {
            let mut groups: BTreeMap<(i64, &str), usize> = BTreeMap::new();
            for row in &call.sent {
                *groups.entry((row.number("k"), row.change.as_str())).or_default() += 1;
            }
            assert!(groups.values().all(|rows| *rows == 4), "{groups:?}");
            let deleted = groups.keys().filter(|(_, change)| *change == "delete").count();
            assert!(deleted == 0 || deleted * 2 == groups.len(), "a delete comes with what follows it: {groups:?}");
        }
        assert_eq!(scene.check().twice, 0);
    }
}

#[test]
fn a_group_is_retried_as_a_whole() {
    let scene = Scene::new("tracked\n-- @group_key: k", "\"retry_backoff\": 3600", SYNC);
    scene.add(1..=10);
    scene.sink.always(Say::Each(|row| if row.number("k") == 1 { "error: no" } else { "reject: no" }));
    scene.bad();
    scene.sink.always(Say::Ok);
    let calls = scene.sink.calls().len();
    for (which, at) in [(&[][..], 0), (&["--dead"], 1)] {
        let shown = |args: &[&str]| scene.fixture.project.run(&[&["queue", "show", "sync.x", "--json"], args].concat());
        let shown: serde_json::Value = serde_json::from_str(&shown(which).success().stdout).unwrap();
        let id = shown["events"][1]["id"].to_string();
        let retry = [&["queue", "retry", "sync.x", "--id", &id], which].concat();
        has(&scene.fixture.project.run(&retry).success().stdout, "2 ");
        scene.fixture.project.run(&["queue", "drain"]).success();
        assert_eq!(scene.sink.calls()[calls + at].sent.len(), 2);
        assert_eq!(scene.sink.calls().len(), calls + at + 1);
    }
}

#[test]
fn a_table_sends_all_rows_that_went_and_all_that_came() {
    three_runs("table", "\"batch_size\": 50, \"max_concurrent\": 4", &[("delete", 12), ("insert", 13)]);
}

#[test]
fn rows_of_one_each_keep_their_order_in_chunks_of_seven_and_four_lanes() {
    let scene = Scene::new(
        MERGE,
        "\"max_concurrent\": 4, \"retry_backoff\": 0, \"idempotency_header\": \"Idempotency-Key\"",
        SYNC,
    );
    scene.env("ONDATRA_CLAIM_CHUNK=7\n");
    scene.add(1..=20);
    scene.good();
    // An outage: changes of a row pile up.
    scene.sink.always(super::sink::Say::Status(503));
    for _ in 0..3 {
        scene.change("id % 2 = 0");
        scene.bad();
    }
    scene.sink.always(super::sink::Say::Ok);
    scene.good();
    assert_eq!(scene.sink.changes_since(20).values().sum::<usize>(), 60 + tried(&scene));
    assert_eq!(scene.check().twice, 0);
    let (calls, mut keys) = (scene.sink.calls(), std::collections::BTreeMap::new());
    for call in &calls {
        let events: Vec<_> = call.sent.iter().map(|row| row.event.clone()).collect();
        let before = keys.insert(events, call.idempotency_key.clone().unwrap());
        assert!(before.is_none_or(|key| Some(key) == call.idempotency_key), "an event keeps its key");
    }
    let different: std::collections::BTreeSet<_> = keys.values().collect();
    assert_eq!(different.len(), keys.len());
}

/// Rows that were sent and not taken.
fn tried(scene: &Scene) -> usize {
    scene.sink.calls().iter().map(|call| call.sent.len() - call.taken.len()).sum()
}

/// The versions before a tag hold values in clear: what a row was is told without them.
#[test]
fn a_column_that_is_masked_now_is_not_sent_as_it_was() {
    let select = "SELECT id::BIGINT AS id, k::BIGINT AS k, v::BIGINT AS v, ('raw' || v)::VARCHAR AS s FROM ext.t";
    for header in [MERGE, "table", "tracked\n-- @group_key: id"] {
        let scene = Scene::new(header, "\"batch_size\": 50", SYNC);
        scene.add(1..=3);
        scene.model(header, select);
        scene.good();
        let calls = scene.sink.calls().len();
        scene.model(&format!("{header}\n-- @column: s = x | redact"), select);
        scene.good();
        scene.lake.execute("DELETE FROM ext.t WHERE id = 3");
        scene.change("id = 1");
        scene.good();
        let later: Vec<_> = scene.sink.calls().split_off(calls).into_iter().flat_map(|call| call.taken).collect();
        assert!(later.iter().any(|row| row.change == "delete" || row.change == "update_preimage"), "{header}");
        let is_clear = |row: &&super::sink::Row| row.values["s"] != "[REDACTED]" && !row.values["s"].is_null();
        assert!(!later.iter().any(|row| is_clear(&row)), "{header}: {later:?}");
    }
}
