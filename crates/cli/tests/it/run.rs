//! `run`: order, output, commits, failure propagation, evolution of `table` models.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

use testkit::{Catalog, Lake, Project};

use crate::{BINARY, project};

#[test]
fn models_run_in_order_and_skip_the_second_time() {
    for catalog in [Catalog::Sqlite, Catalog::Duckdb] {
        let project = Project::new(BINARY, catalog);
        project.model("mart/c", "SELECT sum(id) AS total FROM staging.b");
        project.model("staging/b", "SELECT id FROM raw.a WHERE id > 1");
        project.model("raw/a", "SELECT i AS id FROM range(4) t(i)");
        let first = project.run(&["run"]).success();
        insta::assert_snapshot!("first_run", first.transcript(&project.root()));
        let second = project.run(&["run"]).success();
        insta::assert_snapshot!("second_run", second.transcript(&project.root()));
        assert_eq!(project.rows("FROM mart.c"), "5\n");
    }
}

#[test]
fn one_snapshot_a_model_with_the_metadata_of_the_commit() {
    let project = project();
    project.model("raw/a", "-- @description: it's raw\n-- @column: id = the id\nSELECT 1 AS id");
    project.run(&["run"]).success();
    let lake = Lake::open(&project);
    assert_eq!(lake.number("SELECT count(*) FROM lake.snapshots() WHERE author = 'ondatrasql'"), 1);
    assert_eq!(lake.number("SELECT max(snapshot_id) FROM lake.snapshots()"), 1, "no commit but the model's");
    let info =
        lake.connection.query_value("SELECT commit_extra_info FROM lake.snapshots() WHERE snapshot_id = 1").unwrap();
    let info: serde_json::Value = serde_json::from_str(info.as_text().unwrap()).unwrap();
    let keys: Vec<&str> = info.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "model",
            "kind",
            "run_type",
            "run_reason",
            "sql_hash",
            "schema_hash",
            "columns",
            "column_lineage",
            "depends",
            "rows_affected",
            "read_snapshot",
            "dag_run_id",
            "source_file",
            "start_time",
            "end_time",
            "duration_ms",
            "duckdb_version",
            "steps"
        ]
    );
    assert_eq!(info["model"], "raw.a");
    assert_eq!(info["columns"], serde_json::json!([{"name": "id", "type": "INTEGER"}]));
    assert_eq!((&info["depends"], &info["read_snapshot"]), (&serde_json::json!([]), &serde_json::json!(0)));
    assert_eq!(info["source_file"], "models/raw/a.sql");
    let registry = "SELECT count(*) FROM lake.main._ondatra_registry WHERE target = 'raw.a' AND kind = 'table' AND commit_info IS NOT NULL";
    assert_eq!(lake.number(registry), 1);
    let comment = "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'a' AND comment = 'it''s raw'";
    assert_eq!(lake.number(comment), 1);
}

#[test]
fn a_failure_skips_what_is_below_it_and_nothing_else() {
    let project = project();
    project.model("raw/bad", "SELECT 'x'::INTEGER AS a");
    project.model("staging/below", "SELECT a FROM raw.bad");
    project.model("mart/far_below", "SELECT a FROM staging.below");
    project.model("raw/good", "SELECT 1 AS a");
    let output = project.run(&["run"]).failure(1);
    insta::assert_snapshot!("failure_propagation", output.transcript(&project.root()));
    project.model("raw/bad", "SELECT '1'::INTEGER AS a");
    let output = project.run(&["run"]).success();
    assert!(output.stdout.contains("Done: 3 ran, 1 skipped, 0 failed"), "{}", output.stdout);
}

#[test]
fn json_is_one_record_a_model_and_lines_go_to_stderr() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS a");
    project.model("raw/bad", "SELECT nope FROM raw.a");
    project.model("staging/below", "SELECT * FROM raw.bad");
    let output = project.run(&["run", "--json"]).failure(1);
    let records: Vec<serde_json::Value> =
        output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records.len(), 3);
    let keys: Vec<&str> = records[0].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "schema_version",
            "model",
            "kind",
            "run_type",
            "run_reason",
            "rows_affected",
            "duration_ms",
            "status",
            "errors",
            "warnings",
            "dag_run_id"
        ]
    );
    assert!(
        output.stdout.lines().all(|line| line.starts_with("{\"schema_version\":2,\"model\":")),
        "compact, in order"
    );
    assert_eq!((&records[0]["status"], &records[0]["rows_affected"]), (&"ok".into(), &1.into()));
    assert_eq!((&records[1]["status"], &records[1]["run_type"]), (&"error".into(), &"backfill".into()));
    let error = records[1]["errors"][0].as_str().unwrap();
    assert!(error.starts_with("Referenced column \"nope\" not found"), "no class prefix, no excerpt: {error}");
    assert_eq!((&records[2]["status"], records[2].get("run_reason")), (&"skip".into(), None));
    assert_eq!(records[2]["warnings"], serde_json::json!(["skipped: upstream model failed"]));
    assert!(output.stderr.contains("[OK] raw.a (table"), "{}", output.stderr);
}

#[test]
fn one_model_runs_alone_whatever_its_siblings_are() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS a");
    project.model("raw/broken", "-- @kind: nonsense\nSELECT");
    project.model("staging/b", "SELECT a FROM raw.a");
    let output = project.run(&["run", "raw.a"]).success();
    assert!(output.stdout.starts_with("[OK] raw.a (table, backfill, 1 rows, "), "{}", output.stdout);
    assert_eq!(output.stdout.lines().count(), 1, "no header, no Done line");
    project.run(&["run", "RAW.A"]).success();
    project.run(&["run", "models/staging/b.sql"]).success();
    assert_eq!(project.rows("FROM staging.b"), "1\n");
    project.run(&["run"]).failure(1);
    project.model("raw/A", "SELECT 2 AS a");
    for twin in ["raw.A", "raw.a", "models/raw/a.sql"] {
        let output = project.run(&["run", twin]).failure(1);
        assert!(output.stderr.contains("duplicate target"), "{}", output.stderr);
    }
    project.remove("models/raw/A.sql");
    project.model("raw/b-c", "SELECT 1 AS a");
    assert!(project.run(&["run", "models/raw/b-c.sql"]).failure(1).stderr.contains("invalid path segment `b-c`"));
    project.write("scratch.v1.sql", "SELECT a + 1 AS a FROM raw.a");
    project.run(&["run", "scratch.v1.sql"]).success();
    assert_eq!(project.rows("FROM tmp.scratch_v1"), "2\n");
}

#[test]
fn no_models_is_no_failure() {
    let project = project();
    let output = project.run(&["run"]).success();
    assert!(output.stdout.starts_with("No models found in "), "{}", output.stdout);
    assert_eq!(project.run(&["run", "--json"]).success().stdout, "");
}

#[test]
fn columns_follow_the_query_and_the_table_keeps_its_identity() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS id, 'x' AS name, 2 AS n");
    project.run(&["run"]).success();
    let identity =
        "SELECT table_id FROM __ducklake_metadata_lake.ducklake_table WHERE table_name = 'a' AND end_snapshot IS NULL";
    let before = Lake::open(&project).number(identity);

    project.model("raw/a", "SELECT 1 AS id, 'x' AS name, 2 AS n, DATE '2024-01-01' AS day");
    let added = project.run(&["run"]).success().stdout;
    assert!(added.contains("[OK] raw.a (table, incremental, 1 rows,") && added.contains("sql changed"), "{added}");
    assert!(added.contains("WARN: schema evolution: + day (DATE)"), "{added}");

    project.model("raw/a", "SELECT 2 AS ID, 'y'::VARCHAR AS n, DATE '2024-01-02' AS day");
    let changed = project.run(&["run"]).success().stdout;
    assert!(changed.contains("(table, full, 1 rows,"), "{changed}");
    assert!(changed.contains("WARN: schema evolution: renamed id → ID; - name; n: INTEGER → VARCHAR"), "{changed}");
    assert_eq!(project.run(&["sql", "FROM raw.a", "-f", "csv"]).success().stdout, "ID,day,n\n2,2024-01-02,y\n");

    project.model("raw/a", "SELECT 'only' AS other");
    project.run(&["run"]).success();
    assert_eq!(project.run(&["sql", "FROM raw.a", "-f", "csv"]).success().stdout, "other\nonly\n");
    assert_eq!(Lake::open(&project).number(identity), before, "the change feed goes on");
}

#[test]
fn huge_integers_stay_exact_or_fail_by_name() {
    let project = project();
    project.model(
        "raw/a",
        "SELECT sum(i) AS total, [9007199254740993::HUGEINT] AS l FROM (VALUES (9007199254740992), (1)) t(i)",
    );
    project.run(&["run"]).success();
    assert_eq!(
        project.rows("SELECT total, typeof(total), l FROM raw.a"),
        "9007199254740993,\"DECIMAL(38,0)\",[9007199254740993]\n"
    );
    assert!(project.run(&["run"]).success().stdout.contains("[SKIP]"), "the stored type is no evolution");
    project.model("raw/a", "SELECT 170141183460469231731687303715884105727::HUGEINT AS total");
    let output = project.run(&["run"]).failure(1);
    assert!(
        output.stderr.contains("column `total` is HUGEINT")
            && output.stderr.contains("170141183460469231731687303715884105727"),
        "{}",
        output.stderr
    );
    project.model("raw/a", "SELECT 'x'::ENUM('x', 'y') AS e");
    let output = project.run(&["run"]).failure(1);
    assert!(output.stderr.contains("column `e` has type ENUM"), "{}", output.stderr);
    assert_eq!(project.rows("SELECT count(*) FROM raw.a"), "1\n", "a failed run leaves the table as it was");
    for (value, expected) in [
        ("INTERVAL '1 microsecond'", "value 00:00:00.000001 does not fit"),
        ("to_hours(1500)", "value 1500:00:00 does not fit"),
        ("INTERVAL '-1 day'", "value -1 day does not fit"),
        ("1 AS __ondatra_x, 2", "reserved for the runtime"),
        ("[INTERVAL '1 day']", "the lake cannot store"),
        ("[TIME_NS '10:00:00']", "the lake cannot store"),
        ("[1, 2]::INTEGER[2]", "the lake cannot store"),
        ("{'bit': 1, 'e': 'x'::ENUM('x')}", "the lake cannot store"),
    ] {
        project.model("raw/a", &format!("SELECT {value} AS total"));
        let output = project.run(&["run"]).failure(1);
        assert!(output.stderr.contains(expected), "{value}: {}", output.stderr);
    }
}

#[test]
fn equal_is_not_the_same() {
    let project = project();
    project.write("config/settings.sql", "SET default_collation = 'NOCASE';");
    let column = |value: &str| format!("SELECT {value} AS v");
    for (old, new) in [
        ("INTERVAL '30 days'", "INTERVAL '1 month'"),
        ("'0.0'::DOUBLE", "'-0.0'::DOUBLE"),
        ("['0.0'::DOUBLE]", "['-0.0'::DOUBLE]"),
        ("'abc'", "'ABC'"),
    ] {
        project.model("raw/a", &column(old));
        project.run(&["run"]).success();
        project.model("raw/a", &column(new));
        project.run(&["run"]).success();
        let expected = project.rows(&format!("SELECT ({new})::VARCHAR"));
        assert_eq!(project.rows("SELECT v::VARCHAR FROM raw.a"), expected);
    }
}

#[test]
fn types_that_the_lake_gives_back_in_another_form_are_no_change() {
    let project = project();
    project.model("raw/a", "SELECT '10:00:00+02'::TIMETZ AS t, INTERVAL '1 day' AS i, {'bit': 1} AS s, (SELECT count(*) FROM read_text('*.none')) AS n");
    project.model("staging/b", "SELECT t, i FROM raw.a");
    project.run(&["run"]).success();
    let second = project.run(&["run"]).success();
    assert!(second.stdout.contains("[OK] raw.a") && second.stdout.contains("[SKIP] staging.b"), "{}", second.stdout);
    assert_eq!(project.rows("FROM staging.b"), "08:00:00+00,1 day\n");
}

#[test]
fn hostile_names_are_quoted() {
    let project = project();
    project.model("order/select", "SELECT 1 AS \"from\", 2 AS \"a\"\"b\", 3 AS \"Ünïcode; --\"");
    project.model(
        "mart/table",
        "-- @column: from = the \"origin\"\nSELECT * FROM \"order\".\"select\" -- no line break at the end",
    );
    project.run(&["run"]).success();
    let second = project.run(&["run"]).success();
    assert!(second.stdout.contains("0 ran, 2 skipped"), "{}", second.stdout);
    assert_eq!(project.rows("FROM mart.\"table\""), "1,2,3\n");
}

#[test]
fn statements_of_every_accepted_form_run() {
    let project = project();
    project.model("raw/t", "VALUES (1, 'a'), (2, 'b')");
    project.model("s/from_first", "FROM raw.t");
    project.model("s/table_form", "TABLE raw.t");
    project.model("s/summarized", "SUMMARIZE raw.t");
    project.model("s/pivot_in", "PIVOT raw.t ON col1 IN ('a', 'b') USING sum(col0)");
    project.model("s/pivot_dynamic", "PIVOT raw.t ON col1 USING sum(col0)");
    project.model("s/ctes", "WITH t AS (SELECT * FROM raw.t), u AS (SELECT * FROM t) SELECT * FROM u");
    let output = project.run(&["run"]).success();
    assert!(output.stdout.contains("WARN: AST serialize failed (lineage/CDC degraded): "), "{}", output.stdout);
    assert_eq!(project.rows("FROM s.pivot_dynamic"), "1,2\n");
    project.model("raw/t", "VALUES (1, 'a'), (2, 'b'), (3, 'b')");
    let output = project.run(&["run"]).success();
    assert!(output.stdout.contains("Done: 7 ran, 0 skipped"), "every form follows its source:\n{}", output.stdout);
    assert_eq!(project.rows("FROM s.pivot_dynamic"), "1,5\n");
}

#[test]
fn another_writer_in_the_middle_of_a_model_is_no_loss_for_either() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS a");
    project.run(&["run"]).success();
    let lake = Lake::open(&project);
    lake.execute("CREATE SCHEMA other; CREATE TABLE other.t (i INTEGER)");
    // Slow enough that the other writer commits between this model's BEGIN and its COMMIT: the refill then
    // conflicts with the delete, and the whole transaction is made again.
    project.model("raw/a", "SELECT count(*) AS a FROM range(12000) x(i), range(12000) y(j) WHERE i + j > 5");
    let mut run = project.command(&["run"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(run.stdout.take().unwrap());
    lines.read_line(&mut String::new()).unwrap();
    lake.execute("BEGIN; DELETE FROM raw.a; INSERT INTO other.t VALUES (1); COMMIT");
    assert!(run.wait().unwrap().success());
    assert_eq!(project.rows("SELECT a, (SELECT count(*) FROM other.t) FROM raw.a"), "143999979,1\n");
}

#[test]
fn a_locked_catalog_is_waited_for() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS a");
    project.run(&["run"]).success();
    let lake = Lake::open(&project);
    lake.execute(&format!("ATTACH '{}/ducklake.sqlite' AS plain (TYPE sqlite)", project.root().display()));
    lake.execute("BEGIN; CREATE TABLE plain.held (i INTEGER)");
    project.model("raw/a", "SELECT 2 AS a");
    let mut run = project.command(&["run"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(run.stdout.take().unwrap());
    lines.read_line(&mut String::new()).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    assert!(run.try_wait().unwrap().is_none(), "it waits");
    lake.execute("ROLLBACK");
    assert!(run.wait().unwrap().success());
    assert_eq!(project.rows("FROM raw.a"), "2\n");
}

#[test]
fn places_are_right_behind_any_character() {
    let project = project();
    project.model("raw/a", "SELECT 'ééééééééé' x y");
    let output = project.run(&["run"]).failure(1);
    assert!(output.stderr.contains("models/raw/a.sql:1:22"), "{}", output.stderr);
    project.model("raw/a", "SELECT 'ééééééééé' AS x,\n  'é' || nope");
    let output = project.run(&["run"]).failure(1);
    assert!(output.stderr.contains("models/raw/a.sql:2:10"), "{}", output.stderr);
    project.write("config/settings.sql", "SET VARIABLE x = 'ééééééééé' y");
    let output = project.run(&["run"]).failure(1);
    assert!(output.stderr.contains("config/settings.sql:1:30"), "{}", output.stderr);
}

#[test]
fn data_in_an_error_does_not_decide_what_kind_of_error_it_is() {
    let project = project();
    project.model("raw/a", "SELECT 'Conflict on schedule: database is locked'::INTEGER AS a");
    project.model("raw/b", "SELECT error('database has been invalidated') AS a");
    project.model("raw/c", "SELECT 1 AS a");
    let output = project.run(&["run"]).failure(1);
    assert!(output.stdout.contains("[OK] raw.c") && !output.stderr.contains("another writer"), "{}", output.stderr);
}

#[test]
fn a_model_is_one_select() {
    let project = project();
    project.model("raw/ok", "SELECT 1 AS a");
    for (sql, expected) in [
        ("CREATE TABLE x AS SELECT 1", "a model is one SELECT, not CREATE"),
        ("INSERT INTO raw.ok VALUES (2)", "a model is one SELECT, not INSERT"),
        ("SELECT 1 AS a$b$; CREATE TABLE lake.main.smuggled AS SELECT '$b$'", "2 SQL statements"),
        ("SELECT * FROM {{ ref('ok') }}", "models have no templates"),
    ] {
        project.model("raw/bad", sql);
        let output = project.run(&["run"]).failure(1);
        assert!(output.stderr.contains(expected), "{sql}: {}", output.stderr);
    }
    assert_eq!(project.rows("SELECT count(*) FROM duckdb_tables() WHERE database_name = 'lake'"), "0\n");
}

#[test]
fn a_source_that_cannot_be_opened_fails_only_those_who_read_it() {
    let project = project();
    project.write("config/sources.sql", "ATTACH 'gone.sqlite' AS shop (TYPE sqlite, READ_ONLY);");
    project.model("raw/a", "-- @description: d\n-- @column: a = the a\nSELECT 1 AS a");
    project.model("raw/b", "SELECT * FROM shop.main.orders");
    let output = project.run(&["run"]).failure(1);
    assert!(output.stdout.contains("[OK] raw.a") && output.stdout.contains("[FAILED] raw.b"), "{}", output.stdout);
    // The engine's list of macros looks into it too: those who use macros run all the same.
    project.write("config/macros/m.sql", "CREATE MACRO of_a() AS (SELECT max(a) FROM lake.raw.a);");
    project.model("raw/c", "SELECT of_a() + 1 AS c");
    for run_type in ["backfill", "full"] {
        let output = project.run(&["run"]).failure(1);
        let line = format!("[OK] raw.c (table, {run_type}, 1 rows");
        assert!(output.stdout.contains(&line), "never taken for unchanged: {}{}", output.stdout, output.stderr);
    }
    // So do scripts, but for one that might hide something behind a macro.
    project.write("sql/flush.sql", "CALL ducklake_flush_inlined_data('lake')");
    project.run(&["flush"]).success();
    project.write("sql/hidden.sql", "SELECT of_a()");
    project.run(&["hidden"]).failure(1);
}

#[test]
fn comments_are_written_once_and_again_when_they_change() {
    let project = project();
    let comments = "SELECT t.comment || '/' || c.comment FROM duckdb_tables() t JOIN duckdb_columns() c USING (table_name) \
                    WHERE t.database_name = 'lake' AND c.database_name = 'lake' AND table_name = 'a'";
    let model = |table: &str, column: &str, sql: &str| {
        project.model("raw/a", &format!("-- @description: {table}\n-- @column: A = {column}\n{sql}"));
        project.run(&["run"]).success();
        project.rows(comments)
    };
    assert_eq!(model("t1", "c1", "SELECT 1 AS a"), "t1/c1\n");
    assert_eq!(model("t2", "c1", "SELECT 2 AS a"), "t2/c1\n");
    assert_eq!(model("t2", "c1", "SELECT 'text' AS a"), "t2/c1\n", "a column made anew gets its comment again");
    let altered =
        "SELECT count(*) FROM (SELECT unnest(map_keys(changes)) AS k FROM lake.snapshots()) WHERE k = 'tables_altered'";
    let before = project.rows(altered);
    assert_eq!(model("t2", "c1", "SELECT 'other' AS a"), "t2/c1\n");
    assert_eq!(project.rows(altered), before, "an equal comment is not written");
    project.model("raw/a", "-- @column: nope = x\nSELECT 'third' AS a");
    assert!(project.run(&["run"]).success().stdout.contains("WARN: @column nope: the model has no such column"));
}

#[test]
fn extensions_are_loaded_or_say_why_not() {
    let project = project();
    project.model("raw/a", "-- @extension: json\nSELECT 1 AS a");
    project.run(&["run"]).success();
    project.model("raw/a", "-- @extension: no_such FROM '/nowhere'\nSELECT 2 AS a");
    let output = project.run(&["run"]).failure(1);
    assert!(
        output.stderr.contains("load extension no_such: ") && output.stderr.contains("install it: "),
        "{}",
        output.stderr
    );
    project.model("raw/a", "-- @extension: Bad;\nSELECT 2 AS a");
    assert!(project.run(&["run"]).failure(1).stderr.contains("invalid extension"));
}

#[test]
fn limit_is_found_wherever_it_stands_and_only_where_it_is_a_clause() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS a");
    project.run(&["run"]).success();
    for sql in [
        "SELECT a FROM raw.a LIMIT ALL",
        "SELECT a FROM raw.a FETCH FIRST 3 ROWS ONLY",
        "WITH x AS (SELECT a FROM raw.a LIMIT 1) SELECT * FROM x",
        "SELECT (SELECT a FROM raw.a LIMIT 1) AS a",
        "SELECT 1 AS a WHERE EXISTS (FROM raw.a LIMIT 1)",
        "SELECT a FROM raw.a UNION ALL (SELECT a FROM raw.a LIMIT 1)",
        "SELECT a FROM raw.a LIMIT 1 OFFSET 2",
    ] {
        project.model("raw/b", sql);
        let output = project.run(&["run", "raw.b"]).failure(1);
        assert!(output.stderr.contains("LIMIT is not allowed in pipeline models"), "{sql}: {}", output.stderr);
    }
    project.model("raw/b", "SELECT a FROM raw.a OFFSET 2");
    assert!(project.run(&["run", "raw.b"]).failure(1).stderr.contains("OFFSET is not allowed in pipeline models"));
    project.model("raw/b", "SELECT 'LIMIT 1' AS \"limit\", a AS \"offset\" FROM raw.a USING SAMPLE 10 ROWS -- LIMIT 1");
    project.run(&["run", "raw.b"]).success();
}

#[test]
fn a_table_that_was_there_before_is_taken_over_without_talk_of_evolution() {
    let project = project();
    let lake = Lake::open(&project);
    lake.execute("CREATE SCHEMA raw; CREATE TABLE raw.a AS SELECT 9 AS other");
    project.model("raw/a", "SELECT 1 AS a");
    let output = project.run(&["run"]).success();
    assert!(
        output.stdout.contains("(table, backfill, 1 rows,") && !output.stdout.contains("WARN"),
        "{}",
        output.stdout
    );
    assert_eq!(project.run(&["sql", "FROM raw.a", "-f", "csv"]).success().stdout, "a\n1\n");
}

#[test]
fn a_view_of_the_targets_name_is_told_as_such() {
    let project = project();
    let lake = Lake::open(&project);
    lake.execute("CREATE SCHEMA raw; CREATE VIEW raw.a AS SELECT 1 AS a");
    project.model("raw/a", "SELECT 1 AS a");
    assert!(project.run(&["run"]).failure(1).stderr.contains("the lake holds a view raw.a"));
}
