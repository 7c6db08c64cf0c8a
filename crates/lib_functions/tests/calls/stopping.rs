//! A stop ends whatever a function does, within a second.

use std::time::{Duration, Instant};

use lib_functions::{CallError, HostValue, LibErrorKind, PageError};
use testkit::http::{Answer, Server};

use crate::scene::Scene;

const AFTER: Duration = Duration::from_millis(300);
/// The promise is one second; the rest is for starting a thread on a busy machine.
const LATEST: Duration = Duration::from_secs(2);

fn assert_stops(api: &str, body: &str) {
    let stage = Scene::new(api, &format!("print(\"go\")\n{body}")).stopped_after(AFTER).stage();
    let got = stage.run();
    let took = stage.first_line.get().unwrap().elapsed();
    assert!(took >= AFTER && took < AFTER + LATEST, "{body}: {took:?}");
    assert_eq!(
        (got.page, got.kind),
        (Err("x.fetch: the run was stopped".to_owned()), Some(LibErrorKind::Stopped)),
        "{body}"
    );
}

#[test]
fn loops_stop() {
    for body in [
        "while True:\n    pass",
        "n = 0\nwhile True:\n    n += 1",
        "for i in range(1000000000):\n    pass",
        "for i in range(100000):\n    for j in range(100000):\n        pass",
        "[i for i in range(1000000000) if False]",
        "def down(n):\n    return 0 if n == 0 else down(n - 1) + down(n - 1)\ndown(100)",
    ] {
        assert_stops("", body);
    }
}

#[test]
fn loops_of_long_steps_stop() {
    let long = "s = \"ab\" * 1000000\nl = list(range(300000))\nd = {i: 0 for i in l}\nwhile True:\n    ";
    for step in [
        "-1 in l",
        "l == list(l)",
        "l[1:]",
        "[1] + l",
        "s.upper()",
        "s.find(\"c\")",
        "s.replace(\"c\", \"d\")",
        "s.strip()",
        "s.isalpha()",
        "d.keys()",
        "d | d",
        "l * 2",
        "set(l) - set(l)",
        "s in d",
        "md5(s)",
        "base64_encode(s)",
        "json.encode(s)",
        "csv.decode(s)",
        "sorted(l, key=lambda x: -x)",
        "str(l)",
    ] {
        assert_stops("", &format!("{long}{step}"));
    }
}

#[test]
fn a_page_of_many_rows_stops() {
    let stage = Scene::of(
        "API = {\"fetch\": {}}\n\ndef fetch():\n    print(1)\n    return {\"rows\": [{\"a\": 1}] * 3000000}\n",
    );
    let stage = stage.stopped_after(Duration::ZERO).stage();
    let mut rows = 0;
    let ended = stage.with(|running| {
        running.fetch(&[], &HostValue::None, 1, |_, _, _| {
            rows += 1;
            Ok::<(), ()>(())
        })
    });
    assert!(matches!(
        ended.unwrap(),
        Err(PageError::Call(CallError::Failed(error))) if error.kind == LibErrorKind::Stopped
    ));
    assert_eq!(rows, 0, "no more rows are looked at than between two questions");
}

#[test]
fn sleeps_stop() {
    assert_stops("", "sleep(3600)");
    assert_stops("", "sleep(1 << 80)");
    assert_stops("", "while True:\n    sleep(0.01)");
}

#[test]
fn requests_stop() {
    let silent = Server::answers(vec![Answer::default().pause(Duration::from_secs(5))]);
    let dripping = Server::answers(vec![Answer::head(200, &[]).forever("x", Duration::from_millis(20))]);
    for server in [&silent, &dripping] {
        assert_stops("", &format!("http.get(\"{}\")", server.url("/")));
    }
}

#[test]
fn waits_between_requests_stop() {
    let server = Server::answers(vec![Answer::new(500, &[], "")]);
    assert_stops("", &format!("http.get(\"{}\", retry=3, backoff=60)", server.url("/")));
    let server = Server::answers(vec![Answer::new(429, &[("Retry-After", "200")], "")]);
    assert_stops("", &format!("http.get(\"{}\", retry=3)", server.url("/")));
    let server = Server::answers(vec![Answer::ok("")]);
    let api = "\"rate_limit\": {\"requests\": 1, \"per\": \"1h\"}";
    assert_stops(api, &format!("http.get(\"{0}\")\nhttp.get(\"{0}\")", server.url("/")));
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn the_top_level_stops() {
    let text = "def spin():\n    print(1)\n    while True:\n        pass\n\nspin()\nAPI = {\"fetch\": {}}\n\ndef fetch(page):\n    return {}\n";
    let ended = Scene::of(text).stopped_after(AFTER).stage().with(|_| ());
    assert_eq!(ended.unwrap_err().kind, LibErrorKind::Stopped);
}

#[test]
fn a_job_stops() {
    let text = "API = {\"fetch\": {\"async\": True}}\n\ndef submit():\n    print(1)\n    sleep(60)\n\ndef check(job_ref):\n    pass\n\n\
                def fetch_result(result_ref, page):\n    pass\n";
    let ended = Scene::of(text).stopped_after(AFTER).stage().with(|running| running.submit(&[("a", HostValue::None)]));
    assert!(matches!(ended.unwrap(), Err(CallError::Failed(error)) if error.kind == LibErrorKind::Stopped));
}

#[test]
fn a_sleep_has_bounds() {
    for (call, expected) in [
        ("sleep(-1)", "sleep: `s` must be 0 or more seconds"),
        ("sleep(-0.1)", "sleep: `s` must be"),
        ("sleep(float(\"nan\"))", "sleep: `s` must be"),
        ("sleep(float(\"inf\"))", "sleep: `s` must be"),
        ("sleep(\"1\")", "sleep: `s` must be int or float, not string"),
        ("sleep(True)", "sleep: `s` must be int or float, not bool"),
        ("sleep()", "sleep"),
    ] {
        let error = Scene::new("", call).error();
        assert!(error.starts_with("x.fetch: ") && error.contains(expected), "{call}: {error}");
    }
    let started = Instant::now();
    Scene::new("", "sleep(0)\nsleep(0.2)\nsleep(s=0)").lines();
    assert!(started.elapsed() >= Duration::from_millis(200));
}
