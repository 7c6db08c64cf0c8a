//! Retries, waits and timeouts.

use std::time::{Duration, Instant};

use testkit::http::{Answer, Server};

use crate::scene::Scene;

fn failing(status: u16) -> Answer {
    Answer::new(status, &[], "busy")
}

fn api(server: &Server, rest: &str) -> String {
    format!("\"base_url\": \"{}\", {rest}", server.url(""))
}

#[test]
fn failures_that_may_pass_are_tried_again() {
    for status in [429, 500, 502, 503, 504] {
        for method in ["get", "post", "delete"] {
            let server = Server::answers(vec![failing(status), failing(status), Answer::ok("at last")]);
            let body = format!("print(http.{method}(\"x\").text)");
            assert_eq!(Scene::new(&api(&server, "\"retry\": 2, \"backoff\": 0"), &body).lines(), ["at last"]);
            assert_eq!(server.seen().len(), 3);
        }
    }
}

/// Trap 23 of chapter 03 §3.6 among others.
#[test]
fn a_call_says_how_often_and_the_error_tells_it() {
    for (own, call, attempts) in [
        ("\"retry\": 3, \"backoff\": 0", "http.get(\"x?q=1\", retry=0)", 1),
        ("\"retry\": 3, \"backoff\": 0", "http.get(\"x?q=1\")", 4),
        ("\"retry\": 3, \"backoff\": 0", "http.get(\"x?q=1\", retry=None)", 4),
        ("\"timeout\": 30", "http.get(\"x?q=1\")", 1),
        ("\"timeout\": 30", "http.get(\"x?q=1\", retry=1, backoff=0)", 2),
        ("\"retry\": 3, \"fetch\": {\"retry\": 1, \"backoff\": 0}", "http.get(\"x?q=1\")", 2),
    ] {
        let server = Server::answers(vec![Answer::new(503, &[], "x".repeat(600))]);
        let error = Scene::new(&api(&server, own), call).error();
        let expected = format!(
            "x.fetch: http.get: request failed after {attempts} attempts: GET {}: status 503: {}",
            server.url("/x?q=1"),
            "x".repeat(500)
        );
        assert_eq!((error, server.seen().len()), (expected, attempts), "{own} {call}");
    }
}

#[test]
fn a_failure_can_be_handled_only_when_it_is_a_status() {
    let server = Server::answers(vec![Answer::new(404, &[], "none")]);
    let body = "resp = http.get(\"x\")\nif not resp.ok:\n    fail(\"status\", resp.status_code, resp.text, sep=\": \")";
    assert_eq!(Scene::new(&api(&server, "\"retry\": 3"), body).error(), "x.fetch: status: 404: none");
    assert_eq!(server.seen().len(), 1);
}

/// Trap 24 of chapter 03 §3.6.
#[test]
fn retry_after_replaces_the_wait_or_ends_it() {
    let wait = |value: &'static str| {
        let server = Server::answers(vec![Answer::new(429, &[("Retry-After", value)], ""), Answer::ok("")]);
        let started = Instant::now();
        let got = Scene::new(&api(&server, "\"retry\": 1, \"backoff\": 0.02"), "http.get(\"x\")").run();
        (got.page.map(|_| ()), started.elapsed(), server.seen().len())
    };
    let (result, took, requests) = wait("1");
    assert!(result.is_ok() && took >= Duration::from_secs(1) && requests == 2, "{took:?}");
    let (result, took, requests) = wait("soon");
    assert!(result.is_ok() && took < Duration::from_millis(900) && requests == 2, "{took:?}");
    let (result, took, requests) = wait("86400");
    assert!(result.unwrap_err().contains("Retry-After asks to wait 86400 s"));
    assert!(took < Duration::from_secs(5) && requests == 1);
}

#[test]
fn waits_double() {
    let server = Server::answers(vec![failing(500), failing(500), Answer::ok("")]);
    Scene::new(&api(&server, "\"retry\": 2, \"backoff\": 0.2"), "http.get(\"x\")").lines();
    let seen = server.seen();
    assert!(seen[1].at - seen[0].at >= Duration::from_millis(200));
    assert!(seen[2].at - seen[1].at >= Duration::from_millis(400));
}

#[test]
fn a_timeout_counts_the_whole_answer_and_is_tried_again() {
    let slow = Answer::head(200, &[("Content-Length", "4")]).bytes("ab").pause(Duration::from_millis(1500)).bytes("cd");
    for (own, call) in [
        ("\"timeout\": 0.3, \"retry\": 1, \"backoff\": 0", "http.get(\"x\")"),
        ("\"timeout\": 30, \"backoff\": 0", "http.get(\"x\", timeout=0.3, retry=1)"),
    ] {
        let server = Server::answers(vec![slow.clone()]);
        let error = Scene::new(&api(&server, own), call).error();
        assert!(
            error.contains("http.get: request failed after 2 attempts") && error.contains("timeout of 0.3 s"),
            "{error}"
        );
        assert_eq!(server.seen().len(), 2);
    }
}

#[test]
fn a_server_that_is_not_there_is_an_error() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap();
    drop(listener);
    let error = Scene::new("", &format!("http.get(\"http://{place}/?token=abc1\", retry=1, backoff=0)")).error();
    let start = format!("x.fetch: http.get: request failed after 2 attempts: GET http://{place}/?token=[REDACTED]: ");
    assert!(error.starts_with(&start), "{error}");
}
