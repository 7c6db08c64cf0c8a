//! `rate_limit`: one for each lib, whoever runs it, whatever starts a request.

use std::time::{Duration, Instant};

use testkit::http::{Answer, Server};

use crate::scene::Scene;

/// No more than `most` requests start within `per`. Arrivals may bunch on a busy machine, hence the slack.
fn assert_spread(server: &Server, most: usize, per: Duration) {
    let mut at: Vec<Instant> = server.seen().iter().map(|seen| seen.at).collect();
    at.sort();
    for (first, next) in at.iter().zip(at.iter().skip(most)) {
        assert!(*next - *first + Duration::from_millis(200) >= per, "{:?}", *next - *first);
    }
}

/// Trap 34 of chapter 03 §3.6, faster.
#[test]
fn requests_of_a_fetch_are_spread() {
    let server = Server::answers(vec![Answer::ok("")]);
    let api = format!("\"base_url\": \"{}\", \"rate_limit\": {{\"requests\": 2, \"per\": \"400ms\"}}", server.url(""));
    let started = Instant::now();
    Scene::new(&api, "for n in range(6):\n    http.get(\"x\")").lines();
    assert!(started.elapsed() >= Duration::from_millis(800));
    assert_spread(&server, 2, Duration::from_millis(400));
}

#[test]
fn retries_and_calls_of_the_same_lib_share_it() {
    let server = Server::new(|number, _| if number % 2 == 0 { Answer::new(500, &[], "") } else { Answer::ok("") });
    let api = format!(
        "\"base_url\": \"{}\", \"retry\": 9, \"backoff\": 0, \"fetch\": {{\"rate_limit\": {{\"requests\": 2, \"per\": \"300ms\"}}}}",
        server.url("")
    );
    let stage = Scene::new(&api, "http.get(\"x\")\nhttp.get(\"y\")").stage();
    let started = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| assert!(stage.run().page.is_ok()));
        }
    });
    assert!(server.seen().len() >= 6, "{}", server.seen().len());
    assert!(started.elapsed() >= Duration::from_millis(600));
    assert_spread(&server, 2, Duration::from_millis(300));
}

#[test]
fn another_lib_has_its_own() {
    let server = Server::answers(vec![Answer::ok("")]);
    let api = format!("\"base_url\": \"{}\", \"rate_limit\": {{\"requests\": 1, \"per\": \"1h\"}}", server.url(""));
    let text = crate::scene::text(&api, "http.get(\"x\")");
    let stage = Scene::of(&text).file("lib/y.star", text).stage();
    for name in ["x", "y"] {
        let run = |running: &mut lib_functions::Running<'_>| {
            crate::scene::fetch(running, &[], &lib_functions::HostValue::None, &mut Vec::new()).is_ok()
        };
        let done = lib_functions::with_lib(stage.lib(name), &stage.host, lib_functions::Direction::Fetch, run);
        assert!(done.unwrap());
    }
    assert_eq!(server.seen().len(), 2);
}
