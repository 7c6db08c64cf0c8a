//! Other commands that run models or deliver tell the same of themselves as a run does: `sandbox` and `queue drain`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use testkit::Project;
use testkit::http::{Answer, Server};

use super::log::{lines, only};
use super::metrics::{has, metrics_of};
use super::traces::{JSON, Span, collector, named, received, run_with, steps};
use super::{SECRET, Scene};
use crate::project;

/// A project with so many rows that were never delivered, each a batch of its own. The sink does not take the one whose
/// `a` is `fails`.
fn left_to_deliver(batches: usize, fails: Option<usize>) -> Scene {
    let scene = Scene::with_sink(move |request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let is_to_fail = fails.is_some_and(|fails| body["rows"][0]["a"] == fails);
        if is_to_fail { Answer::new(500, &[], "no") } else { Answer::ok("{}") }
    });
    let root = scene.project.root();
    let lib = fs::read_to_string(root.join("lib/api.star")).unwrap();
    scene
        .project
        .write("lib/api.star", &lib.replace("\"retry_backoff\": 60", "\"batch_size\": 1, \"retry_backoff\": 60"));
    let model = fs::read_to_string(root.join("models/sync/out.sql")).unwrap();
    let own = model.replace("a::INTEGER AS a FROM raw.items", &format!("range::INTEGER AS a FROM range({batches})"));
    scene.project.model("sync/out", &own.replace("-- @push: api\n", ""));
    scene.project.run(&["run"]).success();
    scene.project.model("sync/out", &own);
    scene
}

fn traced(project: &Project, args: &[&str], code: i32) -> Vec<Span> {
    let collector = collector();
    let endpoint = collector.url("");
    run_with(project, args, &[("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint), JSON]).failure(code);
    let bodies: Vec<u8> = collector.seen().into_iter().flat_map(|request| request.body).collect();
    assert!(!String::from_utf8(bodies).unwrap().contains(SECRET));
    received(&collector).0
}

fn prom_files(project: &Project) -> Vec<String> {
    project.files().into_iter().filter(|file| file.contains(".prom")).collect()
}

#[test]
fn a_delivery_is_a_trace_with_a_span_for_each_batch() {
    let scene = left_to_deliver(3, Some(1));
    let spans = traced(&scene.project, &["queue", "drain"], 1);
    let root = named(&spans, "queue drain");
    assert_eq!((root.parent.as_ref(), root.error.as_deref()), (None, Some("1 target(s) failed")));
    assert_eq!(root.attribute("ondatra.targets.failed"), "1");
    let model = named(&spans, "model sync.out");
    assert_eq!((model.parent.as_ref(), model.attribute("ondatra.command")), (Some(&root.id), "queue drain"));
    assert_eq!((steps(&spans, model), model.attribute("ondatra.status")), (vec!["push".to_owned()], "error"));
    let push = named(&spans, "push");
    assert_eq!((push.attribute("ondatra.push.delivered"), push.attribute("ondatra.push.to_retry")), ("2", "1"));
    let mut batches: Vec<&Span> = spans.iter().filter(|span| span.name == "batch").collect();
    batches.sort_by_key(|batch| batch.attribute("ondatra.batch.number").to_owned());
    let told: Vec<[&str; 4]> = batches
        .iter()
        .map(|batch| {
            ["batch.number", "batch.events", "push.delivered", "push.to_retry"]
                .map(|key| batch.attribute(&format!("ondatra.{key}")))
        })
        .collect();
    assert_eq!(told, [["1", "1", "1", "0"], ["2", "1", "0", "1"], ["3", "1", "1", "0"]]);
    assert!(batches.iter().all(|batch| batch.parent.as_ref() == Some(&push.id)));
    assert!(batches[1].error.as_ref().unwrap().contains("status 500"), "{:?}", batches[1]);
    assert_eq!((&batches[0].error, &batches[2].error), (&None, &None));
}

#[test]
fn the_batches_of_a_run_are_parts_of_its_push() {
    let scene = left_to_deliver(2, None);
    let spans = traced(&scene.project, &["run"], 0);
    let push = named(&spans, "push");
    let batches = spans.iter().filter(|span| span.name == "batch" && span.parent.as_ref() == Some(&push.id));
    assert_eq!(batches.count(), 2);
}

#[test]
fn a_sandbox_is_a_trace_that_says_so() {
    let scene = Scene::new();
    scene.project.run(&["run"]).success();
    scene.break_a_model();
    scene.project.model("mart/more", "SELECT a + 1 AS b FROM raw.items");
    let spans = traced(&scene.project, &["sandbox"], 1);
    let root = named(&spans, "sandbox");
    assert_eq!((root.error.as_deref(), root.attribute("ondatra.command")), (Some("1 model(s) failed"), "sandbox"));
    let model = named(&spans, "model mart.more");
    assert_eq!((model.parent.as_ref(), model.attribute("ondatra.command")), (Some(&root.id), "sandbox"));
    assert_eq!(steps(&spans, model).last().map(String::as_str), Some("commit"));
    assert!(named(&spans, "model mart.broken").error.is_some());
    assert!(spans.iter().all(|span| span.name != "push"), "nothing is delivered");
}

#[test]
fn commands_that_cannot_begin_say_why() {
    let project = project();
    project.model("raw/a", "-- @kind: heap\nSELECT 1 AS a");
    for (args, own) in [(&["queue", "drain"][..], "drain"), (&["sandbox"], "sandbox")] {
        let spans = traced(&project, args, 1);
        let [root] = &spans[..] else { panic!("{spans:#?}") };
        assert!(root.name == args.join(" ") && root.error.as_ref().unwrap().contains("heap"), "{root:#?}");
        project.run(&[args, &["--metrics-file", "m.prom"]].concat()).failure(1);
        has(&metrics_of(&project, "m.prom"), &[(&format!("ondatrasql_{own}_success"), 0.0)]);
    }
}

#[test]
fn metrics_of_a_delivery_tell_of_its_targets_and_the_queue() {
    let scene = left_to_deliver(3, Some(1));
    scene.project.run(&["queue", "drain", "--metrics-file", "m.prom"]).failure(1);
    let of = |family: &str, rest: &str| format!("ondatrasql_{family}{{command=\"drain\",target=\"sync.out\"{rest}}}");
    let metrics = metrics_of(&scene.project, "m.prom");
    has(
        &metrics,
        &[
            ("ondatrasql_drain_success", 0.0),
            ("ondatrasql_drain_interrupted", 0.0),
            ("ondatrasql_drain_targets{status=\"failed\"}", 1.0),
            ("ondatrasql_drain_target_failed{target=\"sync.out\"}", 1.0),
            (&of("push_events", ",result=\"delivered\""), 2.0),
            (&of("push_events", ",result=\"to_retry\""), 1.0),
            (&of("queue_events", ",state=\"waiting\""), 1.0),
            (&of("queue_events", ",state=\"pending\""), 0.0),
        ],
    );
    assert!(metrics.contains_key(&of("queue_oldest_event_age_seconds", "")), "{metrics:#?}");
    assert!(metrics["ondatrasql_drain_duration_seconds"] > 0.0);
    assert!(metrics.keys().all(|name| !name.starts_with("ondatrasql_run_")), "a drain is no run: {metrics:#?}");
    assert!(!fs::read_to_string(scene.project.root().join("m.prom")).unwrap().contains(SECRET));
}

/// Rules about the real lake must not fire, nor rest, for what happened in a fork of it.
#[test]
fn metrics_of_a_sandbox_are_called_differently_and_have_no_queue() {
    let scene = Scene::with_sink(|_| Answer::new(500, &[], "no"));
    scene.project.run(&["run"]).failure(1);
    scene.project.model("mart/more", "SELECT a + 1 AS b FROM raw.items");
    scene.break_a_model();
    scene.project.run(&["sandbox", "--metrics-file", "s.prom"]).failure(1);
    let metrics = metrics_of(&scene.project, "s.prom");
    has(
        &metrics,
        &[
            ("ondatrasql_sandbox_success", 0.0),
            ("ondatrasql_sandbox_models{status=\"failed\"}", 1.0),
            ("ondatrasql_sandbox_model_failed{target=\"mart.broken\"}", 1.0),
            ("ondatrasql_sandbox_model_rows{target=\"mart.more\"}", 2.0),
            ("ondatrasql_sandbox_model_changed{target=\"mart.more\"}", 1.0),
            ("ondatrasql_sandbox_model_changed{target=\"raw.items\"}", 0.0),
        ],
    );
    assert!(!metrics.contains_key("ondatrasql_sandbox_model_changed{target=\"mart.broken\"}"));
    let is_own = |name: &String| name.starts_with("ondatrasql_sandbox_") || name.starts_with("ondatrasql_build_info{");
    assert!(metrics.keys().all(is_own), "{metrics:#?}");
    scene.project.remove("models/mart/broken.sql");
    scene.project.run(&["sandbox", "--metrics-file", "s.prom"]).success();
    has(&metrics_of(&scene.project, "s.prom"), &[("ondatrasql_sandbox_success", 1.0)]);
    assert_eq!(prom_files(&scene.project), ["s.prom"], "nothing else stays");
}

#[test]
fn the_variable_is_for_runs_alone() {
    let scene = Scene::new();
    let env = fs::read_to_string(scene.project.root().join(".env")).unwrap();
    scene.project.write(".env", &format!("{env}ONDATRA_METRICS_FILE=run.prom\n"));
    scene.project.run(&["run"]).success();
    let of_run = fs::read_to_string(scene.project.root().join("run.prom")).unwrap();
    for args in [&["sandbox"][..], &["queue", "drain"]] {
        scene.project.run(args).success();
        assert_eq!(fs::read_to_string(scene.project.root().join("run.prom")).unwrap(), of_run, "{args:?}");
    }
}

/// What a collector reads side by side: no series comes twice, and a family is described alike in all files.
#[test]
fn files_of_all_commands_go_together() {
    let scene = Scene::new();
    let mut series = BTreeSet::new();
    let mut helps = BTreeMap::new();
    for (at, args) in [&["run"][..], &["sandbox"], &["queue", "drain"]].into_iter().enumerate() {
        let path = format!("{at}.prom");
        scene.project.run(&[args, &["--metrics-file", &path]].concat()).success();
        for name in metrics_of(&scene.project, &path).into_keys() {
            assert!(series.insert(name.clone()), "{name} comes twice");
        }
        let text = fs::read_to_string(scene.project.root().join(&path)).unwrap();
        for (family, help) in text.lines().filter_map(|line| line.strip_prefix("# HELP ")?.split_once(' ')) {
            let known = helps.entry(family.to_owned()).or_insert_with(|| help.to_owned());
            assert_eq!(known, help, "{family}");
        }
    }
}

#[test]
fn interrupted_commands_leave_whole_metrics() {
    let scene = left_to_deliver(3, None);
    // Each call takes long enough for the signal to come in between.
    let slow = Server::new(|_, _| Answer::ok("[]").after(Duration::from_secs(2)));
    let lib = fs::read_to_string(scene.project.root().join("lib/api.star")).unwrap();
    let base = lib.split('"').find(|text| text.starts_with("http://")).unwrap().to_owned();
    scene.project.write("lib/api.star", &lib.replace(&base, &slow.url("")));
    for (args, path, own) in [(&["sandbox"][..], "/items", "sandbox"), (&["queue", "drain"], "/rows", "drain")] {
        let file = format!("{own}.prom");
        scene.project.write(&file, "old\n");
        let mut command = scene.project.command(&[args, &["--metrics-file", &file]].concat());
        let mut command = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        slow.wait_for(|request| request.path() == path);
        assert_eq!(fs::read_to_string(scene.project.root().join(&file)).unwrap(), "old\n");
        assert!(Command::new("kill").args(["-INT", &command.id().to_string()]).status().unwrap().success());
        assert_eq!(command.wait().unwrap().code(), Some(1));
        let [success, interrupted] = ["success", "interrupted"].map(|name| format!("ondatrasql_{own}_{name}"));
        has(&metrics_of(&scene.project, &file), &[(&success, 0.0), (&interrupted, 1.0)]);
    }
    has(
        &metrics_of(&scene.project, "drain.prom"),
        &[("ondatrasql_push_events{command=\"drain\",target=\"sync.out\",result=\"delivered\"}", 1.0)],
    );
    assert_eq!(prom_files(&scene.project), ["drain.prom", "sandbox.prom"], "no half of one stays");
}

#[test]
fn a_file_that_cannot_be_written_is_known_before_anything_is_done() {
    let scene = left_to_deliver(1, None);
    let before = scene.project.files();
    for args in [&["sandbox"][..], &["queue", "drain"]] {
        let output = scene.project.run(&[args, &["--metrics-file", "none/m.prom"]].concat()).failure(1);
        assert!(output.stderr.contains("[CLI-004]") && output.stdout.is_empty(), "{output:?}");
    }
    assert_eq!(scene.project.files(), before);
    let overview: Value = serde_json::from_str(&scene.project.run(&["queue", "--json"]).success().stdout).unwrap();
    assert_eq!(overview["targets"], serde_json::json!([]), "nothing was fed");
}

#[test]
fn the_log_of_a_sandbox_has_each_model_and_says_that_it_is_none_of_the_lake() {
    let scene = Scene::new();
    scene.project.run(&["run"]).success();
    scene.break_a_model();
    let output = scene.project.run(&["sandbox", "--log-format", "json"]).failure(1);
    assert!(output.stdout.contains("SANDBOX DAG RUN"), "results stay: {}", output.stdout);
    let lines = lines(&output);
    let run_id = lines[0]["run_id"].as_str().unwrap();
    assert!(lines.iter().all(|line| line["run_id"] == run_id && line["sandbox"] == true), "{lines:#?}");
    assert_eq!(only(&lines, |line| line["models"] == 4)["level"], "info");
    let model = |target: &str| only(&lines, |line| line["target"] == target && line["status"].is_string()).clone();
    assert_eq!((&model("sync.out")["status"], &model("mart.broken")["status"]), (&"ok".into(), &"error".into()));
    assert_eq!(only(&lines, |line| line["target"] == "mart.broken" && line["code"].is_string())["level"], "error");
    assert_eq!(only(&lines, |line| line["models_failed"] == 1)["models_ok"], 3);
    assert!(!output.stderr.contains(SECRET));
}

#[test]
fn the_log_of_a_delivery_has_the_run_and_what_became_of_each_target() {
    let scene = left_to_deliver(3, Some(1));
    let output = scene.project.run(&["queue", "drain", "--log-format", "json"]).failure(1);
    assert_eq!(output.stdout, "");
    let lines = lines(&output);
    let run_id = &lines[0]["run_id"];
    assert!(run_id.is_string() && lines.iter().all(|line| &line["run_id"] == run_id), "{lines:#?}");
    let target = only(&lines, |line| line["status"].is_string());
    let told = ["target", "status", "level"].map(|key| target[key].as_str().unwrap());
    assert_eq!(told, ["sync.out", "error", "error"]);
    assert_eq!((&target["push_delivered"], &target["push_retry"]), (&2.into(), &1.into()));
    assert!(target["duration_ms"].is_u64());
    assert!(only(&lines, |line| line["code"] == "PUSH-002")["message"].as_str().unwrap().contains("status 500"));
}
