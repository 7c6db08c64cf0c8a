//! Models whose inputs are there run at the same time: their queries side by side, their commits one after the other.

use std::fs::OpenOptions;
use std::io::Write;

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use testkit::Project;

use crate::project;

/// A file that gives its line to whoever reads it, once `count` readers of such files are there at the same time.
struct Gate {
    waiting: Arc<(Mutex<usize>, Condvar)>,
    count: usize,
    most: Arc<AtomicUsize>,
}

impl Gate {
    fn new(count: usize) -> Self {
        Self { waiting: Arc::default(), count, most: Arc::default() }
    }

    /// A named pipe; opening it for writing waits for its reader.
    fn file(&self, project: &Project, name: &str) {
        let path = project.root().join(name);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let (waiting, count, most) = (Arc::clone(&self.waiting), self.count, Arc::clone(&self.most));
        std::thread::spawn(move || {
            let mut pipe = OpenOptions::new().write(true).open(&path).unwrap();
            let (number, changed) = &*waiting;
            let mut there = number.lock().unwrap();
            *there += 1;
            most.fetch_max(*there, Ordering::SeqCst);
            changed.notify_all();
            let enough = |there: &mut usize| *there < count;
            let (mut there, _) = changed.wait_timeout_while(there, Duration::from_secs(3), enough).unwrap();
            if *there < count {
                *there -= 1;
            }
            drop(there);
            // The reader may be gone.
            let _ = pipe.write_all(b"1\n");
        });
    }

    fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

fn piped(project: &Project, gate: &Gate, model: &str) {
    let name = format!("{}.csv", model.replace('/', "_"));
    gate.file(project, &name);
    let read = "header = false, columns = {'x': 'BIGINT'}, auto_detect = false";
    project.model(model, &format!("SELECT x FROM read_csv('{name}', {read})"));
}

fn all_at_once(project: &Project) {
    let gate = Gate::new(3);
    for name in ["raw/a", "raw/b", "raw/c"] {
        piped(project, &gate, name);
    }
    project.model("mart/sum", "SELECT a.x + b.x + c.x AS x FROM raw.a a, raw.b b, raw.c c");
    let output = project.run(&["run"]).success().stdout;
    assert!(output.contains("Done: 4 ran, 0 skipped, 0 failed"), "{output}");
    assert_eq!(gate.most(), 3, "three queries went on at the same time");
    assert_eq!(project.rows("SELECT x FROM mart.sum"), "3\n");
}

#[test]
fn queries_run_at_the_same_time_on_sqlite() {
    all_at_once(&project());
}

#[test]
fn queries_run_at_the_same_time_on_duckdb() {
    let project = project();
    project.write("config/catalog.sql", "ATTACH 'ducklake:duckdb:lake.duckdb' AS lake (DATA_PATH 'files');");
    all_at_once(&project);
}

#[test]
fn queries_run_at_the_same_time_on_postgresql() {
    let server = testkit::Postgres::start();
    server.create_database("lake");
    let project = project();
    let catalog = format!("ATTACH 'ducklake:postgres:{}' AS lake (DATA_PATH 'files');", server.connection("lake"));
    project.write("config/catalog.sql", &catalog);
    all_at_once(&project);
}

/// With two queries that wait for each other, a run of one at a time gets on once the gate gives up.
fn one_at_a_time(project: &Project, arguments: &[&str]) {
    let gate = Gate::new(2);
    piped(project, &gate, "raw/a");
    piped(project, &gate, "raw/b");
    let output = project.run(arguments).success().stdout;
    assert!(output.contains("Done: 2 ran"), "{output}");
    let lines: Vec<&str> = output.lines().filter(|line| line.starts_with("[OK]")).collect();
    assert!(lines[0].contains("raw.a") && lines[1].contains("raw.b"), "in their order: {output}");
    assert_eq!(gate.most(), 1);
}

#[test]
fn one_job_runs_one_query_after_the_other() {
    one_at_a_time(&project(), &["run", "--jobs", "1"]);
}

#[test]
fn a_catalog_that_nobody_can_read_meanwhile_is_no_catalog_for_several_queries() {
    let project = project();
    project.write("config/catalog.sql", "ATTACH 'ducklake:sqlite:lake.sqlite' AS lake (DATA_PATH 'files');");
    one_at_a_time(&project, &["run"]);
}

/// What stands where variables are handed to another connection keeps there from being one.
#[test]
fn queries_stay_with_their_models_if_there_can_be_no_second_session() {
    let project = project();
    project.write(
        "config/sources.sql",
        "CREATE SCHEMA memory.__ondatra_ahead; CREATE VIEW memory.__ondatra_ahead.variables AS SELECT 1;",
    );
    one_at_a_time(&project, &["run"]);
    assert_eq!(project.rows("SELECT a.x + b.x FROM raw.a a, raw.b b"), "2\n");
}

#[test]
fn what_only_one_connection_has_is_there_for_every_query() {
    let project = project();
    project.write("config/sources.sql", "CREATE TEMP TABLE rates AS SELECT 7 AS rate;");
    for name in ["a", "b", "c"] {
        project.model(&format!("raw/{name}"), "SELECT rate FROM temp.main.rates");
    }
    project.run(&["run"]).success();
    assert_eq!(project.rows("SELECT a.rate + b.rate + c.rate FROM raw.a, raw.b, raw.c"), "21\n");
}

#[test]
fn variables_and_settings_are_the_same_for_every_query() {
    let project = project();
    project.write("config/settings.sql", "SET TimeZone = 'Asia/Kathmandu'; SET integer_division = true;");
    project.write(
        "config/variables/global.sql",
        "SET VARIABLE \"odd name\" = 'it''s'; SET VARIABLE nested = {'a': [1, 2], 'b': MAP {'k': DATE '2026-02-03'}}; \
         SET VARIABLE nothing = NULL; SET VARIABLE huge = 170141183460469231731687303715884105727::HUGEINT;",
    );
    let sql = "SELECT getvariable('odd name') AS a, getvariable('nested')::VARCHAR AS b, typeof(getvariable('nested')) \
               AS c, getvariable('nothing') IS NULL AS d, getvariable('huge')::VARCHAR AS e, \
               current_setting('TimeZone') AS f, 7 / 2 AS g, getvariable('dag_start_snapshot') >= 0 AS h, \
               current_setting('search_path') AS i, ondatra_now() AS j, ondatra_load_id() AS k";
    for name in ["a", "b", "c", "d"] {
        project.model(&format!("raw/{name}"), sql);
    }
    project.run(&["run"]).success();
    let all = "SELECT count(*), count(DISTINCT x) FROM (SELECT x FROM raw.a x UNION ALL SELECT x FROM raw.b x \
               UNION ALL SELECT x FROM raw.c x UNION ALL SELECT x FROM raw.d x)";
    assert_eq!(project.rows(all), "4,1\n");
    assert_eq!(
        project.rows("SELECT a, b, d, f, g FROM raw.a"),
        "it's,\"{'a': [1, 2], 'b': {k=2026-02-03}}\",true,Asia/Kathmandu,3\n"
    );
}

#[test]
fn a_slow_query_holds_up_nobody_but_its_readers() {
    let project = project();
    // The gate opens for one more than there are: it gives up after a while, and the others are through by then.
    let gate = Gate::new(2);
    piped(&project, &gate, "a/slow");
    project.model("b/one", "SELECT 1 AS x");
    project.model("b/two", "SELECT x + 1 AS x FROM b.one");
    project.model("c/reads_slow", "SELECT x FROM a.slow");
    let output = project.run(&["run"]).success().stdout;
    let place = |name: &str| output.find(&format!("[OK] {name}")).unwrap_or_else(|| panic!("{name}: {output}"));
    assert!(place("b.one") < place("b.two") && place("b.two") < place("a.slow"), "{output}");
    assert!(place("a.slow") < place("c.reads_slow"), "{output}");
}

#[test]
fn records_come_in_the_order_of_the_run_whatever_was_through_first() {
    let project = project();
    let gate = Gate::new(2);
    piped(&project, &gate, "a/slow");
    project.model("b/one", "SELECT 1 AS x");
    let records = project.run(&["run", "--json"]).success().stdout;
    let names: Vec<String> = records
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["model"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["a.slow", "b.one"]);
}

/// Models of each kind, whose queries fail or give rows that may not be.
fn failing(project: &Project) {
    project.model("raw/good", "SELECT 1 AS id, 'x' AS v");
    project.model("bad/cast", "SELECT 'abc'::INTEGER AS n");
    project.model("bad/column", "SELECT nothing FROM raw.good");
    project.model("bad/null_key", "-- @kind: merge\n-- @unique_key: id\nSELECT NULL::INTEGER AS id");
    project.model("bad/twice", "-- @kind: scd2\n-- @unique_key: id\nSELECT unnest([1, 1]) AS id");
    project.model("bad/checked", "-- @constraint: between(id, 5, 9)\nSELECT 1 AS id");
    project.model("bad/audited", "-- @audit: row_count(>, 5)\nSELECT 1 AS id");
    project.model("bad/huge", "SELECT 170141183460469231731687303715884105727::HUGEINT AS n");
    project.model("ok/below", "SELECT count(*) AS n FROM raw.good");
}

#[test]
fn errors_are_the_same_whether_queries_ran_ahead_or_not() {
    let run = |jobs: &str| {
        let project = project();
        failing(&project);
        let output = project.run(&["run", "--json", "--jobs", jobs]).failure(1).stdout;
        let told = output.lines().map(|line| {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            [&record["model"], &record["status"], &record["run_type"], &record["errors"], &record["warnings"]]
                .map(ToString::to_string)
                .join(" ")
        });
        (told.collect::<Vec<_>>(), project.rows("SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'bad'"))
    };
    let (ahead, one_by_one) = (run("4"), run("1"));
    assert_eq!(ahead, one_by_one);
    assert_eq!(ahead.1, "0\n", "nothing of a failed model is left");
}

#[test]
fn queries_for_which_memory_is_too_little_at_once_run_alone() {
    let project = project();
    // A list of 4 million numbers does not go to disk.
    project.write("config/settings.sql", "SET memory_limit = '110MB'; SET threads = 2;");
    for name in ["a", "b", "c", "d"] {
        project.model(&format!("raw/{name}"), "SELECT len(list(i)) AS n FROM range(4000000) r(i)");
    }
    let output = project.run(&["run"]).success().stdout;
    assert!(output.contains("Done: 4 ran, 0 skipped, 0 failed"), "{output}");
}

#[test]
fn queries_for_which_rows_of_others_leave_too_little_memory_run_alone() {
    let rows = "FROM range(400000) r(i)";
    let queries = [
        format!("SELECT i AS k, hash(i)::VARCHAR || repeat('x', 40) AS s {rows}"),
        format!(
            "SELECT hash(i) % 1000000 AS k, count(*) AS n, max(hash(i)::VARCHAR || repeat('y', 30)) AS s {rows} GROUP BY 1"
        ),
        format!("SELECT i AS k, row_number() OVER (ORDER BY hash(i)) AS r, repeat(hash(i)::VARCHAR, 3) AS s {rows}"),
    ];
    for jobs in ["2", "8"] {
        let project = project();
        project.write("config/settings.sql", "SET memory_limit = '30MB'; SET threads = 2;");
        for (at, query) in queries.iter().cycle().take(9).enumerate() {
            project.model(&format!("raw/m{at}"), query);
        }
        let output = project.run(&["run", "--jobs", jobs]).success().stdout;
        assert!(output.contains("Done: 9 ran, 0 skipped, 0 failed"), "{output}");
    }
}

#[test]
fn every_query_sees_the_snapshot_of_the_sessions_start() {
    let seen = |jobs: &str| {
        let project = project();
        for at in 0..3 {
            project.model(&format!("raw/m{at}"), "SELECT last_snapshot() AS last, prev_snapshot() AS before");
        }
        project.run(&["run", "--jobs", jobs]).success();
        project.rows("SELECT * FROM raw.m0 UNION ALL FROM raw.m1 UNION ALL FROM raw.m2")
    };
    assert_eq!(seen("2"), "0,0\n0,0\n0,0\n");
    assert_eq!(seen("1"), seen("2"));
}

#[test]
fn settings_of_any_form_are_no_obstacle() {
    let project = project();
    project.write(
        "config/settings.sql",
        "PRAGMA enable_profiling = 'no_output'; SET profiling_mode = 'detailed'; SET streaming_buffer_size = '10MB'; \
         SET custom_profiling_settings = '{\"CPU_TIME\": \"true\"}';",
    );
    for name in ["a", "b", "c"] {
        project.model(&format!("raw/{name}"), "SELECT 1 AS n");
    }
    assert!(project.run(&["run"]).success().stdout.contains("Done: 3 ran, 0 skipped, 0 failed"));
}
