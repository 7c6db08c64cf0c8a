//! What a failed check leaves behind: nothing.

use testkit::{Lake, Project};

use crate::checks::{snapshot, with_model};
use crate::project;

/// The tables and columns of the lake, at any time.
fn metadata(lake: &Lake) -> String {
    let sql = "SELECT coalesce(string_agg(line, chr(10) ORDER BY line), '') FROM (\
               SELECT 'table ' || table_name AS line FROM __ducklake_metadata_lake.ducklake_table UNION ALL \
               SELECT 'column ' || table_id || ' ' || column_name || ' ' || column_type \
               FROM __ducklake_metadata_lake.ducklake_column UNION ALL \
               SELECT 'file ' || path FROM __ducklake_metadata_lake.ducklake_data_file UNION ALL \
               SELECT 'schema ' || schema_name FROM __ducklake_metadata_lake.ducklake_schema UNION ALL \
               SELECT 'snapshot ' || snapshot_id FROM __ducklake_metadata_lake.ducklake_snapshot UNION ALL \
               SELECT 'comment ' || value FROM __ducklake_metadata_lake.ducklake_tag UNION ALL \
               SELECT 'registry ' || target || updated_at FROM lake.main._ondatra_registry)";
    lake.connection.query_value(sql).unwrap().into_text().unwrap()
}

/// The data files that lie on the disk.
fn files(project: &Project) -> Vec<String> {
    fn walk(folder: &std::path::Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() { walk(&path, found) } else { found.push(path.display().to_string()) }
        }
    }
    let mut found = Vec::new();
    walk(&project.root().join("ducklake.sqlite.files"), &mut found);
    found.sort();
    found
}

#[test]
fn a_failed_check_leaves_no_snapshot_no_column_no_comment_and_no_file() {
    for (kind, check) in [
        ("table", "@audit: row_count(>, 5)"),
        ("merge\n-- @unique_key: id", "@audit: row_count(>, 5)"),
        ("append", "@audit: row_count(>, 5)"),
        ("scd2\n-- @unique_key: id", "@audit: row_count(>, 5)"),
        ("tracked\n-- @group_key: id", "@audit: row_count(>, 5)"),
        ("table", "@constraint: not_null(name)"),
        ("merge\n-- @unique_key: id", "@constraint: not_null(name)"),
    ] {
        let project = with_model(&format!("-- @kind: {kind}"), "(1, 'x')");
        project.run(&["run"]).success();
        let lake = Lake::open(&project);
        let (before, files_before, newest) = (metadata(&lake), files(&project), snapshot(&project));
        let rows = project.rows("FROM raw.a");
        drop(lake);
        project.model(
            "raw/a",
            &format!(
                "-- @kind: {kind}\n-- @description: changed\n-- @column: id = the key\n-- {check}\n\
                 SELECT * FROM (VALUES (1, 'y', 7), (2, NULL, 8)) AS t(id, name, added)"
            ),
        );
        let keep = ["run", "raw.a", "--keep"];
        let output = project.run(if kind == "append" { &keep[..] } else { &keep[..1] }).failure(1);
        assert!(output.stderr.contains("failed: "), "{kind} {check}: {}", output.stderr);
        let lake = Lake::open(&project);
        assert_eq!(metadata(&lake), before, "{kind} {check}");
        assert_eq!((files(&project), snapshot(&project)), (files_before, newest), "{kind} {check}");
        assert_eq!(project.rows("FROM raw.a"), rows, "{kind} {check}");
    }
}

/// The folders of the lake's data, by their names below it.
fn folders(project: &Project) -> Vec<String> {
    fn walk(root: &std::path::Path, folder: &std::path::Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.push(path.strip_prefix(root).unwrap().display().to_string());
                walk(root, &path, found);
            }
        }
    }
    let (root, mut found) = (project.root().join("ducklake.sqlite.files"), Vec::new());
    walk(&root, &root, &mut found);
    found.retain(|folder| !folder.starts_with("main"));
    found.sort();
    found
}

#[test]
fn a_value_that_was_refused_or_is_forgotten_names_no_folder() {
    let header = "-- @partitioned_by: v\n-- @audit: row_count(<, 3)";
    let project = project();
    project.model("raw/q", &format!("{header}\nSELECT unnest(['a', 'b', 'c']) AS v"));
    project.run(&["run"]).failure(1);
    assert_eq!(folders(&project), Vec::<String>::new());
    project.model("raw/q", &format!("{header}\nSELECT unnest(['old', 'b']) AS v"));
    project.run(&["run"]).success();
    project.model("raw/q", &format!("{header}\nSELECT unnest(['rejected', 'b', 'c']) AS v"));
    project.run(&["run"]).failure(1);
    assert_eq!(folders(&project), ["raw", "raw/q", "raw/q/v=b", "raw/q/v=old"]);
    project.model("raw/q", &format!("{header}\nSELECT unnest(['new', 'b']) AS v"));
    project.run(&["run"]).success();
    project.write(
        "sql/tidy.sql",
        "CALL ducklake_expire_snapshots('lake', older_than => now());\n\
         CALL ducklake_cleanup_old_files('lake', cleanup_all => true, dry_run => true);\n\
         CALL ducklake_cleanup_old_files('lake', cleanup_all => true);",
    );
    project.run(&["tidy"]).success();
    assert_eq!(folders(&project), ["raw", "raw/q", "raw/q/v=b", "raw/q/v=new"]);
}

#[test]
fn a_failed_audit_of_a_first_run_leaves_not_even_a_schema() {
    let project = with_model("-- @audit: row_count(>, 5)", "(1, 'x')");
    project.run(&["run"]).failure(1);
    assert_eq!(project.rows("SELECT count(*) FROM duckdb_schemas() WHERE schema_name = 'raw'"), "0\n");
    assert_eq!(snapshot(&project), "0\n");
}

#[test]
fn the_next_run_after_a_failure_starts_from_what_was_there_before_it() {
    let project = with_model("-- @kind: merge\n-- @unique_key: id\n-- @audit: max(id, <, 2)", "(1, 'x'), (2, 'y')");
    project.run(&["run"]).failure(1);
    project
        .model("raw/a", "-- @kind: merge\n-- @unique_key: id\n-- @audit: max(id, <, 3)\nSELECT 2 AS id, 'y' AS name");
    let output = project.run(&["run"]).success();
    assert!(output.stdout.contains("backfill, 1 rows"), "{}", output.stdout);
}
