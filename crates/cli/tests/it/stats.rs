//! `ondatrasql stats`: the project in numbers (chapter 05 §3.8).

use std::fs;

use serde_json::{Value, json};
use testkit::{Catalog, Lake, Project};

use crate::schema::document;
use crate::terminal::{on_terminal, on_terminal_with};
use crate::{BINARY, project};

#[track_caller]
fn stats(project: &Project) -> Value {
    let output = project.run(&["--json", "stats"]).success();
    let told = document("stats", &output.stdout);
    let warnings: Vec<String> = told["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|text| format!("warning: {}", text.as_str().unwrap()))
        .collect();
    assert_eq!(output.stderr.lines().collect::<Vec<_>>(), warnings);
    told
}

fn names(told: &Value) -> Vec<&str> {
    told["all_models"].as_array().unwrap().iter().map(|model| model["name"].as_str().unwrap()).collect()
}

#[test]
fn before_the_first_run_all_is_zero() {
    for catalog in [Catalog::Sqlite, Catalog::Duckdb] {
        let project = Project::new(BINARY, catalog);
        project.model("raw/orders", "SELECT 1 AS a");
        project.run(&["sql", "SELECT 1"]).success();
        let told = stats(&project);
        for key in ["model_count", "snapshots", "total_runs", "total_rows"] {
            assert_eq!(told[key], 0, "{key}");
        }
        assert_eq!((&told["avg_duration_ms"], &told["all_models"]), (&json!(0.0), &json!([])));
        assert!(told.get("last_run").is_none() && told["warnings"] == json!([]), "{told:#}");
        assert_eq!(told["catalog_type"], if catalog == Catalog::Sqlite { "sqlite" } else { "duckdb" });
        let text = project.run(&["stats"]).success().stdout;
        assert!(text.starts_with("╭─ Project Statistics ─") && text.contains("No model has run yet"), "{text}");
        assert!(!project.files().contains(&"state.duckdb".to_owned()), "a look makes no state");
    }
}

#[test]
fn runs_and_models_are_counted() {
    let project = project();
    project.model("raw/orders", "SELECT range AS id FROM range(1500)");
    project.model("mart/all", "-- @kind: append\nSELECT id FROM raw.orders");
    project.model("mart/total", "SELECT count(*) AS n FROM raw.orders");
    project.run(&["run"]).success();
    project.model("raw/orders", "SELECT range AS id FROM range(10)");
    project.run(&["run", "raw.orders"]).success();
    let told = stats(&project);
    assert_eq!((&told["model_count"], &told["total_runs"], &told["total_rows"]), (&json!(3), &json!(4), &json!(3011)));
    assert_eq!(told["kind_breakdown"], json!([{"kind": "table", "count": 2}, {"kind": "append", "count": 1}]));
    assert_eq!(names(&told), ["mart.all", "mart.total", "raw.orders"]);
    let orders = &told["all_models"][2];
    assert_eq!(
        (&orders["rows"], &orders["kind"], &orders["run_type"]),
        (&json!(10), &json!("table"), &json!("backfill"))
    );
    assert_eq!(orders["last_run"], told["last_run"]);
    assert!(told["snapshots"].as_i64() >= Some(4) && told["avg_duration_ms"].is_f64());
    assert_eq!(told["data_path"], "ducklake.sqlite.files/");
    let text = project.run(&["stats"]).success().stdout;
    assert!(text.contains("3.0K") && text.contains("Models by Kind") && text.contains("All Models"), "{text}");
    assert!(!text.contains("Warnings") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn a_table_whose_file_is_gone_is_orphaned_though_others_cannot_be_read() {
    let project = project();
    let long = "a".repeat(80);
    for name in ["raw/kept", "raw/Gone", "raw/api/nested", &format!("raw/{long}")] {
        project.model(name, "SELECT 1 AS a");
    }
    project.run(&["run"]).success();
    project.remove("models/raw/Gone.sql");
    project.remove(&format!("models/raw/{long}.sql"));
    project.model("raw/kept", "this (is no SQL");
    project.model("raw/1bad", "SELECT 1");
    let told = stats(&project);
    let orphaned: Vec<&str> = told["all_models"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|model| model.get("orphaned").is_some())
        .map(|model| model["name"].as_str().unwrap())
        .collect();
    assert_eq!(orphaned, [format!("raw.{long}").as_str(), "raw.Gone"]);
    assert_eq!(told["model_count"], 4);
    let text = project.run(&["stats"]).success().stdout;
    assert!(text.contains("raw.Gone [orphaned]") && text.contains("aaa... [orphaned]"), "{text}");
    assert!(!text.contains("nested [orphaned]"), "{text}");
    Lake::open(&project).execute("DROP TABLE lake.raw.gone");
    assert_eq!(stats(&project)["model_count"], 3, "neither a file nor a table is left of it");
}

#[test]
fn spellings_of_a_name_are_one_model_and_odd_commits_are_warnings() {
    let project = project();
    project.model("raw/Orders", "SELECT 1 AS a");
    project.run(&["run"]).success();
    let lake = Lake::open(&project);
    let commit = |info: &str| {
        let call = format!("CALL lake.set_commit_message('x', 'y', extra_info => '{info}')");
        lake.execute(&format!("BEGIN; INSERT INTO raw.orders VALUES (2); {call}; COMMIT"));
    };
    commit("{\"model\":\"RAW.ORDERS\",\"kind\":\"append\",\"rows_affected\":7}");
    commit("{no json");
    let told = stats(&project);
    assert_eq!((names(&told), &told["total_runs"], &told["total_rows"]), (vec!["RAW.ORDERS"], &json!(2), &json!(8)));
    assert_eq!((&told["all_models"][0]["kind"], told["all_models"][0].get("run_type")), (&json!("append"), None));
    commit("{\"model\":\"raw.orders\",\"rows_affected\":\"many\"}");
    let told = stats(&project);
    assert_eq!((&told["all_models"][0]["rows"], &told["total_rows"]), (&json!(0), &json!(8)));
    assert!(told["warnings"][0].as_str().unwrap().contains("rows_affected is no whole number: \"many\""), "{told:#}");
    let text = project.run(&["stats"]).success();
    assert!(text.stdout.contains("─ Warnings ─") && text.stderr.is_empty(), "{}", text.stdout);
}

#[test]
fn models_are_known_after_their_snapshots_were_forgotten() {
    let project = project();
    project.model("raw/orders", "SELECT 1 AS a UNION ALL SELECT 2");
    project.run(&["run"]).success();
    let lake = Lake::open(&project);
    lake.execute("INSERT INTO raw.orders VALUES (3)");
    let id = lake.number("SELECT max(snapshot_id) FROM lake.snapshots() WHERE commit_extra_info IS NOT NULL");
    lake.execute(&format!("CALL ducklake_expire_snapshots('lake', versions => [{id}])"));
    let told = stats(&project);
    assert_eq!((&told["total_runs"], names(&told)), (&json!(0), vec!["raw.orders"]));
    assert_eq!((&told["all_models"][0]["rows"], &told["all_models"][0]["kind"]), (&json!(2), &json!("table")));
    assert_eq!(told["last_run"], told["all_models"][0]["last_run"]);
}

#[test]
fn arguments_broken_projects_and_no_project_are_told() {
    let project = project();
    assert!(project.run(&["stats", "x"]).failure(2).stderr.contains("unexpected args: x"));
    assert!(project.run(&["stats", "--all"]).failure(2).stderr.contains("unknown flag: --all"));
    project.model("raw/a", "SELECT 1 AS a");
    project.run(&["run"]).success();
    fs::remove_file(project.root().join("config/state.sql")).unwrap();
    let warnings = stats(&project)["warnings"].clone();
    assert!(warnings[0].as_str().unwrap().contains("config/state.sql required"), "{warnings}");
    project.write("config/catalog.sql", "ATTACH 'nothing");
    let output = project.run(&["stats", "--json"]).failure(1);
    assert!(output.stdout.is_empty() && output.stderr.starts_with("error: "), "{}", output.stderr);
    assert!(Project::empty(BINARY).run(&["stats"]).failure(1).stderr.contains("not in an ondatrasql project"));
}

#[test]
fn the_box_fits_the_terminal_and_is_colored_only_there() {
    let project = project();
    project.model("raw/a_rather_long_name_of_a_model", "SELECT 1 AS a");
    project.run(&["run"]).success();
    fs::remove_file(project.root().join("config/state.sql")).unwrap();
    for columns in [40, 60, 100] {
        let (shown, code) = on_terminal(&project, columns, &["stats"]);
        assert_eq!(code, 0);
        assert!(shown.contains("\u{1b}[33mthe queue is"), "{shown}");
        let plain = shown.replace("\u{1b}[33m", "").replace("\u{1b}[0m", "");
        assert!(plain.lines().all(|line| line.chars().count() <= columns), "{columns}:\n{plain}");
        assert!(plain.contains("raw.a_rat"), "{plain}");
    }
    for variable in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let (shown, _) = on_terminal_with(&project, 80, variable, &["stats"]);
        assert!(shown.contains("the queue is") && !shown.contains('\u{1b}'), "{variable:?}:\n{shown}");
    }
    let (shown, _) = on_terminal_with(&project, 80, ("COLUMNS", "50"), &["stats"]);
    assert!(shown.lines().any(|line| line.starts_with('╰') && line.chars().count() == 50), "{shown}");
}
