//! `ondatrasql history`: what past runs left in the lake (chapter 05 §3.7).

use serde_json::Value;
use testkit::{Lake, Project};

use crate::project;
use crate::schema::document;
use crate::terminal::on_terminal;

fn runs(project: &Project, args: &[&str]) -> Vec<Value> {
    let output = project.run(&[&["--json", "history"], args].concat()).success();
    assert_eq!(output.stderr, "");
    document("history", &output.stdout)["runs"].as_array().unwrap().clone()
}

fn with_two_models() -> Project {
    let project = project();
    project.model("raw/orders", "SELECT range AS id FROM range(1500)");
    project.model("mart/total", "SELECT count(*) AS n FROM raw.orders");
    project.run(&["run"]).success();
    project
}

#[test]
fn runs_are_told_newest_first_with_all_that_the_run_said() {
    let project = with_two_models();
    project.model("mart/total", "SELECT count(*) + 1 AS n FROM raw.orders");
    let said = project.run(&["run", "--json"]).success();
    let run_id = said.stdout.split("\"dag_run_id\":").nth(1).unwrap().split('"').nth(1).unwrap().to_owned();
    let runs = runs(&project, &[]);
    let told = |run: &Value| format!("{} {} {} {}", run["model"], run["kind"], run["run_type"], run["rows"]);
    let expected = [
        r#""mart.total" "table" "backfill" 1"#,
        r#""mart.total" "table" "backfill" 1"#,
        r#""raw.orders" "table" "backfill" 1500"#,
    ];
    assert_eq!(runs.iter().map(told).collect::<Vec<_>>(), expected);
    assert_eq!(runs[0]["run_id"], run_id.as_str());
    assert_eq!(runs[1]["run_id"], runs[2]["run_id"]);
    let ids: Vec<i64> = runs.iter().map(|run| run["id"].as_i64().unwrap()).collect();
    assert!(ids[0] > ids[1] && ids[1] > ids[2], "{ids:?}");
    assert!(runs[0]["time"].as_str() >= runs[1]["time"].as_str());
}

#[test]
fn the_box_has_the_columns_and_short_counts() {
    let project = with_two_models();
    let output = project.run(&["history"]).success();
    assert_eq!(output.stderr, "");
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert!(lines[0].starts_with("╭─ Run History ──") && lines[4].starts_with("╰──"), "{}", output.stdout);
    let words = |line: &str| line.trim_matches(['│', ' ']).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(lines[1]), ["ID", "Time", "Model", "Kind", "Type", "Rows", "ms", "Run", "ID"]);
    let row = words(lines[3]);
    assert_eq!((row[3].as_str(), row[6].as_str()), ("raw.orders", "1.5K"), "{row:?}");
    assert!(!output.stdout.contains('\u{1b}') && !output.stdout.contains("Showing"));
}

#[test]
fn a_model_is_named_in_any_case_and_an_unknown_one_has_no_runs() {
    let project = with_two_models();
    assert_eq!(runs(&project, &["RAW.Orders"]).len(), 1);
    assert!(runs(&project, &["raw.nothing"]).is_empty());
    let output = project.run(&["history", "raw.nothing"]).success();
    assert!(output.stdout.contains("─ History: raw.nothing ─") && output.stdout.contains("No runs found"));
    let hostile = project.run(&["history", "x' OR 1=1 --"]).success();
    assert!(hostile.stdout.contains("No runs found"), "{}", hostile.stdout);
}

#[test]
fn a_limit_that_was_reached_is_told_below_the_box() {
    let project = with_two_models();
    let output = project.run(&["history", "-l", "1"]).success();
    assert!(output.stdout.ends_with("╯\nShowing 1 rows (use --limit N to show more)\n"), "{}", output.stdout);
    assert!(output.stdout.contains("mart.total") && !output.stdout.contains("raw.orders"));
    let all = project.run(&["--json", "history", "--limit=9", "--limit", "2"]).success();
    assert_eq!(document("history", &all.stdout)["limit"], 2);
}

#[test]
fn wrong_arguments_are_told() {
    let project = project();
    for (args, expected) in [
        (&["history", "--limit", "x"][..], "invalid limit: x"),
        (&["history", "--limit", "0"], "--limit must be a positive integer (got 0)"),
        (&["history", "-l", "-3"], "--limit must be a positive integer (got -3)"),
        (&["history", "--limit"], "--limit requires a value"),
        (&["history", "a.b", "c.d"], "unexpected argument: c.d"),
        (&["history", "--since"], "unknown flag: --since"),
    ] {
        let output = project.run(args).failure(2);
        assert!(output.stderr.contains(expected) && output.stdout.is_empty(), "{args:?}: {}", output.stderr);
    }
}

#[test]
fn commits_of_other_tools_are_no_runs_and_odd_numbers_are_warnings() {
    let project = with_two_models();
    let lake = Lake::open(&project);
    let commit = |info: &str| {
        let call = format!("CALL lake.set_commit_message('x', 'y', extra_info => '{info}')");
        lake.execute(&format!("BEGIN; INSERT INTO raw.orders VALUES (1); {call}; COMMIT"));
    };
    commit("{not json");
    commit("[1]");
    commit("{\"kind\":\"table\"}");
    commit("{\"model\":\"raw.odd\",\"rows_affected\":\"many\",\"duration_ms\":1.5}");
    commit("{\"model\":\"raw.bare\"}");
    let output = project.run(&["--json", "history"]).success();
    let told = document("history", &output.stdout);
    let models: Vec<&str> = told["runs"].as_array().unwrap().iter().map(|run| run["model"].as_str().unwrap()).collect();
    assert_eq!(models, ["raw.bare", "raw.odd", "mart.total", "raw.orders"]);
    assert_eq!((&told["runs"][1]["rows"], &told["runs"][1]["duration_ms"]), (&0.into(), &0.into()));
    let warnings = told["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].as_str().unwrap().contains("rows_affected of raw.odd is no whole number: \"many\""));
    assert!(output.stderr.contains("warning: snapshot"), "{}", output.stderr);
    let bare = project.run(&["history", "raw.bare"]).success().stdout;
    let row = bare.lines().nth(2).unwrap();
    assert_eq!(row.split_whitespace().filter(|word| *word == "-").count(), 5, "{bare}");
}

#[test]
fn before_the_first_run_there_are_none() {
    let project = project();
    project.run(&["sql", "SELECT 1"]).success();
    assert!(runs(&project, &[]).is_empty());
    let broken = crate::project();
    broken.write("config/catalog.sql", "ATTACH 'nothing");
    let output = broken.run(&["--json", "history"]).failure(1);
    assert!(output.stdout.is_empty() && output.stderr.starts_with("error: "), "{}", output.stderr);
    let nowhere = Project::empty(crate::BINARY);
    assert!(nowhere.run(&["history", "--limit", "x"]).failure(1).stderr.contains("not in an ondatrasql project"));
}

#[test]
fn the_box_fits_the_terminal_and_keeps_what_counts() {
    let project = with_two_models();
    for columns in [30, 50, 70, 120] {
        let (shown, code) = on_terminal(&project, columns, &["history"]);
        assert_eq!(code, 0);
        assert!(shown.lines().all(|line| line.chars().count() <= columns), "{columns}:\n{shown}");
        assert!(shown.contains("Model") && shown.contains("raw.orders"), "{columns}:\n{shown}");
        assert_eq!(shown.contains("Run ID"), columns == 120, "{columns}:\n{shown}");
    }
}
