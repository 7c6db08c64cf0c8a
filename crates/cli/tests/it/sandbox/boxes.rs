//! The boxes and records of a sandbox.

use unicode_width::UnicodeWidthStr as _;

use testkit::{Output, Project, normalize};

use super::{has, inside, records, sandbox};
use crate::{BINARY, project};

/// The box without borders, durations and the line breaks that depend on them.
fn told(output: &Output, project: &Project) -> String {
    let lines = output.stdout.lines().map(|line| {
        let line = line.trim_matches(['╔', '╗', '╚', '╝', '╠', '╣', '║']);
        if line.starts_with('═') {
            format!("\n{}", line.trim_matches('═'))
        } else {
            format!("\n{}", line.trim_end())
        }
    });
    normalize(&lines.collect::<String>().replace("\n   —", " —"), &project.root())
}

fn pipeline(project: &Project) {
    project.model("raw/orders", "-- @constraint: not_null(id)\nSELECT i AS id, i * 10 AS amount FROM range(3) t(i)");
    project.model("staging/orders", "SELECT id, amount FROM raw.orders");
    project.model("mart/totals", "SELECT sum(amount) AS total, count(id) AS n FROM staging.orders");
    project.model("mart/report", "SELECT total FROM mart.totals");
    // Twice: the lineage of what reads a table is known once the table is there.
    project.run(&["run"]).success();
    for model in ["staging.orders", "mart.totals", "mart.report"] {
        project.run(&["run", model, "--full-refresh"]).success();
    }
}

#[test]
fn all_models_have_one_box() {
    let project = project();
    pipeline(&project);
    project.model("raw/orders", "-- @constraint: not_null(id)\nSELECT i AS id, i * 10 AS amount FROM range(5) t(i)");
    let output = sandbox(&project, &[]).success();
    insta::assert_snapshot!("sandbox_all", told(&output, &project));
    for line in output.stdout.lines() {
        assert_eq!(line.width(), 66, "{line}");
    }
}

#[test]
fn one_model_is_shown_with_what_it_reaches() {
    let project = project();
    pipeline(&project);
    project.model(
        "staging/orders",
        "-- @audit: row_count(>, 0)\n-- @warning: row_count(>, 100)\nSELECT id, amount * 2 AS amount FROM raw.orders",
    );
    insta::assert_snapshot!("sandbox_one", told(&sandbox(&project, &["staging.orders"]).success(), &project));
}

#[test]
fn nothing_changed_is_nothing_affected() {
    let project = project();
    pipeline(&project);
    let text = inside(&sandbox(&project, &["staging.orders"]).success());
    has(&text, "[SKIP] staging.orders (table, skip, 0 rows, ");
    has(&text, "Rows: 3 (no change)\nNo downstream models affected\n");
    let text = inside(&sandbox(&project, &[]).success());
    has(&text, "Unchanged: 4 models\nChanged:   0 models\n");
    // Its constraint is shown to hold.
    has(&text, "— sandbox: forced re-run for directive validation)");
}

#[test]
fn models_with_directives_run_although_nothing_changed() {
    for header in [
        "-- @constraint: not_null(id)",
        "-- @audit: row_count(>, 0)",
        "-- @warning: row_count(>, 0)",
        "-- @column: id = Id | redact",
    ] {
        let project = project();
        project.model("raw/a", &format!("{header}\nSELECT 'x' AS id"));
        project.run(&["run"]).success();
        let record = &records(&project, &[], 0)["raw.a"];
        assert_eq!(record["run_reason"], "sandbox: forced re-run for directive validation", "{header}");
        assert_eq!((&record["run_type"], &record["sandbox"]), (&"full".into(), &true.into()), "{header}");
        assert!(record.get("diff").is_none(), "{header}: {record}");
        has(&project.run(&["run"]).success().stdout, "[SKIP] raw.a");
    }
}

#[test]
fn a_failed_model_has_an_error_and_no_diff() {
    let project = project();
    pipeline(&project);
    project.model("raw/orders", "SELECT nope AS id");
    let output = sandbox(&project, &["raw.orders"]).failure(1);
    let text = inside(&output);
    has(&text, "[FAILED] raw.orders (table, backfill, 0 rows, ");
    has(&text, "ERROR: ");
    has(&output.stdout, "\n╚");
    assert!(!output.stdout.contains("Diff vs Prod"), "{}", output.stdout);
    has(&output.stderr, "error: ");
    let output = sandbox(&project, &[]).failure(1);
    let text = inside(&output);
    has(&text, "Failed:    1 models\n");
    has(&text, "WARN: skipped: upstream model failed");
    has(&output.stdout, "╠═ Failed ═");
}

#[test]
fn a_failed_audit_leaves_the_fork_without_that_commit() {
    let project = project();
    pipeline(&project);
    project.model("raw/orders", "-- @audit: row_count(>, 10)\nSELECT i AS id, i * 10 AS amount FROM range(5) t(i)");
    let told = records(&project, &[], 1);
    assert_eq!(told["raw.orders"]["status"], "error");
    assert_eq!(told["staging.orders"]["run_type"], "skip", "{told:?}");
    assert!(told.values().all(|record| record.get("diff").is_none()), "{told:?}");
}

#[test]
fn projects_without_models_or_catalog_are_told_so() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS a");
    let output = sandbox(&project, &[]).failure(1);
    has(&output.stderr, "error: sandbox needs an existing prod catalog to fork from");
    has(&output.stderr, "`ondatrasql run`");
    let empty = Project::new(BINARY, testkit::Catalog::Sqlite);
    has(&sandbox(&empty, &[]).success().stdout, "No models found in ");
    has(&sandbox(&project, &["raw.b"]).failure(1).stderr, "model not found: raw.b");
    has(&project.run(&["sandbox", "a", "b"]).failure(2).stderr, "extra args: b");
    has(&project.run(&["sandbox", "--full-refresh"]).failure(2).stderr, "unknown flag: --full-refresh");
}

/// Trap 23: a name in three parts is the fork's table.
#[test]
fn names_in_three_parts_lead_to_the_fork() {
    let project = project();
    project.model("raw/x", "SELECT 1 AS v");
    project.model("mart/y", "SELECT v FROM lake.raw.x");
    project.model("mart/z", "SELECT v FROM raw.x");
    project.run(&["run"]).success();
    project.model("raw/x", "SELECT 2 AS v");
    let told = records(&project, &[], 0);
    for model in ["mart.y", "mart.z"] {
        assert_eq!(told[model]["diff"]["sample_added"], serde_json::json!([["2"]]), "{model}");
    }
}

#[test]
fn a_narrow_terminal_has_a_narrow_box() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS a");
    project.run(&["run"]).success();
    let output = project.command(&["sandbox"]).env("COLUMNS", "40").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().all(|line| line.width() == 40), "{text}");
}
