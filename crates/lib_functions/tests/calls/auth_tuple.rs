//! `auth=` of a call: basic and digest, in place of the API's `auth`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use testkit::http::{Answer, Server};

use crate::scene::Scene;

fn challenge(text: &str) -> Answer {
    Answer::new(401, &[("WWW-Authenticate", text)], "no")
}

#[test]
fn a_pair_is_basic_and_replaces_what_the_api_has() {
    for api in [
        "",
        "\"auth\": {\"env\": \"API_KEY\"}",
        "\"auth\": {\"env\": \"API_KEY\", \"header\": \"X-Key\"}",
        "\"auth\": {\"env\": \"API_KEY\", \"param\": \"api_key\"}",
        "\"headers\": {\"authorization\": \"Bearer of-the-file\"}",
    ] {
        for auth in ["(\"me\", \"pä:ss\")", "(\"me\", \"pä:ss\", \"basic\")"] {
            let server = Server::answers(vec![Answer::ok("")]);
            let call = format!("http.get(\"{}\", auth={auth})", server.url("/x"));
            Scene::new(api, &call).variable("API_KEY", "k3y-k3y").lines();
            let seen = server.only();
            assert_eq!(seen.header("authorization"), format!("Basic {}", STANDARD.encode("me:pä:ss")), "{api}");
            assert_eq!((seen.target(), seen.all("x-key")), ("/x", vec![]), "{api}");
        }
    }
}

#[test]
fn an_authorization_header_of_the_call_goes_first() {
    let server = Server::answers(vec![Answer::ok("")]);
    let call =
        format!("http.get(\"{}\", auth=(\"a\", \"b\"), headers={{\"authorization\": \"Own x\"}})", server.url("/"));
    Scene::new("", &call).lines();
    assert_eq!(server.only().header("authorization"), "Own x");
}

/// Trap 25 of chapter 03 §3.6.
#[test]
fn digest_answers_a_challenge_with_two_requests() {
    let server = Server::new(|number, _| match number {
        0 => challenge("Digest realm=\"r\", nonce=\"n\", qop=\"auth,auth-int\", algorithm=SHA-256"),
        _ => Answer::ok("in"),
    });
    let api = "\"auth\": {\"env\": \"API_KEY\"}, \"headers\": {\"Authorization\": \"Bearer of-the-file\"}";
    let call = format!(
        "print(http.get(\"{}\", params={{\"b\": 1}}, auth=(\"me\", \"secret-pw\", \"digest\")).text)",
        server.url("/d?a")
    );
    assert_eq!(Scene::new(api, &call).variable("API_KEY", "k3y-k3y").lines(), ["in"]);
    let seen = server.seen();
    assert_eq!((seen.len(), seen[0].all("authorization")), (2, vec![]));
    let answer = seen[1].header("authorization");
    for part in ["Digest ", "username=\"me\"", "uri=\"/d?a&b=1\"", "qop=auth,", "algorithm=SHA-256"] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    assert!(!answer.contains("secret-pw"));
}

#[test]
fn a_second_challenge_is_handed_back() {
    let server = Server::answers(vec![challenge("Digest realm=\"r\", nonce=\"n\", qop=\"auth\"")]);
    let call =
        format!("print(http.get(\"{}\", auth=(\"me\", \"pw\", \"digest\"), retry=3).status_code)", server.url("/"));
    assert_eq!(Scene::new("", &call).lines(), ["401"]);
    assert_eq!(server.seen().len(), 2);
}

#[test]
fn what_is_no_pair_is_refused_without_its_password() {
    let server = Server::answers(vec![Answer::ok("")]);
    for (auth, expected) in [
        ("(\"me\",)", "http.get: `auth` must be (user, password)"),
        ("(\"me\", \"hunter22\", \"ntlm\")", "http.get: `auth` must be"),
        ("(\"me\", \"hunter22\", \"Basic\")", "http.get: `auth` must be"),
        ("(\"me\", \"hunter22\", \"basic\", 1)", "http.get: `auth` must be"),
        ("(\"\", \"hunter22\")", "http.get: the user of `auth` is empty"),
        ("(\"\", \"hunter22\", \"digest\")", "is empty"),
        ("(1, \"hunter22\")", "http.get: `auth` must be"),
        ("\"me:hunter22\"", "http.get: `auth` must be"),
        ("{\"me\": \"hunter22\"}", "http.get: `auth` must be"),
    ] {
        let error = Scene::new("", &format!("http.get(\"{}\", auth={auth})", server.url("/"))).error();
        assert!(error.contains(expected) && !error.contains("hunter22"), "{auth}: {error}");
    }
    assert_eq!(server.seen().len(), 0);
}

#[test]
fn a_password_of_a_call_is_kept_out_of_what_follows() {
    let server = Server::answers(vec![Answer::new(500, &[], "you sent hunter22")]);
    for scheme in ["basic", "digest"] {
        let call = format!("http.get(\"{}\", auth=(\"me\", \"hunter22\", \"{scheme}\"))", server.url("/?q=hunter22"));
        let error = Scene::new("", &call).error();
        assert!(error.contains("status 500") && !error.contains("hunter22"), "{error}");
    }
}
