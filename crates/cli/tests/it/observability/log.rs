//! `--log-format json`: every line of standard error is an object, and standard output holds results alone.

use serde_json::Value;
use testkit::{Output, Project};

use super::{SECRET, Scene};
use crate::every_command::{CALLS, with_a_table};
use crate::schema::document;
use crate::{BINARY, project};

/// The lines of standard error, each an object as `docs/json/log.schema.json` says.
#[track_caller]
pub(super) fn lines(output: &Output) -> Vec<Value> {
    let read = |line: &str| -> Value {
        let value = document("log", &format!("{line}\n"));
        let time = value["timestamp"].as_str().unwrap();
        assert!(time.ends_with('Z') && time.parse::<jiff::Timestamp>().is_ok(), "{line}");
        value
    };
    output.stderr.lines().map(read).collect()
}

/// The only line that `is_it`.
#[track_caller]
pub(super) fn only(lines: &[Value], is_it: impl Fn(&Value) -> bool) -> &Value {
    let found: Vec<&Value> = lines.iter().filter(|line| is_it(line)).collect();
    assert_eq!(found.len(), 1, "{lines:#?}");
    found[0]
}

fn with_code<'a>(lines: &'a [Value], code: &str) -> &'a Value {
    only(lines, |line| line["code"] == code)
}

#[test]
fn each_line_of_a_run_says_what_it_is_about() {
    let scene = Scene::new();
    scene.break_a_model();
    scene.project.model("mart/typo", "SELECT\n  nope FROM raw.items");
    let output = scene.project.run(&["run", "--log-format", "json"]).failure(1);
    assert_eq!(output.stdout, "", "a run without --json has no results");
    let lines = lines(&output);
    let run_id = lines[0]["run_id"].as_str().unwrap();
    assert!(lines.iter().all(|line| line["run_id"] == run_id), "{lines:#?}");
    assert_eq!(only(&lines, |line| line["models"] == 5)["level"], "info");

    let model = |target: &str| only(&lines, |line| line["target"] == target && line["status"].is_string()).clone();
    let fetched = model("raw.items");
    assert_eq!((&fetched["status"], &fetched["level"]), (&"ok".into(), &"info".into()));
    assert_eq!((&fetched["kind"], &fetched["run_type"]), (&"table".into(), &"backfill".into()));
    assert_eq!((&fetched["reason"], &fetched["rows"]), (&"first run".into(), &2.into()));
    assert!(fetched["duration_ms"].is_u64() && fetched["message"].as_str().unwrap().starts_with("[OK] raw.items ("));
    assert_eq!(model("sync.out")["push_delivered"], 2);
    assert_eq!((&model("mart.broken")["status"], &model("mart.broken")["level"]), (&"error".into(), &"error".into()));

    let error = |target: &str| only(&lines, |line| line["target"] == target && line["code"].is_string()).clone();
    assert!(error("mart.broken")["message"].as_str().unwrap().contains("no [REDACTED]"));
    let typo = error("mart.typo");
    assert_eq!((&typo["file"], &typo["line"], &typo["column"]), (&"models/mart/typo.sql".into(), &2.into(), &3.into()));
    assert!(typo["level"] == "error" && typo["help"].is_string(), "{typo}");
    let warning = only(&lines, |line| line["level"] == "warn" && line["target"] == "mart.checked");
    assert!(warning["message"].as_str().unwrap().contains("row_count"), "{warning}");
    assert_eq!(only(&lines, |line| line["message"] == "asking with [REDACTED]")["level"], "info");
    let done = only(&lines, |line| line["models_ok"].is_u64());
    assert_eq!((&done["models_ok"], &done["models_failed"], &done["rows"]), (&3.into(), &2.into(), &6.into()));
    assert!(!output.stderr.contains(SECRET), "{}", output.stderr);
}

#[test]
fn records_go_to_standard_output_as_ever() {
    let scene = Scene::new();
    let output = scene.project.run(&["--json", "--log-format=json", "run"]).success();
    let records: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records.iter().map(|record| record["schema_version"].clone()).collect::<Vec<_>>(), [2, 2, 2]);
    assert_eq!(lines(&output)[0]["run_id"], records[0]["dag_run_id"]);
}

#[test]
fn text_is_what_it_was_without_the_flag() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS a");
    project.run(&["run"]).success();
    for args in [&["run"][..], &["run", "--nope"], &["sql", "SELEC"], &["query", "raw.b"]] {
        let plain = project.run(args);
        let chosen = project.run(&[args, &["--log-format", "text"]].concat());
        assert_eq!(plain.transcript(&project.root()), chosen.transcript(&project.root()), "{args:?}");
    }
}

/// Of each command, in a project that is well: the same results, and nothing but objects beside them.
#[test]
fn no_command_says_anything_else_on_standard_error() {
    let project = with_a_table();
    for (call, code) in CALLS {
        let plain = project.run(call);
        let output = project.run(&[call, &["--log-format", "json"]].concat());
        assert_eq!(output.code, code, "{call:?}: {}", output.stderr);
        lines(&output);
        let says_how_it_goes = call[0] == "run" || call == ["queue", "drain"];
        assert_eq!(output.stdout.is_empty(), plain.stdout.is_empty() || says_how_it_goes, "{call:?}");
        let both = project.run(&[call, &["--json", "--log-format", "json"]].concat());
        assert_eq!(both.code, code, "{call:?}: {}", both.stderr);
        lines(&both);
    }
}

#[test]
fn mistakes_are_objects_before_anything_is_known_of_the_project() {
    let nowhere = Project::empty(BINARY);
    for (args, code, exit) in [
        (&["rnu"][..], "CLI-002", 2),
        (&["--nope"], "CLI-002", 2),
        (&["version", "x"], "CLI-002", 2),
        (&["run", "--nope"], "PROJECT-001", 1),
    ] {
        let output = nowhere.run(&[&["--log-format", "json"], args].concat()).failure(exit);
        let error = with_code(&lines(&output), code).clone();
        assert!(error["level"] == "error" && error["help"].is_string(), "{args:?}: {error}");
    }
    let project = project();
    project.model("raw/a", "SELEC 1");
    let output = project.run(&["run", "--log-format", "json"]).failure(1);
    let error = with_code(&lines(&output), "MODEL-010").clone();
    assert_eq!((&error["file"], &error["line"]), (&"models/raw/a.sql".into(), &1.into()));
    assert_eq!(error["column"], 1);
}

#[test]
fn the_variable_stands_for_the_flag_in_the_process_and_in_the_project() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS a");
    let run = |format: Option<&str>, args: &[&str]| {
        let mut command = project.command(args);
        command.envs(format.map(|format| ("ONDATRA_LOG_FORMAT", format)));
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Output { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code().unwrap() }
    };
    assert!(lines(&run(Some("json"), &["run"])).len() > 2);
    let env = std::fs::read_to_string(project.root().join(".env")).unwrap();
    project.write(".env", &format!("{env}ONDATRA_LOG_FORMAT=json\n"));
    assert!(lines(&run(None, &["run"])).len() > 2);
    assert!(lines(&run(Some(""), &["run"]).success()).is_empty(), "the process wins over the file, even with nothing");
    assert!(run(Some("text"), &["run"]).success().stdout.contains("[SKIP]"));
    assert!(run(None, &["run", "--log-format", "text"]).success().stdout.contains("[SKIP]"), "the flag wins over both");
    let wrong = run(Some("yaml"), &["run"]).failure(2);
    assert!(wrong.stderr.contains("invalid ONDATRA_LOG_FORMAT: yaml"), "{}", wrong.stderr);
    assert!(run(Some("yaml"), &["version", "--log-format", "json"]).success().stderr.is_empty());
}

#[test]
fn a_format_that_there_is_not_is_a_wrong_invocation() {
    let project = project();
    for (args, message) in [
        (&["run", "--log-format"][..], "--log-format requires a value"),
        (&["--log-format", "--json", "run"], "--log-format requires a value"),
        (&["run", "--log-format="], "--log-format requires a value"),
        (&["--log-format", "xml", "run"], "invalid --log-format value: xml"),
    ] {
        let output = project.run(args).failure(2);
        assert!(output.stderr.starts_with(&format!("error: {message} [CLI-002]")), "{args:?}: {}", output.stderr);
    }
}

/// An interrupted run, a sandbox, and a delivery say so in the same form.
#[test]
fn other_ways_to_run_models_log_alike() {
    let scene = Scene::with_sink(|_| testkit::http::Answer::new(500, &[], "no"));
    let failed = scene.project.run(&["run", "--log-format", "json"]).failure(1);
    let pushed = lines(&failed);
    let out = only(&pushed, |line| line["target"] == "sync.out" && line["status"].is_string());
    assert_eq!((&out["push_retry"], &out["status"]), (&2.into(), &"error".into()));
    assert!(!failed.stderr.contains(SECRET), "{}", failed.stderr);
    for args in [&["queue", "drain"][..], &["sandbox"], &["check"]] {
        let output = scene.project.run(&[args, &["--log-format", "json"]].concat());
        lines(&output);
        assert!(!format!("{output:?}").contains(SECRET), "{output:?}");
    }
}
