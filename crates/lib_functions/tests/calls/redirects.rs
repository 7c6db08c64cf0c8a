//! Redirects as scripts see them.

use testkit::http::{Answer, Server};

use crate::scene::Scene;

#[test]
fn redirects_are_followed_with_the_right_method() {
    for (status, method, body) in
        [(301, "GET", ""), (302, "GET", ""), (303, "GET", ""), (307, "PUT", "{}"), (308, "PUT", "{}")]
    {
        let server = Server::answers(vec![Answer::redirect(status, "/new?x=1"), Answer::ok("there")]);
        let call = format!("print(http.put(\"{}\", json={{}}).text)", server.url("/old"));
        assert_eq!(Scene::new("", &call).lines(), ["there"]);
        let seen = server.seen();
        assert_eq!(
            (seen[1].line(), seen[1].body.as_slice()),
            (format!("{method} /new?x=1 HTTP/1.1").as_str(), body.as_bytes())
        );
    }
}

#[test]
fn an_endless_redirect_is_an_error() {
    let server = Server::answers(vec![Answer::redirect(302, "/again")]);
    let error = Scene::new("", &format!("http.get(\"{}\", retry=2)", server.url("/"))).error();
    assert!(error.starts_with("x.fetch: http.get: GET ") && error.contains("10 redirects"), "{error}");
    assert_eq!(server.seen().len(), 11);
}

#[test]
fn credentials_of_a_call_do_not_cross_origins() {
    let other = Server::answers(vec![Answer::ok("")]);
    let own = Server::answers(vec![Answer::redirect(307, &other.url("/"))]);
    let headers = "headers={\"Authorization\": \"Own t0ken\", \"Cookie\": \"a=b\", \"X-Plain\": \"stays\"}";
    Scene::new("", &format!("http.get(\"{}\", {headers})\nhttp.get(\"{0}\", auth=(\"me\", \"pw\"))", own.url("/")))
        .lines();
    for seen in other.seen() {
        assert_eq!((seen.all("authorization"), seen.all("cookie")), (vec![], vec![]));
    }
    assert_eq!((own.seen()[0].header("cookie"), other.seen()[0].header("x-plain")), ("a=b", "stays"));
}
