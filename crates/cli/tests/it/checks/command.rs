//! `ondatrasql check`.

use serde_json::{Value, json};
use testkit::{Lake, Project};

use crate::checks::{snapshot, with_model};
use crate::project;

/// Runs the model without its checks, then gives it these.
fn with_table(kind: &str, checks: &str, rows: &str) -> Project {
    let project = with_model(kind, rows);
    project.run(&["run"]).success();
    project.model("raw/a", &format!("{kind}\n{checks}\nSELECT * FROM (VALUES {rows}) AS t(id, name)"));
    project
}

const TABLE: &str = "-- @kind: table";

#[test]
fn it_checks_the_present_table_and_runs_nothing() {
    let checks = "-- @constraint: not_null(name)\n-- @audit: row_count(>, 5)\n-- @warning: unique(name)";
    let project = with_table(TABLE, checks, "(1, NULL), (2, 'x'), (3, 'x')");
    let before = snapshot(&project);
    let output = project.run(&["check", "raw.a"]).failure(1);
    let time = output.stdout.split(", ").nth(3).and_then(|rest| rest.split(')').next()).unwrap().to_owned();
    let expected = format!(
        "[FAILED] raw.a (1 constraint, 1 audit, 1 warning, {time})\n  ERROR: NOT NULL failed: name has 1 NULL values\n    \
         not_null(name): 1 row: id = 1, name = NULL\n  ERROR: audit failed: row_count > 5 failed: actual count is 3\n  \
         WARN: unique warning: name has duplicates (value x appears 2 times)\n    \
         unique(name): 2 rows, for example id = 2, name = x; id = 3, name = x\n"
    );
    assert_eq!(output.stdout, expected);
    assert_eq!(output.stderr, "");
    let json = project.run(&["check", "models/raw/a.sql", "--json"]).failure(1);
    let mut record: Value = serde_json::from_str(&json.stdout).unwrap();
    record.as_object_mut().unwrap().remove("duration_ms").unwrap();
    assert_eq!(record["findings"].as_array().map(Vec::len), Some(3));
    record.as_object_mut().unwrap().remove("findings").unwrap();
    let expected = json!({
        "schema_version": 1, "model": "raw.a", "status": "error", "checks": 3,
        "errors": ["NOT NULL failed: name has 1 NULL values", "audit failed: row_count > 5 failed: actual count is 3"],
        "warnings": ["unique warning: name has duplicates (value x appears 2 times)"],
    });
    assert_eq!(record, expected);
    assert_eq!(snapshot(&project), before);
}

#[test]
fn only_constraints_and_audits_decide_the_exit_code() {
    let project = with_table(TABLE, "-- @constraint: not_null(id)\n-- @warning: not_null(name)", "(1, NULL)");
    assert!(project.run(&["check", "raw.a"]).success().stdout.starts_with("[OK] raw.a (1 constraint, 1 warning, "));
    for directive in ["@constraint: not_null(nope)", "@constraint: f(", "@audit: f(", "@audit: nope()"] {
        let project = with_table(TABLE, &format!("-- {directive}\n-- @warning: f("), "(1, NULL)");
        let output = project.run(&["check", "raw.a"]).failure(1);
        assert!(
            output.stdout.contains("  ERROR: ") && output.stdout.contains("WARN: warning dispatch error"),
            "{directive}"
        );
    }
}

#[test]
fn without_a_model_all_that_have_checks_are_checked() {
    let project = project();
    project.model("raw/a", "-- @constraint: not_null(id)\nSELECT 1 AS id");
    project.model("raw/b", "SELECT 1 AS id");
    project.model("raw/c", "SELECT 1 AS id");
    project.run(&["run"]).success();
    project.model("raw/c", "-- @constraint: check(one, id = 2)\n-- @constraint: f(\nSELECT 1 AS id");
    project.model("raw/d", "-- @constraint: not_null(id)\nSELECT 1 AS id");
    let output = project.run(&["check"]).failure(1);
    assert!(output.stdout.contains("[OK] raw.a (1 constraint, "), "{}", output.stdout);
    assert!(output.stdout.contains("[FAILED] raw.c (2 constraints, "), "{}", output.stdout);
    assert!(output.stdout.contains("[SKIP] raw.d (no table yet)\n"), "{}", output.stdout);
    assert!(output.stdout.contains("\nDone: 2 checked, 1 failed ("), "{}", output.stdout);
    assert!(!output.stdout.contains("raw.b"));
    let lines = project.run(&["check", "raw.a", "raw.c", "--json"]).failure(1).stdout;
    assert_eq!(lines.lines().count(), 2);
    assert_eq!(project.run(&["check", "raw.b"]).success().stdout.split(", ").next(), Some("[OK] raw.b (no checks"));
}

#[test]
fn a_model_without_a_table_and_one_that_is_not_there_are_errors() {
    let project = with_model("-- @constraint: not_null(id)", "(1, 'x')");
    let output = project.run(&["check", "raw.a"]).failure(1);
    assert!(output.stderr.contains("error: raw.a has no table yet, so there is nothing to check [CHECK-004]"));
    assert!(output.stderr.contains("help: run it first: `ondatrasql run raw.a`"), "{}", output.stderr);
    assert!(project.run(&["check", "raw.b"]).failure(1).stderr.contains("[MODEL-009]"));
    project.run(&["check", "--nope"]).failure(2);
}

#[test]
fn constraints_look_at_rows_as_a_run_would_write_them() {
    // The past of scd2 and the columns of the runtime are no part of a result.
    let header = "-- @kind: scd2\n-- @unique_key: id\n-- @constraint: primary_key(id)\n-- @constraint: own()";
    let project = with_model(header, "(1, 'x')");
    project.write(
        "config/macros/own.sql",
        "CREATE MACRO ondatra_constraint_own(t) AS TABLE SELECT c FROM query('SELECT string_agg(column_name, '','') AS c \
         FROM (DESCRIBE FROM ' || t || ')') WHERE c <> 'id,name';",
    );
    project.run(&["run"]).success();
    project.model("raw/a", &format!("{header}\nSELECT * FROM (VALUES (1, 'y')) AS t(id, name)"));
    project.run(&["run"]).success();
    assert_eq!(project.rows("SELECT count(*) FROM raw.a"), "2\n");
    project.run(&["check", "raw.a"]).success();
}

#[test]
fn failures_are_stored_in_one_commit_in_the_place_of_the_last_ones() {
    let checks = "-- @constraint: not_null(name)\n-- @constraint: not_null(name)\n-- @constraint: at_least_one(name)\n\
                  -- @audit: zscore(id, 0.5)\n-- @warning: compare(id, <, 3)";
    let project = with_table(TABLE, checks, "(1, NULL), (2, NULL), (3, NULL)");
    let before: i64 = snapshot(&project).trim().parse().unwrap();
    let output = project.run(&["check", "raw.a", "--store-failures"]).failure(1);
    assert!(output.stdout.contains("  STORED: 6 rows in checks.raw__a\n"), "{}", output.stdout);
    let rows = "SELECT __ondatra_stage, __ondatra_check, __ondatra_message, id FROM checks.raw__a ORDER BY ALL";
    let audit = "audit,\"zscore(id, 0.5)\",zscore(id) < 0.5 failed: outlier detected,";
    let constraint = "constraint,not_null(name),NOT NULL failed: name has 3 NULL values,";
    assert_eq!(
        project.rows(rows),
        format!(
            "{audit}1\n{audit}3\n{constraint}1\n{constraint}2\n{constraint}3\n\
             warning,\"compare(id, <, 3)\",id < 3 warning: 1 violations,3\n"
        )
    );
    assert_eq!(snapshot(&project).trim().parse(), Ok(before + 1), "one commit");
    let message = "SELECT commit_message FROM lake.snapshots() ORDER BY snapshot_id DESC LIMIT 1";
    assert_eq!(project.rows(message), "Failures of raw.a\n");
    // Nothing to find any more: an empty table with the same columns.
    project.model("raw/a", "-- @constraint: not_null(id)\nSELECT * FROM (VALUES (1, NULL)) AS t(id, name)");
    let output = project.run(&["check", "raw.a", "--store-failures", "--json"]).success();
    let record: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(record["stored"], json!({"table": "checks.raw__a", "rows": 0}));
    assert_eq!(project.rows("SELECT count(*) FROM checks.raw__a"), "0\n");
    project.run(&["run"]).success();
}

#[test]
fn failures_never_take_the_place_of_a_models_table() {
    let project = with_table(TABLE, "-- @constraint: not_null(name)", "(1, NULL)");
    project.model("checks/raw/a", "SELECT 5 AS mine");
    project.run(&["run", "checks.raw__a"]).success();
    let output = project.run(&["check", "raw.a", "--store-failures"]).failure(1);
    assert!(output.stderr.contains("[CHECK-004]"), "{}", output.stderr);
    assert_eq!(project.rows("FROM checks.raw__a"), "5\n");
    // Nor that of a table of another tool's.
    let project = with_table(TABLE, "-- @constraint: not_null(name)", "(1, NULL)");
    Lake::open(&project).execute("CREATE SCHEMA checks; CREATE TABLE checks.raw__a AS SELECT 6 AS mine");
    project.run(&["check", "raw.a", "--store-failures"]).failure(1);
    assert_eq!(project.rows("FROM checks.raw__a"), "6\n");
}

#[test]
fn help_lists_every_shipped_check() {
    let project = Project::empty(crate::BINARY);
    let help = project.run(&["help", "check"]).success().stdout;
    for line in
        ["-- @constraint: ", "  references(col, other, pk)  ", "  golden(path)  ", "  low_entropy(col, min_value)  "]
    {
        assert!(help.contains(line), "{line}: {help}");
    }
}
