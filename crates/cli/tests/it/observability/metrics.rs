//! `run --metrics-file`: what a collector of Prometheus finds after a run.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use testkit::Project;
use testkit::http::Answer;

use super::{SECRET, Scene};
use crate::project;

/// The samples of a text, by name and labels; each family has its help and type first, once. Each sample has the label
/// of its project, which is left out.
#[track_caller]
fn samples(project: &str, text: &str) -> BTreeMap<String, f64> {
    let label = format!("project=\"{project}\"");
    let mut found = BTreeMap::new();
    let mut family = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let name = help.split(' ').next().unwrap();
            assert_eq!(lines.next(), Some(format!("# TYPE {name} gauge").as_str()));
            name.clone_into(&mut family);
            continue;
        }
        assert!(line.contains(&format!("{{{label}")), "{line}");
        let line = line.replace(&format!("{label},"), "").replace(&format!("{{{label}}}"), "");
        let (sample, value) = line.rsplit_once(' ').unwrap();
        assert_eq!(sample.split('{').next(), Some(family.as_str()), "{line}");
        assert!(found.insert(sample.to_owned(), value.parse().unwrap()).is_none(), "{line} comes twice");
    }
    assert!(text.ends_with('\n'));
    found
}

#[track_caller]
pub(super) fn metrics_of(project: &Project, path: &str) -> BTreeMap<String, f64> {
    let root = project.root();
    samples(root.file_name().unwrap().to_str().unwrap(), &fs::read_to_string(root.join(path)).unwrap())
}

#[track_caller]
pub(super) fn has(samples: &BTreeMap<String, f64>, expected: &[(&str, f64)]) {
    for (name, value) in expected {
        assert_eq!(samples.get(*name), Some(value), "{name}: {samples:#?}");
    }
}

#[test]
fn a_run_that_pushes_tells_of_models_deliveries_and_the_queue() {
    let scene = Scene::new();
    scene.project.run(&["run", "--metrics-file", "m.prom"]).success();
    let metrics = metrics_of(&scene.project, "m.prom");
    has(
        &metrics,
        &[
            ("ondatrasql_run_success", 1.0),
            ("ondatrasql_run_interrupted", 0.0),
            ("ondatrasql_run_rows", 6.0),
            ("ondatrasql_run_models{status=\"ok\"}", 3.0),
            ("ondatrasql_run_models{status=\"skipped\"}", 0.0),
            ("ondatrasql_run_models{status=\"failed\"}", 0.0),
            ("ondatrasql_model_rows{target=\"raw.items\"}", 2.0),
            ("ondatrasql_model_failed{target=\"raw.items\"}", 0.0),
            ("ondatrasql_push_events{command=\"run\",target=\"sync.out\",result=\"delivered\"}", 2.0),
            ("ondatrasql_push_events{command=\"run\",target=\"sync.out\",result=\"rejected\"}", 0.0),
            ("ondatrasql_queue_events{command=\"run\",target=\"sync.out\",state=\"pending\"}", 0.0),
            ("ondatrasql_queue_events{command=\"run\",target=\"sync.out\",state=\"in_flight\"}", 0.0),
            ("ondatrasql_queue_oldest_event_age_seconds{command=\"run\",target=\"sync.out\"}", 0.0),
        ],
    );
    let now = jiff::Timestamp::now().as_second();
    #[allow(clippy::cast_precision_loss)]
    let is_now = (metrics["ondatrasql_run_timestamp_seconds"] - now as f64).abs() < 600.0;
    assert!(is_now && metrics["ondatrasql_run_duration_seconds"] > 0.0, "{metrics:#?}");
    assert!(metrics["ondatrasql_model_duration_seconds{target=\"sync.out\"}"] > 0.0, "{metrics:#?}");
    let left: Vec<String> = scene.project.files().into_iter().filter(|file| file.contains("m.prom")).collect();
    assert_eq!(left, ["m.prom"]);
}

#[test]
fn failures_and_what_waits_are_counted() {
    let scene = Scene::with_sink(|_| Answer::new(500, &[], "no"));
    scene.break_a_model();
    scene.project.run(&["run", "--metrics-file=m.prom"]).failure(1);
    let metrics = metrics_of(&scene.project, "m.prom");
    has(
        &metrics,
        &[
            ("ondatrasql_run_success", 0.0),
            ("ondatrasql_run_models{status=\"ok\"}", 2.0),
            ("ondatrasql_run_models{status=\"failed\"}", 2.0),
            ("ondatrasql_model_failed{target=\"mart.broken\"}", 1.0),
            ("ondatrasql_model_failed{target=\"sync.out\"}", 1.0),
            ("ondatrasql_push_events{command=\"run\",target=\"sync.out\",result=\"delivered\"}", 0.0),
            ("ondatrasql_push_events{command=\"run\",target=\"sync.out\",result=\"to_retry\"}", 2.0),
            ("ondatrasql_queue_events{command=\"run\",target=\"sync.out\",state=\"waiting\"}", 2.0),
            ("ondatrasql_queue_events{command=\"run\",target=\"sync.out\",state=\"dead\"}", 0.0),
        ],
    );
    assert!(metrics.contains_key("ondatrasql_queue_oldest_event_age_seconds{command=\"run\",target=\"sync.out\"}"));
    assert!(!fs::read_to_string(scene.project.root().join("m.prom")).unwrap().contains(SECRET));
}

#[test]
fn the_state_is_not_opened_for_metrics_alone() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS a");
    project.run(&["run", "--metrics-file", "m.prom"]).success();
    assert!(!project.root().join("state.duckdb").exists());
    assert!(metrics_of(&project, "m.prom").keys().all(|name| !name.contains("queue") && !name.contains("push")));
}

#[test]
fn a_run_that_cannot_begin_is_no_success() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS a");
    project.run(&["run", "--metrics-file", "m.prom"]).success();
    has(&metrics_of(&project, "m.prom"), &[("ondatrasql_run_success", 1.0)]);
    project.model("raw/b", "SELEC 1");
    project.run(&["run", "--metrics-file", "m.prom"]).failure(1);
    has(&metrics_of(&project, "m.prom"), &[("ondatrasql_run_success", 0.0), ("ondatrasql_run_interrupted", 0.0)]);
}

#[test]
fn an_interrupted_run_leaves_metrics() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS a");
    project
        .model("raw/b", "SELECT count(*) AS n FROM range(10000000) a(i), range(10000000) b(j) WHERE (i * j) % 7 = 9");
    let mut run = project
        .command(&["run", "--metrics-file", "m.prom"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(run.stdout.take().unwrap()).lines();
    assert!(lines.by_ref().any(|line| line.unwrap().contains("[OK] raw.a")));
    assert!(Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap().success());
    assert_eq!(run.wait().unwrap().code(), Some(1));
    has(
        &metrics_of(&project, "m.prom"),
        &[
            ("ondatrasql_run_success", 0.0),
            ("ondatrasql_run_interrupted", 1.0),
            ("ondatrasql_model_rows{target=\"raw.a\"}", 1.0),
        ],
    );
}

#[test]
fn a_file_that_cannot_be_written_is_known_before_anything_runs() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS a");
    let before = project.files();
    for (path, cause) in
        [("none/m.prom", "No such file"), ("models", "it is a folder"), ("/dev/null", "no regular file")]
    {
        let output = project.run(&["run", "--metrics-file", path]).failure(1);
        assert!(output.stderr.contains("[CLI-004]") && output.stderr.contains(cause), "{}", output.stderr);
        assert_eq!((output.stdout.as_str(), project.files()), ("", before.clone()), "nothing ran");
    }
    let output = project.run(&["run", "--metrics-file", ""]).failure(2);
    assert!(output.stderr.contains("--metrics-file requires a value"), "{}", output.stderr);
}

#[test]
fn the_flag_is_seen_from_the_folder_and_the_variable_from_the_root() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS a");
    project.run_in("models", &["run", "--metrics-file", "m.prom"]).success();
    assert!(project.root().join("models/m.prom").is_file());
    let env = fs::read_to_string(project.root().join(".env")).unwrap();
    project.write(".env", &format!("{env}ONDATRA_METRICS_FILE=own.prom\n"));
    project.run_in("models", &["run"]).success();
    has(&metrics_of(&project, "own.prom"), &[("ondatrasql_run_models{status=\"skipped\"}", 1.0)]);
    project.remove("own.prom");
    project.run(&["run", "--metrics-file", "m.prom"]).success();
    assert!(!project.root().join("own.prom").exists(), "the flag wins");
}
