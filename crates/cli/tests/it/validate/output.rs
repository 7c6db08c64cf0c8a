//! The three outputs, their exit codes, and what never is in them.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use testkit::Project;

use super::with_files;

/// A clean model, one with findings of several lines and severities, a clean lib file, one with a remark.
fn example() -> Project {
    with_files(&[
        ("models/raw/a.sql", "SELECT 1 AS id"),
        ("models/sync/x.sql", "-- @push: sink\nSELECT id::INT FROM ext.t\nLIMIT 1"),
        ("models/sync/y.sql", "-- @kind: x\n-- @unique_key: a b\nSELECT 1; SELECT 2"),
        ("lib/sink.star", "API = {\"push\": {}}\ndef push(rows):\n    return {}\n"),
        ("lib/wide.star", "X = 1\n"),
    ])
}

#[test]
fn the_report_for_people() {
    let project = example();
    let output = project.run(&["validate"]).failure(1);
    insta::assert_snapshot!("report_for_people", output.transcript(&project.root()));
}

#[test]
fn the_report_in_json() {
    let project = example();
    let output = project.run(&["validate", "--output", "json"]).failure(1);
    insta::assert_snapshot!("report_in_json", output.transcript(&project.root()));
    assert_eq!(project.run(&["--json", "validate"]).stdout, output.stdout);
    assert_eq!(project.run(&["validate", "--json", "--output", "human"]).stdout, output.stdout);
}

#[test]
fn the_report_in_lines() {
    let project = example();
    let output = project.run(&["validate", "--output=ndjson"]).failure(1);
    assert_eq!(project.run(&["--json", "validate", "--output", "ndjson"]).stdout, output.stdout);
    let lines: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let whole: Value = serde_json::from_str(&project.run(&["--json", "validate"]).stdout).unwrap();
    let (summary, files) = lines.split_last().unwrap();
    assert_eq!(*summary, json!({"schema_version": 4, "summary": whole["summary"]}));
    for (line, file) in files.iter().zip(whole["files"].as_array().unwrap()) {
        assert_eq!(line.as_object().unwrap().keys().next().unwrap(), "schema_version");
        let mut line = line.clone();
        assert_eq!(line.as_object_mut().unwrap().shift_remove("schema_version"), Some(json!(4)));
        assert_eq!(line, *file);
    }
    assert_eq!(files.len(), 5);
}

#[test]
fn information_and_strictness_change_no_exit_code() {
    let project = with_files(&[("models/raw/a.sql", "SELECT * FROM ext.t"), ("lib/wide.star", "X = 1\n")]);
    for args in [&["validate"][..], &["validate", "--strict"], &["validate", "--strict", "--output", "json"]] {
        let output = project.run(args).success();
        assert!(output.stderr.is_empty() && !output.stdout.is_empty(), "{output:?}");
    }
    project.model("raw/b", "SELECT 1 LIMIT 1");
    project.run(&["validate"]).failure(1);
    project.run(&["validate", "--strict"]).failure(1);
    project.run(&["validate", "--strict", "models/raw/a.sql"]).success();
}

#[test]
fn wrong_arguments_are_told() {
    let project = example();
    for (args, message) in [
        (&["validate", "--no"][..], "unknown flag: --no"),
        (&["validate", "--output"], "--output requires a value"),
        (&["validate", "--output", "xml"], "invalid --output value: xml"),
    ] {
        let output = project.run(args).failure(2);
        assert!(output.stderr.contains(message), "{}", output.stderr);
    }
    let folder = Project::empty(crate::BINARY);
    let output = folder.run(&["validate", "--no-such-flag"]).failure(1);
    assert!(output.stderr.contains("not in an ondatrasql project"), "{}", output.stderr);
}

#[test]
fn a_secret_of_the_environment_is_in_no_report() {
    let project = with_files(&[
        ("lib/x.star", "API = {\"fetch\": {\"s3cr3t-V4lue-of-env\": 1}}\ndef fetch(page):\n    return {}\n"),
        ("models/raw/a.sql", "-- @kind: s3cr3t-V4lue-of-env\nSELECT 1"),
    ]);
    project.write(".env", &format!("ONDATRA_STATE_KEY={}\nMY_TOKEN=s3cr3t-V4lue-of-env\n", testkit::STATE_KEY));
    for output in ["human", "json", "ndjson"] {
        let text = project.run(&["validate", "--output", output]).failure(1).stdout;
        assert!(text.contains("[REDACTED]") && !text.contains("s3cr3t"), "{text}");
    }
}

#[test]
fn nothing_of_the_project_is_touched() {
    let project = example();
    project.write("config/catalog.sql", "nonsense ${NOT_DEFINED}; ATTACH 'ducklake:sqlite:x.sqlite' AS lake;");
    project.write("config/macros/bad.sql", "nonsense");
    project.remove("config/state.sql");
    let files = |project: &Project| -> BTreeMap<String, Vec<u8>> {
        let read = |path: String| (path.clone(), std::fs::read(project.root().join(path)).unwrap());
        project.files().into_iter().map(read).collect()
    };
    let before = files(&project);
    let output = project.run(&["validate"]).failure(1);
    assert!(output.stdout.contains("Summary: 6 files"), "{}{}", output.stdout, output.stderr);
    assert_eq!(files(&project), before);
    assert_eq!(std::fs::read_dir(project.temp_root()).unwrap().count(), 0, "the engine's folder is gone");
}

#[test]
fn a_reader_that_is_gone_makes_no_broken_project_a_good_one() {
    let project = example();
    let mut command = project.command(&["validate"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command.stdout(writer).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(1), 0));
}
