//! Maintenance between a commit and its delivery (chapter 04 §9).

use std::collections::BTreeMap;

use super::sink::Say;
use super::{MERGE, SYNC, Scene, has};

/// Checks that nothing is left, and that what the sink took comes to what the table holds, key by key: snapshots that were
/// expired tell of no history, and merged files gave rows other ids.
#[track_caller]
fn holds_the_table(scene: &Scene) {
    let counts = scene.counts();
    assert_eq!((counts.pending, counts.waiting, counts.in_flight, counts.dead), (0, 0, 0, 0), "{counts:?}");
    let mut held = BTreeMap::new();
    for row in scene.sink.taken().iter().filter(|row| row.change != "update_preimage") {
        assert_ne!(row.change, "delete");
        held.insert(row.number("id"), row.number("v"));
    }
    let rows = scene.fixture.project.rows("SELECT id, v FROM sync.x ORDER BY id");
    let told: String = held.iter().map(|(id, v)| format!("{id},{v}\n")).collect();
    assert_eq!(told, rows);
}

/// A merge model whose changes were committed while the sink was away: rows changed and are not delivered.
fn with_backlog() -> Scene {
    let scene = Scene::new(MERGE, "\"batch_size\": 50, \"retry_backoff\": 0", SYNC);
    let project = &scene.fixture.project;
    project.write("sql/old.sql", "CALL ducklake_expire_snapshots('lake', older_than => now() + INTERVAL 1 DAY)");
    project.write("sql/flush.sql", "CALL ducklake_flush_inlined_data('lake')");
    project.write(
        "sql/rewrite.sql",
        "CALL ducklake_rewrite_data_files('lake', 'x', schema => 'sync', delete_threshold => 0)",
    );
    project.write("sql/merge.sql", "CALL ducklake_merge_adjacent_files('lake')");
    project.write("sql/checkpoint.sql", "CHECKPOINT lake");
    scene.add(1..=30);
    scene.good();
    scene.sink.always(Say::Status(503));
    for part in 0..3 {
        scene.change(&format!("id % 3 = {part}"));
        scene.run();
    }
    scene
}

#[test]
fn expire_flush_and_rewrite_lose_no_change_that_waits() {
    let scene = with_backlog();
    let project = &scene.fixture.project;
    let said = project.run(&["old", "--json"]).success().stdout;
    has(&said, "sync.x has changes to deliver from snapshot");
    project.run(&["flush"]).success();
    project.run(&["rewrite"]).success();
    has(&project.run(&["old", "--json"]).success().stdout, "sync.x has changes to deliver from snapshot");
    scene.sink.always(Say::Ok);
    scene.good();
    holds_the_table(&scene);
    let said = project.run(&["old", "--json"]).success().stdout;
    assert!(!said.contains("to deliver"), "nothing is needed any more: {said}");
}

#[test]
fn files_are_not_merged_while_changes_wait() {
    let scene = with_backlog();
    let project = &scene.fixture.project;
    for script in ["merge", "checkpoint"] {
        let said = project.run(&[script]).failure(1).stderr;
        has(&said, "changes wait for delivery (sync.x), and merging files changes the row ids");
        has(&said, "ondatrasql queue drain");
    }
    scene.sink.always(Say::Ok);
    project.run(&["queue", "drain"]).success();
    project.run(&["merge"]).success();
    scene.change("id < 9");
    scene.good();
    holds_the_table(&scene);
}

#[test]
fn what_was_committed_and_not_queued_is_queued_before_maintenance() {
    let scene = with_backlog();
    let project = &scene.fixture.project;
    // As after a crash between the commit and the feed.
    scene.lake.execute("UPDATE sync.x SET v = v + 100 WHERE id = 7");
    scene.fixture.project.run(&["old"]).success();
    let queued = project.run(&["queue", "show", "sync.x", "--limit", "200", "--json"]).success().stdout;
    assert!(queued.contains("103") || queued.contains("101"), "{queued}");
}
