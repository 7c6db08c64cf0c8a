//! Redirects: which are followed, what becomes of method and body, and what another origin does not get.

use crate::{failure, get, pairs, send};
use http_client::{Body, ClientTls, Credentials, HttpError, Method, Receiver, Request};
use testkit::http::{Answer, Server};

fn post(url: &str) -> Request {
    let body = Body::Bytes(b"{}".as_slice().into(), "application/json".to_owned());
    Request { method: Method::Post, body, ..get(url) }
}

#[test]
fn some_become_get_and_others_keep_method_and_body() {
    for (status, method, kept) in [
        (301, Method::Post, false),
        (302, Method::Put, false),
        (303, Method::Delete, false),
        (307, Method::Post, true),
        (308, Method::Patch, true),
    ] {
        let server = Server::answers(vec![Answer::redirect(status, "/b?c"), Answer::ok("there")]);
        let headers = pairs(&[("Content-Language", "en"), ("X-Trace", "1")]);
        let response = send(&Request { method, headers, ..post(&server.url("/a")) }).unwrap();
        assert_eq!((response.body, response.url), (b"there".to_vec(), server.url("/b?c")));
        let seen = &server.seen()[1];
        assert_eq!(seen.header("x-trace"), "1");
        if kept {
            assert_eq!(seen.line(), format!("{} /b?c HTTP/1.1", method.as_str()));
            assert_eq!((seen.body.as_slice(), seen.header("content-type")), (&b"{}"[..], "application/json"));
        } else {
            assert_eq!(seen.line(), "GET /b?c HTTP/1.1");
            for name in ["content-type", "content-length", "content-language"] {
                assert_eq!(seen.all(name), Vec::<&str>::new(), "{status}");
            }
        }
    }
}

#[test]
fn what_leads_nowhere_is_returned() {
    for status in [300, 304, 305, 306] {
        let server = Server::answers(vec![Answer::new(status, &[("Location", "/b")], "")]);
        assert_eq!(send(&get(&server.url("/"))).unwrap().status, status);
        server.only();
    }
    let server = Server::answers(vec![Answer::new(302, &[], "no place")]);
    assert_eq!(send(&get(&server.url("/"))).unwrap().body, b"no place");
}

#[test]
fn relative_places_are_resolved() {
    for (location, path) in [
        ("d", "/a/b/d"),
        ("../d?x=1#f", "/a/d?x=1"),
        ("?y", "/a/b/c?y"),
        ("", "/a/b/c?q"),
        ("/ü x", "/%C3%BC%20x"),
        ("./../../../d", "/d"),
    ] {
        let server = Server::answers(vec![Answer::redirect(302, location), Answer::ok("")]);
        send(&get(&server.url("/a/b/c?q"))).unwrap();
        assert_eq!(server.seen()[1].target(), path, "{location}");
    }
    let server = Server::new(|number, seen| match number {
        0 => Answer::redirect(302, &format!("//{}/e", seen.header("host"))),
        _ => Answer::ok(""),
    });
    send(&get(&server.url("/"))).unwrap();
    assert_eq!(server.seen()[1].target(), "/e");
}

#[test]
fn ten_are_followed_and_a_loop_is_not() {
    let ten = Server::new(|number, _| if number < 10 { Answer::redirect(302, "/x") } else { Answer::ok("end") });
    assert_eq!(send(&get(&ten.url("/"))).unwrap().body, b"end");
    let endless = Server::answers(vec![Answer::redirect(307, "/x")]);
    let error = send(&Request { retry: 3, ..get(&endless.url("/")) }).unwrap_err();
    assert!(matches!(error, HttpError::Redirect { .. }) && error.to_string().contains("10 redirects"), "{error}");
    assert_eq!(endless.seen().len(), 11);
}

#[test]
fn a_body_for_one_origin_goes_nowhere_else() {
    let other = Server::answers(vec![Answer::ok("")]);
    let place = other.url("/token?access_token=t0k3n");
    let server = Server::new(move |_, _| Answer::redirect(307, &place));
    let message = failure(&Request { retry: 3, follows_redirects: false, ..get(&server.url("/")) });
    assert!(message.contains("redirected to") && !message.contains("t0k3n"), "{message}");
    server.only();
    assert!(other.seen().is_empty());
}

#[test]
fn places_that_no_request_can_go_to_fail_at_once() {
    for location in ["ftp://a/", "javascript:alert(1)", "http://", "http://a:99999/", "file:///etc/passwd"] {
        let server = Server::answers(vec![Answer::redirect(302, location)]);
        let message = failure(&Request { retry: 3, ..get(&server.url("/")) });
        assert!(message.contains("redirected to an invalid URL"), "{message}");
        server.only();
    }
}

/// A request with every kind of credential.
fn with_credentials(url: &str) -> Request {
    let mut request = get(url);
    request.headers = pairs(&[
        ("Authorization", "Bearer own"),
        ("Cookie", "a=b"),
        ("Proxy-Authorization", "Basic eA=="),
        ("X-Api-Key", "k"),
        ("Host", "named.test"),
        ("X-Trace", "kept"),
    ]);
    request.secrets.headers = pairs(&[("X-Sign", "s3cr3t")]);
    request.secrets.params = pairs(&[("sig", "p4ram")]);
    request
}

const CREDENTIALS: [&str; 5] = ["authorization", "cookie", "proxy-authorization", "x-api-key", "x-sign"];

#[test]
fn the_same_origin_keeps_credentials() {
    let server = Server::answers(vec![Answer::redirect(302, "/b"), Answer::ok("")]);
    let response = send(&with_credentials(&server.url("/a"))).unwrap();
    assert_eq!(response.url, server.url("/b"));
    for seen in server.seen() {
        for name in CREDENTIALS {
            seen.header(name);
        }
        assert!(seen.target().ends_with("?sig=p4ram"), "{}", seen.target());
        assert_eq!(seen.header("host"), "named.test");
    }
}

#[test]
fn another_port_gets_no_credentials_and_they_do_not_come_back() {
    // The last step stays at its origin.
    let home = Server::answers(vec![Answer::redirect(302, "/again"), Answer::ok("home")]);
    let back = home.url("/back");
    let away = Server::new(move |_, _| Answer::redirect(307, &back));
    let place = away.url("/away");
    let start = Server::new(move |number, _| if number == 0 { Answer::redirect(302, &place) } else { Answer::ok("") });
    let mut request = with_credentials(&start.url("/a"));
    // Listed or not: what another server says is no reason to hand them out.
    let receiver = |server: &Server| Receiver::parse(&server.url("")).unwrap();
    request.secrets.receivers = Some(vec![receiver(&start), receiver(&away), receiver(&home)]);
    assert_eq!(send(&request).unwrap().body, b"home");
    assert_eq!(start.only().header("x-sign"), "s3cr3t");
    assert_eq!((away.seen().len(), home.seen().len()), (1, 2));
    for server in [away, home] {
        for seen in server.seen() {
            for name in CREDENTIALS {
                assert_eq!(seen.all(name), Vec::<&str>::new(), "{name}");
            }
            assert_eq!(seen.header("host"), server.address.to_string());
            assert_eq!(seen.header("x-trace"), "kept");
            assert!(!seen.head.contains("p4ram"));
        }
    }
}

#[test]
fn a_secret_header_under_its_own_name_is_lost_too() {
    let away = Server::answers(vec![Answer::ok("")]);
    let place = away.url("/");
    let start = Server::new(move |_, _| Answer::redirect(302, &place));
    let mut request = Request { headers: pairs(&[("x-sign", "mine")]), ..get(&start.url("/")) };
    request.secrets.headers = pairs(&[("X-Sign", "theirs")]);
    send(&request).unwrap();
    assert_eq!(start.only().header("x-sign"), "mine");
    assert_eq!(away.only().all("x-sign"), Vec::<&str>::new());
}

#[test]
fn another_origin_gets_no_digest_answer() {
    let away = Server::answers(vec![Answer::new(401, &[("WWW-Authenticate", "Digest nonce=1, realm=x")], "who?")]);
    let place = away.url("/");
    let start = Server::new(move |_, _| Answer::redirect(302, &place));
    let digest = Some(Credentials { user: "u".to_owned(), password: "p".to_owned() });
    let response = send(&Request { digest, ..get(&start.url("/")) }).unwrap();
    assert_eq!((response.status, response.body.as_slice()), (401, &b"who?"[..]));
    away.only();
}

#[test]
fn user_and_password_of_a_url_stay_with_its_origin() {
    let away = Server::answers(vec![Answer::ok("")]);
    let place = away.url("/");
    let start = Server::new(move |number, _| Answer::redirect(302, if number == 0 { "/b" } else { &place }));
    let url = start.url("/").replace("http://", "http://me:p%40ss@");
    assert_eq!(send(&get(&url)).unwrap().url, away.url("/"));
    let seen = start.seen();
    assert_eq!(seen[0].header("authorization"), "Basic bWU6cEBzcw==");
    assert_eq!(seen[1].header("authorization"), "Basic bWU6cEBzcw==");
    assert_eq!(away.only().all("authorization"), Vec::<&str>::new());
}

#[test]
fn the_timeout_is_for_all_redirects_together() {
    let slow = Server::answers(vec![
        Answer::default()
            .pause(std::time::Duration::from_millis(200))
            .bytes("HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"),
    ]);
    let message = failure(&Request { timeout: std::time::Duration::from_millis(500), ..get(&slow.url("/")) });
    assert!(message.contains("timeout"), "{message}");
    assert!(slow.seen().len() < 5);
}

#[test]
fn certificates_are_no_reason_to_fail_without_tls() {
    let server = Server::answers(vec![Answer::ok("")]);
    let tls = ClientTls { cert: b"junk".to_vec(), key: b"junk".to_vec(), ca: None };
    let message = failure(&Request { tls: Some(tls.into()), ..get(&server.url("/")) });
    assert!(message.starts_with("key: "), "{message}");
    assert_eq!(server.seen().len(), 0);
}
