//! The section `auth`: its forms, its variables, what is kept secret.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use testkit::http::{Answer, Seen, Server};

use crate::scene::Scene;

const ENV: &str = "API_KEY=k3y/value+1\nUSER_NAME=someone\nUSER_PASS=pa:ss w0rd\n";

fn sent(auth: &str, call: &str) -> Seen {
    let server = Server::answers(vec![Answer::ok("")]);
    let api = format!("\"base_url\": \"{}\", \"auth\": {auth}", server.url("/v1"));
    Scene::new(&api, call).file(".env", ENV).lines();
    server.only()
}

#[test]
fn every_form_is_sent_as_it_says() {
    let pair = |text: &str| format!("Basic {}", STANDARD.encode(text));
    for (auth, header, value) in [
        ("{\"env\": \"API_KEY\"}", "authorization", "Bearer k3y/value+1".to_owned()),
        ("{\"env\": \"API_KEY\", \"header\": \"X-Api-Key\"}", "x-api-key", "k3y/value+1".into()),
        ("{\"env\": \"API_KEY\", \"header\": \"Authorization\"}", "authorization", "k3y/value+1".into()),
        (
            "{\"user\": {\"env\": \"USER_NAME\"}, \"pass\": {\"env\": \"USER_PASS\"}}",
            "authorization",
            pair("someone:pa:ss w0rd"),
        ),
        ("{\"user\": \"me\", \"pass\": \"literal1\"}", "authorization", pair("me:literal1")),
        ("{\"user\": \"me\", \"pass\": \"literal1\", \"env\": \"API_KEY\"}", "authorization", pair("me:literal1")),
    ] {
        let seen = sent(auth, "http.get(\"x\")");
        assert_eq!((seen.header(header), seen.target()), (value.as_str(), "/v1/x"), "{auth}");
    }
}

#[test]
fn a_parameter_is_set_once() {
    let auth = "{\"env\": \"API_KEY\", \"param\": \"api_key\"}";
    for (call, path) in [
        ("http.get(\"x\")", "/v1/x?api_key=k3y%2Fvalue%2B1"),
        ("http.get(\"x?a=1\", params={\"b\": 2})", "/v1/x?a=1&b=2&api_key=k3y%2Fvalue%2B1"),
        ("http.get(\"x?api_key=old&a=1\")", "/v1/x?a=1&api_key=k3y%2Fvalue%2B1"),
        ("http.get(\"x\", params={\"api_key\": \"other\"})", "/v1/x?api_key=k3y%2Fvalue%2B1"),
    ] {
        let seen = sent(auth, call);
        assert_eq!((seen.target(), seen.all("authorization")), (path, vec![]), "{call}");
    }
}

#[test]
fn a_header_of_the_call_replaces_or_drops_it() {
    let auth = "{\"env\": \"API_KEY\"}";
    let seen = sent(auth, "http.get(\"x\", headers={\"AUTHORIZATION\": \"Own x\"})");
    assert_eq!(seen.header("authorization"), "Own x");
    let seen = sent(auth, "http.get(\"x\", headers={\"AUTHORIZATION\": None})");
    assert_eq!(seen.all("authorization"), Vec::<&str>::new());
}

/// Trap 29 of chapter 03 §3.6.
#[test]
fn a_variable_that_is_not_set_fails_before_any_request() {
    let server = Server::answers(vec![Answer::ok("")]);
    for (auth, name) in [
        ("{\"env\": \"NOT_THERE\"}", "NOT_THERE"),
        ("{\"env\": \"EMPTY\"}", "EMPTY"),
        ("{\"env\": \"NOT_THERE\", \"header\": \"X\"}", "NOT_THERE"),
        ("{\"env\": \"EMPTY\", \"param\": \"p\"}", "EMPTY"),
        ("{\"user\": {\"env\": \"NOT_THERE\"}, \"pass\": \"p\"}", "NOT_THERE"),
        ("{\"user\": \"u\", \"pass\": {\"env\": \"EMPTY\"}}", "EMPTY"),
    ] {
        for call in ["http.get(\"x\")", "http.get(\"x\", auth=(\"a\", \"b\"))", "pass"] {
            let api = format!("\"base_url\": \"{}\", \"auth\": {auth}", server.url("/"));
            let error = Scene::new(&api, call).file(".env", "EMPTY=\n").error();
            assert!(error.starts_with("x: ") && error.contains(name), "{auth}: {error}");
        }
    }
    assert_eq!(server.seen().len(), 0);
}

#[test]
fn a_secret_that_no_header_can_carry_is_named_and_not_shown() {
    for (auth, variable, told) in [
        (r#"{"env": "ODD_KEY"}"#, "ODD_KEY", r#"the variable ODD_KEY of API["auth"] cannot be sent as a header"#),
        (r#"{"env": "ODD_KEY", "header": "X-Key"}"#, "ODD_KEY", r#"the variable ODD_KEY of API["auth"] cannot"#),
        (r#"{"provider": "my-crm"}"#, "ONDATRA_OAUTH_TOKEN_MY_CRM", "(auth, or ONDATRA_OAUTH_TOKEN_MY_CRM) cannot"),
    ] {
        let api = format!("\"base_url\": \"http://127.0.0.1:1\", \"auth\": {auth}");
        let error = Scene::new(&api, "http.get(\"x\")").variable(variable, "0dd-k3y\nX-Evil: 1").error();
        assert!(error.contains(told) && !error.contains("0dd-k3y"), "{error}");
    }
}

#[test]
fn what_a_script_sets_is_used_from_then_on() {
    let server = Server::answers(vec![Answer::ok("{\"token\": \"fresh-t0ken\"}")]);
    let api = format!("\"base_url\": \"{}\", \"auth\": {{\"env\": \"SESSION\"}}", server.url(""));
    let body = "env.set(\"SESSION\", \"first-t0ken\")\nlogin = http.post(\"login\")\n\
                env.set(\"SESSION\", login.json[\"token\"])\nhttp.get(\"x\")\nprint(env.get(\"SESSION\"))";
    for process in ["", "of-the-process"] {
        assert_eq!(Scene::new(&api, body).variable("SESSION", process).lines(), ["[REDACTED]"]);
        let seen = server.seen();
        let last: Vec<&str> = seen.iter().rev().take(2).rev().map(|seen| seen.header("authorization")).collect();
        assert_eq!(last, ["Bearer first-t0ken", "Bearer fresh-t0ken"]);
    }
}

#[test]
fn a_login_may_come_before_the_variable_is_set() {
    let server = Server::answers(vec![Answer::ok("{\"token\": \"fresh-t0ken\"}")]);
    let api = format!("\"base_url\": \"{}\", \"auth\": {{\"env\": \"SESSION\"}}", server.url(""));
    let login = "login = http.post(\"login\", auth=(\"me\", \"pw\"))\n";
    Scene::new(&api, &format!("{login}env.set(\"SESSION\", login.json[\"token\"])\nhttp.get(\"x\")")).lines();
    assert_eq!(server.seen()[1].header("authorization"), "Bearer fresh-t0ken");
    // Whoever asks too early asks nobody.
    let error = Scene::new(&api, "http.get(\"x\")\nenv.set(\"SESSION\", \"late\")").error();
    assert!(error.starts_with("x.fetch: http.get: ") && error.contains("SESSION"), "{error}");
    assert_eq!(server.seen().len(), 2);
}

#[test]
fn what_authorizes_is_never_shown() {
    let server = Server::answers(vec![Answer::new(500, &[], "denied: key is k3y/value+1 pa:ss w0rd")]);
    for auth in [
        "{\"env\": \"OF_PROCESS\"}",
        "{\"env\": \"OF_PROCESS\", \"header\": \"X-Sign\"}",
        "{\"env\": \"OF_PROCESS\", \"param\": \"sig\"}",
        "{\"user\": \"someone\", \"pass\": {\"env\": \"OF_PROCESS\"}}",
    ] {
        let api = format!("\"base_url\": \"{}\", \"auth\": {auth}", server.url(""));
        let print = "print(env.get(\"OF_PROCESS\"), \"at\", env.get(\"OF_PROCESS\"))";
        let got = Scene::new(&api, &format!("{print}\nhttp.get(\"x\", params={{\"page\": 2}})"))
            .variable("OF_PROCESS", "k3y/value+1")
            .run();
        assert_eq!(got.lines, ["[REDACTED] at [REDACTED]"], "{auth}");
        let error = got.page.unwrap_err();
        assert!(error.starts_with("x.fetch: http.get: request failed after 1 attempts: GET "), "{error}");
        assert!(error.contains("status 500") && error.contains("page=2"), "{error}");
        assert!(!error.contains("k3y") && !error.contains("value+1") && !error.contains("%2Fvalue"), "{error}");
    }
}

#[test]
fn secrets_of_a_script_are_kept_out_of_its_errors() {
    for (body, shown) in [
        ("fail(\"key\", env.get(\"API_KEY\"))", "x.fetch: key [REDACTED]"),
        ("return {\"rows\": [{env.get(\"API_KEY\"): 1}, {1: 2}], \"next\": None}", "x.fetch: page 1, row 2"),
        ("return {\"rows\": [{(env.get(\"API_KEY\"),): 1}]}", "x.fetch: page 1, row 1"),
        ("{}[env.get(\"API_KEY\")]", "x.fetch: "),
        ("read_text(env.get(\"API_KEY\"))", "x.fetch: read_text: "),
        ("http.get(\"http://127.0.0.1:1/\" + env.get(\"API_KEY\"))", "x.fetch: http.get: "),
        ("http.get(env.get(\"API_KEY\"))", "x.fetch: http.get: \"[REDACTED]\" is relative"),
        ("http.get(\"http://me:\" + env.get(\"API_KEY\") + \"@127.0.0.1:1/\")", "x.fetch: http.get: "),
    ] {
        let error = Scene::new("", body).file(".env", "API_KEY=k3y-value-1\n").error();
        assert!(error.starts_with(shown) && !error.contains("value"), "{body}: {error}");
    }
}
