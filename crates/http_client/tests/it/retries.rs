//! What is tried again, how often, after how long, and what is said in the end.

use crate::{client, failure, get, pairs, send};
use http_client::{Body, Cause, HttpError, Method, Request, Stop};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};
use testkit::http::{Answer, Server};

#[test]
fn other_answers_are_returned_after_one_request() {
    for status in [200, 201, 204, 300, 304, 400, 401, 403, 404, 409, 418] {
        let server =
            Server::answers(vec![Answer::new(status, &[], if status == 204 || status == 304 { "" } else { "b" })]);
        assert_eq!(send(&Request { retry: 3, ..get(&server.url("/")) }).unwrap().status, status);
        server.only();
    }
}

#[test]
fn passing_failures_are_tried_again_by_every_method() {
    for method in [Method::Get, Method::Post, Method::Put, Method::Patch, Method::Delete] {
        for status in [429, 500, 502, 503, 599] {
            let server = Server::answers(vec![Answer::new(status, &[], ""), Answer::ok("done")]);
            let body = Body::Bytes(b"x".as_slice().into(), "text/plain".to_owned());
            let request = Request { method, body, retry: 1, ..get(&server.url("/")) };
            assert_eq!(send(&request).unwrap().body, b"done");
            assert_eq!(server.seen().iter().map(|seen| seen.body.clone()).collect::<Vec<_>>(), [b"x", b"x"]);
        }
    }
}

/// Trap 23 of chapter 03 §3.6.
#[test]
fn without_retries_there_is_one_request_and_an_error() {
    let server = Server::answers(vec![Answer::new(500, &[], "down")]);
    let message = failure(&get(&server.url("/a")));
    assert_eq!(message, format!("request failed after 1 attempts: GET {}: status 500: down", server.url("/a")));
    server.only();
}

#[test]
fn the_last_failure_is_told_without_secrets() {
    let body = format!("echo s3cr3t {}", "x".repeat(600));
    let server = Server::answers(vec![Answer::new(502, &[], "first"), Answer::new(503, &[], body)]);
    let mut request = Request { retry: 1, method: Method::Post, ..get(&server.url("/a?token=abc&q=1")) };
    request.secrets.headers = pairs(&[("X-Key", "s3cr3t")]);
    request.secrets.params = pairs(&[("sig", "p4rameter")]);
    let message = failure(&request);
    let url = server.url("/a?token=[REDACTED]&q=1");
    let start = format!("request failed after 2 attempts: POST {url}: status 503: echo [REDACTED] xxx");
    assert!(message.starts_with(&start), "{message}");
    let shown = message.split("status 503: ").nth(1).unwrap();
    assert_eq!(shown.chars().count(), 500);
    assert!(server.seen()[0].target().contains("sig=p4rameter"));
}

#[test]
fn a_refused_connection_is_tried_again_and_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let message = failure(&Request { retry: 2, ..get(&url) });
    assert!(message.starts_with("request failed after 3 attempts: GET") && message.contains("refused"), "{message}");
}

#[test]
fn broken_answers_are_tried_again() {
    let half = || Answer::head(200, &[("Content-Length", "10")]).bytes("half").close();
    let broken = [
        half(),
        Answer::default().close(),
        Answer::raw("nonsense\r\n\r\n").close(),
        Answer::head(200, &[("Transfer-Encoding", "chunked")]).bytes("5\r\nhel").close(),
        Answer::head(200, &[("Transfer-Encoding", "chunked")]).bytes("zz\r\n").close(),
        Answer::new(200, &[("Content-Encoding", "gzip")], "not gzip"),
        Answer::head(200, &[("Content-Length", "-1")]).close(),
    ];
    for answer in broken {
        for method in [Method::Get, Method::Post] {
            let server = Server::answers(vec![answer.clone(), Answer::ok("whole")]);
            let request = Request { method, retry: 1, ..get(&server.url("/")) };
            assert_eq!(send(&request).unwrap().body, b"whole", "{answer:?}");
            assert_eq!(server.seen().len(), 2);
        }
    }
}

#[test]
fn a_timeout_is_tried_again() {
    let server = Server::answers(vec![Answer::default().pause(Duration::from_secs(30)), Answer::ok("late")]);
    let request = Request { retry: 1, timeout: Duration::from_secs(1), ..get(&server.url("/")) };
    assert_eq!(send(&request).unwrap().body, b"late");
    let silent = Server::answers(vec![Answer::default().pause(Duration::from_secs(30))]);
    let message = failure(&Request { timeout: Duration::from_millis(300), ..get(&silent.url("/")) });
    assert!(message.contains("after 1 attempts") && message.contains("timeout of 0.3 s"), "{message}");
}

#[test]
fn waits_grow_from_the_backoff() {
    let server = Server::answers(vec![Answer::new(500, &[], "")]);
    let request = Request { retry: 2, backoff: Duration::from_millis(200), ..get(&server.url("/")) };
    assert!(send(&request).is_err());
    let seen = server.seen();
    let waits: Vec<_> = seen.windows(2).map(|two| two[1].at.duration_since(two[0].at)).collect();
    assert!(waits[0] >= Duration::from_millis(120) && waits[0] < Duration::from_secs(5), "{waits:?}");
    assert!(waits[1] >= Duration::from_millis(280) && waits[1] < Duration::from_secs(5), "{waits:?}");
}

#[test]
fn retry_after_replaces_the_backoff() {
    let soon = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(3));
    for (value, least) in [("1", 950), ("0", 0), (soon.as_str(), 500)] {
        let server = Server::answers(vec![Answer::new(503, &[("Retry-After", value)], ""), Answer::ok("")]);
        let started = Instant::now();
        send(&Request { retry: 1, backoff: Duration::from_secs(50), ..get(&server.url("/")) }).unwrap();
        let took = started.elapsed();
        assert!(took >= Duration::from_millis(least) && took < Duration::from_secs(20), "{value}: {took:?}");
    }
}

#[test]
fn junk_and_the_past_do_not_replace_the_backoff() {
    for value in ["soon", "-1", "Sun, 06 Nov 1994 08:49:37 GMT", ""] {
        let server = Server::answers(vec![Answer::new(429, &[("Retry-After", value)], ""), Answer::ok("")]);
        let request = Request { retry: 1, backoff: Duration::from_millis(300), ..get(&server.url("/")) };
        send(&request).unwrap();
        let seen = server.seen();
        assert!(seen[1].at.duration_since(seen[0].at) >= Duration::from_millis(200), "{value}");
    }
}

/// Trap 24 of chapter 03 §3.6.
#[test]
fn a_long_retry_after_fails_at_once() {
    for value in ["86400", "301", "99999999999999999999"] {
        let server = Server::answers(vec![Answer::new(429, &[("Retry-After", value)], "busy")]);
        let started = Instant::now();
        let error = send(&Request { retry: 5, ..get(&server.url("/")) }).unwrap_err();
        assert!(started.elapsed() < Duration::from_secs(10));
        let HttpError::Failed { attempts: 1, cause: Cause::Status { status: 429, retry_after: Some(_), .. }, .. } =
            &error
        else {
            panic!("{error}")
        };
        assert!(error.to_string().contains("request failed after 1 attempts"), "{error}");
        server.only();
    }
}

/// A stop that is wished as soon as the server saw a request.
fn stop_when_seen(server: &Server) -> Stop {
    let (server, asked) = (server.clone(), Arc::new(AtomicBool::new(false)));
    Stop::new(move || {
        if !server.seen().is_empty() {
            asked.store(true, Ordering::Relaxed);
        }
        asked.load(Ordering::Relaxed)
    })
}

#[test]
fn a_stop_ends_waits_and_requests() {
    let long = Duration::from_mins(5);
    let silent = Answer::default().pause(long);
    let half = Answer::head(200, &[("Content-Length", "10")]).bytes("half").pause(long);
    for answer in [Answer::new(500, &[], ""), Answer::new(503, &[("Retry-After", "299")], ""), silent, half] {
        let server = Server::answers(vec![answer.clone()]);
        let request = Request { retry: 9, backoff: long, timeout: long, ..get(&server.url("/")) };
        // The server notes a request after its body, and so before it answers.
        let started = Instant::now();
        let result = client().send(&request, &stop_when_seen(&server));
        assert!(matches!(result, Err(HttpError::Stopped)), "{answer:?} {result:?}");
        assert!(started.elapsed() < Duration::from_secs(10), "{answer:?}");
    }
}

#[test]
fn a_stop_before_the_request_sends_nothing() {
    let server = Server::answers(vec![Answer::ok("")]);
    let result = client().send(&get(&server.url("/")), &Stop::new(|| true));
    assert!(matches!(result, Err(HttpError::Stopped)));
    assert_eq!(server.seen().len(), 0);
}
