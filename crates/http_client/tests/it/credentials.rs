//! Secrets: who gets them, and how.

use crate::{get, pairs, send};
use http_client::{Receiver, Request};
use testkit::http::{Answer, Server};

fn secret(url: &str, receivers: Option<Vec<Receiver>>) -> Request {
    let mut request = get(url);
    request.secrets.headers = pairs(&[("Authorization", "Bearer t0ken")]);
    request.secrets.params = pairs(&[("key", "v&lue")]);
    request.secrets.receivers = receivers;
    request
}

/// Trap 26 of chapter 03 §3.6.
#[test]
fn only_receivers_get_secrets() {
    let server = Server::answers(vec![Answer::ok("")]);
    let own = server.address.to_string();
    let port = server.address.port();
    for (receivers, sent) in [
        (None, true),
        (Some(vec![]), false),
        (Some(vec![format!("http://{own}/v1")]), true),
        (Some(vec![format!("https://{own}")]), false),
        (Some(vec!["http://127.0.0.1".to_owned()]), false),
        (Some(vec![own.clone()]), true),
        (Some(vec!["127.0.0.1".to_owned()]), true),
        (Some(vec![format!("localhost:{port}")]), false),
        (Some(vec!["api.test".to_owned(), own.clone()]), true),
    ] {
        let list = receivers.clone().map(|all| all.iter().map(|one| Receiver::parse(one).unwrap()).collect());
        send(&secret(&server.url("/?a=b"), list)).unwrap();
        let seen = server.seen().pop().unwrap();
        let expected = if sent { (vec!["Bearer t0ken"], "/?a=b&key=v%26lue") } else { (vec![], "/?a=b") };
        assert_eq!((seen.all("authorization"), seen.target()), expected, "{receivers:?}");
    }
}

#[test]
fn a_secret_parameter_is_set_once_and_a_header_of_the_request_wins() {
    let server = Server::answers(vec![Answer::ok("")]);
    let mut request = secret(&server.url("/?key=1&key=2&a=b"), None);
    request.headers = pairs(&[("AUTHORIZATION", "Basic eA==")]);
    let response = send(&request).unwrap();
    let seen = server.only();
    assert_eq!((seen.target(), seen.header("authorization")), ("/?a=b&key=v%26lue", "Basic eA=="));
    assert_eq!(response.url, server.url("/?key=1&key=2&a=b"));
}

#[test]
fn no_debug_output_shows_a_secret() {
    let mut request = secret("http://a/", None);
    request.headers = pairs(&[("X", "hunter2")]);
    let shown = format!("{request:?} {:?}", request.secrets);
    assert!(!shown.contains("t0ken") && !shown.contains("v&lue") && !shown.contains("hunter2"), "{shown}");
}
