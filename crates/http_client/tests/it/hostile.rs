//! Servers that do what no server should.

use crate::{failure, get, send};
use http_client::{Body, Method, Request};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};
use testkit::http::{Answer, Server};

#[test]
fn a_dripping_server_is_ended_by_the_timeout() {
    let drip = Duration::from_millis(50);
    for answer in [
        Answer::head(200, &[("Content-Length", "999999")]).forever("x", drip),
        Answer::raw("HTTP/1.1 200 OK\r\n").forever("X-A: b\r\n", drip),
        Answer::raw("HTTP/1.1 200 OK\r\nX-Long: ").forever("x", drip),
        Answer::head(200, &[("Transfer-Encoding", "chunked")]).forever("1\r\nx\r\n", drip),
        Answer::default().forever("HTTP/1.1 103 Early Hints\r\n\r\n", drip),
    ] {
        let server = Server::answers(vec![answer.clone()]);
        let started = Instant::now();
        let message = failure(&Request { timeout: Duration::from_millis(600), ..get(&server.url("/")) });
        assert!(message.contains("timeout of 0.6 s"), "{answer:?}: {message}");
        assert!(started.elapsed() < Duration::from_secs(10));
    }
}

#[test]
fn a_reset_after_half_a_body_is_a_failure() {
    // Without a length, only the kind of the end tells half a body from a whole one.
    for header in ["Content-Length: 10\r\n", ""] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let serving = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            // What is left of the request makes a reset of the end.
            stream.read_exact(&mut [0]).unwrap();
            stream.write_all(format!("HTTP/1.1 200 OK\r\n{header}\r\nhalf").as_bytes()).unwrap();
            std::thread::sleep(Duration::from_millis(100));
        });
        let message = failure(&get(&url));
        assert!(message.contains("request failed after 1 attempts"), "{header}: {message}");
        serving.join().unwrap();
    }
}

#[test]
fn huge_headers_are_a_failure_and_large_ones_are_not() {
    let large = "x".repeat(30_000);
    let server = Server::answers(vec![Answer::new(200, &[("X-Large", &large)], "")]);
    assert_eq!(send(&get(&server.url("/"))).unwrap().header("x-large"), Some(large.as_str()));
    for answer in [
        Answer::raw("HTTP/1.1 200 OK\r\nX-Huge: ").forever([b'x'; 4096], Duration::ZERO),
        Answer::raw("HTTP/1.1 200 OK\r\n").forever("X-Many: x\r\n".repeat(500), Duration::ZERO),
        Answer::default().forever([b'x'; 4096], Duration::ZERO),
    ] {
        let server = Server::answers(vec![answer.clone()]);
        let message = failure(&get(&server.url("/")));
        assert!(message.starts_with("request failed after 1 attempts"), "{answer:?}: {message}");
        assert!(message.len() < 1000, "{message}");
    }
}

#[test]
fn bytes_beyond_ascii_in_headers_are_letters() {
    let answer = Answer::raw(b"HTTP/1.1 200 OK\r\nX-Latin: gr\xfcn\r\nX-Utf: gr\xc3\xbcn\r\nContent-Length: 0\r\n\r\n");
    let server = Server::answers(vec![answer]);
    let response = send(&get(&server.url("/"))).unwrap();
    assert_eq!((response.header("x-latin"), response.header("x-utf")), (Some("grün"), Some("grün")));
}

#[test]
fn cookies_are_handed_back_and_not_kept() {
    let server = Server::answers(vec![
        Answer::new(302, &[("Set-Cookie", "a=b"), ("Location", "/b")], ""),
        Answer::new(200, &[("Set-Cookie", "c=d"), ("Set-Cookie", "e=f")], ""),
    ]);
    let client = crate::client();
    for path in ["/a", "/c"] {
        let response = client.send(&get(&server.url(path)), &http_client::Stop::never()).unwrap();
        let cookies: Vec<_> = response.headers.iter().filter(|(name, _)| name == "Set-Cookie").collect();
        assert_eq!(cookies.len(), 2);
    }
    for seen in server.seen() {
        assert_eq!(seen.all("cookie"), Vec::<&str>::new());
    }
}

#[test]
fn more_than_was_promised_is_not_read() {
    let server = Server::answers(vec![Answer::ok("hello").bytes("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")]);
    let client = crate::client();
    for _ in 0..3 {
        let response = client.send(&get(&server.url("/")), &http_client::Stop::never()).unwrap();
        assert_eq!(response.body, b"hello");
    }
    let connections: Vec<_> = server.seen().iter().map(|seen| seen.connection).collect();
    assert_eq!(connections, [0, 1, 2]);
}

#[test]
fn contradicting_lengths_are_a_failure() {
    let server =
        Server::answers(vec![Answer::raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\nhello")]);
    assert!(failure(&get(&server.url("/"))).contains("not valid HTTP"));
}

#[test]
fn a_server_that_reads_nothing_is_ended_by_the_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let body = Body::Bytes(vec![b'x'; 32 << 20].into(), "text/plain".to_owned());
    let timeout = Duration::from_millis(600);
    let message = failure(&Request { method: Method::Post, body, timeout, ..get(&url) });
    assert!(message.contains("timeout"), "{message}");
}
