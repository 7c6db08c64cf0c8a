//! Commands that run scripts of `sql/`: what they print, their errors, and that they change no decision.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use testkit::{Catalog, Lake, Project};

use crate::{BINARY, project};

const NAMES: [&str; 7] = ["flush", "merge", "expire", "rewrite", "cleanup", "orphaned", "checkpoint"];

#[test]
fn every_script_of_init_runs_and_runs_again() {
    let project = Project::empty(BINARY);
    project.run(&["init"]).success();
    project.model("raw/a", "SELECT 1 AS id");
    project.run(&["run"]).success();
    for name in NAMES.iter().chain(&NAMES) {
        let output = project.run(&[name]).success();
        assert!(output.stdout.contains("│     OK ") && output.stderr.is_empty(), "{name}: {output:?}");
    }
    insta::assert_snapshot!("maintenance_checkpoint", project.run(&["checkpoint"]).transcript(&project.root()));
    insta::assert_snapshot!("maintenance_json", project.run(&["expire", "--json"]).transcript(&project.root()));
    assert!(project.run(&["run"]).success().stdout.contains("[SKIP] raw.a"));
}

#[test]
fn a_duckdb_catalog_is_kept_as_well() {
    let project = Project::empty(BINARY);
    project.run(&["init", "--catalog", "duckdb"]).success();
    project.model("raw/a", "SELECT 1 AS id");
    project.run(&["run"]).success();
    for name in NAMES {
        project.run(&[name]).success();
    }
    assert!(project.run(&["run"]).success().stdout.contains("[SKIP] raw.a"));
}

#[test]
fn statements_run_one_by_one_up_to_the_first_error() {
    let project = project();
    let script = "-- a note; with a semicolon\nCREATE OR REPLACE TABLE lake.main.t (a VARCHAR);\nINSERT INTO lake.main.t VALUES ('x;y'), ('日本');\n\
         SELECT * FROM range(8) /* ; */;\nSELECT 'a\nb' AS \"wörd\", NULL AS nothing, [1, 2] AS list, 'it is a long text that does not fit in the box' AS long;\n\
         SELECT nope FROM lake.main.t;\nDROP TABLE lake.main.t;\n";
    project.write("sql/my-job.sql", script);
    insta::assert_snapshot!("maintenance_error", project.run(&["my-job"]).failure(1).transcript(&project.root()));
    assert_eq!(project.rows("SELECT count(*) FROM t"), "2\n", "earlier statements stay, later ones do not run");
    let json = project.run(&["my-job", "--json"]).failure(1);
    insta::assert_snapshot!("maintenance_error_json", json.transcript(&project.root()));
}

#[test]
fn mistakes_are_told() {
    let project = project();
    project.write("sql/x_1.sql", "SELECT 1");
    std::fs::create_dir_all(project.root().join("sql/folder.sql")).unwrap();
    for (args, code, expected) in [
        (&["merge"][..], 2, "unknown command: merge [CLI-002]\nhelp: there is no sql/merge.sql"),
        (&["folder"], 2, "unknown command: folder"),
        (&["x_2"], 2, "unknown command: x_2 [CLI-002]\nhelp: did you mean `x_1`?"),
        (&["a.b"], 2, "invalid command: a.b"),
        (&["../sql/x_1"], 2, "invalid command: ../sql/x_1"),
        (&["é"], 2, "invalid command: é"),
        (&[""], 2, "invalid command: "),
        (&["x_1", "sandbox"], 2, "\"x_1\" cannot run in sandbox mode: sql/ scripts execute real catalog operations"),
        (&["x_1", "raw.a"], 2, "extra args: raw.a"),
        (&["x_1", "--full=1"], 2, "unknown flag: --full [CLI-002]"),
        (&["--json", "nope"], 2, "unknown command: nope"),
    ] {
        let output = project.run(args).failure(code);
        assert!(output.stderr.starts_with(&format!("error: {expected}")), "{args:?}: {}", output.stderr);
        assert_eq!(output.stdout, "", "{args:?}");
    }
    assert!(project.run(&["x_1", "--help"]).success().stdout.contains("Usage: ondatrasql x_1"));
    assert!(project.run(&["help"]).success().stdout.contains("  x_1 "));
    let outside = Project::empty(BINARY);
    assert!(outside.run(&["merge", "x"]).failure(1).stderr.contains("not in an ondatrasql project"));
    assert!(outside.run(&["mrege"]).failure(2).stderr.contains("did you mean `merge`?"));
}

#[test]
fn scripts_that_cannot_be_run_are_told() {
    let project = project();
    for (text, expected) in [
        ("", "x failed: sql/x.sql is empty [SCRIPT-001]"),
        (" \n", "x failed: sql/x.sql is empty [SCRIPT-001]"),
        ("SELECT 1; /* open", "x failed: the text or comment that begins here is not closed [ENGINE-004]"),
        ("BEGIN; CREATE TABLE lake.main.t (a INT)", "x failed: the script ends inside a transaction"),
        ("BEGIN; CREATE TABLE lake.main.t (a INT); SELEC", "x failed: syntax error at or near \"SELEC\" [ENGINE-004]"),
        (
            "BEGIN; CALL ducklake_expire_snapshots('lake', versions => [0])",
            "x failed: snapshots are not expired inside a transaction [SCRIPT-003]",
        ),
        ("CALL ducklake_expire_snapshots('lake', version => [0])", "x failed: Invalid named parameter"),
        ("FROM ducklake_expire_snapshots('lake') WHERE true", "x failed: ducklake_expire_snapshots in a statement"),
        ("CREATE MACRO tidy() AS TABLE FROM ducklake_expire_snapshots('lake')", "x failed: ducklake_expire_snapshots"),
    ] {
        project.write("sql/x.sql", text);
        let output = project.run(&["x"]).failure(1);
        assert!(output.stderr.starts_with(&format!("error: {expected}")), "{text:?}: {}", output.stderr);
    }
    assert_eq!(project.rows("SELECT count(*) FROM duckdb_tables() WHERE database_name = 'lake'"), "0\n");
    for comments in ["-- nothing\n/* at all */", ";"] {
        project.write("sql/x.sql", comments);
        assert!(project.run(&["x"]).success().stdout.contains("Operations"));
    }
    project.write("config/catalog.sql", "ATTACH 'nope:x' AS lake");
    let output = project.run(&["x"]).failure(1);
    assert!(output.stderr.starts_with("error: x failed: load catalog.sql: "), "{}", output.stderr);
}

#[test]
fn macros_that_expire_are_refused_and_others_are_not() {
    let project = project();
    project.write(
        "config/macros/m.sql",
        "CREATE MACRO tidy() AS TABLE FROM ducklake_expire_snapshots('lake', older_than => now());\n\
         CREATE MACRO tidier() AS TABLE FROM tidy();\nCREATE MACRO fine() AS TABLE FROM lake.snapshots();",
    );
    project.write("sql/x.sql", "FROM Tidier()");
    let output = project.run(&["x"]).failure(1);
    assert!(output.stderr.contains("x failed: tidier in a statement of this form could remove"), "{}", output.stderr);
    project.write("sql/x.sql", "FROM fine()");
    project.run(&["x"]).success();
}

#[test]
fn secrets_do_not_appear() {
    let project = project();
    project.write(".env", &format!("ONDATRA_STATE_KEY={}\nAPI_TOKEN=abcd1234efgh\n", testkit::STATE_KEY));
    project.write("sql/x.sql", "SELECT 'abcd1234efgh' AS token; SELECT abcd1234efgh");
    for args in [&["x"][..], &["x", "--json"]] {
        let output = project.run(args).failure(1);
        let shown = output.stdout.replace("\"rows\":[{\"token\":\"abcd1234efgh\"}]", "") + &output.stderr;
        assert!(!shown.contains("abcd1234efgh"), "{output:?}");
        assert!(output.stdout.contains("[REDACTED]"), "{output:?}");
    }
}

#[test]
fn a_script_waits_for_a_run_to_end() {
    let project = project();
    project.write("sql/x.sql", "SELECT 1");
    let folder = File::open(project.root().join("config")).unwrap();
    folder.lock().unwrap();
    let holder = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(1200));
        drop(folder);
    });
    let started = Instant::now();
    project.run(&["x"]).success();
    assert!(started.elapsed() >= Duration::from_secs(1), "{:?}", started.elapsed());
    holder.join().unwrap();
}

#[test]
fn ctrl_c_stops_the_statement_that_runs() {
    let project = project();
    project.write(
        "sql/x.sql",
        "CREATE TABLE lake.main.t (a INT);\nSELECT count(*) FROM range(10000000) a(i), range(10000000) b(j) WHERE (i * j) % 7 = 9;\n\
         DROP TABLE lake.main.t;",
    );
    let mut child = project.command(&["x"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("SELECT count") {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0, "the script ended too early");
    }
    std::thread::sleep(Duration::from_millis(300));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("error: x failed: interrupted [RUN-002]"), "{stderr}");
    assert_eq!(project.rows("SELECT count(*) FROM t"), "0\n");
}

/// Everything that maintenance can do to a lake, as hard as it can.
const HARD: &str = "CALL ducklake_flush_inlined_data('lake');\n\
     CALL ducklake_expire_snapshots('lake', older_than => now() + INTERVAL 1 DAY);\n\
     CALL ducklake_merge_adjacent_files('lake');\n\
     CALL ducklake_rewrite_data_files('lake', delete_threshold => 0.1);\n\
     CALL ducklake_cleanup_old_files('lake', cleanup_all => true);\n\
     CALL ducklake_delete_orphaned_files('lake', cleanup_all => true);\n\
     CALL ducklake_expire_snapshots('lake', older_than => now() + INTERVAL 1 DAY);\n";

/// Run type, reason and rows by model.
fn decisions(project: &Project) -> Vec<(String, String, String, i64)> {
    let output = project.run(&["run", "--json"]).success();
    let records = output.stdout.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let text = |record: &serde_json::Value, key: &str| record[key].as_str().unwrap_or_default().to_owned();
    let mut found: Vec<_> = records
        .map(|record| {
            let rows = record["rows_affected"].as_i64().unwrap();
            (text(&record, "model"), text(&record, "run_type"), text(&record, "run_reason"), rows)
        })
        .collect();
    found.sort();
    found
}

/// Of two projects with the same history one is maintained between the runs: it decides the same.
#[test]
fn a_maintained_lake_decides_as_one_that_is_not() {
    let mut random = testkit::Random(0x9a11);
    for (catalog, steps) in [(Catalog::Sqlite, 4), (Catalog::Duckdb, 2)] {
        let twins = [Project::new(BINARY, catalog), Project::new(BINARY, catalog)];
        for twin in &twins {
            twin.write("sql/hard.sql", HARD);
            twin.write("sql/begin.sql", "CREATE SCHEMA lake.ext; CREATE TABLE lake.ext.t AS SELECT i AS id, i % 3 AS g FROM range(30) r(i); CREATE TABLE lake.ext.still AS SELECT 1 AS id");
            twin.run(&["begin"]).success();
            twin.write("d.csv", "id\n1\n");
            twin.model("raw/a", "SELECT id, g FROM ext.t");
            twin.model("raw/still", "SELECT id FROM ext.still");
            twin.model("raw/none", "SELECT 1 AS id");
            twin.model("raw/file", "SELECT id FROM read_csv('d.csv')");
            twin.model("mart/m", "-- @kind: merge\n-- @unique_key: id\nSELECT id, g FROM raw.a");
            twin.model("mart/s", "-- @kind: scd2\n-- @unique_key: id\nSELECT id, g FROM ext.t");
            twin.model("mart/k", "-- @kind: tracked\n-- @group_key: g\nSELECT id, g FROM raw.a");
            twin.model("mart/c", "SELECT a.g, count(*) AS n FROM raw.a JOIN raw.still USING (id) GROUP BY a.g");
        }
        for step in 0..steps {
            let change = match random.below(5) {
                0 => format!("INSERT INTO lake.ext.t VALUES ({}, 1)", 100 + step),
                1 => format!("DELETE FROM lake.ext.t WHERE id % 4 = {}", random.below(4)),
                2 => "UPDATE lake.ext.t SET g = g + 1 WHERE id < 3".to_owned(),
                _ => "SELECT 1".to_owned(),
            };
            let found: Vec<_> = twins.iter().map(decisions).collect();
            assert_eq!(found[0], found[1], "step {step}");
            for twin in &twins {
                twin.write("sql/change.sql", &change);
                twin.run(&["change"]).success();
            }
            twins[1].run(&["hard"]).success();
        }
        for table in ["raw.a", "mart.m", "mart.k", "mart.c"] {
            let rows = |twin: &Project| twin.rows(&format!("SELECT * FROM {table} ORDER BY ALL"));
            assert_eq!(rows(&twins[0]), rows(&twins[1]), "{table}");
        }
    }
}

/// What a snapshot that stays needs is still there after everything else is gone.
#[test]
fn snapshots_that_stay_can_be_read_after_files_were_deleted() {
    let project = project();
    let lake = Lake::open(&project);
    lake.execute("CREATE SCHEMA ext; CREATE TABLE ext.t AS SELECT i AS id FROM range(10) r(i)");
    project.model("raw/a", "SELECT id FROM ext.t");
    project.run(&["run"]).success();
    let since = lake.number(
        "SELECT json_extract(commit_info, '$.read_snapshot')::BIGINT FROM main._ondatra_registry WHERE target = 'raw.a'",
    );
    for step in 0..4 {
        lake.execute(&format!("INSERT INTO ext.t SELECT 100 * {step} + i FROM range(10) r(i)"));
    }
    lake.execute("DELETE FROM ext.t WHERE id % 2 = 0");
    let added = format!("SELECT sum(id)::BIGINT FROM (FROM ext.t EXCEPT ALL FROM ext.t AT (VERSION => {since}))");
    let removed = format!("SELECT sum(id)::BIGINT FROM (FROM ext.t AT (VERSION => {since}) EXCEPT ALL FROM ext.t)");
    let before = (lake.number(&added), lake.number(&removed));
    project.write("sql/hard.sql", HARD);
    project.run(&["hard"]).success();
    project.run(&["hard"]).success();
    assert_eq!((lake.number(&added), lake.number(&removed)), before);
}

#[test]
fn the_box_of_a_script_fits_the_terminal() {
    let project = project();
    project.write("sql/wide.sql", "SELECT 'a value that is too long for a terminal of few columns' AS a_column;");
    for columns in [12, 40, 200] {
        let (shown, code) = crate::terminal::on_terminal(&project, columns, &["wide"]);
        assert_eq!(code, 0, "{shown}");
        let plain = shown.replace("\u{1b}[32m", "").replace("\u{1b}[0m", "");
        assert!(plain.lines().all(|line| line.chars().count() == columns.min(80)), "{columns}:\n{plain}");
    }
}
