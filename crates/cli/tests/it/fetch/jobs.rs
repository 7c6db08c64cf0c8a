//! Jobs: submitted, waited for, fetched.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use testkit::http::{Answer, Seen, Server};

use super::{model, page, run, staged, with_lib};

const JOB: &str = r#"
def submit(report, target):
    resp = http.post("/jobs", json = {"report": report, "target": target})
    if not resp.ok:
        fail("status", resp.status_code)
    return resp.json["id"]

def check(job_ref):
    resp = http.get("/jobs/" + str(job_ref))
    if not resp.ok:
        fail("status", resp.status_code)
    return resp.json["result"]

def fetch_result(result_ref, page):
    resp = http.get(result_ref, params = {"cursor": page.cursor})
    if not resp.ok:
        fail("status", resp.status_code)
    return resp.json
"#;

const KEYS: &str = "\"args\": [\"report\"], \"async\": True, \"poll_interval\": \"50ms\", \"poll_timeout\": \"2s\"";

/// A service whose job has this id, and is done at the check with this number.
fn service(id: &'static str, done_at: usize, result: &'static str) -> Server {
    let checks = AtomicUsize::new(0);
    Server::new(move |_, request| match (request.method(), request.path()) {
        ("POST", "/jobs") => Answer::ok(format!("{{\"id\": {id}}}")),
        (_, "/jobs/7") => {
            let is_done = checks.fetch_add(1, Ordering::SeqCst) + 1 >= done_at;
            Answer::ok(format!("{{\"result\": {}}}", if is_done { result } else { "null" }))
        }
        (_, "/result") => match request.parameter("cursor") {
            None => page(&json!([{"n": 1}, {"n": 2}]), 2),
            Some(_) => page(&json!([{"n": 3}]), ()),
        },
        _ => Answer::new(404, &[], ""),
    })
}

#[test]
fn a_job_is_submitted_waited_for_and_its_result_fetched_by_pages() {
    let api = service("7", 3, "\"/result\"");
    let project = with_lib(&api, KEYS, JOB);
    model(&project, "raw/x", "append", "n::INTEGER AS n", "api('sales')");
    run(&project);
    assert_eq!(project.rows("FROM raw.x ORDER BY ALL"), "1\n2\n3\n");
    let requests = api.seen();
    let paths: Vec<&str> = requests.iter().map(Seen::path).collect();
    assert_eq!(paths, ["/jobs", "/jobs/7", "/jobs/7", "/jobs/7", "/result", "/result"]);
    let sent: serde_json::Value = serde_json::from_slice(&requests[0].body).unwrap();
    assert_eq!(sent, json!({"report": "sales", "target": "raw.x"}));
    let wait = requests[2].at - requests[1].at;
    assert!(wait >= Duration::from_millis(50), "{wait:?}");
}

#[test]
fn waits_grow_by_the_factor() {
    let api = service("7", 4, "\"/result\"");
    let project = with_lib(&api, &format!("{KEYS}, \"poll_backoff\": 3"), JOB);
    model(&project, "raw/x", "table", "n::INTEGER AS n", "api('sales')");
    run(&project);
    let at: Vec<_> = api.seen().iter().filter(|r| r.path() == "/jobs/7").map(|r| r.at).collect();
    assert!(at[3] - at[2] >= Duration::from_millis(450), "50, 150 and 450 ms: {at:?}");
}

#[test]
fn a_job_that_does_not_end_times_out() {
    let api = service("7", usize::MAX, "1");
    let keys = KEYS.replace("\"2s\"", "\"400ms\"").replace("50ms", "250ms");
    let project = with_lib(&api, &keys, JOB);
    model(&project, "raw/x", "table", "n::INTEGER AS n", "api('sales')");
    let text = project.run(&["run"]).failure(1).stderr;
    assert!(text.contains("timed out") && text.contains("400ms") && text.contains("FETCH-004"), "{text}");
    let checks: Vec<_> = api.seen().into_iter().filter(|request| request.path() == "/jobs/7").collect();
    assert_eq!(checks.len(), 3, "at once, after 250 ms, and a last time after 400 ms");
    assert_eq!(staged(&project, "raw.x"), []);
}

#[test]
fn check_that_returns_a_bool_is_an_error() {
    for flag in ["false", "true"] {
        let api = service("7", 1, flag);
        let project = with_lib(&api, KEYS, JOB);
        model(&project, "raw/x", "table", "n::INTEGER AS n", "api('sales')");
        let text = project.run(&["run"]).failure(1).stderr;
        assert!(text.contains("check") && text.contains("bool") && text.contains("lib/api.star"), "{text}");
        assert_eq!(api.seen().len(), 2);
    }
}

#[test]
fn no_job_ends_like_abort() {
    let api = service("7", 1, "\"/result\"");
    let project = with_lib(&api, KEYS, JOB);
    model(&project, "raw/x", "table", "n::INTEGER AS n", "api('sales')");
    run(&project);
    let none = service("null", 1, "\"/result\"");
    project.write("lib/api.star", &super::lib(&none, KEYS, JOB));
    let output = run(&project);
    assert!(output.contains("[OK] raw.x (table, full, 0 rows"), "{output}");
    assert_eq!(none.seen().len(), 1);
    assert_eq!(project.rows("SELECT count(*) FROM raw.x"), "3\n");
    assert_eq!(staged(&project, "raw.x"), []);
}
