//! What a sandbox says of how tables differ.

use testkit::Project;

use super::{has, inside, records, sandbox};
use crate::project;

/// A project in which `raw.a` has run with one query and has another now.
fn changed(before: &str, after: &str) -> Project {
    let project = project();
    project.model("raw/a", before);
    project.run(&["run"]).success();
    project.model("raw/a", after);
    project
}

/// What the box of `raw.a` says below `Diff vs Prod`.
#[track_caller]
fn diff(before: &str, after: &str) -> String {
    let output = sandbox(&changed(before, after), &["raw.a"]).success();
    let (_, below) = output.stdout.split_once("Diff vs Prod").unwrap();
    let (diff, _) = below.split_once("Downstream Impact").unwrap();
    inside(&testkit::Output { stdout: diff.to_owned(), ..output.clone() })
}

#[test]
fn rows_are_compared_as_multisets() {
    let rows = |rows: &str| format!("SELECT v FROM (VALUES {rows}) AS r(v)");
    assert_eq!(
        diff(&rows("('a'), ('b'), ('b')"), &rows("('a'), ('a'), ('b')")),
        "Rows: 3 (no change)\n+ Added: 1 rows\n- Removed: 1 rows\nSample added:\n  + a\nSample removed:\n  - b\n"
    );
    assert_eq!(
        diff(&rows("('a')"), &rows("('a'), ('x'), ('x'), ('x')")),
        "Rows: 1 → 4 (+3, +300.0%)\n+ Added: 3 rows\nSample added:\n  + x\n  + x\n"
    );
    assert_eq!(
        diff(&rows("(NULL), (''), ('a,b'), ('k')"), &rows("('k')")),
        "Rows: 4 → 1 (-3, -75.0%)\n- Removed: 3 rows\nSample removed:\n  - \"\"\n  - \"a,b\"\n"
    );
    assert_eq!(
        diff("SELECT 1 AS v WHERE false", "SELECT 1 AS v UNION ALL SELECT 2"),
        "Rows: 0 → 2 (+2)\n+ Added: 2 rows\nSample added:\n  + 1\n  + 2\n"
    );
    assert_eq!(
        diff("SELECT 0.0::DOUBLE AS v", "SELECT -0.0::DOUBLE AS v"),
        "Rows: 1 (no change)\n+ Added: 1 rows\n- Removed: 1 rows\nSample added:\n  + -0.0\nSample removed:\n  - 0.0\n"
    );
}

/// A delete file that grows keeps the snapshot in which it began.
#[test]
fn rows_are_counted_right_after_several_updates_of_a_file() {
    for header in ["merge\n-- @unique_key: id", "tracked\n-- @group_key: id", "scd2\n-- @unique_key: id"] {
        let project = project();
        let with = |values: &str| {
            let query = format!("SELECT id, v FROM (VALUES {values}) AS r(id, v)");
            project.model("raw/a", &format!("-- @kind: {header}\n{query}"));
        };
        for values in ["(1, 'a'), (2, 'b'), (3, 'c')", "(1, 'a'), (2, 'B'), (3, 'c')"] {
            with(values);
            project.run(&["run"]).success();
        }
        with("(1, 'A'), (2, 'B'), (3, 'c')");
        let count = || serde_json::json!(project.rows("SELECT count(*) FROM raw.a").trim().parse::<i64>().unwrap());
        let (told, before) = (records(&project, &[], 0), count());
        project.run(&["run"]).success();
        let diff = &told["raw.a"]["diff"];
        assert_eq!([&diff["rows_before"], &diff["rows_after"]], [&before, &count()], "{header}: {told:?}");
    }
}

#[test]
fn an_edit_that_gives_the_same_rows_is_no_change() {
    assert_eq!(diff("SELECT 1 AS v", "SELECT 2 - 1 AS v"), "Rows: 1 (no change)\n");
}

#[test]
fn columns_are_told_and_rows_compared_over_those_that_both_have() {
    let project = changed("SELECT 1 AS id, 'x' AS gone, 2 AS n", "SELECT 1 AS id, 2::BIGINT AS n, 5 AS fresh");
    let text = inside(&sandbox(&project, &["raw.a"]).success());
    has(
        &text,
        "SCHEMA EVOLUTION:\n  + Added: fresh (INTEGER)\n  - Removed: gone (VARCHAR)\n  ~ Changed: n: INTEGER → BIGINT\nRows: 1 (no change)\n",
    );
    assert!(!text.contains("Added: 1 rows") && !text.contains("[WARN]"), "the value of n is the same: {text}");
    // Trap 20: a column more with the same rows is a change.
    let record = &records(&project, &[], 0)["raw.a"];
    assert_eq!(record["diff"]["rows_added"], 0);
    assert_eq!(record["diff"]["columns_added"][0]["name"], "fresh");
}

#[test]
fn a_type_into_which_values_do_not_fit_is_compared_all_the_same() {
    let text = diff(
        "SELECT 'one' AS v UNION ALL SELECT '2' UNION ALL SELECT NULL",
        "SELECT 2 AS v UNION ALL SELECT NULL UNION ALL SELECT 7",
    );
    has(&text, "~ Changed: v: VARCHAR → INTEGER\nRows: 3 (no change)\n+ Added: 1 rows\n- Removed: 1 rows\n");
    has(&text, "Sample added:\n  + 7\nSample removed:\n  - one\n");
}

#[test]
fn a_table_that_production_does_not_have_is_new() {
    let project = project();
    project.model("raw/b", "SELECT 1 AS x");
    project.run(&["run"]).success();
    project.model("raw/a", "SELECT 1 AS id, 'x' AS \"odd \"\"name\"");
    project.model("other/a", "SELECT 9 AS foreign_column");
    let text = inside(&sandbox(&project, &["raw.a"]).success());
    has(&text, "(new table)\nColumns:\n  • id (INTEGER)\n  • odd \"name (VARCHAR)\n");
    assert!(!text.contains("foreign_column"), "{text}");
    let text = inside(&sandbox(&project, &[]).success());
    has(&text, "Unchanged: 1 models\nChanged:   2 models\n");
    has(&text, "raw.a\n  (new table)\n  Rows: 1, Columns: 2\n");
}

#[test]
fn columns_of_the_kind_are_no_difference() {
    for (header, kind) in
        [("-- @kind: tracked\n-- @group_key: k", "tracked"), ("-- @kind: scd2\n-- @unique_key: id", "scd2")]
    {
        let project = project();
        project.model("raw/a", "SELECT i AS id, i % 2 AS k, 0 AS v FROM range(6) t(i)");
        project.model("raw/b", &format!("{header}\nSELECT id, k, v FROM raw.a"));
        project.run(&["run"]).success();
        project.model("raw/a", "SELECT i AS id, i % 2 AS k, (i = 5)::INT AS v FROM range(6) t(i)");
        let record = records(&project, &[], 0).remove("raw.b").unwrap();
        let diff = &record["diff"];
        assert_eq!(diff["columns_added"].as_array().unwrap().len(), 0, "{record}");
        let expected = if kind == "scd2" { (1, 0) } else { (1, 1) };
        assert_eq!(
            (diff["rows_added"].as_i64().unwrap(), diff["rows_removed"].as_i64().unwrap()),
            expected,
            "{record}"
        );
        assert_eq!(diff["sample_added"][0].as_array().unwrap().len(), 3, "{record}");
    }
}

#[test]
fn versions_that_would_be_closed_are_told_and_are_a_change() {
    let project = project();
    let rows = |ids: &str, v: i32| project.model("raw/a", &format!("SELECT id, {v} AS v FROM (VALUES {ids}) t(id)"));
    rows("(1), (2), (3), (4)", 0);
    project.model("raw/b", "-- @kind: scd2\n-- @unique_key: id\nSELECT id, v FROM raw.a");
    project.run(&["run"]).success();
    // What production closed itself is no change of the sandbox.
    rows("(1), (2), (3)", 0);
    project.run(&["run"]).success();
    let unchanged = inside(&sandbox(&project, &["raw.b"]).success());
    assert!(!unchanged.contains("Closed"), "{unchanged}");
    // A key that is gone leaves all rows where they are.
    rows("(1), (2)", 0);
    let text = inside(&sandbox(&project, &[]).success());
    has(&text, "Changed:   2 models\n");
    has(&text, "raw.b\n  Rows: 4 (no change)\n  ~ Closed: 1 rows\n");
    let diff = &records(&project, &[], 0).remove("raw.b").unwrap()["diff"];
    assert_eq!((&diff["rows_closed"], &diff["rows_added"], &diff["rows_removed"]), (&1.into(), &0.into(), &0.into()));
    // A key that changed has a new version, and the old one is closed.
    rows("(1), (2), (3)", 7);
    let text = inside(&sandbox(&project, &[]).success());
    has(&text, "raw.b\n  Rows: 4 → 7 (+3, +75.0%)\n  + Added: 3 rows\n  ~ Closed: 3 rows\n  Sample added:\n");
    // Production is what the sandbox said.
    project.run(&["run"]).success();
    assert_eq!(project.rows("SELECT count(*), count(*) FILTER (NOT is_current) FROM raw.b"), "7,4\n");
}

#[test]
fn what_is_only_added_to_a_large_table_is_found_among_what_changed() {
    let project = project();
    project.model("raw/a", "SELECT i AS id FROM range(20000) t(i)");
    project.model("raw/b", "-- @kind: append\nSELECT id FROM raw.a");
    project.run(&["run"]).success();
    project.model("raw/a", "SELECT i AS id FROM range(20003) t(i)");
    let text = inside(&sandbox(&project, &[]).success());
    has(
        &text,
        "raw.b\n  Rows: 20000 → 20003 (+3, +0.0%)\n  + Added: 3 rows\n  Sample added:\n    + 20000\n    + 20001\n",
    );
}

#[test]
fn every_name_is_quoted() {
    let project = project();
    let select = |v: i32| format!("SELECT {v} AS \"a \"\"b\", {v} AS \"select\", 'it''s; --' AS \"x;y\"");
    project.model("raw/order", &select(1));
    project.model("raw/select", "SELECT * FROM raw.\"order\"");
    project.run(&["run"]).success();
    project.model("raw/order", &select(2));
    let text = inside(&sandbox(&project, &[]).success());
    has(&text, "Changed:   2 models");
    has(&text, "    + 2,2,it's; --\n");
    assert!(!text.contains("[WARN]"), "{text}");
}

#[test]
fn values_that_the_model_masks_now_are_not_shown_from_before() {
    let project = changed(
        "SELECT 1 AS id, 'ada@example.com' AS mail",
        "-- @column: mail = Address | mask_email\nSELECT 1 AS id, 'ada@example.com' AS mail",
    );
    let output = sandbox(&project, &["raw.a"]).success();
    has(&output.stdout, "- 1,(masked)");
    assert!(!output.stdout.contains("ada@"), "{}", output.stdout);
}

#[test]
fn a_value_of_several_lines_stays_in_its_line() {
    let text = diff("SELECT 1 AS id, 'x' AS v", "SELECT 1 AS id, e'one\\ntwo\\033[31m' AS v");
    assert_eq!(text.lines().filter(|line| line.contains("+ 1,")).count(), 1, "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn rows_are_counted_whatever_was_changed_before() {
    let project = project();
    project.model("m/x", "-- @kind: merge\n-- @unique_key: id\nSELECT id, v FROM read_csv('x.csv')");
    project.model("m/t", "-- @kind: tracked\n-- @group_key: id\nSELECT id, v FROM read_csv('x.csv')");
    let mut random = testkit::Random(5);
    let mut versions = [0; 6];
    let rows = |versions: &[usize]| {
        let lines = versions.iter().enumerate().filter(|(id, version)| (id + *version) % 5 != 4);
        lines.map(|(id, version)| format!("{id},v{version}\n")).collect::<String>()
    };
    project.write("x.csv", &format!("id,v\n{}", rows(&versions)));
    project.run(&["run"]).success();
    for round in 0..5 {
        versions[random.below(versions.len())] += 1;
        project.write("x.csv", &format!("id,v\n{}", rows(&versions)));
        let count = |table: &str| project.rows(&format!("SELECT count(*) FROM {table}")).trim().to_owned();
        let before = ["m.x", "m.t"].map(count);
        let told = records(&project, &[], 0);
        project.run(&["run"]).success();
        for (table, before) in ["m.x", "m.t"].into_iter().zip(before) {
            let diff = &told[table]["diff"];
            // Nothing that is in the table changed.
            if diff.is_null() {
                continue;
            }
            let told = [diff["rows_before"].to_string(), diff["rows_after"].to_string()];
            assert_eq!(told, [before, count(table)], "{table} in round {round}");
        }
    }
}
