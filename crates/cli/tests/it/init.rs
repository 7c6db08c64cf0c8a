//! `init`: the complete layout, a project that runs, a second init.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use testkit::Project;

use crate::BINARY;

#[test]
fn a_new_project_has_the_complete_layout_and_runs_at_once() {
    let project = Project::empty(BINARY);
    let output = project.run(&["init"]).success();
    assert!(output.stdout.starts_with("Initialized project \"project\""), "{}", output.stdout);
    assert!(output.stdout.contains("`ondatrasql run`") && output.stdout.contains("`ondatrasql stats`"));
    insta::assert_snapshot!("layout", project.files().join("\n"));
    let mode = fs::metadata(project.root().join(".env")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    project.model("raw/a", "SELECT safe_divide(7, 2) AS half, getvariable('alert_amount_threshold') AS threshold");
    project.run(&["run"]).success();
    assert_eq!(project.rows("FROM raw.a"), "3.5,1000000\n");
    let macros = |name: &str| {
        project.rows(&format!("SELECT database_name FROM duckdb_functions() WHERE function_name LIKE '{name}'"))
    };
    assert_eq!(macros("safe_divide"), "memory\n", "macros live in the memory database");
    assert_eq!(macros("ondatra_constraint_%"), "", "those of checks are made where a model asks for them");
}

#[test]
fn a_second_init_changes_nothing() {
    let project = Project::empty(BINARY);
    project.run(&["init"]).success();
    let before = fs::read_to_string(project.root().join(".env")).unwrap();
    let output = project.run(&["init"]).failure(1);
    assert!(output.stderr.contains("already exists"), "{}", output.stderr);
    assert_eq!(fs::read_to_string(project.root().join(".env")).unwrap(), before);
}

#[test]
fn other_catalogs_are_written_on_demand() {
    for (catalog, expected) in [("duckdb", "ducklake:duckdb:"), ("postgres", "ducklake:postgres:")] {
        let project = Project::empty(BINARY);
        let output = project.run(&["init", "--catalog", catalog]).success();
        let sql = fs::read_to_string(project.root().join("config/catalog.sql")).unwrap();
        let active: String = sql.lines().filter(|line| !line.trim_start().starts_with("--")).collect();
        assert!(active.contains(expected), "{active}");
        let needs = catalog == "postgres";
        assert_eq!(output.stdout.contains("fill in the PG_CATALOG_... lines of .env"), needs, "{}", output.stdout);
    }
    let project = Project::empty(BINARY);
    project.run(&["init", "--catalog", "oracle"]).failure(2);
    project.run(&["init", "extra"]).failure(2);
    assert!(project.files().is_empty());
}

#[test]
fn a_duckdb_catalog_runs() {
    let project = Project::empty(BINARY);
    project.run(&["init", "--catalog=duckdb"]).success();
    project.model("raw/a", "SELECT 42 AS a");
    project.run(&["run"]).success();
    assert_eq!(project.rows("FROM raw.a"), "42\n");
}
