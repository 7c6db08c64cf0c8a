//! What goes over the wire: methods, URLs, parameters, headers.

use testkit::http::{Answer, Server};

use crate::scene::Scene;

fn server() -> Server {
    Server::answers(vec![Answer::ok("{}")])
}

/// The lines of a request's head, names in lower case, in order.
fn head(server: &Server) -> Vec<String> {
    let seen = server.only();
    let mut lines: Vec<String> = seen.head.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    lines[1..].sort();
    lines
}

#[test]
fn a_get_is_sent_with_its_defaults_and_nothing_else() {
    let server = server();
    Scene::new(&format!("\"base_url\": \"{}\"", server.url("/v1/")), "http.get(\"/items\")").lines();
    let host = format!("host: {}", server.address);
    assert_eq!(
        head(&server),
        [
            "GET /v1/items HTTP/1.1",
            "accept-encoding: gzip, deflate",
            "accept: */*",
            &host,
            "user-agent: OndatraSQL/1.0"
        ]
    );
}

#[test]
fn every_method_is_sent_as_itself() {
    let server = server();
    let body = "for send in [http.get, http.post, http.put, http.patch, http.delete]:\n    send(url=\"m\")";
    Scene::new(&format!("\"base_url\": \"{}\"", server.url("")), body).lines();
    let lines: Vec<String> = server.seen().iter().map(|seen| seen.line().to_owned()).collect();
    let methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];
    assert_eq!(lines, methods.map(|method| format!("{method} /m HTTP/1.1")));
    let error = Scene::new("", "http.head(\"http://a/\")").error();
    assert!(error.contains("head"), "{error}");
}

#[test]
fn urls_are_joined_with_one_slash_or_absolute() {
    let server = server();
    for (base, url, path) in [
        ("/v1", "x", "/v1/x"),
        ("/v1/", "/x", "/v1/x"),
        ("", "/x?a=1#f", "/x?a=1"),
        ("/v1", "", "/v1/"),
        ("/v1", &server.url("/other"), "/other"),
        ("/v1", "//evil.test/x", "/v1/evil.test/x"),
    ] {
        Scene::new(&format!("\"base_url\": \"{}\"", server.url(base)), &format!("http.get(\"{url}\")")).lines();
        assert_eq!(server.seen().pop().unwrap().target(), path);
    }
    Scene::new("", &format!("http.get(\"{}\")", server.url("/alone"))).lines();
    assert_eq!(server.seen().pop().unwrap().target(), "/alone");
    let before = server.seen().len();
    for (url, expected) in [
        ("/x", "x.fetch: http.get: \"/x\" is relative, and API has no \"base_url\""),
        ("ftp://a/x", "is relative"),
        ("http://", "x.fetch: http.get: invalid URL"),
        ("http://a b/", "x.fetch: http.get: invalid URL"),
    ] {
        let error = Scene::new("", &format!("http.get(\"{url}\")")).error();
        assert!(error.contains(expected), "{url}: {error}");
    }
    assert_eq!(server.seen().len(), before);
}

/// Traps 4 and 5 of chapter 03 §3.6 among others.
#[test]
fn parameters_of_all_types_join_the_query_that_is_there() {
    let server = server();
    let id = "json.decode(\"{\\\"id\\\": 7}\")[\"id\"]";
    for (url, params, path) in [
        ("p", "{\"limit\": page.size, \"cursor\": page.cursor}", "/p?limit=100"),
        ("p", "{\"s\": \"ü &=+/?\"}", "/p?s=%C3%BC+%26%3D%2B%2F%3F"),
        (
            "p",
            "{\"i\": 9007199254740993 << 70, \"n\": -1, \"f\": 1.5, \"g\": 1.0}",
            "/p?i=10633823966279328163822077199654060032&n=-1&f=1.5&g=1.0",
        ),
        ("p", "{\"t\": True, \"f\": False}", "/p?t=true&f=false"),
        ("p", "{\"l\": [1, \"a\", True, None, 2.5], \"u\": (3, 4), \"e\": []}", "/p?l=1&l=a&l=true&l=2.5&u=3&u=4"),
        ("p?q=%7e'a'&x=1", "{\"x\": 2, \"y\": 3}", "/p?q=%7e'a'&x=2&y=3"),
        ("p?tag=0&b=1&tag=9", "{\"tag\": [1, 2]}", "/p?b=1&tag=1&tag=2"),
        ("p?x=1", "{\"x\": None}", "/p?x=1"),
        ("p?x=1", "{}", "/p?x=1"),
        ("p", "None", "/p"),
        (&format!("/items/\" + str({id}) + \""), "{}", "/items/7"),
    ] {
        Scene::new(&format!("\"base_url\": \"{}\"", server.url("")), &format!("http.get(\"{url}\", params={params})"))
            .lines();
        assert_eq!(server.seen().pop().unwrap().target(), path, "{params}");
    }
}

#[test]
fn what_is_no_parameter_is_refused_before_anything_is_sent() {
    let server = server();
    for (argument, expected) in [
        ("params=[1]", "http.get: `params` must be dict, not list"),
        ("params={1: 2}", "http.get: `params`: a key is no str, but int"),
        ("params={\"a\": {}}", "http.get: `params`: a value is no str, int, float, bool, list or None, but dict"),
        ("params={\"a\": [[1]]}", "http.get: `params`: a value is no str"),
        ("params={\"a\": b\"x\"}", "http.get: `params`: a value is no str"),
        ("headers=[1]", "http.get: `headers` must be dict"),
        ("headers={\"a\": [1]}", "http.get: `headers`: a value is no str"),
        ("headers={1: \"a\"}", "http.get: `headers`: a name is no str, but int"),
        ("headers={\"a b\": \"c\"}", "http.get: header \"a b\""),
        ("headers={\"X-Key\": \"a\\nEvil: b\"}", "http.get: header \"X-Key\""),
        ("retry=-1", "http.get: `retry` must be a whole number, 0 or more"),
        ("retry=1.0", "http.get: `retry` must be"),
        ("retry=True", "http.get: `retry` must be"),
        ("timeout=0", "http.get: `timeout` must be more than 0"),
        ("timeout=-1", "http.get: `timeout` must be more than 0"),
        ("timeout=\"30\"", "http.get: `timeout` must be int or float, not string"),
        ("timeout=True", "http.get: `timeout` must be int or float, not bool"),
        ("timeout=float(\"nan\")", "http.get: `timeout` must be a number of seconds, not NaN"),
        ("timeout=float(\"inf\")", "http.get: `timeout` must be a number of seconds, not inf"),
        ("backoff=-0.5", "http.get: `backoff` must be 0 or more"),
        ("method=\"GET\"", "http.get: there is no argument `method`"),
        ("file=\"x\"", "http.get: there is no argument `file`"),
    ] {
        let error = Scene::new("", &format!("http.get(\"{}\", {argument})", server.url("/"))).error();
        assert!(error.starts_with("x.fetch: ") && error.contains(expected), "{argument}: {error}");
    }
    for (call, expected) in [
        ("http.get()", "http.get: "),
        ("http.get(5)", "http.get: `url` must be str, not int"),
        ("http.get(None)", "http.get: `url` must be str"),
        ("http.get(\"http://a/\", {})", "http.get: "),
        ("http.upload(\"http://a/\")", "http.upload: "),
    ] {
        let error = Scene::new("", call).error();
        assert!(error.contains(expected), "{call}: {error}");
    }
    assert_eq!(server.seen().len(), 0);
}

#[test]
fn headers_of_a_call_replace_those_of_the_api_in_any_case() {
    let server = server();
    let api = format!(
        "\"base_url\": \"{}\", \"headers\": {{\"X-A\": \"api\", \"X-B\": \"api\", \"X-C\": \"api\", \"X-D\": \"api\"}}, \
         \"fetch\": {{\"headers\": {{\"x-b\": \"fetch\"}}}}",
        server.url("")
    );
    let call =
        "http.get(\"h\", headers={\"x-a\": \"call\", \"X-c\": None, \"X-N\": 5, \"X-T\": True, \"X-Wide\": \"ü\"})";
    Scene::new(&api, call).lines();
    let seen = server.only();
    for (name, value) in
        [("x-a", "call"), ("x-b", "fetch"), ("x-d", "api"), ("x-n", "5"), ("x-t", "true"), ("x-wide", "ü")]
    {
        assert_eq!(seen.header(name), value, "{name}");
    }
    assert_eq!(seen.all("x-c"), Vec::<&str>::new());
}

#[test]
fn headers_of_pushing_stay_out_of_fetching() {
    let server = server();
    let api = "\"headers\": {\"X-A\": \"api\"}, \"fetch\": {}, \"push\": {\"headers\": {\"X-A\": \"push\", \"X-P\": \"push\"}}";
    let text =
        crate::scene::text(api, &format!("http.get(\"{}\")", server.url("/"))) + "\ndef push(rows):\n    return {}\n";
    Scene::of(&text).lines();
    let seen = server.only();
    assert_eq!((seen.header("x-a"), seen.all("x-p")), ("api", vec![]));
}

#[test]
fn the_user_agent_can_be_replaced_and_dropped() {
    let server = server();
    let url = server.url("/");
    for (api, headers, sent) in [
        ("", "None", vec!["OndatraSQL/1.0"]),
        ("", "{\"user-AGENT\": \"me\"}", vec!["me"]),
        ("", "{\"user-agent\": None}", vec![]),
        ("\"headers\": {\"USER-AGENT\": \"api\"}", "{}", vec!["api"]),
        ("\"headers\": {\"USER-AGENT\": \"api\"}", "{\"User-Agent\": None}", vec![]),
    ] {
        Scene::new(api, &format!("http.get(\"{url}\", headers={headers})")).lines();
        assert_eq!(server.seen().pop().unwrap().all("user-agent"), sent, "{api} {headers}");
    }
}

#[test]
fn times_may_be_long() {
    let server = server();
    Scene::new("", &format!("http.get(\"{}\", timeout=1 << 80, backoff=1e300)", server.url("/"))).lines();
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn helpers_ask_as_the_lib_that_loads_them() {
    let server = server();
    let helper = "h = http\n\ndef ask(path):\n    return h.get(path, params={\"a\": 1})\n";
    let api = format!("\"base_url\": \"{}\", \"auth\": {{\"user\": \"me\", \"pass\": \"pw\"}}", server.url("/v1"));
    let text = "load(\"lib/_h.star\", \"ask\")\n".to_owned() + &crate::scene::text(&api, "ask(\"x\")");
    Scene::of(&text).file("lib/_h.star", helper).lines();
    let seen = server.only();
    assert_eq!((seen.target(), seen.header("authorization")), ("/v1/x?a=1", "Basic bWU6cHc="));
}
