//! What scripts see of an answer.

use lib_functions::{CallError, HostValue};
use testkit::http::{Answer, Server};

use crate::scene::{Scene, fetch, text};

/// Prints what an expression says of the answer.
fn seen(answer: Answer, expression: &str) -> String {
    let server = Server::answers(vec![answer]);
    let body = format!("resp = http.get(\"{}\")\nprint({expression})", server.url("/v1/items?page=1"));
    Scene::new("", &body).lines().remove(0).replace(&server.url(""), "http://own")
}

#[test]
fn every_final_status_is_handed_back_after_one_request() {
    for (status, ok) in [(200, "True"), (204, "True"), (299, "True"), (304, "False"), (400, "False"), (404, "False")] {
        let server = Server::answers(vec![Answer::new(status, &[], "b")]);
        let api = format!("\"base_url\": \"{}\", \"retry\": 3, \"backoff\": 0", server.url(""));
        let lines =
            Scene::new(&api, "resp = http.get(\"/\")\nprint(resp.status_code, resp.ok, type(resp.status_code))")
                .lines();
        assert_eq!(lines, [format!("{status} {ok} int")]);
        assert_eq!(server.seen().len(), 1, "{status}");
    }
}

#[test]
fn text_has_replacements_for_bad_bytes() {
    assert_eq!(seen(Answer::ok(b"a\xff\xc3\xa9"), "resp.text, len(resp.text)"), "a\u{fffd}é 3");
}

/// Trap 6 of chapter 03 §3.6 among others.
#[test]
fn json_is_exact_ordered_or_none() {
    for (body, expression, shown) in [
        (
            "{\"id\": 9007199254740993, \"n\": 123456789012345678901234567890}",
            "resp.json",
            "{\"id\": 9007199254740993, \"n\": 123456789012345678901234567890}",
        ),
        ("{\"z\": 1, \"a\": 1.0, \"m\": [true, null]}", "resp.json", "{\"z\": 1, \"a\": 1.0, \"m\": [True, None]}"),
        ("7", "resp.json + 1", "8"),
        ("", "resp.json", "None"),
        ("   ", "resp.json", "None"),
        ("<html>", "resp.json", "None"),
        ("{\"a\": 1,}", "resp.json", "None"),
        ("{\"a\": 1} x", "resp.json", "None"),
        ("null", "resp.json", "None"),
        ("[1]", "resp.json == json.decode(resp.text)", "True"),
    ] {
        assert_eq!(seen(Answer::ok(body), expression), shown, "{body}");
    }
}

/// Trap 27 of chapter 03 §3.6.
#[test]
fn headers_have_canonical_names_and_lists_of_several_values() {
    let headers = [
        ("content-type", "text/plain"),
        ("ETag", "\"x\""),
        ("X-RateLimit-Remaining", "5"),
        ("set-cookie", "a=1"),
        ("Set-Cookie", "b=2"),
    ];
    for (expression, shown) in [
        ("resp.headers[\"Content-Type\"]", "text/plain"),
        ("resp.headers[\"Etag\"]", "\"x\""),
        ("resp.headers[\"X-Ratelimit-Remaining\"]", "5"),
        ("resp.headers[\"Set-Cookie\"]", "[\"a=1\", \"b=2\"]"),
        ("resp.headers.get(\"_links\"), \"content-type\" in resp.headers", "None False"),
        ("type(resp.headers)", "dict"),
    ] {
        assert_eq!(seen(Answer::new(200, &headers, ""), expression), shown);
    }
}

/// Trap 37 of chapter 03 §3.6.
#[test]
fn links_are_absolute() {
    let headers = [
        ("Link", "<a?x=1,2>; rel=next, </b>; rel=\"prev first\""),
        ("link", "<https://c.test/d>; title=\"x, y\"; rel=\"last\""),
    ];
    let shown = "{\"next\": \"http://own/v1/a?x=1,2\", \"prev\": \"http://own/b\", \"first\": \"http://own/b\", \"last\": \"https://c.test/d\"}";
    assert_eq!(seen(Answer::new(200, &headers, ""), "resp.headers[\"_links\"]"), shown);
    assert_eq!(seen(Answer::new(200, &[("Link", "junk")], ""), "resp.headers[\"_links\"]"), "{}");
    assert_eq!(seen(Answer::new(200, &headers, ""), "type(resp.headers[\"Link\"])"), "list");
}

#[test]
fn an_answer_is_read_only_and_has_nothing_else() {
    let server = Server::answers(vec![Answer::ok("{}")]);
    for (line, expected) in [
        ("resp.ok = True", "ok"),
        ("resp.status_code = 1", "status_code"),
        ("resp.status", "status"),
        ("resp.json()", "call()"),
    ] {
        let error = Scene::new("", &format!("resp = http.get(\"{}\")\n{line}", server.url("/"))).error();
        assert!(error.starts_with("x.fetch: ") && error.contains(expected), "{line}: {error}");
    }
}

/// Scripts see `None` alone.
#[test]
fn why_a_body_is_no_json_is_told_where_that_is_the_trouble() {
    let server = Server::answers(vec![Answer::ok("{\"a\": [1,]}"), Answer::ok("{}"), Answer::ok("<html>")]);
    let lib =
        |body: &str| text("", &format!("url = \"{}\"\n{body}", server.url("/"))).replace("return {\"rows\": []}", "");
    let help = |body: &str| {
        let stage = Scene::of(&lib(body)).stage();
        let failed = stage.with(|running| fetch(running, &[], &HostValue::None, &mut Vec::new())).unwrap();
        let Err(CallError::Failed(error)) = failed else { panic!("{failed:?}") };
        error.help
    };
    let used = help("return http.get(url).json[\"a\"]");
    assert!(used.contains("no JSON (line 1, column 10: expected a value, found ']'), look at `resp.text`"), "{used}");
    let not_the_last = help("return [http.get(url).json, None][1]");
    assert!(not_the_last.contains("no JSON, look at"), "{not_the_last}");
    let returned = help("return http.get(url).json");
    assert!(returned.contains("no JSON (line 1, column 1: expected a value, found '<')"), "{returned}");
}

#[test]
fn a_body_beyond_the_bound_is_an_error_without_a_retry() {
    let server = Server::answers(vec![Answer::ok(vec![b'x'; 101])]);
    let api =
        format!("\"base_url\": \"{}\", \"retry\": 3, \"backoff\": 0, \"max_response_bytes\": 100", server.url(""));
    let error = Scene::new(&api, "http.get(\"/\")").error();
    assert!(
        error.starts_with("x.fetch: http.get: response body is larger than max_response_bytes (100 bytes)"),
        "{error}"
    );
    assert_eq!(server.seen().len(), 1);
    let server = Server::answers(vec![Answer::ok(vec![b'x'; 100])]);
    let api = format!("\"base_url\": \"{}\", \"max_response_bytes\": 100", server.url(""));
    assert_eq!(Scene::new(&api, "print(len(http.get(\"/\").text))").lines(), ["100"]);
}
