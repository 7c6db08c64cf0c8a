//! Ways through proxies.

use crate::{get, pairs};
use http_client::{Client, ClientOptions, Request, Stop};
use testkit::http::{Answer, Server};

fn through(server: &Server, no_proxy: &str) -> Client {
    let proxy = Some(format!("http://me:s3cr3t@{}", server.address));
    let options = ClientOptions {
        user_agent: "x".to_owned(),
        http_proxy: proxy.clone(),
        https_proxy: proxy,
        no_proxy: no_proxy.to_owned(),
        ..ClientOptions::default()
    };
    Client::new(options)
}

#[test]
fn a_proxy_gets_whole_urls_for_hosts_that_only_it_knows() {
    let proxy = Server::answers(vec![Answer::redirect(302, "http://other.invalid/c"), Answer::ok("far")]);
    let client = through(&proxy, "");
    let headers = pairs(&[("Authorization", "Bearer x")]);
    let request = Request { headers, ..get("http://api.invalid:8080/a?b") };
    let response = client.send(&request, &Stop::never()).unwrap();
    assert_eq!((response.body.as_slice(), response.url.as_str()), (&b"far"[..], "http://other.invalid/c"));
    client.send(&get("http://api.invalid:8080/d"), &Stop::never()).unwrap();
    let seen = proxy.seen();
    assert_eq!(seen[0].line(), "GET http://api.invalid:8080/a?b HTTP/1.1");
    assert_eq!((seen[0].header("host"), seen[0].header("authorization")), ("api.invalid:8080", "Bearer x"));
    assert_eq!(seen[1].line(), "GET http://other.invalid/c HTTP/1.1");
    assert_eq!(seen[1].all("authorization"), Vec::<&str>::new());
    assert_eq!(seen[2].line(), "GET http://api.invalid:8080/d HTTP/1.1");
    for seen in seen {
        assert_eq!(seen.header("proxy-authorization"), "Basic bWU6czNjcjN0");
    }
}

#[test]
fn exceptions_are_asked_directly() {
    let proxy = Server::answers(vec![Answer::new(400, &[], "proxy")]);
    let server = Server::answers(vec![Answer::ok("near")]);
    let client = through(&proxy, "other.test, 127.0.0.0/8");
    assert_eq!(client.send(&get(&server.url("/a")), &Stop::never()).unwrap().body, b"near");
    assert_eq!(server.only().target(), "/a");
    assert_eq!(server.only().all("proxy-authorization"), Vec::<&str>::new());
    assert_eq!(proxy.seen().len(), 0);
}

#[test]
fn https_asks_for_a_tunnel_and_tells_when_there_is_none() {
    let proxy = Server::answers(vec![Answer::new(403, &[], "").close()]);
    let error = through(&proxy, "").send(&get("https://api.invalid/a?token=b"), &Stop::never()).unwrap_err();
    assert_eq!(proxy.only().line(), "CONNECT api.invalid:443 HTTP/1.1");
    assert_eq!(proxy.only().header("proxy-authorization"), "Basic bWU6czNjcjN0");
    let message = error.to_string();
    assert!(message.contains("proxy server responded 403") && !message.contains("s3cr3t"), "{message}");
}

#[test]
fn a_long_url_is_handed_to_a_proxy_whole() {
    let proxy = Server::answers(vec![Answer::ok("")]);
    let url = format!("http://api.invalid/{}", "x".repeat(60_000));
    let headers = pairs(&[("X-Long", &"y".repeat(67_000))]);
    through(&proxy, "").send(&Request { headers, ..get(&url) }, &Stop::never()).unwrap();
    assert_eq!(proxy.only().line(), format!("GET {url} HTTP/1.1"));
    assert_eq!(proxy.only().header("x-long").len(), 67_000);
}

#[test]
fn a_proxy_that_is_none_is_told_without_its_password() {
    let options = ClientOptions { http_proxy: Some("gopher://me:s3cr3t@x".to_owned()), ..ClientOptions::default() };
    let message = Client::new(options).send(&get("http://a/"), &Stop::never()).unwrap_err().to_string();
    assert!(message.contains("proxy for http URLs") && !message.contains("s3cr3t"), "{message}");
}
