//! What goes over the wire: lines, headers, parameters, bodies; and how answers are handed back.

use crate::{failure, get, pairs, send};
use http_client::{Body, HttpError, Method, Request};
use std::time::Duration;
use testkit::http::{Answer, Server};

#[test]
fn a_get_is_sent_with_its_defaults_and_nothing_else() {
    let server = Server::answers(vec![Answer::ok("hi")]);
    let response = send(&get(&server.url("/a?b=c"))).unwrap();
    assert_eq!((response.status, response.body.as_slice()), (200, &b"hi"[..]));
    assert_eq!(response.url, server.url("/a?b=c"));
    let seen = server.only();
    assert_eq!(seen.line(), "GET /a?b=c HTTP/1.1");
    assert_eq!(seen.header("host"), server.address.to_string());
    assert_eq!(seen.header("user-agent"), "OndatraSQL/1.0");
    assert_eq!(seen.header("accept"), "*/*");
    assert_eq!(seen.header("accept-encoding"), "gzip, deflate");
    assert_eq!(seen.head.lines().count(), 6, "{}", seen.head);
}

#[test]
fn every_method_arrives_with_its_body() {
    let server = Server::answers(vec![Answer::ok("")]);
    let methods = [Method::Get, Method::Post, Method::Put, Method::Patch, Method::Delete];
    for method in methods {
        for body in [Body::None, Body::Bytes(b"{}".as_slice().into(), "application/json".to_owned())] {
            send(&Request { method, body, ..get(&server.url("/")) }).unwrap();
        }
    }
    let seen = server.seen();
    for (at, method) in methods.iter().enumerate() {
        let (bare, full) = (&seen[at * 2], &seen[at * 2 + 1]);
        assert_eq!(bare.line(), format!("{} / HTTP/1.1", method.as_str()));
        let length = if [Method::Get, Method::Delete].contains(method) { vec![] } else { vec!["0"] };
        assert_eq!((bare.all("content-length"), bare.all("content-type")), (length, vec![]), "{method:?}");
        assert_eq!((full.header("content-length"), full.header("content-type")), ("2", "application/json"));
        assert_eq!(full.body, b"{}");
        assert_eq!(full.all("transfer-encoding"), Vec::<&str>::new());
    }
}

#[test]
fn parameters_join_the_query_that_is_there() {
    let server = Server::answers(vec![Answer::ok("")]);
    let query = pairs(&[("x", "ü &"), ("tag", "1"), ("tag", "2")]);
    send(&Request { query, ..get(&server.url("/?q=%7e'a'&tag=0#f")) }).unwrap();
    assert_eq!(server.only().target(), "/?q=%7e'a'&x=%C3%BC+%26&tag=1&tag=2");
}

#[test]
fn headers_are_sent_once_and_replace_the_defaults() {
    let server = Server::answers(vec![Answer::ok("")]);
    let headers = [("X-A", "1"), ("x-a", "2"), ("USER-AGENT", "me"), ("content-TYPE", "text/x"), ("X-Wide", "ü")];
    let body = Body::Bytes(b"x".as_slice().into(), "application/json".to_owned());
    send(&Request { method: Method::Post, headers: pairs(&headers), body, ..get(&server.url("/")) }).unwrap();
    let seen = server.only();
    assert_eq!((seen.header("x-a"), seen.header("user-agent")), ("2", "me"));
    assert_eq!((seen.header("content-type"), seen.header("x-wide")), ("text/x", "ü"));
}

#[test]
fn an_empty_content_type_is_not_sent() {
    let server = Server::answers(vec![Answer::ok("")]);
    let body = Body::Bytes(b"x".as_slice().into(), String::new());
    send(&Request { method: Method::Post, body, ..get(&server.url("/")) }).unwrap();
    assert_eq!(server.only().all("content-type"), Vec::<&str>::new());
}

#[test]
fn an_empty_user_agent_is_not_sent() {
    let server = Server::answers(vec![Answer::ok("")]);
    send(&Request { headers: pairs(&[("user-agent", "")]), ..get(&server.url("/")) }).unwrap();
    assert_eq!(server.only().all("user-agent"), Vec::<&str>::new());
}

#[test]
fn an_upload_is_multipart_whatever_the_headers_say() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("big.bin");
    let content = vec![7; 300_000];
    std::fs::write(&file, &content).unwrap();
    let server = Server::answers(vec![Answer::new(500, &[], ""), Answer::ok("")]);
    let body = Body::Multipart {
        fields: pairs(&[("a", "1")]),
        file,
        field: "file".to_owned(),
        filename: "big.bin".to_owned(),
    };
    let headers = pairs(&[("Content-Type", "application/json")]);
    send(&Request { method: Method::Post, headers, body, retry: 1, ..get(&server.url("/")) }).unwrap();
    let seen = server.seen();
    assert_eq!(seen[0].body, seen[1].body);
    let boundary = seen[1].header("content-type").strip_prefix("multipart/form-data; boundary=").unwrap();
    let text = String::from_utf8_lossy(&seen[1].body);
    assert!(text.starts_with(&format!("--{boundary}\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n")));
    assert!(text.contains("name=\"file\"; filename=\"big.bin\"") && text.ends_with(&format!("--{boundary}--\r\n")));
    assert!(seen[1].body.windows(1000).any(|part| part == &content[..1000]));
}

#[test]
fn headers_come_back_with_canonical_names_in_order() {
    let headers = [
        ("content-type", "text/plain"),
        ("ETag", "\"x\""),
        ("X-RateLimit-Remaining", "5"),
        ("link", "</a>; rel=next"),
        ("LINK", "</b>; rel=last"),
    ];
    let server = Server::answers(vec![Answer::new(200, &headers, "")]);
    let response = send(&get(&server.url("/x?y"))).unwrap();
    let names: Vec<_> = response.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Content-Type", "Etag", "X-Ratelimit-Remaining", "Link", "Link", "Content-Length"]);
    assert_eq!(response.header("content-type"), Some("text/plain"));
    let links = http_client::links(&response.headers, &response.url).unwrap();
    assert_eq!(links, [("next".to_owned(), server.url("/a")), ("last".to_owned(), server.url("/b"))]);
}

#[test]
fn what_cannot_be_sent_fails_before_anything_is_sent() {
    let server = Server::answers(vec![Answer::ok("")]);
    let url = server.url("/");
    let bad_header = Request { headers: pairs(&[("X-A", "a\nb")]), ..get(&url) };
    assert!(matches!(send(&bad_header), Err(HttpError::InvalidHeader { .. })));
    let no_time = Request { timeout: Duration::ZERO, ..get(&url) };
    assert!(matches!(send(&no_time), Err(HttpError::InvalidTimeout)));
    for url in ["", "/x", "ftp://a/", "http://", "http://a:0/"] {
        let message = failure(&Request { retry: 3, ..get(url) });
        assert!(message.starts_with("invalid URL"), "{message}");
    }
    assert_eq!(server.seen().len(), 0);
}

#[test]
fn a_file_that_is_not_there_fails_at_once() {
    let server = Server::answers(vec![Answer::ok("")]);
    let (field, filename) = ("file".to_owned(), "x".to_owned());
    let body = Body::Multipart { fields: vec![], file: "/nowhere/x".into(), field, filename };
    let message = failure(&Request { method: Method::Post, body, retry: 3, ..get(&server.url("/")) });
    assert!(message.contains("/nowhere/x"), "{message}");
    assert_eq!(server.seen().len(), 0);
}

#[test]
fn a_timeout_may_be_as_long_as_can_be() {
    let server = Server::answers(vec![Answer::ok("")]);
    send(&Request { timeout: Duration::MAX, ..get(&server.url("/")) }).unwrap();
}
