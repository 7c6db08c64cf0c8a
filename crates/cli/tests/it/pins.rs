//! `expire` keeps the snapshots that the next runs need, and says for whom (chapter 04 §9).

use testkit::{Lake, Project};

use crate::project;

/// Everything but the newest snapshot is old enough.
const OLD: &str = "CALL ducklake_expire_snapshots('lake', older_than => now() + INTERVAL 1 DAY)";

/// A project with a lake that another tool writes to, and `ondatrasql old` to expire all of it.
fn lake_project() -> (Project, Lake) {
    let project = project();
    project.write("sql/old.sql", OLD);
    let lake = Lake::open(&project);
    lake.execute("CREATE SCHEMA ext; CREATE TABLE ext.t AS SELECT 1 AS id; CREATE TABLE ext.still AS SELECT 1 AS id");
    (project, lake)
}

fn position(lake: &Lake, target: &str) -> i64 {
    lake.number(&format!(
        "SELECT json_extract(commit_info, '$.read_snapshot')::BIGINT FROM main._ondatra_registry WHERE target = '{target}'"
    ))
}

fn oldest(lake: &Lake) -> i64 {
    lake.number("SELECT min(snapshot_id) FROM lake.snapshots()")
}

fn snapshots(lake: &Lake) -> i64 {
    lake.number("SELECT count(*) FROM lake.snapshots()")
}

fn inserts(lake: &Lake, count: i64) {
    for id in 0..count {
        lake.execute(&format!("INSERT INTO ext.t VALUES ({id})"));
    }
}

/// As if the model had been written as another kind.
fn pretend(lake: &Lake, target: &str, from: &str, to: &str) {
    lake.execute(&format!(
        "UPDATE main._ondatra_registry SET commit_info = replace(commit_info, '{from}', '{to}') WHERE target = '{target}'"
    ));
}

/// The warnings of `ondatrasql <name> --json`.
fn warnings(project: &Project, name: &str) -> Vec<String> {
    let output = project.run(&[name, "--json"]).success();
    let document: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    let warnings = document["warnings"].as_array().unwrap();
    warnings.iter().map(|warning| warning.as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_model_that_has_not_read_the_changes_keeps_them() {
    let (project, lake) = lake_project();
    project.model("staging/b", "SELECT id FROM ext.t");
    project.model("staging/still", "SELECT id FROM ext.still");
    project.run(&["run"]).success();
    inserts(&lake, 3);
    let since = position(&lake, "staging.b");
    let output = project.run(&["old"]).success().stdout;
    let kept = format!("kept 5 snapshots: staging.b has not read the changes since snapshot {since},");
    assert!(output.contains(&kept), "{output}");
    assert_eq!(oldest(&lake), since);
    assert_eq!(
        warnings(&project, "old"),
        [format!(
            "kept 5 snapshots: staging.b has not read the changes since snapshot {since}, staging.still last read the \
             lake at snapshot {} (run it, then expire again)",
            position(&lake, "staging.still")
        )]
    );
    let output = project.run(&["run"]).success().stdout;
    assert!(output.contains("dep changed: ext.t") && output.contains("[SKIP] staging.still"), "{output}");
    // Now nothing has changed since: positions move, and all that is old goes.
    assert_eq!(warnings(&project, "old"), Vec::<String>::new());
    assert_eq!(snapshots(&lake), 2);
    let moved = lake.number(
        "SELECT count(*) FROM lake.snapshots() WHERE commit_message = 'Advance positions' AND author = 'ondatrasql'",
    );
    assert_eq!(moved, 1);
    assert_eq!(position(&lake, "staging.b"), oldest(&lake));
    assert_eq!(position(&lake, "staging.still"), oldest(&lake));
    assert!(project.run(&["run"]).success().stdout.contains("Done: 0 ran, 2 skipped"));
    // Moving again would cost as much as it frees.
    let newest = snapshots(&lake) + oldest(&lake);
    assert_eq!(
        warnings(&project, "old"),
        [format!(
            "kept 1 snapshot: staging.b last read the lake at snapshot {since}, staging.still last read the lake at \
             snapshot {since}",
            since = oldest(&lake)
        )]
    );
    assert_eq!(snapshots(&lake) + oldest(&lake), newest, "no commit");
    lake.execute("INSERT INTO ext.t VALUES (77)");
    assert!(project.run(&["run"]).success().stdout.contains("dep changed: ext.t"));
}

/// A project whose model `staging.b` read snapshot `since`, after which `ext.t` changed, `ext.dropped` went
/// and `ext.view` came.
fn changed_project() -> (Project, Lake, i64) {
    let (project, lake) = lake_project();
    project.model("staging/b", "SELECT id FROM ext.t");
    lake.execute("CREATE TABLE ext.dropped AS SELECT 1 AS id");
    project.run(&["run"]).success();
    inserts(&lake, 3);
    lake.execute("DROP TABLE ext.dropped; CREATE VIEW ext.view AS SELECT 1 AS id");
    let since = position(&lake, "staging.b");
    (project, lake, since)
}

#[test]
fn who_needs_which_snapshot() {
    let (project, lake, since) = changed_project();
    project.write("sql/dry.sql", &OLD.replace("1 DAY)", "1 DAY, dry_run => true)"));
    let (mut last_kind, mut last_depends) = ("\"table\"".to_owned(), r#"["ext.t"]"#);
    // Kind, dependencies as recorded: whether the history behind the position stays.
    for (kind, depends, pins) in [
        ("table", r#"["ext.t"]"#, true),
        ("table", r#"["ext.still"]"#, false),
        ("table", "[]", false),
        ("table", r#"["ext.t","read_csv()"]"#, false),
        ("table", r#"["ext.nope"]"#, false),
        ("table", "[1]", false),
        ("tracked", r#"["ext.t"]"#, false),
        ("scd2", r#"["ext.t","read_csv()"]"#, false),
        ("append", r#"["ext.t"]"#, true),
        ("append", r#"["ext.t","read_csv()"]"#, true),
        ("append", r#"["ext.still","read_csv()"]"#, false),
        ("append", r#"["read_csv()"]"#, false),
        ("append", "[1]", true),
        ("append", r#"["ext.dropped"]"#, true),
        ("merge", r#"["EXT.T"]"#, true),
        ("merge", r#"["ext.view"]"#, true),
        ("merge", "[]", false),
        ("something", r#"["ext.t"]"#, true),
    ] {
        let kind = format!("\"{kind}\"");
        pretend(&lake, "staging.b", &format!("\"kind\":{last_kind}"), &format!("\"kind\":{kind}"));
        pretend(&lake, "staging.b", &format!("\"depends\":{last_depends}"), &format!("\"depends\":{depends}"));
        (last_kind, last_depends) = (kind, depends);
        let output = project.run(&["dry", "--json"]).success().stdout;
        let document: serde_json::Value = serde_json::from_str(&output).unwrap();
        let going = document["statements"][0]["rows"].as_array().unwrap();
        let last = going.iter().map(|row| row["snapshot_id"].as_i64().unwrap()).max().unwrap();
        assert_eq!(last < since, pins, "{last_kind} {depends}\n{output}");
        assert_eq!(output.contains("staging.b has not read the changes since"), pins, "{output}");
    }
}

#[test]
fn what_moves_and_what_stays_where_it_is() {
    for (kind, depends, moves) in [
        ("append", r#"["ext.still","read_csv()"]"#, true),
        ("scd2", r#"["ext.still"]"#, true),
        ("table", "[]", true),
        ("table", r#"["read_csv()"]"#, false),
    ] {
        let (project, lake, since) = changed_project();
        project.model("staging/still", "SELECT id FROM ext.still");
        project.run(&["run", "staging.still"]).success();
        inserts(&lake, 3);
        pretend(&lake, "staging.b", "\"kind\":\"table\"", &format!("\"kind\":\"{kind}\""));
        pretend(&lake, "staging.b", r#""depends":["ext.t"]"#, &format!("\"depends\":{depends}"));
        let newest = lake.number("SELECT max(snapshot_id) FROM lake.snapshots()");
        project.run(&["old"]).success();
        assert_eq!(oldest(&lake), newest, "{kind} {depends}");
        assert_eq!(position(&lake, "staging.still"), newest);
        assert_eq!(position(&lake, "staging.b"), if moves { newest } else { since }, "{kind} {depends}");
    }
}

#[test]
fn models_without_a_file_or_a_table_pin_nothing() {
    let (project, lake) = lake_project();
    project.model("staging/b", "SELECT id FROM ext.t");
    project.model("staging/c", "SELECT id FROM ext.t");
    project.run(&["run"]).success();
    inserts(&lake, 2);
    project.remove("models/staging/b.sql");
    lake.execute("DROP TABLE staging.c");
    project.run(&["old"]).success();
    assert_eq!(snapshots(&lake), 1);
    project.model("staging/b", "SELECT id FROM ext.t");
    let output = project.run(&["run"]).success().stdout;
    assert!(output.contains("unverifiable dep: ext.t") && output.contains("first run"), "{output}");
}

#[test]
fn a_record_that_cannot_be_read_stops_it() {
    let (project, lake) = lake_project();
    project.model("staging/b", "SELECT id FROM ext.t");
    project.run(&["run"]).success();
    lake.execute("UPDATE main._ondatra_registry SET commit_info = '{'");
    let before = snapshots(&lake);
    let output = project.run(&["old"]).failure(1);
    assert!(
        output.stderr.contains("old failed: run_type check: the recorded commit of staging.b"),
        "{}",
        output.stderr
    );
    assert_eq!(snapshots(&lake), before);
}

#[test]
fn a_dry_run_shows_what_would_really_go() {
    let (project, lake) = lake_project();
    project.model("staging/b", "SELECT id FROM ext.t");
    project.run(&["run"]).success();
    inserts(&lake, 3);
    let (before, since) = (snapshots(&lake), position(&lake, "staging.b"));
    for dry_run in ["dry_run => true", "dry_run => false, \"DRY_RUN\" := 1 = 1"] {
        let selection = "'lake', older_than => now() + INTERVAL 1 DAY";
        project.write("sql/dry.sql", &format!("SELECT * FROM ducklake_expire_snapshots({selection}, {dry_run})"));
        let output = project.run(&["dry", "--json"]).success();
        let document: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
        let rows = document["statements"][0]["rows"].as_array().unwrap();
        let ids: Vec<i64> = rows.iter().map(|row| row["snapshot_id"].as_i64().unwrap()).collect();
        assert_eq!(ids, (0..since).collect::<Vec<_>>(), "{dry_run}");
        assert!(document["warnings"][0].as_str().unwrap().starts_with("kept 4 snapshots: staging.b has not read"));
    }
    assert_eq!(snapshots(&lake), before);
    project.run(&["run"]).success();
    lake.execute("CREATE TABLE ext.a AS SELECT 1 AS id; CREATE TABLE ext.b AS SELECT 1 AS id");
    let before = snapshots(&lake);
    let output = project.run(&["dry", "--json"]).success();
    let document: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(document["statements"][0]["rows"].as_array().unwrap().len() + 1, usize::try_from(before).unwrap());
    assert_eq!(snapshots(&lake), before, "nothing is moved for a dry run");
}

#[test]
fn chosen_versions_are_kept_as_well() {
    let (project, lake) = lake_project();
    project.model("staging/b", "SELECT id FROM ext.t");
    project.run(&["run"]).success();
    inserts(&lake, 2);
    let since = position(&lake, "staging.b");
    let statement = format!("CALL ducklake_expire_snapshots('LAKE', versions => [1, {since}, {}])", since + 1);
    project.write("sql/some.sql", &statement);
    assert_eq!(
        warnings(&project, "some"),
        [format!(
            "kept 2 snapshots: staging.b has not read the changes since snapshot {since} (run it, then expire again)"
        )]
    );
    assert_eq!(lake.number("SELECT count(*) FROM lake.snapshots() WHERE snapshot_id = 1"), 0);
    assert!(project.run(&["run"]).success().stdout.contains("dep changed: ext.t"));
}

#[test]
fn a_checkpoint_that_could_expire_is_refused() {
    let (project, lake) = lake_project();
    project.model("staging/b", "SELECT id FROM ext.t");
    project.run(&["run"]).success();
    inserts(&lake, 2);
    let before = oldest(&lake);
    for statement in ["CHECKPOINT", "CHECKPOINT lake", "FORCE CHECKPOINT lake", "CALL force_checkpoint('lake')"] {
        project.write("sql/point.sql", statement);
        lake.execute("CALL lake.set_option('expire_older_than', '')");
        project.run(&["point"]).success();
        assert_eq!(oldest(&lake), before, "{statement}");
        lake.execute("CALL lake.set_option('expire_older_than', '1 day')");
        project.run(&["point"]).success();
        lake.execute("CALL lake.set_option('expire_older_than', '1 second')");
        let output = project.run(&["point"]).failure(1);
        assert!(
            output.stderr.contains("point failed: the lake's option expire_older_than is '1 second', so a checkpoint"),
            "{}",
            output.stderr
        );
        assert!(output.stderr.contains("staging.b has not read the changes since"), "{}", output.stderr);
    }
    assert_eq!(oldest(&lake), before);
    // Nobody needs anything any more.
    project.remove("models/staging/b.sql");
    project.run(&["point"]).success();
    assert!(oldest(&lake) > before);
}

#[test]
fn an_other_lake_is_left_to_its_owner() {
    let (project, lake) = lake_project();
    project.write(
        "config/sources.sql",
        "ATTACH 'ducklake:sqlite:other.sqlite' AS other (DATA_PATH 'other.files', META_JOURNAL_MODE 'WAL');",
    );
    project.model("staging/b", "SELECT id FROM ext.t");
    project.run(&["run"]).success();
    inserts(&lake, 1);
    let before = snapshots(&lake);
    let script = "CREATE TABLE other.main.t (a INT); INSERT INTO other.main.t VALUES (1);\n";
    project.write("sql/old.sql", &format!("{script}{}; FROM other.snapshots();", OLD.replace("'lake'", "'other'")));
    let output = project.run(&["old", "--json"]).success();
    let document: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(document["statements"][3]["rows"].as_array().unwrap().len(), 1, "{document}");
    assert_eq!(snapshots(&lake), before);
}
