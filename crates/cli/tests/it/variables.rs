//! `config/variables/` and the variables that the runtime sets (chapter 01 §2.4).

use crate::checks::{records, texts};
use crate::project;

#[test]
fn constants_come_before_globals_which_may_ask_the_lake() {
    let project = project();
    project.model("raw/a", "SELECT 7 AS n");
    project.run(&["run"]).success();
    project.write("config/variables/constants.sql", "SET VARIABLE factor = 2;");
    project.write(
        "config/variables/global.sql",
        "SET VARIABLE newest = (SELECT max(n) * getvariable('factor') FROM {{catalog}}.raw.a);",
    );
    assert_eq!(project.rows("SELECT getvariable('newest'), getvariable('never_set')"), "14,\n");
    project.write("config/variables/global.sql", "SET VARIABLE x = nope();");
    let output = project.run(&["sql", "SELECT 1"]).failure(1);
    assert!(output.stderr.contains("load variables/global.sql:"), "{}", output.stderr);
}

#[test]
fn the_variables_of_a_model_are_set_after_each_commit_and_none_is_left_out() {
    let project = project();
    project.write(
        "config/variables/local.sql",
        "SET VARIABLE told = coalesce(getvariable('told') || ' ', '') || getvariable('current_model') || '@' \
         || ((SELECT max(id) FROM {{catalog}}.current_snapshot()) = getvariable('curr_snapshot'));",
    );
    project.model("raw/a", "SELECT 1 AS n");
    project.model("raw/b", "SELECT n FROM raw.a");
    let told = "SELECT getvariable('told') AS told, getvariable('current_model') AS current, max(n) AS n FROM raw.b";
    project.model("raw/c", told);
    project.run(&["run"]).success();
    assert_eq!(project.rows("FROM raw.c"), "raw.a@true raw.b@true,,1\n");
}

#[test]
fn broken_variables_of_a_model_are_a_warning_of_every_model_that_ran() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS n");
    project.model("raw/b", "-- @warning: not_null(n)\nSELECT n FROM raw.a");
    project.write("config/variables/local.sql", "SET VARIABLE x = nope();");
    let output = project.run(&["run", "--json"]).success();
    for record in records(&output) {
        let warnings = texts(&record, "warnings");
        assert!(matches!(&warnings[..], [one] if one.starts_with("load per-model variables: ")), "{warnings:?}");
    }
    let skipped = project.run(&["run", "--json"]).success();
    assert_eq!(texts(&records(&skipped)[0], "warnings"), Vec::<String>::new(), "nothing was committed");
}

#[test]
fn an_incremental_append_begins_behind_what_its_last_run_has_read() {
    let project = project();
    let source = |rows: &str| project.model("src/t", &format!("SELECT * FROM (VALUES {rows}) AS t(n)"));
    project.model("raw/a", "-- @kind: append\nSELECT n, getvariable('dag_start_snapshot') AS start FROM src.t");
    project.model("raw/b", "SELECT max(n) AS n, getvariable('dag_start_snapshot') AS start FROM src.t");
    source("(1)");
    project.run(&["run"]).success();
    let read = project.rows(
        "SELECT json_extract(commit_extra_info, '$.read_snapshot') FROM lake.snapshots() \
         WHERE commit_message = 'Pipeline run: raw.a'",
    );
    let last = project.rows("SELECT max(snapshot_id) FROM lake.snapshots()");
    source("(1), (2)");
    project.run(&["run"]).success();
    assert_eq!(project.rows("SELECT start FROM raw.a WHERE n = 2"), read);
    assert_eq!(project.rows("SELECT start FROM raw.b"), last, "of other kinds it is where the session began");
}
