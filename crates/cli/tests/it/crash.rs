//! kill -9 at random moments: the next run completes with the right result and nothing is left behind.

use std::time::Duration;

use testkit::{Catalog, Lake, Project};

use crate::BINARY;

fn models(project: &Project, version: usize) {
    project.model(
        "raw/events",
        &format!("SELECT i AS id, i % 7 AS kind, hash(i + {version}) AS payload FROM range(60000) t(i)"),
    );
    project.model("staging/events", "SELECT id, kind, payload % 1000 AS bucket FROM raw.events");
    for mart in 0..4 {
        project.model(
            &format!("mart/m{mart}"),
            &format!("SELECT kind, bucket % {} AS b, count(*) AS n FROM staging.events GROUP BY ALL", mart + 2),
        );
    }
}

const CHECKSUM: &str = "SELECT (SELECT sum(payload::HUGEINT) FROM raw.events), (SELECT sum(bucket) FROM staging.events), \
    (SELECT sum(hash(m)::HUGEINT) FROM mart.m0 m), (SELECT sum(hash(m)::HUGEINT) FROM mart.m3 m)";

/// 6 kills in the suite, 50 with `ONDATRA_SOAK` (make soak).
#[test]
fn soak_killed_runs_recover() {
    let kills = if std::env::var_os("ONDATRA_SOAK").is_some() { 50 } else { 6 };
    for catalog in [Catalog::Sqlite, Catalog::Duckdb] {
        let (project, reference) = (Project::new(BINARY, catalog), Project::new(BINARY, catalog));
        for kill in 0..kills {
            models(&project, kill);
            let mut run = project.command(&["run"]).stdout(std::process::Stdio::null()).spawn().unwrap();
            // Spread over the whole run, start-up included.
            std::thread::sleep(Duration::from_millis(30 + (kill as u64 * 7919) % 600));
            run.kill().unwrap();
            run.wait().unwrap();
        }
        models(&project, 0);
        models(&reference, 0);
        project.run(&["run"]).success();
        reference.run(&["run"]).success();
        assert_eq!(project.rows(CHECKSUM), reference.rows(CHECKSUM));
        assert!(project.run(&["run"]).success().stdout.contains("Done: 0 ran, 6 skipped, 0 failed"));
        assert_eq!(project.files(), reference.files(), "nothing is left in the project's folder");
        assert_eq!(
            std::fs::read_dir(project.temp_root()).unwrap().count(),
            0,
            "nothing is left in the temporary folder"
        );
    }
}

fn models_of_all_kinds(project: &Project) {
    let select = "SELECT id, k, v FROM ext.t";
    for (name, header) in [
        ("whole", "-- @kind: table"),
        ("added", "-- @kind: append\n-- @partitioned_by: k"),
        ("merged", "-- @kind: merge\n-- @unique_key: id\n-- @sorted_by: id"),
        ("versions", "-- @kind: scd2\n-- @unique_key: id"),
        ("groups", "-- @kind: tracked\n-- @group_key: k"),
    ] {
        project.model(&format!("m/{name}"), &format!("{header}\n{select}"));
    }
    project.model("n/summed", "-- @kind: append\nSELECT k, count(*) AS n FROM m.added GROUP BY k");
    project.model("n/joined", "-- @kind: append\nSELECT a.id, b.n FROM m.added a JOIN ext.names b ON a.k = b.k");
}

/// What must be equal after any kills. Rows from 20000 on are never updated, so each is appended once.
const EQUAL: [(&str, &str); 7] = [
    ("SELECT id, k, v FROM ext.t", "FROM m.whole"),
    ("SELECT id, k FROM ext.t WHERE id >= 20000", "SELECT id, k FROM m.added WHERE id >= 20000"),
    ("SELECT id, k, v FROM ext.t", "FROM m.merged"),
    ("SELECT id, k, v FROM ext.t", "SELECT id, k, v FROM m.versions WHERE is_current"),
    ("SELECT id, k, v FROM ext.t", "SELECT id, k, v FROM m.groups"),
    ("SELECT k, count(*)::HUGEINT FROM m.added GROUP BY k", "SELECT k, sum(n) FROM n.summed GROUP BY k"),
    ("SELECT id FROM m.added", "SELECT id FROM n.joined"),
];

/// 4 kills in the suite, 100 with `ONDATRA_SOAK`.
#[test]
fn soak_killed_runs_of_all_kinds_recover() {
    let kills: u64 = if std::env::var_os("ONDATRA_SOAK").is_some() { 100 } else { 4 };
    let project = Project::new(BINARY, Catalog::Sqlite);
    let lake = Lake::open(&project);
    lake.execute(
        "CREATE SCHEMA ext; CREATE TABLE ext.t AS SELECT i AS id, i % 5 AS k, 0 AS v FROM range(20000) r(i); \
         CREATE TABLE ext.names AS SELECT i AS k, 'n' || i AS n FROM range(5) r(i)",
    );
    models_of_all_kinds(&project);
    for kill in 0..kills {
        lake.execute(&format!(
            "INSERT INTO ext.t SELECT max(id) + i, i % 5, 0 FROM ext.t, range(1, {}) r(i) GROUP BY i",
            2 + kill % 40
        ));
        lake.execute(&format!("UPDATE ext.t SET v = {kill} + 1 WHERE id % 1000 = {kill} AND id < 20000"));
        let mut run = project.command(&["run"]).stdout(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(100 + (kill * 7919) % 900));
        run.kill().unwrap();
        run.wait().unwrap();
    }
    project.run(&["run"]).success();
    for (expected, found) in EQUAL {
        for (a, b) in [(expected, found), (found, expected)] {
            assert_eq!(lake.number(&format!("SELECT count(*) FROM (({a}) EXCEPT ALL ({b}))")), 0, "{a} EXCEPT ALL {b}");
        }
    }
    let twice = "SELECT count(*) FROM (SELECT id FROM m.versions WHERE is_current GROUP BY id HAVING count(*) > 1)";
    assert_eq!(lake.number(twice), 0);
    let output = project.run(&["run"]).success().stdout;
    assert!(
        output.contains("[SKIP] m.whole") && output.contains("[OK] m.added (append, incremental, 0 rows"),
        "{output}"
    );
}
