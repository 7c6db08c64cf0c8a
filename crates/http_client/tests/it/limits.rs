//! The rate limit: what counts as a start, and how long a start waits.

use crate::{client, get, send};
use http_client::{Credentials, HttpError, RateLimiter, Request, Stop};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use testkit::http::{Answer, Seen, Server};

fn limiter(requests: u32, millis: u64) -> Arc<RateLimiter> {
    Arc::new(RateLimiter::new(requests, Duration::from_millis(millis)))
}

/// No window of `per` holds more arrivals than `requests`. A busy machine may delay the first of them.
fn assert_limited(seen: &[Seen], requests: usize, per: Duration) {
    for (first, last) in seen.iter().zip(seen.iter().skip(requests)) {
        let apart = last.at.duration_since(first.at);
        assert!(apart >= per.mul_f64(0.6), "{apart:?}");
    }
}

/// Trap 34 of chapter 03 §3.6.
#[test]
fn six_requests_at_two_a_second_take_two_seconds() {
    let server = Server::answers(vec![Answer::ok("")]);
    let request = Request { limiter: Some(limiter(2, 1000)), ..get(&server.url("/")) };
    let client = client();
    let started = Instant::now();
    for _ in 0..6 {
        client.send(&request, &Stop::never()).unwrap();
    }
    let took = started.elapsed();
    assert!(took >= Duration::from_secs(2) && took < Duration::from_secs(20), "{took:?}");
    assert_limited(&server.seen(), 2, Duration::from_secs(1));
}

#[test]
fn retries_redirects_and_digest_answers_count() {
    let per = Duration::from_millis(200);
    let server = Server::answers(vec![
        Answer::new(500, &[], ""),
        Answer::redirect(302, "/b"),
        Answer::new(401, &[("WWW-Authenticate", "Digest nonce=1, realm=x")], ""),
        Answer::ok("in"),
    ]);
    let digest = Some(Credentials { user: "u".to_owned(), password: "p".to_owned() });
    let request = Request { limiter: Some(limiter(1, 200)), retry: 1, digest, ..get(&server.url("/a")) };
    assert_eq!(send(&request).unwrap().body, b"in");
    assert_eq!(server.seen().len(), 4);
    assert_limited(&server.seen(), 1, per);
}

#[test]
fn threads_share_a_limit_and_waiting_is_no_part_of_the_timeout() {
    let server = Server::answers(vec![Answer::ok("")]);
    let timeout = Duration::from_millis(1500);
    let request = Request { limiter: Some(limiter(1, 600)), timeout, ..get(&server.url("/")) };
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let request = request.clone();
            std::thread::spawn(move || send(&request).unwrap())
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let mut seen = server.seen();
    seen.sort_by_key(|seen| seen.at);
    assert_limited(&seen, 1, Duration::from_millis(600));
}

#[test]
fn a_stop_ends_the_wait_for_a_start() {
    let server = Server::answers(vec![Answer::ok("")]);
    let request = Request { limiter: Some(limiter(1, 3_600_000)), ..get(&server.url("/")) };
    let client = client();
    client.send(&request, &Stop::never()).unwrap();
    let begin = Instant::now();
    let stop = Stop::new(move || begin.elapsed() > Duration::from_millis(100));
    assert!(matches!(client.send(&request, &stop), Err(HttpError::Stopped)));
    assert!(begin.elapsed() < Duration::from_secs(10));
    server.only();
}

/// Gives up what has to wait.
fn impatient() -> Stop {
    let asked = AtomicUsize::new(0);
    Stop::new(move || asked.fetch_add(1, Ordering::Relaxed) > 0)
}

#[test]
fn a_429_that_says_how_long_pauses_others_while_its_request_tries_again() {
    let wait = Duration::from_secs(1);
    let server = Server::answers(vec![Answer::new(429, &[("Retry-After", "1")], ""), Answer::ok("in")]);
    let others = Arc::new(RateLimiter::unlimited());
    let request = Request { pauses: Some(Arc::clone(&others)), retry: 1, ..get(&server.url("/")) };
    let started = Instant::now();
    std::thread::scope(|scope| {
        let sent = scope.spawn(|| send(&request).unwrap());
        while others.wait(&impatient()).is_ok() {
            std::thread::yield_now();
        }
        others.wait(&Stop::never()).unwrap();
        assert!(started.elapsed() >= wait);
        assert_eq!(sent.join().unwrap().body, b"in");
    });
}

#[test]
fn only_a_429_that_says_how_long_pauses_others() {
    for (answer, paused) in [
        (Answer::new(429, &[("Retry-After", "86400")], ""), true),
        (Answer::new(429, &[("Retry-After", "0")], ""), false),
        (Answer::new(429, &[("Retry-After", "soon")], ""), false),
        (Answer::new(429, &[], ""), false),
        (Answer::new(503, &[("Retry-After", "86400")], ""), false),
        (Answer::new(200, &[("Retry-After", "86400")], ""), false),
    ] {
        let server = Server::answers(vec![answer]);
        let others = Arc::new(RateLimiter::unlimited());
        let _ = send(&Request { pauses: Some(Arc::clone(&others)), ..get(&server.url("/")) });
        assert_eq!(others.wait(&impatient()).is_err(), paused);
    }
}
