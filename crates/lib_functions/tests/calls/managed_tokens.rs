//! Tokens of providers and service accounts: when they are asked for, where they go, and what a 401 does.

use std::sync::{Arc, Mutex};

use http_client::Stop;
use lib_functions::{AccessTokens, ProviderName, TokenError};
use testkit::http::{Answer, Server};

use crate::scene::Scene;

/// Gives `T0k3n-1`, and the next one for each that is rejected; keeps what it was asked.
#[derive(Default)]
struct Tokens(Mutex<Vec<String>>);

impl Tokens {
    fn give(&self, of: &str, rejected: Option<&str>) -> String {
        let mut asked = self.0.lock().unwrap();
        asked.push(format!("{of}, not {}", rejected.unwrap_or("any")));
        format!("T0k3n-{}", 1 + asked.iter().filter(|asked| !asked.ends_with("any")).count())
    }

    fn asked(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl AccessTokens for Tokens {
    fn provider(&self, name: &ProviderName, rejected: Option<&str>, _stop: &Stop) -> Result<String, TokenError> {
        if name.as_str() == "nobody" {
            return Err(TokenError::Failed { message: "no auth token".into(), help: "run `auth nobody`".into() });
        }
        Ok(self.give(name.as_str(), rejected))
    }

    fn service_account(
        &self,
        key: &str,
        scope: &str,
        rejected: Option<&str>,
        _stop: &Stop,
    ) -> Result<String, TokenError> {
        Ok(self.give(&format!("{key} for {scope}"), rejected))
    }
}

/// What `body` does with an API at `server` that has this `auth`; the scene, and what was asked of the tokens.
fn scene(server: &Server, auth: &str, body: &str) -> (Scene, Arc<Tokens>) {
    let tokens = Arc::new(Tokens::default());
    let api = format!("\"base_url\": \"{}\", \"auth\": {auth}", server.url("/v1"));
    (Scene::new(&api, body).tokens(tokens.clone()), tokens)
}

/// The bearer tokens of all requests.
fn bearers(server: &Server) -> Vec<String> {
    let bearer = |seen: &testkit::http::Seen| seen.all("authorization").join("+");
    server.seen().iter().map(bearer).collect()
}

const CRM: &str = "{\"provider\": \"my-crm\"}";

#[test]
fn a_token_is_sent_as_bearer_and_never_shown() {
    for (auth, of) in [
        (CRM, "my-crm"),
        ("{\"service_account\": \"keys/k.json\", \"scope\": \"read\"}", "keys/k.json for read"),
        ("{\"service_account\": {\"env\": \"KEY_FILE\"}, \"scope\": \"s\"}", "keys/other.json for s"),
    ] {
        let server = Server::answers(vec![Answer::ok("your T0k3n-1")]);
        let (scene, tokens) = scene(&server, auth, "print(http.get(\"x\").text)");
        let lines = scene.file(".env", "KEY_FILE=keys/other.json\n").lines();
        assert_eq!((bearers(&server), lines), (vec!["Bearer T0k3n-1".into()], vec!["your [REDACTED]".into()]));
        assert_eq!(tokens.asked(), [format!("{of}, not any")]);
    }
}

#[test]
fn a_401_renews_the_token_and_repeats_the_request_once() {
    let server = Server::new(|_, seen| {
        let is_new = seen.all("authorization") == ["Bearer T0k3n-2"];
        if is_new { Answer::ok("in") } else { Answer::new(401, &[], "out") }
    });
    let (scene, tokens) = scene(&server, CRM, "print(http.post(\"x\", json={\"a\": 1}).text)");
    assert_eq!(scene.lines(), ["in"]);
    assert_eq!(tokens.asked(), ["my-crm, not any", "my-crm, not T0k3n-1"]);
    assert!(server.seen().iter().all(|seen| seen.body == b"{\"a\":1}"));
    assert_eq!(bearers(&server), ["Bearer T0k3n-1", "Bearer T0k3n-2"]);
}

#[test]
fn a_second_401_is_the_scripts() {
    let server = Server::answers(vec![Answer::new(401, &[], "")]);
    let (scene, _) = scene(&server, CRM, "print(http.get(\"x\").status_code)");
    assert_eq!(scene.lines(), ["401"]);
    assert_eq!(server.seen().len(), 2);
}

/// There is one token, whatever is rejected.
struct OnlyOne;

impl AccessTokens for OnlyOne {
    fn provider(&self, _: &ProviderName, _: Option<&str>, _: &Stop) -> Result<String, TokenError> {
        Ok("0nly-one".into())
    }

    fn service_account(&self, _: &str, _: &str, _: Option<&str>, _: &Stop) -> Result<String, TokenError> {
        Ok("0nly-one".into())
    }
}

#[test]
fn without_a_better_token_nothing_is_repeated() {
    let server = Server::answers(vec![Answer::new(401, &[], "")]);
    let api = format!("\"base_url\": \"{}\", \"auth\": {CRM}", server.url("/v1"));
    let scene = Scene::new(&api, "print(http.get(\"x\").status_code)").tokens(Arc::new(OnlyOne));
    assert_eq!((scene.lines(), server.seen().len()), (vec!["401".to_owned()], 1));
}

#[test]
fn a_401_of_whom_a_redirect_led_to_renews_nothing() {
    let other = Server::answers(vec![Answer::new(401, &[], "")]);
    let place = other.url("/");
    let server = Server::new(move |_, _| Answer::redirect(302, &place));
    let (scene, tokens) = scene(&server, CRM, "print(http.get(\"x\").status_code)");
    assert_eq!(scene.lines(), ["401"]);
    assert_eq!((tokens.asked().len(), other.seen().len(), bearers(&other)), (1, 1, vec![String::new()]));
}

#[test]
fn an_injected_token_wins_and_is_never_renewed() {
    let server = Server::answers(vec![Answer::new(401, &[], "bad 1nj3cted-token")]);
    let (scene, tokens) = scene(&server, CRM, "print(http.get(\"x\").text)");
    let scene = scene.variable("ONDATRA_OAUTH_TOKEN_MY_CRM", " 1nj3cted-token\n");
    assert_eq!(scene.lines(), ["bad [REDACTED]"]);
    assert_eq!((bearers(&server), tokens.asked()), (vec!["Bearer 1nj3cted-token".into()], vec![]));
    // An empty one is none; a script may set one.
    let server = Server::answers(vec![Answer::ok("")]);
    let body = "http.get(\"x\")\nenv.set(\"ONDATRA_OAUTH_TOKEN_MY_CRM\", \"0wn-token\")\nhttp.get(\"x\")";
    let (scene, tokens) = self::scene(&server, CRM, body);
    scene.variable("ONDATRA_OAUTH_TOKEN_MY_CRM", " ").lines();
    assert_eq!(bearers(&server), ["Bearer T0k3n-1", "Bearer 0wn-token"]);
    assert_eq!(tokens.asked().len(), 1);
}

#[test]
fn nobody_is_asked_for_a_token_that_is_not_sent() {
    let (api, other) = (Server::answers(vec![Answer::ok("")]), Server::answers(vec![Answer::new(401, &[], "")]));
    let body = format!(
        "http.get(\"{}\")\nhttp.get(\"x\", headers={{\"authorization\": \"Own x\"}})\n\
         http.get(\"x\", headers={{\"Authorization\": None}})\nhttp.get(\"x\", auth=(\"u\", \"pass\"))",
        other.url("/")
    );
    let (scene, tokens) = scene(&api, CRM, &body);
    scene.lines();
    assert_eq!((bearers(&other), tokens.asked()), (vec![String::new()], vec![]));
    assert_eq!(bearers(&api), ["Own x", "", "Basic dTpwYXNz"]);
    let auth = format!("{{\"provider\": \"my-crm\", \"hosts\": [\"{}\"]}}", other.address);
    let (scene, _) = self::scene(&api, &auth, &format!("http.get(\"{}\")", other.url("/listed")));
    scene.lines();
    assert_eq!(bearers(&other)[1..], ["Bearer T0k3n-1", "Bearer T0k3n-2"]);
}

#[test]
fn without_a_token_nothing_is_sent_and_the_help_says_what_to_do() {
    let server = Server::answers(vec![Answer::ok("")]);
    let (scene, _) = scene(&server, "{\"provider\": \"nobody\"}", "http.get(\"x\")");
    let stage = scene.stage();
    let error = stage
        .with(|running| crate::scene::fetch(running, &[], &lib_functions::HostValue::None, &mut Vec::new()).map(drop));
    let Ok(Err(lib_functions::CallError::Failed(error))) = error else { panic!("{error:?}") };
    assert_eq!(
        (error.message.as_str(), error.help.as_str()),
        ("x.fetch: http.get: no auth token", "run `auth nobody`")
    );
    assert!(server.seen().is_empty());
    // A variable that is not set is found before anything runs.
    let auth = "{\"service_account\": {\"env\": \"NOT_THERE\"}, \"scope\": \"s\"}";
    let (scene, _) = self::scene(&server, auth, "pass");
    assert!(scene.error().starts_with("x: the variable NOT_THERE"));
}
