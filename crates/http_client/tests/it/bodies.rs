//! Bodies of answers: framing, packing, bounds.

use crate::{failure, get, send};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use http_client::{HttpError, Request};
use std::io::Write;
use testkit::http::{Answer, Server};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = GzEncoder::new(Vec::new(), Compression::best());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut writer = ZlibEncoder::new(Vec::new(), Compression::best());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn raw_deflate(bytes: &[u8]) -> Vec<u8> {
    let mut writer = DeflateEncoder::new(Vec::new(), Compression::best());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

#[test]
fn packed_bodies_are_unpacked() {
    for (encoding, body) in [
        ("gzip", gzip(b"hello")),
        ("GZIP", gzip(b"hello")),
        ("deflate", zlib(b"hello")),
        ("deflate", raw_deflate(b"hello")),
        ("deflate, gzip", gzip(&zlib(b"hello"))),
        ("identity", b"hello".to_vec()),
        ("br", b"hello".to_vec()),
    ] {
        let server = Server::answers(vec![Answer::new(200, &[("Content-Encoding", encoding)], body)]);
        let response = send(&get(&server.url("/"))).unwrap();
        assert_eq!(response.body, b"hello", "{encoding}");
        let is_packed = !["identity", "br"].contains(&encoding);
        assert_eq!(response.header("content-encoding").is_none(), is_packed, "{encoding}");
        assert_eq!(response.header("content-length").is_none(), is_packed, "{encoding}");
    }
}

#[test]
fn answers_without_body_may_name_a_packing() {
    for status in [200, 204, 304] {
        let server =
            Server::answers(vec![Answer::head(status, &[("Content-Encoding", "gzip"), ("Content-Length", "0")])]);
        assert_eq!(send(&get(&server.url("/"))).unwrap().body, b"");
    }
}

#[test]
fn chunks_and_the_end_of_the_connection_frame_a_body() {
    let chunked = Answer::head(200, &[("Transfer-Encoding", "chunked")]).bytes("3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n");
    let packed = gzip(b"hello");
    let chunk = [format!("{:x}\r\n", packed.len()).as_bytes(), &packed, b"\r\n0\r\n\r\n"].concat();
    let both = Answer::head(200, &[("Transfer-Encoding", "chunked"), ("Content-Encoding", "gzip")]).bytes(chunk);
    let closed = Answer::head(200, &[]).bytes("hello").close();
    let old = Answer::raw("HTTP/1.0 200 OK\r\n\r\nhello").close();
    let early = Answer::raw("HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n")
        .bytes("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    for answer in [chunked, both, closed, old, early] {
        let server = Server::answers(vec![answer.clone()]);
        let response = send(&get(&server.url("/"))).unwrap();
        assert_eq!((response.status, response.body.as_slice()), (200, &b"hello"[..]), "{answer:?}");
    }
}

#[test]
fn a_body_over_the_bound_is_an_error_without_retry() {
    let bomb = gzip(&vec![0; 32 << 20]);
    let twice = gzip(&bomb);
    let endless = |head: Answer, piece: &[u8]| head.forever(piece, std::time::Duration::ZERO);
    let chunk = [b"10000\r\n".as_slice(), &vec![b'x'; 65536], b"\r\n"].concat();
    for answer in [
        Answer::ok(vec![b'x'; 100_001]),
        Answer::new(404, &[], vec![b'x'; 100_001]),
        Answer::new(500, &[], vec![b'x'; 100_001]),
        Answer::head(200, &[("Content-Length", "99999999999999")]),
        Answer::new(200, &[("Content-Encoding", "gzip")], &bomb),
        Answer::new(200, &[("Content-Encoding", "gzip, gzip")], &twice),
        endless(Answer::head(200, &[]), &[b'x'; 4096]),
        endless(Answer::head(200, &[("Transfer-Encoding", "chunked")]), &chunk),
    ] {
        let server = Server::answers(vec![answer]);
        let request = Request { max_response_bytes: 100_000, retry: 3, ..get(&server.url("/?token=abc")) };
        let error = send(&request).unwrap_err();
        assert!(matches!(error, HttpError::BodyTooLarge { limit: 100_000, .. }), "{error}");
        let message = error.to_string();
        assert!(message.contains("max_response_bytes") && message.contains("token=[REDACTED]"), "{message}");
        server.only();
    }
}

#[test]
fn the_bound_is_one_of_unpacked_bytes() {
    let body = vec![b'x'; 100_000];
    for answer in [Answer::ok(&body), Answer::new(200, &[("Content-Encoding", "gzip")], gzip(&body))] {
        let server = Server::answers(vec![answer]);
        let request = Request { max_response_bytes: 100_000, ..get(&server.url("/")) };
        assert_eq!(send(&request).unwrap().body.len(), 100_000);
    }
    // What does not shrink is longer packed than unpacked.
    let server = Server::answers(vec![Answer::new(200, &[("Content-Encoding", "gzip")], gzip(b"x"))]);
    assert_eq!(send(&Request { max_response_bytes: 1, ..get(&server.url("/")) }).unwrap().body, b"x");
}

#[test]
fn a_body_that_nobody_asks_for_is_not_bounded() {
    let big = "x".repeat(5000);
    let server = Server::answers(vec![Answer::new(302, &[("Location", "/b")], big), Answer::ok("small")]);
    let request = Request { max_response_bytes: 100, ..get(&server.url("/")) };
    assert_eq!(send(&request).unwrap().body, b"small");
}

#[test]
fn a_packing_that_breaks_off_is_told() {
    let mut cut = gzip(b"hello hello hello");
    cut.truncate(cut.len() - 9);
    let server = Server::answers(vec![Answer::new(200, &[("Content-Encoding", "gzip")], cut)]);
    let message = failure(&get(&server.url("/")));
    assert!(message.starts_with("request failed after 1 attempts"), "{message}");
}
