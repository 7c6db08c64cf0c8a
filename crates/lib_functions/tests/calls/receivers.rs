//! Who gets the secrets of an API, and who never.

use testkit::http::{Answer, Server};

use crate::scene::Scene;

fn run(base: Option<&Server>, hosts: &str, body: &str) {
    let base = base.map_or_else(String::new, |base| format!("\"base_url\": \"{}\", ", base.url("/v1")));
    for form in ["\"header\": \"X-Key\"", "\"param\": \"k\""] {
        let api = format!("{base}\"auth\": {{\"env\": \"API_KEY\", {form}, \"hosts\": {hosts}}}");
        Scene::new(&api, body).file(".env", "API_KEY=s3cret-value\n").lines();
    }
}

fn got_it(server: &Server) -> Vec<bool> {
    server.seen().iter().map(|seen| seen.head.contains("s3cret-value")).collect()
}

fn servers() -> (Server, Server) {
    (Server::answers(vec![Answer::ok("")]), Server::answers(vec![Answer::ok("")]))
}

/// Trap 26 of chapter 03 §3.6.
#[test]
fn another_host_gets_nothing_unless_it_is_listed() {
    let (own, other) = servers();
    let body = format!("http.get(\"a\")\nhttp.get(\"{}\")\nhttp.get(\"{}\")", own.url("/b"), other.url("/c"));
    run(Some(&own), "[]", &body);
    assert_eq!((got_it(&own), got_it(&other)), (vec![true; 4], vec![false; 2]));
    run(Some(&own), &format!("[\"{}\"]", other.address), &body);
    assert_eq!(got_it(&other), [false, false, true, true]);
}

#[test]
fn without_a_base_everyone_gets_them() {
    let (one, other) = servers();
    run(None, "[]", &format!("http.get(\"{}\")\nhttp.get(\"{}\")", one.url("/"), other.url("/")));
    assert_eq!((got_it(&one), got_it(&other)), (vec![true; 2], vec![true; 2]));
}

#[test]
fn a_redirect_to_another_origin_loses_them() {
    let (other, _) = servers();
    let own = Server::answers(vec![Answer::redirect(302, &other.url("/moved"))]);
    run(Some(&own), "[]", "print(http.get(\"a\").status_code)");
    assert_eq!((got_it(&own), got_it(&other)), (vec![true; 2], vec![false; 2]));
    assert_eq!(other.seen()[0].target(), "/moved");
}

#[test]
fn a_name_that_another_server_gives_does_not_help_it() {
    let (own, other) = servers();
    // Neither the user part nor the path of a URL makes it the own host.
    let body = format!("http.get(\"http://{}@{}/{}\")", own.address, other.address, own.address);
    run(Some(&own), "[]", &body);
    assert_eq!((got_it(&own), got_it(&other)), (vec![], vec![false; 2]));
}
