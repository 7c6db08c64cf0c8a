//! Digest answers against a server that checks them.

use crate::{failure, get, pairs, send};
use http_client::{Body, Credentials, Method, Request};
use testkit::http::{Answer, Server};

const MD5: &str = "Digest realm=\"r\", nonce=\"n\", qop=\"auth,auth-int\", opaque=\"o\"";

fn request(server: &Server, path: &str) -> Request {
    let digest = Some(Credentials { user: "u".to_owned(), password: "p".to_owned() });
    Request { digest, ..get(&server.url(path)) }
}

fn challenging(challenge: &'static str) -> Server {
    let challenge = [("WWW-Authenticate", challenge)];
    Server::answers(vec![Answer::new(401, &challenge, "who?"), Answer::ok("in")])
}

/// Trap 25 of chapter 03 §3.6.
#[test]
fn a_challenge_costs_one_more_request_and_no_retry() {
    let server = challenging(MD5);
    let mut request = request(&server, "/a?b=c");
    request.secrets.params = pairs(&[("sig", "s")]);
    request.headers = pairs(&[("Authorization", "Bearer replaced")]);
    assert_eq!(send(&request).unwrap().body, b"in");
    let seen = server.seen();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[0].header("authorization"), "Bearer replaced");
    let answer = seen[1].header("authorization");
    for part in
        ["Digest username=\"u\"", "realm=\"r\"", "uri=\"/a?b=c&sig=s\"", "qop=auth, nc=00000001", "opaque=\"o\""]
    {
        assert!(answer.contains(part), "{part} in {answer}");
    }
    assert_eq!(seen[0].target(), seen[1].target());
}

#[test]
fn a_second_refusal_is_returned() {
    let server = Server::answers(vec![Answer::new(401, &[("WWW-Authenticate", MD5)], "still no")]);
    let response = send(&Request { retry: 3, ..request(&server, "/") }).unwrap();
    assert_eq!((response.status, response.body.as_slice()), (401, &b"still no"[..]));
    assert_eq!(server.seen().len(), 2);
}

#[test]
fn other_refusals_are_returned_at_once() {
    for challenge in [&[][..], &[("WWW-Authenticate", "Basic realm=x")]] {
        let server = Server::answers(vec![Answer::new(401, challenge, "no")]);
        assert_eq!(send(&request(&server, "/")).unwrap().body, b"no");
        server.only();
    }
    let server = challenging(MD5);
    assert_eq!(send(&get(&server.url("/"))).unwrap().body, b"who?");
}

#[test]
fn an_unknown_algorithm_is_an_error() {
    let server = challenging("Digest realm=r, nonce=n, algorithm=SHA-512-256");
    let message = failure(&Request { retry: 3, ..request(&server, "/") });
    assert!(message.contains("digest") && message.contains("sha-512-256"), "{message}");
    server.only();
}

/// The sums are made with Python's hashlib: MD5 of `u:r:p`, of `POST:/:` with the MD5 of `hello`, and of both.
#[test]
fn auth_int_covers_the_body_that_is_sent() {
    let server = challenging("Digest realm=\"r\", nonce=\"n\", qop=\"auth-int\"");
    let body = Body::Bytes(b"hello".as_slice().into(), "text/plain".to_owned());
    send(&Request { method: Method::Post, body, ..request(&server, "/") }).unwrap();
    let seen = server.seen();
    assert_eq!((seen[0].body.as_slice(), seen[1].body.as_slice()), (&b"hello"[..], &b"hello"[..]));
    let answer = seen[1].header("authorization");
    let part = |name: &str| {
        let (_, rest) = answer.split_once(&format!("{name}=\"")).unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    let check = md5_hex(&format!("{}:n:00000001:{}:auth-int:{}", md5_hex("u:r:p"), part("cnonce"), asked()));
    assert_eq!(part("response"), check);
}

fn asked() -> String {
    md5_hex(&format!("POST:/:{}", md5_hex("hello")))
}

fn md5_hex(text: &str) -> String {
    use md5::Digest;
    md5::Md5::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn each_redirect_of_the_same_origin_may_be_challenged() {
    let server = Server::new(|_, seen| match (seen.target(), seen.all("authorization").is_empty()) {
        (_, true) => Answer::new(401, &[("WWW-Authenticate", MD5)], ""),
        ("/a", false) => Answer::redirect(302, "/b"),
        _ => Answer::ok("in"),
    });
    assert_eq!(send(&request(&server, "/a")).unwrap().body, b"in");
    assert_eq!(server.seen().len(), 4);
}
