//! Bodies: JSON, forms, raw ones, uploads; and their content types.

use testkit::http::{Answer, Seen, Server};

use crate::scene::Scene;

fn post(arguments: &str) -> Seen {
    let server = Server::answers(vec![Answer::ok("")]);
    Scene::new("", &format!("http.post(\"{}\", {arguments})", server.url("/b"))).lines();
    server.only()
}

fn error(arguments: &str) -> String {
    Scene::new("", &format!("http.post(\"http://127.0.0.1:9/\", {arguments})")).error()
}

#[test]
fn bodies_are_sent_byte_for_byte_with_their_content_type() {
    let (json, form) = ("application/json", "application/x-www-form-urlencoded");
    for (arguments, body, kind) in [
        ("json={\"b\": 1, \"a\": [None, True, 1.5, \"ü\"]}", "{\"b\":1,\"a\":[null,true,1.5,\"ü\"]}", json),
        (
            "json={\"n\": 1 << 80, \"m\": 9007199254740993}",
            "{\"n\":1208925819614629174706176,\"m\":9007199254740993}",
            json,
        ),
        ("json={\"h\": \"<a href='x'>&</a>\\n\"}", "{\"h\":\"<a href='x'>&</a>\\n\"}", json),
        ("json=[]", "[]", json),
        ("json={}", "{}", json),
        ("json=(1, 2)", "[1,2]", json),
        ("json=\"{ not  JSON\"", "{ not  JSON", json),
        ("json=\"\"", "", json),
        (
            "data={\"a\": \"x y&\", \"b\": [1, 2], \"c\": None, \"d\": True, \"e\": 1.5}",
            "a=x+y%26&b=1&b=2&d=true&e=1.5",
            form,
        ),
        ("data={}", "", form),
        ("body=\"raw ü\"", "raw ü", json),
        ("body=b\"raw\"", "raw", json),
        ("json=None, data=None, body=\"x\"", "x", json),
        ("body=\"x\", headers={\"content-TYPE\": \"text/csv\"}", "x", "text/csv"),
        ("data={\"a\": 1}, headers={\"CONTENT-TYPE\": \"x/y\"}", "a=1", "x/y"),
        ("json={}, headers={\"Content-type\": \"application/vnd.api+json\"}", "{}", "application/vnd.api+json"),
    ] {
        let seen = post(arguments);
        assert_eq!(String::from_utf8(seen.body.clone()).unwrap(), body, "{arguments}");
        assert_eq!(seen.header("content-type"), kind, "{arguments}");
        assert_eq!(seen.header("content-length"), body.len().to_string(), "{arguments}");
    }
}

#[test]
fn bytes_that_are_no_text_are_sent_as_they_are() {
    let server = Server::answers(vec![Answer::ok("")]);
    let call = format!("http.put(\"{}\", body=read_blob(\"a.bin\"))", server.url("/"));
    let scene = Scene::new("", &call).stage();
    std::fs::write(scene.dir.path().join("a.bin"), b"\x00\xff\r\n\x80").unwrap();
    assert!(scene.run().page.is_ok());
    assert_eq!(server.only().body, b"\x00\xff\r\n\x80");
}

#[test]
fn a_content_type_can_be_dropped_and_no_body_has_none() {
    assert_eq!(post("body=\"x\", headers={\"Content-Type\": None}").all("content-type"), Vec::<&str>::new());
    let bare = post("json=None");
    assert_eq!((bare.all("content-type"), bare.header("content-length")), (vec![], "0"));
}

#[test]
fn an_api_content_type_holds_unless_the_call_has_one() {
    let server = Server::answers(vec![Answer::ok("")]);
    let api = "\"headers\": {\"content-type\": \"application/vnd.api+json\"}";
    let url = server.url("/");
    Scene::new(
        api,
        &format!(
            "http.post(\"{url}\", json={{}})\nhttp.post(\"{url}\", json={{}}, headers={{\"CONTENT-TYPE\": \"a/b\"}})"
        ),
    )
    .lines();
    let kinds: Vec<String> = server.seen().iter().map(|seen| seen.header("content-type").to_owned()).collect();
    assert_eq!(kinds, ["application/vnd.api+json", "a/b"]);
}

#[test]
fn what_is_no_body_is_refused() {
    for (arguments, expected) in [
        ("json={}, data={}", "http.post: `json`, `data` and `body` are mutually exclusive"),
        ("json={}, body=\"\"", "mutually exclusive"),
        ("data={}, body=\"\"", "mutually exclusive"),
        ("json={\"a\": float(\"nan\")}", "http.post: the float NaN is not finite"),
        ("json=[float(\"inf\")]", "not finite"),
        ("json={1: 2}", "http.post: "),
        ("json={\"a\": len}", "http.post: "),
        ("json=5", "http.post: `json` must be dict, list or str, not int"),
        ("json=True", "http.post: `json` must be"),
        ("data=\"a=b\"", "http.post: `data` must be dict, not string"),
        ("data={\"a\": {}}", "http.post: `data`: a value is no str"),
        ("body={}", "http.post: `body` must be str or bytes, not dict"),
    ] {
        let error = error(arguments);
        assert!(error.contains(expected), "{arguments}: {error}");
    }
}

/// The body of an upload without its boundary, which is random.
fn parts(seen: &Seen) -> String {
    let boundary = seen.header("content-type").strip_prefix("multipart/form-data; boundary=").unwrap();
    String::from_utf8(seen.body.clone()).unwrap().replace(boundary, "BOUNDARY")
}

fn upload(arguments: &str) -> Seen {
    let server = Server::answers(vec![Answer::ok("")]);
    let call = format!("http.upload(\"{}\", {arguments})", server.url("/u"));
    Scene::new("", &call).file("data/a.txt", "hello").lines();
    server.only()
}

#[test]
fn an_upload_sends_fields_and_the_file() {
    let seen = upload("\"data/a.txt\", fields={\"n\": 1, \"l\": [\"a\", \"b\"], \"x\": None}, params={\"q\": 1}");
    assert_eq!(seen.line(), "POST /u?q=1 HTTP/1.1");
    let field = |name: &str, value: &str| {
        format!("--BOUNDARY\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    let file = "--BOUNDARY\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\
                Content-Type: application/octet-stream\r\n\r\nhello\r\n--BOUNDARY--\r\n";
    assert_eq!(parts(&seen), [&field("n", "1"), &field("l", "a"), &field("l", "b"), file].concat());
    let named = parts(&upload("file=\"data/a.txt\", field=\"doc\", filename=\"b \\\"c\\\".txt\""));
    assert!(named.contains("name=\"doc\"; filename=\"b %22c%22.txt\""), "{named}");
}

#[test]
fn an_upload_of_a_link_has_the_name_of_the_link() {
    let server = Server::answers(vec![Answer::ok("")]);
    let scene =
        Scene::new("", &format!("http.upload(\"{}\", \"today.csv\")", server.url("/"))).file("a/b.txt", "x").stage();
    std::os::unix::fs::symlink("a/b.txt", scene.dir.path().join("today.csv")).unwrap();
    assert!(scene.run().page.is_ok());
    let sent = parts(&server.only());
    assert!(sent.contains("filename=\"today.csv\""), "{sent}");
}

#[test]
fn an_upload_that_cannot_be_is_refused() {
    for (arguments, expected) in [
        ("\"nowhere.txt\"", "http.upload: nowhere.txt: "),
        ("\"lib\"", "http.upload: lib is no file"),
        ("\"/etc/passwd\"", "outside"),
        ("5", "http.upload: `file` must be str, not int"),
        ("\"lib/x.star\", json={}", "http.upload: there is no argument `json`"),
        ("\"lib/x.star\", fields=[]", "http.upload: `fields` must be dict"),
        ("\"lib/x.star\", filename=5", "http.upload: `filename` must be str"),
    ] {
        let error = Scene::new("", &format!("http.upload(\"http://127.0.0.1:9/\", {arguments})")).error();
        assert!(error.contains(expected), "{arguments}: {error}");
    }
}
