//! The table of chapter 01 §4.1: when each stage runs, what it sees, and what its findings do.

use crate::checks::{records, snapshot, texts, with_model};
use crate::project;

#[test]
fn a_constraint_that_finds_something_writes_nothing_and_skips_what_is_below() {
    let project =
        with_model("-- @constraint: not_null(name)\n-- @constraint: compare(id, <, 2)", "(1, 'x'), (2, NULL)");
    project.model("mart/b", "SELECT * FROM raw.a");
    let output = project.run(&["run", "--json"]).failure(1);
    let [a, b] = &records(&output)[..] else { panic!("{}", output.stdout) };
    assert_eq!(texts(a, "errors"), ["NOT NULL failed: name has 1 NULL values", "id < 2 failed: 1 violations"]);
    assert_eq!((a["status"].as_str(), a["rows_affected"].as_i64()), (Some("error"), Some(0)));
    assert_eq!(texts(b, "warnings"), ["skipped: upstream model failed"]);
    assert_eq!(project.rows("SELECT count(*) FROM duckdb_tables() WHERE schema_name IN ('raw', 'mart')"), "0\n");

    let output = project.run(&["run"]).failure(1);
    assert!(output.stdout.contains("[FAILED] raw.a (table, backfill, 0 rows, "), "{}", output.stdout);
    let listed = "\n  ERROR: NOT NULL failed: name has 1 NULL values\n  ERROR: id < 2 failed: 1 violations\n    \
                  not_null(name): 1 row: id = 2, name = NULL\n    compare(id, <, 2): 1 row: id = 2, name = NULL\n";
    assert!(output.stdout.contains(listed), "{}", output.stdout);
    let error = "error: raw.a: constraint validation failed: NOT NULL failed: name has 1 NULL values; id < 2 failed: \
                 1 violations [CHECK-001]";
    assert!(output.stderr.contains(error), "{}", output.stderr);
    assert!(output.stderr.contains("models/raw/a.sql:1:17"), "{}", output.stderr);
}

#[test]
fn findings_come_with_rows_and_the_place_of_their_directive() {
    let project = with_model(
        "-- @kind: merge\n-- @unique_key: id\n-- @constraint: unique(name)\n-- @constraint: null_percent(name, 10)",
        "(1, 'x'), (2, 'x'), (3, NULL), (4, 'x'), (5, 'x')",
    );
    let output = project.run(&["run", "raw.a", "--json"]).failure(1);
    let findings = records(&output)[0]["findings"].clone();
    let expected = serde_json::json!([
        {
            "stage": "constraint", "check": "unique(name)",
            "message": "UNIQUE failed: name has duplicates (value x appears 4 times)",
            "path": "models/raw/a.sql", "line": 3, "rows": 4,
            "sample": [{"id": "1", "name": "x"}, {"id": "2", "name": "x"}, {"id": "4", "name": "x"}],
        },
        {
            "stage": "constraint", "check": "null_percent(name, 10)",
            "message": "NULL_PERCENT failed: name has 20% NULLs (max 10%)",
            "path": "models/raw/a.sql", "line": 4, "rows": 1, "sample": [{"id": "3", "name": null}],
        },
    ]);
    assert_eq!(findings, expected);
}

#[test]
fn a_record_without_findings_has_no_key_for_them() {
    let project = with_model("-- @constraint: not_null(id)", "(1, 'x')");
    let output = project.run(&["run", "--json"]).success();
    assert!(records(&output)[0].get("findings").is_none(), "{}", output.stdout);
}

#[test]
fn constraints_that_cannot_run_leave_the_others_to_run() {
    let header = "-- @constraint: not_null(nope)\n-- @constraint: not_null(id\n-- @constraint: not_null(name)\n\
                  -- @constraint: unknown(id)\n-- @constraint: compare(id)\n-- @constraint: 1a(id)\n\
                  -- @constraint: not_null('id) OR (true')\n-- @constraint: f(id) x\n-- @constraint: not_null(name)";
    let project = with_model(header, "(1, NULL)");
    let output = project.run(&["run", "--json"]).failure(1);
    let errors = texts(&records(&output)[0], "errors");
    for (at, expected) in [
        "NOT NULL failed: name has 1 NULL values",
        "NOT NULL failed: name has 1 NULL values",
        "constraint dispatch error: unbalanced parentheses in `not_null(id`",
        "constraint dispatch error: invalid constraint macro name `1a`",
        "constraint dispatch error: `id) OR (true` is no complete expression, for `col` in `not_null('id) OR (true')`",
        "constraint dispatch error: unexpected trailing text `x` in `f(id) x`",
        "constraint check error: Referenced column \"nope\" not found",
        "constraint check error: Table Function with name ondatra_constraint_unknown does not exist!",
        "constraint check error: Macro ondatra_constraint_compare() does not support the supplied arguments.",
    ]
    .iter()
    .enumerate()
    {
        assert!(errors[at].starts_with(expected), "{}: not {expected}", errors[at]);
    }
    assert!(errors[6].ends_with("(in `not_null(nope)`, line 1)"), "{}", errors[6]);
    assert_eq!(errors.len(), 9);
}

#[test]
fn a_check_that_ends_the_transaction_is_named_and_so_is_what_others_found() {
    let header = "-- @constraint: not_null(id)\n-- @constraint: check(c, name::INTEGER > 5)\n\
                  -- @constraint: compare(name, >, 7d)\n-- @constraint: check(d, name::DATE > now())\n\
                  -- @constraint: not_null(other)\n-- @constraint: references(id, raw.first, id)";
    let project = project();
    project.model("raw/first", "SELECT 1 AS id");
    project.run(&["run"]).success();
    let before = snapshot(&project);
    project.model(
        "raw/a",
        &format!("{header}\nSELECT NULL::INTEGER AS id, 'x' AS name, NULL AS other UNION ALL SELECT 2, 'y', 3"),
    );
    let output = project.run(&["run", "raw.a", "--json"]).failure(1);
    let errors = texts(&records(&output)[0], "errors");
    let found = [
        "NOT NULL failed: id has 1 NULL values",
        "NOT NULL failed: other has 1 NULL values",
        "REFERENCES failed: id has orphan values not in raw.first.id",
    ];
    assert_eq!(errors[..3], found);
    for (error, start, end) in [
        (
            &errors[3],
            "constraint check error: Could not convert string 'x' to INT32",
            "(in `check(c, name::INTEGER > 5)`, line 2)",
        ),
        (&errors[4], "constraint check error: ", "(in `check(d, name::DATE > now())`, line 4)"),
    ] {
        assert!(error.starts_with(start) && error.ends_with(end), "{error}");
    }
    let rows: Vec<i64> = records(&output)[0]["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["rows"].as_i64().unwrap())
        .collect();
    assert_eq!(rows, [1, 1, 1]);
    assert_eq!(snapshot(&project), before);
    // The lake is as usable as before.
    project.model("raw/a", "SELECT 1 AS id");
    project.run(&["run"]).success();

    let header = "-- @audit: row_count(>, 0)\n-- @audit: mean(name::INTEGER, >, 5)\n-- @audit: row_count(>, 7)";
    let project = with_model(header, "(1, 'x')");
    let output = project.run(&["run"]).failure(1);
    assert!(output.stderr.contains("models/raw/a.sql:2:12"), "{}", output.stderr);
    assert!(output.stderr.contains("Could not convert string 'x' to INT32"), "{}", output.stderr);
}

#[test]
fn an_audit_that_finds_something_undoes_the_write() {
    let project = with_model("", "(1, 'x')");
    project.run(&["run"]).success();
    let before = snapshot(&project);
    project.model(
        "raw/a",
        "-- @audit: row_count(>, 5)\n-- @audit: max(id, <, 2)\n-- @audit: row_count(>, 0)\n\
         SELECT 1 AS id, 'x' AS name, 3 AS added UNION ALL SELECT 2, 'y', 4",
    );
    let output = project.run(&["run", "--json"]).failure(1);
    let text = "audit failed: row_count > 5 failed: actual count is 2; max(id) < 2 failed: actual max is 2";
    assert_eq!(texts(&records(&output)[0], "errors"), [text]);
    assert!(output.stderr.contains(&format!("error: {text} [CHECK-002]")) || output.stderr.contains(text));
    assert_eq!(snapshot(&project), before);
    assert_eq!(project.rows("FROM raw.a"), "1,x\n");
}

#[test]
fn an_audit_that_cannot_run_writes_nothing() {
    for (directive, expected) in [
        ("row_count(>, 0", "audit dispatch error: unbalanced parentheses in `row_count(>, 0`"),
        ("min(nope, >, 0)", "Referenced column \"nope\" not found"),
        ("nothing_such()", "Table Function with name ondatra_audit_nothing_such does not exist!"),
        ("row_count(>)", "does not support the supplied arguments"),
        ("percentile(id, 95, >, 0)", "QUANTILE can only take parameters in the range [-1, 1]"),
        ("percentile(id, -0.5, >, 0)", "p must be between 0 and 1"),
        ("golden(nope.csv)", "nope.csv"),
    ] {
        let project = with_model(&format!("-- @audit: row_count(>, 0)\n-- @audit: {directive}"), "(1, 'x')");
        let output = project.run(&["run", "--json"]).failure(1);
        let errors = texts(&records(&output)[0], "errors");
        assert!(errors.len() == 1 && errors[0].contains(expected), "{directive}: {errors:?}");
        assert!(output.stderr.contains("[CHECK-003]") && output.stderr.contains("models/raw/a.sql:2:12"));
        assert_eq!(project.rows("SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'raw'"), "0\n");
    }
}

#[test]
fn audits_see_the_whole_table_constraints_the_new_rows() {
    let project = project();
    project.model("raw/src", "SELECT 1 AS id");
    let model = |max: i64| {
        format!(
            "-- @kind: append\n-- @constraint: compare(id, <=, {max})\n-- @constraint: at_least_one(id)\n\
             -- @constraint: not_constant(id % 1 + id)\n-- @audit: row_count(=, {max})\nSELECT id FROM raw.src"
        )
    };
    project.model("raw/a", &model(1).replace("-- @constraint: not_constant(id % 1 + id)\n", ""));
    project.run(&["run"]).success();
    project.model("raw/src", "SELECT 1 AS id UNION ALL SELECT 2");
    project.model("raw/a", &model(2).replace("-- @constraint: not_constant(id % 1 + id)\n", ""));
    // Only id 2 is new, and the audit counts both.
    project.run(&["run"]).success();
    assert_eq!(project.rows("SELECT id FROM raw.a ORDER BY id"), "1\n2\n");
    // Nothing is new: what asks for rows passes (trap 38).
    project.model("raw/a", &model(2).replace("compare(id, <=, 2)", "distinct_count(id, >, 0)"));
    let output = project.run(&["run", "raw.a"]).success();
    assert!(output.stdout.contains("incremental, 0 rows"), "{}", output.stdout);
    // As a whole the result is one of no rows, and fails.
    let project = with_model("-- @constraint: at_least_one(id)", "(NULL, 'x')");
    project.run(&["run"]).failure(1);
}

#[test]
fn warnings_change_nothing_and_one_that_fails_hides_no_other() {
    let header = "-- @warning: row_count(>, 5) x\n-- @warning: min(nope, >, 5)\n-- @warning: not_null(name)\n\
                  -- @warning: cardinality(name::INTEGER, >, 2)\n-- @warning: row_count(>, 5)\n-- @warning: unknown()";
    let project = with_model(header, "(1, NULL), (2, 'x')");
    let output = project.run(&["run", "--json"]).success();
    let record = &records(&output)[0];
    let warnings = texts(record, "warnings");
    for (at, expected) in [
        "not_null warning: name has 1 NULL values",
        "row_count warning: > 5 -- actual is 2",
        "warning dispatch error: unexpected trailing text `x`",
        "warning check error: Referenced column \"nope\"",
        "warning check error: Could not convert string 'x' to INT32",
        "warning check error: Table Function with name ondatra_warning_unknown does not exist!",
    ]
    .iter()
    .enumerate()
    {
        assert!(warnings[at].starts_with(expected), "{warnings:?}: not {expected}");
    }
    assert_eq!((warnings.len(), record["status"].as_str()), (6, Some("ok")));
    assert_eq!(record["findings"][0]["rows"].as_i64(), Some(1));
    assert_eq!(project.rows("SELECT count(*) FROM raw.a"), "2\n");
    let project = with_model("-- @warning: not_null(name)", "(1, NULL)");
    let output = project.run(&["run"]).success();
    let lines = "  WARN: not_null warning: name has 1 NULL values\n    not_null(name): 1 row: id = 1, name = NULL\n";
    assert!(output.stdout.contains(lines), "{}", output.stdout);
}

#[test]
fn a_model_that_is_skipped_runs_no_stage_and_checks_make_none_stale() {
    let project = with_model("", "(1, NULL)");
    project.run(&["run"]).success();
    let rows = "(1, NULL)";
    let header = "-- @constraint: not_null(name)\n-- @audit: row_count(>, 5)\n-- @warning: row_count(>, 5)";
    project.model("raw/a", &format!("{header}\nSELECT * FROM (VALUES {rows}) AS t(id, name)"));
    let output = project.run(&["run", "--json"]).success();
    let record = &records(&output)[0];
    assert_eq!((record["status"].as_str(), record["warnings"].as_array().map(Vec::len)), (Some("skip"), Some(0)));
    // What they say comes with the next write.
    project.run(&["run", "raw.a", "--full-refresh"]).failure(1);
}

#[test]
fn warnings_know_their_model_and_find_tables_of_their_schema() {
    let project = with_model("-- @warning: own(other)", "(1, 'x')");
    project.write(
        "config/macros/own.sql",
        "CREATE MACRO ondatra_warning_own(t, other) AS TABLE SELECT getvariable('current_model') || ' ' || t || ' ' || n || \
         ' ' || getvariable('curr_snapshot') AS m FROM query('SELECT count(*) AS n FROM ' || other);",
    );
    project.model("raw/other", "SELECT 1 AS id");
    project.model("zzz/b", "-- @audit: row_count(>, 0)\nSELECT getvariable('current_model') AS model FROM raw.a");
    project.run(&["run", "raw.other"]).success();
    let output = project.run(&["run", "raw.a"]).success();
    assert!(output.stdout.contains("  WARN: raw.a raw.a 1 2\n"), "{}", output.stdout);
    project.run(&["run"]).success();
    assert_eq!(project.rows("FROM zzz.b"), "\n", "the variable is the warnings' alone");
}

#[test]
fn a_broken_file_of_per_model_variables_is_a_warning() {
    let project = with_model("-- @warning: row_count(>, 5)", "(1, 'x')");
    project.write("config/variables/local.sql", "SET VARIABLE x = nope();");
    let output = project.run(&["run", "--json"]).success();
    let warnings = texts(&records(&output)[0], "warnings");
    assert!(warnings[0].starts_with("load per-model variables: "), "{warnings:?}");
    assert_eq!(warnings[1], "row_count warning: > 5 -- actual is 1");
}

#[test]
fn many_checks_of_one_kind_are_many_findings() {
    let directives: String = (0..40).map(|at| format!("-- @constraint: compare(id, <, {at})\n")).collect();
    let project = with_model(directives.trim_end(), "(20, 'x')");
    let output = project.run(&["run", "--json"]).failure(1);
    let errors = texts(&records(&output)[0], "errors");
    assert_eq!(errors.len(), 21);
    assert_eq!(errors[20], "id < 20 failed: 1 violations", "in the order of the directives");
}
