//! Checks of the project's own, in `config/macros/`.

use crate::checks::{records, texts, with_model};
use crate::docs::blocks;
use crate::project;

#[test]
fn a_table_macro_of_the_name_is_a_check_in_every_stage() {
    let macros: String = ["constraint", "audit", "warning"]
        .iter()
        .map(|stage| {
            format!(
                "CREATE MACRO ondatra_{stage}_own(t, col, n) AS TABLE SELECT t || ' ' || col || ' ' || n AS anything, 5 AS more \
                 FROM query('SELECT count(*) AS c FROM ' || t) WHERE c > 0 UNION ALL SELECT NULL, 6 UNION ALL SELECT '', 7;\n"
            )
        })
        .collect();
    for (stage, table, expected) in [
        ("constraint", "tmp_raw_a", vec!["tmp_raw_a it's, 5", "own failed"]),
        ("audit", "raw.a", vec!["audit failed: raw.a it's, 5; own failed"]),
        ("warning", "raw.a", vec!["raw.a it's, 5", "own failed"]),
    ] {
        let project = with_model(&format!("-- @{stage}: own('it''s,', 5)"), "(1, 'x')");
        project.write("config/macros/own.sql", &macros);
        let output = project.run(&["run", "--json"]);
        let record = &records(&output)[0];
        let key = if stage == "warning" { "warnings" } else { "errors" };
        // NULL is none; an empty text is one, and says the check's name (trap 60). The first column is the text.
        assert_eq!(texts(record, key), expected, "{stage} on {table}");
        assert_eq!(output.code, i32::from(stage != "warning"));
    }
}

#[test]
fn it_takes_the_place_of_a_shipped_check_and_may_be_made_of_one() {
    let project = with_model("-- @constraint: NOT_NULL(name)\n-- @constraint: both(id, name)", "(1, NULL)");
    project.write(
        "config/macros/own.sql",
        "CREATE MACRO ondatra_constraint_both(t, a, b) AS TABLE \
         FROM ondatra_constraint_unique(t, a) UNION ALL FROM ondatra_constraint_at_least_one(t, b);\n\
         CREATE OR REPLACE MACRO ondatra_constraint_not_null(t, col) AS TABLE SELECT 'mine: ' || col;",
    );
    let output = project.run(&["run", "--json"]).failure(1);
    let errors = texts(&records(&output)[0], "errors");
    assert_eq!(errors, ["mine: name", "AT_LEAST_ONE failed: name has no non-NULL values"]);
    assert!(records(&output)[0]["findings"][0].get("rows").is_none(), "rows are those of the shipped one");
}

#[test]
fn the_checks_of_a_new_project_are_the_shipped_ones_and_its_examples_work() {
    let project = project();
    project.remove("config/catalog.sql");
    std::fs::remove_dir_all(project.root().join("config")).unwrap();
    project.run(&["init"]).success();
    for (file, own, shipped) in [
        ("constraints.sql", "CREATE OR REPLACE MACRO ondatra_constraint_positive", "--   not_null(col) "),
        ("audits.sql", "CREATE OR REPLACE MACRO ondatra_audit_balanced", "--   golden(path) "),
        ("warnings.sql", "CREATE OR REPLACE MACRO ondatra_warning_weekend", "--   row_count_delta(max_value) "),
    ] {
        let path = format!("config/macros/{file}");
        let text = std::fs::read_to_string(project.root().join(&path)).unwrap();
        assert!(text.contains(shipped) && !text.contains("{{"), "{text}");
        assert!(text.lines().all(|line| line.is_empty() || line.starts_with("--")), "{text}");
        let example = &text[text.find(own).unwrap()..];
        let example: String = example.lines().map(|line| format!("{}\n", line.trim_start_matches("--"))).collect();
        project.write(&path, &example);
    }
    project.model(
        "raw/a",
        "-- @constraint: positive(id)\n-- @audit: balanced(id, name)\n-- @warning: weekend(day)\n\
         SELECT 1 AS id, 1 AS name, DATE '2026-11-28' AS day",
    );
    let output = project.run(&["run", "raw.a"]).success();
    assert!(output.stdout.contains("WARN: 1 rows of day fall on a weekend"), "{}", output.stdout);
    project.model("raw/a", "-- @constraint: positive(id)\nSELECT -1 AS id");
    assert!(project.run(&["run"]).failure(1).stdout.contains("ERROR: id has 1 values below zero"));
    project.model("raw/a", "-- @audit: balanced(id, name)\nSELECT 1 AS id, 3 AS name");
    assert!(project.run(&["run"]).failure(1).stdout.contains("ERROR: audit failed: the books differ by -2"));
}

#[test]
fn the_example_of_the_docs_is_a_check() {
    let blocks = blocks("checks/README.md", "## Checks of your own");
    let example = blocks.iter().find(|block| block.language == "sql").unwrap();
    let project = with_model("-- @constraint: positive(id)", "(-1, 'x')");
    project.write("config/macros/own.sql", &example.text);
    assert!(project.run(&["run"]).failure(1).stdout.contains("ERROR: id has 1 values below zero"));
}

#[test]
fn one_of_a_shipped_name_runs_where_there_is_nothing_new_too() {
    let project = project();
    project.model("raw/src", "SELECT 1 AS id");
    project.write(
        "config/macros/own.sql",
        "CREATE MACRO ondatra_constraint_at_least_one(t, col) AS TABLE \
         SELECT 'none came' FROM query('SELECT count(*) AS c FROM ' || t) WHERE c = 0;",
    );
    let model =
        |more: &str| format!("-- @kind: append\n-- @constraint: at_least_one(id)\n{more}SELECT id FROM raw.src");
    project.model("raw/a", &model(""));
    project.run(&["run"]).success();
    project.model("raw/a", &model("-- @constraint: not_null(id)\n"));
    let output = project.run(&["run", "raw.a"]).failure(1);
    assert!(output.stdout.contains("none came"), "{}", output.stdout);
}
