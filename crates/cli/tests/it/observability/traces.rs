//! Traces: what a collector gets of a run, and that a run does not depend on one.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use testkit::http::{Answer, Server};
use testkit::{Output, Project};

use super::{SECRET, Scene};
use crate::project;

pub(super) fn run_with(project: &Project, args: &[&str], variables: &[(&str, &str)]) -> Output {
    let output = project.command(args).envs(variables.iter().copied()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Output { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code().unwrap_or(-1) }
}

pub(super) const JSON: (&str, &str) = ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json");

/// A span as it came.
#[derive(Debug, Clone)]
pub(super) struct Span {
    pub id: String,
    pub parent: Option<String>,
    trace: String,
    pub name: String,
    began: u64,
    ended: u64,
    attributes: BTreeMap<String, Value>,
    /// `None` if it ended well.
    pub error: Option<String>,
    events: Vec<Value>,
}

impl Span {
    fn read(span: &Value) -> Self {
        let text = |key: &str| span[key].as_str().unwrap().to_owned();
        let time = |key: &str| text(key).parse().unwrap();
        let is_error = span["status"]["code"] == 2;
        assert!(is_error || span["status"]["code"] == 1, "{span}");
        Self {
            id: text("spanId"),
            parent: span["parentSpanId"].as_str().map(str::to_owned),
            trace: text("traceId"),
            name: text("name"),
            began: time("startTimeUnixNano"),
            ended: time("endTimeUnixNano"),
            attributes: pairs(&span["attributes"]),
            error: is_error.then(|| span["status"]["message"].as_str().unwrap_or_default().to_owned()),
            events: span["events"].as_array().unwrap().clone(),
        }
    }

    /// A text or a number.
    pub fn attribute(&self, key: &str) -> &str {
        self.attributes.get(key).and_then(Value::as_str).unwrap_or_default()
    }
}

/// Attributes by their keys; all values as they are written.
fn pairs(list: &Value) -> BTreeMap<String, Value> {
    let pair = |pair: &Value| {
        let value = pair["value"].as_object().unwrap().values().next().unwrap().clone();
        (pair["key"].as_str().unwrap().to_owned(), value)
    };
    list.as_array().unwrap().iter().map(pair).collect()
}

/// All spans that a collector got, with the attributes of their resource.
pub(super) fn received(collector: &Server) -> (Vec<Span>, BTreeMap<String, Value>) {
    let mut spans = Vec::new();
    let mut resource = BTreeMap::new();
    for request in collector.seen() {
        assert_eq!((request.method(), request.path()), ("POST", "/v1/traces"));
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let of_resource = &body["resourceSpans"][0];
        resource = pairs(&of_resource["resource"]["attributes"]);
        spans.extend(of_resource["scopeSpans"][0]["spans"].as_array().unwrap().iter().map(Span::read));
    }
    (spans, resource)
}

#[track_caller]
pub(super) fn named<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    let found: Vec<&Span> = spans.iter().filter(|span| span.name == name).collect();
    assert_eq!(found.len(), 1, "{name}: {spans:#?}");
    found[0]
}

/// The names of the steps of a model, in order.
pub(super) fn steps(spans: &[Span], model: &Span) -> Vec<String> {
    let mut steps: Vec<&Span> = spans.iter().filter(|span| span.parent.as_ref() == Some(&model.id)).collect();
    steps.sort_by_key(|span| span.began);
    let name = |span: &&Span| match span.attribute("ondatra.checks") {
        "" if span.attributes.contains_key("ondatra.ahead") => format!("{}:ahead", span.name),
        "" => span.name.clone(),
        stage => format!("{}:{stage}", span.name),
    };
    steps.iter().map(name).collect()
}

pub(super) fn collector() -> Server {
    Server::answers(vec![Answer::ok("{}")])
}

#[test]
fn a_run_its_models_and_their_steps_are_a_tree() {
    let (scene, collector) = (Scene::new(), collector());
    scene.break_a_model();
    let output = run_with(
        &scene.project,
        &["run", "--jobs", "1"],
        &[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url("")),
            JSON,
            ("OTEL_SERVICE_NAME", "shop"),
            ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test"),
        ],
    )
    .failure(1);
    assert!(!output.stderr.contains("traces"), "{}", output.stderr);
    let (spans, resource) = received(&collector);
    assert_eq!((&resource["service.name"], &resource["deployment.environment.name"]), (&"shop".into(), &"test".into()));

    let run = named(&spans, "run");
    assert_eq!(run.parent, None);
    assert_eq!(run.error.as_deref(), Some("1 model(s) failed"));
    let counts = ["ondatra.models.ok", "ondatra.models.failed", "ondatra.rows"].map(|key| run.attribute(key));
    assert_eq!(counts, ["3", "1", "6"]);
    assert!(spans.iter().all(|span| span.trace == run.trace), "one trace");
    let by_id: BTreeMap<&str, &Span> = spans.iter().map(|span| (span.id.as_str(), span)).collect();
    assert_eq!(by_id.len(), spans.len(), "ids differ");
    for span in spans.iter().filter(|span| span.id != run.id) {
        let parent = by_id[span.parent.as_deref().unwrap()];
        let is_within = parent.began <= span.began && span.began <= span.ended && span.ended <= parent.ended;
        assert!(is_within, "{span:#?} {parent:#?}");
    }

    let model = |target: &str| named(&spans, &format!("model {target}")).clone();
    assert_eq!(steps(&spans, &model("raw.items")), ["fetch", "query", "write", "commit"]);
    let checked = ["query", "checks:constraints", "write", "checks:audits", "commit", "checks:warnings"];
    assert_eq!(steps(&spans, &model("mart.checked")), checked);
    assert_eq!(steps(&spans, &model("sync.out")), ["query", "write", "commit", "push"]);
    assert_eq!(steps(&spans, &model("mart.broken")), ["query"]);

    let items = model("raw.items");
    assert_eq!((items.parent.as_ref(), items.error.as_ref()), (Some(&run.id), None));
    for (key, value) in [
        ("ondatra.target", "raw.items"),
        ("ondatra.kind", "table"),
        ("ondatra.run_type", "backfill"),
        ("ondatra.reason", "first run"),
        ("ondatra.rows", "2"),
        ("ondatra.status", "ok"),
    ] {
        assert_eq!(items.attribute(key), value, "{key}");
    }
    let broken = model("mart.broken");
    let message = broken.error.clone().unwrap();
    assert!(message.contains("no [REDACTED]"), "{message}");
    assert_eq!(broken.attribute("ondatra.status"), "error");
    let exception = pairs(&broken.events[0]["attributes"]);
    assert_eq!(
        (&exception["exception.message"], &broken.events[0]["name"]),
        (&message.as_str().into(), &"exception".into())
    );
    assert!(output.stderr.contains(exception["exception.type"].as_str().unwrap()), "the code that people see");
    let query = spans.iter().find(|span| span.parent.as_ref() == Some(&broken.id)).unwrap();
    assert_eq!(query.error, Some(message), "the step that failed");
    let pushed = spans.iter().find(|span| span.name == "push").unwrap();
    assert_eq!((pushed.attribute("ondatra.push.delivered"), &pushed.error), ("2", &None));
    let bodies: Vec<u8> = collector.seen().into_iter().flat_map(|request| request.body).collect();
    assert!(!String::from_utf8(bodies).unwrap().contains(SECRET));
}

#[test]
fn queries_that_run_side_by_side_are_parts_of_their_models() {
    let (scene, collector) = (Scene::new(), collector());
    scene.break_a_model();
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url("")), (JSON.0, JSON.1.to_owned())];
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    run_with(&scene.project, &["run", "--jobs", "4"], &variables).failure(1);
    let (spans, _) = received(&collector);
    for target in ["mart.checked", "sync.out", "mart.broken"] {
        let model = named(&spans, &format!("model {target}"));
        assert_eq!(steps(&spans, model)[..2], ["query:ahead", "query"], "{target}");
        let parts = spans.iter().filter(|span| span.parent.as_ref() == Some(&model.id));
        for part in parts {
            assert!(model.began <= part.began && part.ended <= model.ended, "{part:#?} {model:#?}");
            // Whoever ran the query, it is where the model failed.
            assert_eq!(part.error, model.error, "{target}");
        }
    }
}

#[test]
fn models_that_skip_have_a_span_and_no_steps() {
    let (project, collector) = (project(), collector());
    project.model("raw/a", "SELECT 1 AS a");
    project.run(&["run"]).success();
    run_with(&project, &["run"], &[("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url("/")), JSON]).success();
    let (spans, _) = received(&collector);
    let model = named(&spans, "model raw.a");
    assert_eq!((model.attribute("ondatra.status"), model.attribute("ondatra.run_type")), ("skip", "skip"));
    assert_eq!((steps(&spans, model).len(), spans.len()), (0, 2));
}

#[test]
fn a_push_that_fails_is_an_error_of_its_step() {
    let (scene, collector) = (Scene::with_sink(|_| Answer::new(500, &[], "no")), collector());
    run_with(&scene.project, &["run"], &[("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url("")), JSON]).failure(1);
    let (spans, _) = received(&collector);
    let push = spans.iter().find(|span| span.name == "push").unwrap();
    assert_eq!(push.attribute("ondatra.push.to_retry"), "2");
    let told = push.error.clone().unwrap();
    assert!(told.contains("status") && !told.contains(SECRET), "{told}");
    assert_eq!(named(&spans, "model sync.out").error, Some(told));
}

#[test]
fn a_run_that_cannot_begin_is_a_span_with_its_error() {
    let (project, collector) = (project(), collector());
    project.model("raw/a", "SELEC 1");
    run_with(&project, &["run"], &[("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url("")), JSON]).failure(1);
    let (spans, _) = received(&collector);
    let [run] = &spans[..] else { panic!("{spans:#?}") };
    assert!(run.error.as_ref().unwrap().contains("syntax error"), "{run:#?}");
    assert_eq!(pairs(&run.events[0]["attributes"])["exception.type"], "MODEL-010");
}

#[test]
fn a_parent_of_another_process_has_the_run_as_its_part() {
    let (project, collector) = (project(), collector());
    project.model("raw/a", "SELECT 1 AS a");
    let endpoint = collector.url("/v1/traces");
    let (trace, parent) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
    let traced = |flags: &str, more: &[(&str, &str)]| {
        let context = format!("00-{trace}-{parent}-{flags}");
        let own = [("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", endpoint.as_str()), JSON, ("TRACEPARENT", &context)];
        run_with(&project, &["run"], &[&own, more].concat()).success();
        let spans = received(&collector).0;
        collector.take_seen();
        spans
    };
    let spans = traced("01", &[]);
    let run = named(&spans, "run");
    assert_eq!((run.parent.as_deref(), run.trace.as_str()), (Some(parent), trace));
    assert!(traced("00", &[]).is_empty(), "the parent is not recorded");
    assert_eq!(traced("00", &[("OTEL_TRACES_SAMPLER", "always_on")]).len(), 2);
    assert!(traced("01", &[("OTEL_TRACES_SAMPLER", "always_off")]).is_empty());
    assert!(traced("01", &[("OTEL_SDK_DISABLED", "true")]).is_empty());
    assert!(traced("01", &[("OTEL_TRACES_EXPORTER", "none")]).is_empty());
}

#[test]
fn the_variables_may_stand_in_the_project_and_protobuf_is_what_is_sent() {
    let (project, collector) = (project(), collector());
    project.model("raw/a", "SELECT 1 AS a");
    let env = std::fs::read_to_string(project.root().join(".env")).unwrap();
    let url = collector.url("");
    project.write(
        ".env",
        &format!("{env}OTEL_EXPORTER_OTLP_ENDPOINT={url}\nOTEL_EXPORTER_OTLP_HEADERS=api-key={SECRET}\n"),
    );
    project.run(&["run"]).success();
    let request = collector.only();
    assert_eq!((request.header("content-type"), request.header("api-key")), ("application/x-protobuf", SECRET));
    let holds = |text: &str| request.body.windows(text.len()).any(|bytes| bytes == text.as_bytes());
    assert!(holds("model raw.a") && holds("service.name") && holds("first run"));
    assert!(!holds(SECRET));
}

/// A collector that is down, slow or at fault is one warning, and nothing else.
#[test]
fn no_collector_makes_a_run_fail() {
    let at_fault = Server::answers(vec![Answer::new(500, &[], format!("api-key: {SECRET}"))]);
    let slow = Server::answers(vec![Answer::ok("").after(Duration::from_mins(10))]);
    let not_there = Server::answers(vec![Answer::new(404, &[], "no")]);
    for (endpoint, why) in [
        ("http://127.0.0.1:1".to_owned(), "Connection refused"),
        (at_fault.url(""), "status 500"),
        (slow.url(""), "did not answer in time"),
        (not_there.url(""), "status 404"),
        ("nonsense".to_owned(), "invalid URL"),
        (format!("http://bob:{SECRET}@127.0.0.1:1?token={SECRET}"), "Connection refused"),
    ] {
        let project = project();
        project.model("raw/a", "SELECT 1 AS a");
        let headers = format!("api-key={SECRET}");
        let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()), ("OTEL_EXPORTER_OTLP_HEADERS", &headers)];
        let output = run_with(&project, &["run"], &variables).success();
        assert!(output.stdout.contains("Done: 1 ran, 0 skipped, 0 failed"), "{}", output.stdout);
        let [warning] = &output.stderr.lines().collect::<Vec<_>>()[..] else { panic!("{endpoint}: {}", output.stderr) };
        assert!(warning.starts_with("warning: traces: ") && warning.contains(why), "{warning}");
        assert!(!warning.contains(SECRET), "{warning}");
    }
}

#[test]
fn what_is_not_understood_is_a_warning_and_the_run_goes_on() {
    let (project, collector) = (project(), collector());
    project.model("raw/a", "SELECT 1 AS a");
    let grpc = ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    let output = run_with(&project, &["run"], &[("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url("")), grpc]).success();
    assert!(output.stderr.contains("OTEL_EXPORTER_OTLP_PROTOCOL is \"grpc\": there are http/protobuf and http/json"));
    assert!(collector.seen().is_empty());
}
