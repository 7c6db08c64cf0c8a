//! Connections are used again, by clones and threads, and are replaced when the server closed them.

use crate::{client, get};
use http_client::{Method, Request, Stop};
use std::time::Duration;
use testkit::http::{Answer, Server};

fn connections(server: &Server) -> Vec<usize> {
    server.seen().iter().map(|seen| seen.connection).collect()
}

#[test]
fn a_connection_is_used_again() {
    let server = Server::new(|number, _| match number {
        1 => Answer::new(404, &[], "x"),
        2 => Answer::redirect(302, "/x"),
        _ => Answer::ok("x"),
    });
    let (one, stop) = (client(), Stop::never());
    let two = one.clone();
    for client in [&one, &two, &one, &two] {
        client.send(&get(&server.url("/")), &stop).unwrap();
    }
    assert_eq!(connections(&server), [0; 5]);
}

#[test]
fn a_connection_that_was_closed_is_replaced() {
    let server = Server::answers(vec![Answer::ok("x").close()]);
    let client = client();
    for method in [Method::Get, Method::Put, Method::Delete, Method::Get] {
        let request = Request { method, ..get(&server.url("/")) };
        assert_eq!(client.send(&request, &Stop::never()).unwrap().body, b"x");
    }
    assert_eq!(connections(&server), [0, 1, 2, 3]);
}

#[test]
fn a_close_that_crosses_with_a_request_is_no_failure() {
    // The second request of a connection is read, and never answered.
    let server = Server::new(|number, _| if number == 1 { Answer::default().close() } else { Answer::ok("x") });
    let client = client();
    let request = get(&server.url("/"));
    for _ in 0..2 {
        assert_eq!(client.send(&request, &Stop::never()).unwrap().body, b"x");
    }
    assert_eq!(connections(&server), [0, 0, 1]);
}

#[test]
fn what_may_have_been_done_is_not_sent_twice() {
    let server = Server::new(|number, _| if number == 1 { Answer::default().close() } else { Answer::ok("x") });
    let client = client();
    client.send(&get(&server.url("/")), &Stop::never()).unwrap();
    let request = Request { method: Method::Post, ..get(&server.url("/")) };
    let message = client.send(&request, &Stop::never()).unwrap_err().to_string();
    assert!(message.contains("after 1 attempts") && message.contains("connection ended"), "{message}");
    assert_eq!(connections(&server), [0, 0]);
}

#[test]
fn threads_use_one_client() {
    let server = Server::answers(vec![
        Answer::default().pause(Duration::from_millis(20)).bytes("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"),
    ]);
    let client = client();
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let (client, request) = (client.clone(), get(&server.url("/")));
            std::thread::spawn(move || {
                for _ in 0..10 {
                    assert_eq!(client.send(&request, &Stop::never()).unwrap().body, b"x");
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(server.seen().len(), 80);
    assert!(connections(&server).iter().max() < Some(&40));
}
