//! How often `push` is called: `rate_limit` and the pauses that a service asks for, shared by all who push to a lib.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use http_client::Stop;
use lib_functions::{HostValue, LibErrorKind};
use testkit::http::{Answer, Server};

use crate::pushing::{call, failure, keys, lib, push, rows};
use crate::scene::{Scene, Stage};

fn stage(server: &Server, api: &str, push: &str, body: &str) -> Stage {
    let api = format!("\"base_url\": \"{}\", {api}", server.url(""));
    Scene::of(&lib(&api, &format!("\"batch_mode\": \"atomic\"{push}"), &format!("def push(rows):\n    {body}"))).stage()
}

fn arrivals(server: &Server) -> Vec<Instant> {
    let mut at: Vec<Instant> = server.seen().iter().map(|seen| seen.at).collect();
    at.sort();
    at
}

/// `count` pushes in each of two lanes.
fn push_in_two_lanes(stage: &Stage, count: usize) {
    let lane = || stage.pushing(|running| (0..count).for_each(|_| assert!(push(running).is_ok()))).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(lane);
        scope.spawn(lane);
    });
}

#[test]
fn a_rate_limit_bounds_calls_over_all_lanes_and_not_their_requests() {
    for (api, section) in [
        ("\"rate_limit\": {\"requests\": 2, \"per\": \"400ms\"}, ", ""),
        (
            "\"rate_limit\": {\"requests\": 1, \"per\": \"1h\"}, ",
            ", \"rate_limit\": {\"requests\": 2, \"per\": \"400ms\"}",
        ),
    ] {
        let server = Server::answers(vec![Answer::ok("")]);
        let stage = stage(&server, api, section, "for i in range(3):\n        http.post(\"x\")");
        let started = Instant::now();
        push_in_two_lanes(&stage, 3);
        assert_eq!(server.seen().len(), 18);
        assert!(started.elapsed() >= Duration::from_millis(800));
    }
}

/// The limit of fetching is another one: what fetches and pushes to a lib does not wait for itself.
#[test]
fn fetching_and_pushing_have_a_limit_each() {
    let server = Server::answers(vec![Answer::ok("")]);
    let api = format!(
        "\"base_url\": \"{}\", \"rate_limit\": {{\"requests\": 1, \"per\": \"1h\"}}, \"fetch\": {{}}, ",
        server.url("")
    );
    let functions = "def push(rows):\n    http.post(\"x\")\n\n\
                     def fetch(page):\n    http.get(\"y\")\n    return {\"rows\": []}";
    let stage = Scene::of(&lib(&api, "\"batch_mode\": \"atomic\"", functions)).stage();
    assert!(stage.run().page.is_ok());
    assert!(stage.pushing(|running| push(running).is_ok()).unwrap());
    assert_eq!(server.seen().len(), 2);
}

#[test]
fn a_429_pauses_all_lanes() {
    let refused = Answer::new(429, &[("Retry-After", "1")], "");
    let server = Server::answers(vec![refused, Answer::ok("")]);
    let stage = stage(&server, "", "", "http.post(\"x\")");
    // The other lane has been called before and is ready to go on.
    let lanes = Barrier::new(2);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            stage.pushing(|running| {
                failure(push(running));
                lanes.wait();
            })
        });
        scope.spawn(|| {
            stage.pushing(|running| {
                lanes.wait();
                assert!(push(running).is_ok());
            })
        });
    });
    let at = arrivals(&server);
    assert_eq!(at.len(), 2);
    assert!(at[1] - at[0] >= Duration::from_millis(900), "{:?}", at[1] - at[0]);
}

/// Gives up what has to wait.
fn impatient() -> Stop {
    let asked = AtomicUsize::new(0);
    Stop::new(move || asked.fetch_add(1, Ordering::Relaxed) > 0)
}

#[test]
fn a_429_that_is_tried_again_pauses_the_others_meanwhile() {
    let server = Server::answers(vec![Answer::new(429, &[("Retry-After", "1")], ""), Answer::ok("")]);
    let stage = stage(&server, "\"retry\": 1, ", "", "http.post(rows[0][\"to\"])");
    let (keys, to) = (keys(), HostValue::text(Some("to")));
    let row = |path| vec![HostValue::Dict(vec![(to.clone(), HostValue::text(Some(path)))])];
    std::thread::scope(|scope| {
        scope.spawn(|| stage.pushing(|running| running.push(&call(&row("/first"), &keys, &HostValue::None)).unwrap()));
        while server.seen().is_empty() {
            std::thread::yield_now();
        }
        let (early, late) = (row("/early"), row("/late"));
        let ended = stage.pushing(|running| {
            // Until the 429 has arrived at the other one.
            while running.push_unless(&impatient(), &call(&early, &keys, &HostValue::None)).is_ok() {}
            running.push(&call(&late, &keys, &HostValue::None)).unwrap();
        });
        ended.unwrap();
    });
    let seen = server.seen();
    let late = seen.iter().find(|seen| seen.path() == "/late").unwrap();
    let waited = late.at - seen[0].at;
    assert!(waited >= Duration::from_millis(900), "{waited:?}");
}

#[test]
fn only_a_429_that_says_how_long_pauses() {
    for answer in [Answer::new(429, &[], ""), Answer::new(503, &[("Retry-After", "200")], "")] {
        let server = Server::answers(vec![answer, Answer::ok("")]);
        let stage = stage(&server, "", "", "http.post(\"x\")");
        stage.pushing(|running| (failure(push(running)), push(running).unwrap())).unwrap();
        assert_eq!(server.seen().len(), 2);
    }
}

/// A service that asks for a day is not waited for by its request, and by no other for longer than five minutes.
#[test]
fn a_pause_ends_by_a_stop_and_calls_nothing() {
    let server = Server::answers(vec![Answer::new(429, &[("Retry-After", "86400")], "")]);
    let stage = stage(&server, "", "", "http.post(\"x\")");
    let (rows, keys) = (rows(), keys());
    let is_over = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&is_over);
    let stop = Stop::new(move || seen.load(Ordering::Relaxed));
    let errors = stage.pushing(|running| {
        let first = failure(push(running));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(100));
                is_over.store(true, Ordering::Relaxed);
            });
            (first, failure(running.push_unless(&stop, &call(&rows, &keys, &HostValue::None))))
        })
    });
    let (first, second) = errors.unwrap();
    assert!(first.to_string().contains("status 429"), "{first}");
    assert_eq!((second.to_string(), second.kind), ("x: the run was stopped".to_owned(), LibErrorKind::Stopped));
    assert_eq!(server.seen().len(), 1);
}
