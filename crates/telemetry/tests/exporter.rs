//! The exporter against a server that answers as a script says.
#![allow(clippy::unwrap_used)]

use std::time::{Duration, SystemTime};

use http_client::ClientOptions;
use telemetry::{Exporter, Outcome, Span, SpanId, TraceId, TraceSettings, Tracing};
use testkit::http::{Answer, Server};

fn settings(server: &Server, more: &[(&str, &str)]) -> TraceSettings {
    let url = server.url("");
    let variable = |name: &str| match name {
        "OTEL_EXPORTER_OTLP_ENDPOINT" => Some(url.clone()),
        name => more.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned()),
    };
    Tracing::from_variables(&variable, "1.0.0").settings.unwrap()
}

fn exporter(settings: &TraceSettings) -> Exporter {
    let client = ClientOptions { user_agent: "test/1".into(), ..ClientOptions::default() };
    Exporter::start(settings, "1.0.0", client).unwrap()
}

fn span(name: &str) -> Span {
    Span {
        trace: TraceId::random(),
        id: SpanId::random(),
        parent: None,
        is_parent_remote: false,
        name: name.to_owned(),
        started: SystemTime::now(),
        ended: SystemTime::now(),
        attributes: Vec::new(),
        events: Vec::new(),
        outcome: Outcome::Ok,
    }
}

/// Enough to be sent at once.
fn many(exporter: &Exporter) {
    for _ in 0..2_048 {
        exporter.add(span("one of many"));
    }
}

const PATIENCE: Duration = Duration::from_mins(1);

#[test]
fn what_is_left_is_sent_at_the_end_in_one_request() {
    let server = Server::answers(vec![Answer::ok("{}")]);
    let exporter = exporter(&settings(
        &server,
        &[("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"), ("OTEL_EXPORTER_OTLP_HEADERS", "x-team=a%20b")],
    ));
    exporter.add(span("one"));
    exporter.add(span("two"));
    assert_eq!(exporter.finish(PATIENCE), None);
    let request = server.only();
    assert_eq!(request.line(), "POST /v1/traces HTTP/1.1");
    assert_eq!((request.header("x-team"), request.header("content-type")), ("a b", "application/json"));
    let body = String::from_utf8(request.body).unwrap();
    assert!(body.contains("\"one\"") && body.contains("\"two\""), "{body}");
}

#[test]
fn without_spans_nobody_is_asked() {
    let server = Server::answers(vec![Answer::ok("")]);
    assert_eq!(exporter(&settings(&server, &[])).finish(PATIENCE), None);
    assert!(server.seen().is_empty());
}

#[test]
fn spans_that_a_server_could_not_take_are_sent_once_more() {
    let server = Server::answers(vec![Answer::new(503, &[], "busy"), Answer::ok("")]);
    let exporter = exporter(&settings(&server, &[]));
    many(&exporter);
    server.wait_for(|_| true);
    assert_eq!(exporter.finish(PATIENCE), None);
    let bodies: Vec<Vec<u8>> = server.seen().into_iter().map(|request| request.body).collect();
    assert!(bodies.len() == 2 && bodies[0] == bodies[1], "{}", bodies.len());
}

#[test]
fn what_a_server_refuses_is_not_sent_once_more() {
    for (status, why) in [
        (400, "status 400"),
        (401, "status 401"),
        (404, "status 404"),
        (500, "status 500"),
        (501, "status 501"),
        (302, "redirected"),
    ] {
        let server = Server::answers(vec![Answer::new(status, &[("Location", "/other")], "secret-value-9")]);
        let exporter = exporter(&settings(&server, &[("OTEL_EXPORTER_OTLP_HEADERS", "api-key=secret-value-9")]));
        many(&exporter);
        server.wait_for(|_| true);
        let told = exporter.finish(PATIENCE).unwrap();
        assert!(told.starts_with("2048 span(s) were not exported: ") && told.contains(why), "{told}");
        assert!(!told.contains("secret-value-9"), "{told}");
        assert_eq!(server.seen().len(), 1, "{status}");
    }
}

#[test]
fn a_server_that_does_not_answer_is_not_waited_for() {
    let server = Server::answers(vec![Answer::ok("").after(Duration::from_mins(10))]);
    let exporter = exporter(&settings(&server, &[]));
    exporter.add(span("one"));
    // The bound of the request itself is longer, and would be told of.
    let told = exporter.finish(Duration::from_millis(200)).unwrap();
    assert!(told.starts_with("1 span(s)") && told.contains("did not answer in time"), "{told}");
}

#[test]
fn nobody_who_listens_is_told_at_once() {
    let server = Server::answers(vec![Answer::ok("")]);
    let mut settings = settings(&server, &[]);
    settings.url = "http://127.0.0.1:1/v1/traces".into();
    let exporter = exporter(&settings);
    exporter.add(span("one"));
    let told = exporter.finish(PATIENCE).unwrap();
    assert!(told.contains("127.0.0.1:1") && told.contains("1 span(s)"), "{told}");
}
