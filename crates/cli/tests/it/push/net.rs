//! `"changes": "net"`: only what differs is sent.

use std::collections::BTreeMap;
use std::time::Duration;

use super::sink::Say;
use super::{MERGE, SELECT, SYNC, Scene};

const NET: &str = "\"batch_size\": 50, \"changes\": \"net\"";

/// Runs, and gives how many rows of each change were sent.
#[track_caller]
fn sent(scene: &Scene) -> BTreeMap<String, usize> {
    let calls = scene.sink.calls().len();
    scene.good();
    scene.sink.changes_since(calls)
}

fn counts(expected: &[(&str, usize)]) -> BTreeMap<String, usize> {
    expected.iter().map(|(change, count)| ((*change).to_owned(), *count)).collect()
}

#[test]
fn a_rebuild_that_changes_no_value_sends_nothing_and_k_changed_rows_are_k_pairs() {
    for header in [MERGE, "table"] {
        let scene = Scene::new(header, NET, SYNC);
        scene.add(1..=20);
        assert_eq!(sent(&scene), counts(&[("insert", 20)]), "{header}");
        scene.model(header, &format!("{SELECT} WHERE true"));
        assert_eq!(sent(&scene), counts(&[]), "{header}");
        scene.model(header, &SELECT.replace("v::BIGINT", "(v + (id <= 3)::INTEGER)::BIGINT"));
        let pairs = [("update_preimage", 3), ("update_postimage", 3)];
        let expected = if header == "table" { [("delete", 3), ("insert", 3)] } else { pairs };
        assert_eq!(sent(&scene), counts(&expected), "{header}");
    }
}

/// A rebuild of a merge without one of its rows: all others are written again.
fn rebuilt(keys: &str) -> Scene {
    let scene = Scene::new(MERGE, keys, SYNC);
    scene.add(1..=8);
    scene.good();
    scene.lake.execute("DELETE FROM ext.t WHERE id = 8");
    scene.fixture.project.run(&["run", "sync.x", "--full-refresh", "--yes"]).success();
    scene
}

#[test]
fn raw_sends_a_rebuild_as_it_was_and_the_sink_converges() {
    let scene = rebuilt("\"batch_size\": 5, \"max_concurrent\": 3");
    assert_eq!(scene.sink.changes_since(0), counts(&[("delete", 8), ("insert", 15)]));
    scene.check();
    let scene = rebuilt(NET);
    assert_eq!(scene.sink.changes_since(0), counts(&[("delete", 1), ("insert", 8)]));
}

#[test]
fn changes_that_piled_up_are_folded() {
    let scene = Scene::new(MERGE, &format!("{NET}, \"retry_backoff\": 0"), SYNC);
    scene.add(1..=4);
    scene.good();
    scene.sink.always(Say::Status(503));
    for _ in 0..3 {
        scene.change("id <= 2");
        scene.bad();
    }
    std::thread::sleep(Duration::from_millis(10));
    scene.sink.always(Say::Ok);
    let sent = sent(&scene);
    assert_eq!(sent, counts(&[("update_preimage", 2), ("update_postimage", 2)]));
    let taken = scene.sink.taken();
    let values = |change: &str| taken.iter().filter(|r| r.change == change).map(|r| r.number("v")).collect::<Vec<_>>();
    assert_eq!((values("update_preimage"), values("update_postimage")), (vec![0, 0], vec![3, 3]));
    super::checker::converged(&scene.lake, &scene.sink, "x");
}

#[test]
fn a_changed_row_of_a_group_is_a_pair_and_the_others_of_the_group_are_not_sent() {
    let scene = Scene::new("tracked\n-- @group_key: k", NET, SYNC);
    scene.add(1..=20);
    scene.good();
    scene.change("id IN (1, 2, 6)");
    assert_eq!(sent(&scene), counts(&[("update_preimage", 3), ("update_postimage", 3)]));
    scene.model("table", SELECT);
    assert_eq!(sent(&scene), counts(&[]), "the kind changed, and no row");
}

/// A row that is written anew with the same values has another row id: what waits under the old one is sent all the same.
#[test]
fn what_waits_is_not_lost_when_its_row_is_written_anew() {
    for (header, refresh) in [("table", false), ("tracked\n-- @group_key: k", false), (MERGE, true)] {
        let scene = Scene::new(header, &format!("{NET}, \"retry_backoff\": 0"), SYNC);
        scene.add(1..=2);
        scene.sink.always(Say::Status(500));
        scene.bad();
        scene.sink.always(Say::Ok);
        scene.add(6..=7);
        let args: &[&str] = if refresh { &["run", "sync.x", "--full-refresh", "--yes"] } else { &["run"] };
        scene.fixture.project.run(args).success();
        super::checker::converged(&scene.lake, &scene.sink, "x");
    }
}

/// What a sink took without an answer is not known: that a row is again as it was is told too.
#[test]
fn a_row_that_changed_back_is_sent_when_the_sink_may_have_the_change() {
    let scene = Scene::new(MERGE, &format!("{NET}, \"retry_backoff\": 0"), SYNC);
    scene.add(1..=2);
    scene.good();
    scene.change("id = 1");
    scene.sink.always(Say::TimeOut);
    scene.bad();
    scene.sink.always(Say::Ok);
    scene.lake.execute("UPDATE ext.t SET v = v - 1 WHERE id = 1");
    scene.good();
    super::checker::converged(&scene.lake, &scene.sink, "x");
}
