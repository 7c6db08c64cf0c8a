//! Hostile names in all places that become SQL: of files, columns, schemas and tables.

use std::fs;

use testkit::Lake;
use types::quote;

use crate::checks::{records, texts};
use crate::project;

/// Names that would do harm if one of them were SQL anywhere. A file's name holds no `/` and a column's no NUL.
const NAMES: [&str; 9] = [
    "select",
    "it's",
    "a\"b",
    "x\"; DROP TABLE raw.canary; --",
    "x'); DROP TABLE raw.canary; --",
    "$$ || {t} || $$",
    "a.b.c",
    "ünï 50% (1, 2)",
    "/* -- \\",
];

#[test]
fn models_from_files_of_any_name_with_columns_of_any_name_are_checked_in_every_stage() {
    let project = project();
    project.model("raw/canary", "SELECT 1 AS alive");
    project.run(&["run"]).success();
    for name in NAMES {
        let file = name.replace('/', "_");
        let column = quote(name);
        let argument = column.replace('\'', "''");
        // Line breaks end a directive, everything else may stand in a text.
        let header: String = [
            format!("constraint: unique('{argument}')"),
            format!("constraint: references('{argument}', raw.canary, alive)"),
            format!("audit: min('{argument}', >=, 1)"),
            format!("audit: column_exists('{argument}')"),
            format!("warning: not_null('{argument}')"),
            format!("warning: compare('{argument}::VARCHAR', !=, '{}')", name.replace('\'', "''")),
        ]
        .iter()
        .map(|directive| format!("-- @{directive}\n"))
        .collect();
        fs::create_dir_all(project.root().join("elsewhere")).unwrap();
        let path = format!("elsewhere/{file}.sql");
        project.write(&path, &format!("{header}SELECT 1 AS {column}, 2 AS other UNION ALL SELECT NULL, 3"));
        let output = project.run(&["run", &path, "--json"]).success();
        let warnings = texts(&records(&output)[0], "warnings");
        assert_eq!(warnings, [format!("not_null warning: {column} has 1 NULL values")], "{name}");
        // What fails is shown and stored under these names, too.
        let failing = format!("-- @constraint: not_null('{argument}')\n-- @audit: row_count(>, 2)");
        project.write(&path, &format!("{failing}\nSELECT 1 AS {column}, 2 AS other UNION ALL SELECT NULL, 3"));
        let output = project.run(&["check", &path, "--json", "--store-failures"]).failure(1);
        let record = &records(&output)[0];
        assert_eq!(
            texts(record, "errors"),
            [
                format!("NOT NULL failed: {column} has 1 NULL values"),
                "audit failed: row_count > 2 failed: actual count is 2".into()
            ]
        );
        assert_eq!(record["findings"][0]["sample"][0]["other"], "3", "{name}");
        assert_eq!(record["stored"]["rows"], 1, "{name}");
    }
    let lake = Lake::open(&project);
    assert_eq!(lake.number("SELECT alive FROM raw.canary"), 1);
    let stored = "SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'checks' AND database_name = 'lake'";
    assert_eq!(lake.number(stored), i64::try_from(NAMES.len()).unwrap(), "a table for each");
}

#[test]
fn keys_and_schemas_of_hostile_spelling_are_refused_before_anything_is_sql() {
    let project = project();
    for (path, header) in [
        ("raw/a", "-- @kind: merge\n-- @unique_key: id\"; DROP TABLE x; --"),
        ("raw/a", "-- @kind: tracked\n-- @group_key: id, b'c"),
        ("raw/a", "-- @kind: append\n-- @incremental: id) OR (1=1"),
        ("raw/a", "-- @sorted_by: id; DROP TABLE x"),
        ("raw/a", "-- @partitioned_by: year(id)); DROP TABLE x; --(y)"),
        ("ra'w/a", ""),
        ("raw/a\"; DROP", ""),
    ] {
        project.model(path, &format!("{header}\nSELECT 1 AS id"));
        let output = project.run(&["run"]).failure(1);
        assert!(output.stderr.contains("[MODEL-00"), "{path} {header}: {}", output.stderr);
        project.remove(&format!("models/{path}.sql"));
    }
}

#[test]
fn a_line_break_in_a_files_name_breaks_no_line_and_a_huge_value_fills_no_screen() {
    let project = project();
    fs::create_dir_all(project.root().join("elsewhere")).unwrap();
    let header = "-- @constraint: unique(v)\n-- @constraint: check(c, v::INT > 0)";
    let path = "elsewhere/a\nb.sql";
    project.write(path, &format!("{header}\nSELECT repeat('x', 100000) AS v FROM range(2)"));
    let output = project.run(&["run", path]).failure(1);
    assert!(output.stdout.contains("[FAILED] tmp.a b ("), "{}", output.stdout);
    assert!(output.stdout.len() + output.stderr.len() < 6_000, "{}", output.stdout.len() + output.stderr.len());
    let shown = format!("(value {}… appears 2 times)", "x".repeat(60));
    assert!(output.stdout.contains(&shown) && output.stdout.contains("Could not convert string"), "{}", output.stdout);
}
