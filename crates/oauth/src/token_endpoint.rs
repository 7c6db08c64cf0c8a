//! Requests to token endpoints and their answers (RFC 6749 §5), read as providers really write them.

use std::time::{Duration, Instant};

use http_client::{Body, Client, HttpError, Method, Request, Response, Stop};
use project::Redactor;
use serde_json::{Map, Value};

/// The time of an attempt. Nothing is sent again after it: the provider may have taken the code or the refresh token out
/// of use, and may take back everything when it comes twice.
const TIMEOUT: Duration = Duration::from_mins(1);
/// How often it is tried again. A provider that is away is back in a moment.
const RETRY: u32 = 2;
/// The life of an access token, where the provider does not say.
const DEFAULT_LIFE: Duration = Duration::from_hours(1);
/// No provider has more to say.
const MAX_ANSWER_BYTES: u64 = 1 << 20;
/// An error shows this many characters of an answer.
const SHOWN_CHARACTERS: usize = 500;

/// Asks token endpoints.
#[derive(Clone)]
pub(crate) struct TokenEndpoint {
    pub client: Client,
    /// Learns what is given; what is sent was learned before.
    pub redactor: Redactor,
    timeout: Duration,
}

/// What was given.
pub(crate) struct Grant {
    pub access_token: String,
    /// Another one in place of that which was sent.
    pub refresh_token: Option<String>,
    pub scope: Option<String>,
    /// When the access token expires. It lives from the moment on at which it was asked for, at the latest.
    pub expires: Instant,
}

impl Grant {
    /// How long the access token lives from now on.
    pub(crate) fn left(&self) -> Duration {
        self.expires.saturating_duration_since(Instant::now())
    }
}

/// Why nothing was given. Texts are redacted.
#[derive(Debug)]
pub(crate) enum Refusal {
    Stopped,
    /// `invalid_grant`: what was sent is expired, revoked, or of somebody else.
    InvalidGrant(String),
    Failed(String),
}

impl TokenEndpoint {
    pub(crate) fn new(client: Client, redactor: Redactor) -> Self {
        Self { client, redactor, timeout: TIMEOUT }
    }

    /// Sends a form. It goes to this URL alone: no redirect gets what is in it.
    pub(crate) fn ask(&self, url: &str, form: &[(&str, &str)], stop: &Stop) -> Result<Grant, Refusal> {
        let pairs: Vec<(String, String)> =
            form.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut request = Request::new(Method::Post, url);
        request.headers = vec![("Accept".to_owned(), "application/json".to_owned())];
        request.body =
            Body::Bytes(http_client::form(&pairs).into_bytes().into(), "application/x-www-form-urlencoded".to_owned());
        (request.timeout, request.retry, request.retries_timeouts) = (self.timeout, RETRY, false);
        request.follows_redirects = false;
        request.max_response_bytes = MAX_ANSWER_BYTES;
        let asked = Instant::now();
        let answer = self.client.send(&request, stop).map_err(|error| match error {
            HttpError::Stopped => Refusal::Stopped,
            error => Refusal::Failed(self.redactor.redact(&told(&error))),
        })?;
        self.read(&answer, asked)
    }

    fn read(&self, answer: &Response, asked: Instant) -> Result<Grant, Refusal> {
        let parsed: Option<Map<String, Value>> = serde_json::from_slice(&answer.body).ok();
        let text = |name: &str| parsed.as_ref().and_then(|parsed| text(parsed.get(name)?));
        let scope = parsed.as_ref().and_then(|parsed| scope(parsed.get("scope")?));
        // Some answer 200 whatever happened.
        if answer.status != 200 || text("error").is_some() {
            let message = format!("the token endpoint answered {}: {}", answer.status, self.shown(&answer.body));
            return Err(match text("error").as_deref() {
                Some("invalid_grant") => Refusal::InvalidGrant(message),
                _ => Refusal::Failed(message),
            });
        }
        let Some(access_token) = text("access_token") else {
            // What it holds instead may be a token by another name.
            let held = match &parsed {
                Some(parsed) => format!("only: {}", parsed.keys().map(String::as_str).collect::<Vec<_>>().join(", ")),
                None => "no JSON object".to_owned(),
            };
            let message = format!("the token endpoint answered 200 without an access_token ({held})");
            return Err(Refusal::Failed(self.redactor.redact(&message)));
        };
        let refresh_token = text("refresh_token");
        if http_client::check_header("Authorization", &access_token).is_err() {
            let message = "the token endpoint answered with an access token that no request can carry";
            return Err(Refusal::Failed(message.to_owned()));
        }
        for secret in [Some(&access_token), refresh_token.as_ref()].into_iter().flatten() {
            self.redactor.add_secret(secret);
        }
        let life = parsed.as_ref().and_then(|parsed| life(parsed.get("expires_in")?)).unwrap_or(DEFAULT_LIFE);
        Ok(Grant { access_token, refresh_token, scope, expires: asked + life })
    }

    /// The beginning of a body, redacted before it is cut: half a secret would not be found.
    fn shown(&self, body: &[u8]) -> String {
        let text = String::from_utf8_lossy(body);
        self.redactor.redact(text.trim()).chars().take(SHOWN_CHARACTERS).collect()
    }
}

/// Where and why a request failed. The URL often ends in `token`, and what stands behind `token:` is taken for one.
fn told(error: &HttpError) -> String {
    match error {
        HttpError::Failed { attempts, method, url, cause } => {
            format!("{method} {url} failed after {attempts} attempts: {cause}")
        }
        HttpError::Redirect { method, url, reason } => format!("{method} {url} failed: {reason}"),
        error => error.to_string(),
    }
}

/// A text that is not empty.
fn text(value: &Value) -> Option<String> {
    value.as_str().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// A text, or a list of them. It is shown to people, as it is.
fn scope(value: &Value) -> Option<String> {
    let scope = match value {
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        value => text(value)?,
    };
    let printable = |c: char| if c.is_control() { ' ' } else { c };
    Some(scope.chars().map(printable).collect::<String>().trim().to_owned()).filter(|scope| !scope.is_empty())
}

/// `expires_in`, a number or a text. What says nothing, zero too, says that the provider does not tell.
fn life(value: &Value) -> Option<Duration> {
    let seconds = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    // A year is long enough, and no clock overflows by it.
    seconds.filter(|seconds| *seconds > 0.0).map(|seconds| Duration::from_secs_f64(seconds.min(31_536_000.0)))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Grant, Refusal, TIMEOUT, TokenEndpoint};
    use http_client::{Client, ClientOptions, Stop};
    use project::Redactor;
    use testkit::http::{Answer, Server};

    fn ask(answers: Vec<Answer>) -> (Result<Grant, Refusal>, Server, Redactor) {
        ask_within(TIMEOUT, answers)
    }

    fn ask_within(timeout: Duration, answers: Vec<Answer>) -> (Result<Grant, Refusal>, Server, Redactor) {
        let server = Server::answers(answers);
        let endpoint = TokenEndpoint::new(Client::new(ClientOptions::default()), Redactor::default());
        let endpoint = TokenEndpoint { timeout, ..endpoint };
        endpoint.redactor.add_secret("r3fresh-1");
        let form = [("grant_type", "refresh_token"), ("refresh_token", "r3fresh-1"), ("x", "a b&c")];
        let answer = endpoint.ask(&server.url("/token?own=1"), &form, &Stop::never());
        (answer, server, endpoint.redactor)
    }

    fn refusal(answer: Answer) -> String {
        match ask(vec![answer]).0 {
            Err(Refusal::InvalidGrant(text)) => format!("invalid: {text}"),
            Err(Refusal::Failed(text)) => text,
            _ => panic!("it must be refused"),
        }
    }

    #[test]
    fn a_form_is_sent_and_json_comes_back() {
        let body = r#"{"access_token": "acc3ss-1", "refresh_token": "r3fresh-2", "expires_in": 100, "scope": "a b"}"#;
        let (grant, server, redactor) = ask(vec![Answer::ok(body)]);
        let grant = grant.ok().unwrap();
        assert_eq!((grant.access_token.as_str(), grant.refresh_token.as_deref()), ("acc3ss-1", Some("r3fresh-2")));
        assert_eq!(grant.scope.as_deref(), Some("a b"));
        let seen = server.only();
        assert_eq!((seen.line(), seen.header("accept")), ("POST /token?own=1 HTTP/1.1", "application/json"));
        assert_eq!(seen.header("content-type"), "application/x-www-form-urlencoded");
        assert_eq!(seen.body, b"grant_type=refresh_token&refresh_token=r3fresh-1&x=a+b%26c");
        assert_eq!(redactor.redact("acc3ss-1 r3fresh-2"), "[REDACTED] [REDACTED]");
    }

    #[test]
    fn what_may_have_counted_is_not_sent_again() {
        let slow = || Answer::ok(r#"{"access_token": "t"}"#).after(Duration::from_millis(600));
        let (grant, server, _) = ask_within(Duration::from_millis(200), vec![slow(), slow()]);
        assert!(matches!(grant, Err(Refusal::Failed(why)) if why.contains("after 1 attempts: no complete answer")));
        assert_eq!(server.seen().len(), 1);
    }

    #[test]
    fn tokens_are_texts_and_scopes_may_be_lists() {
        let grant = |body: &str| ask(vec![Answer::ok(body)]).0;
        for body in [r#"{"access_token": ["x"]}"#, r#"{"access_token": 5}"#] {
            assert!(
                matches!(grant(body), Err(Refusal::Failed(why)) if why.contains("without an access_token")),
                "{body}"
            );
        }
        for token in ["a\\nb", "é", "a\\u0000"] {
            let body = format!("{{\"access_token\": \"{token}\"}}");
            assert!(
                matches!(grant(&body), Err(Refusal::Failed(why)) if why.contains("no request can carry")),
                "{token}"
            );
        }
        let odd = r#"{"access_token": "t", "refresh_token": ["r"], "scope": ["a", "b\u001b[2J"]}"#;
        let odd = grant(odd).ok().unwrap();
        assert_eq!((odd.refresh_token, odd.scope.as_deref()), (None, Some("a b [2J")));
    }

    #[test]
    fn a_life_is_a_number_or_a_text_and_an_hour_without_it() {
        for (expires_in, seconds) in [
            ("100", 100),
            ("\"100\"", 100),
            ("100.5", 100),
            ("\"soon\"", 3600),
            ("null", 3600),
            ("0", 3600),
            ("-5", 3600),
            ("1e99", 31_536_000),
        ] {
            let before = Instant::now();
            let body = format!("{{\"access_token\": \"t\", \"expires_in\": {expires_in}}}");
            let grant = ask(vec![Answer::ok(body)]).0.ok().unwrap();
            // A request takes some time, but no minutes.
            let life = grant.expires - before;
            let expected = Duration::from_secs(seconds);
            assert!(life >= expected && life < expected + Duration::from_mins(10), "{expires_in}: {life:?}");
            assert!(grant.refresh_token.is_none() && grant.scope.is_none());
        }
    }

    #[test]
    fn refusals_tell_what_was_answered_without_secrets() {
        for (answer, told) in [
            (
                Answer::new(400, &[], r#"{"error": "invalid_grant", "error_description": "r3fresh-1 is revoked"}"#),
                concat!(
                    r#"invalid: the token endpoint answered 400: {"error": "invalid_grant", "#,
                    r#""error_description": "[REDACTED] is revoked"}"#
                ),
            ),
            (
                Answer::ok(r#"{"error": "bad_verification_code"}"#),
                r#"the token endpoint answered 200: {"error": "bad_verification_code"}"#,
            ),
            (Answer::new(403, &[], "<html>no</html>"), "the token endpoint answered 403: <html>no</html>"),
            (
                Answer::new(201, &[], r#"{"access_token": "x"}"#),
                r#"the token endpoint answered 201: {"access_token": "[REDACTED]"}"#,
            ),
            (
                Answer::ok(r#"{"token": "n3w-secret"}"#),
                "the token endpoint answered 200 without an access_token (only: token)",
            ),
            (
                Answer::ok("access_token=n3w-secret"),
                "the token endpoint answered 200 without an access_token (no JSON object)",
            ),
            (Answer::ok(""), "the token endpoint answered 200 without an access_token (no JSON object)"),
        ] {
            assert_eq!(refusal(answer), told);
        }
    }

    #[test]
    fn a_provider_that_stumbles_is_asked_again() {
        let (grant, server, _) = ask(vec![Answer::new(500, &[], "r3fresh-1"), Answer::ok(r#"{"access_token": "t"}"#)]);
        assert!(grant.is_ok());
        assert_eq!(server.seen().len(), 2);
    }

    #[test]
    fn no_redirect_gets_what_is_sent() {
        let other = Server::answers(vec![Answer::ok(r#"{"access_token": "t"}"#)]);
        for status in [302, 307, 308] {
            assert!(refusal(Answer::redirect(status, &other.url("/"))).contains("redirected to"), "{status}");
        }
        assert!(other.seen().is_empty());
    }

    #[test]
    fn it_ends_when_it_is_asked_to() {
        let server = Server::answers(vec![Answer::ok("").after(Duration::from_mins(1))]);
        let endpoint = TokenEndpoint::new(Client::new(ClientOptions::default()), Redactor::default());
        let seen = server.clone();
        let stop = Stop::new(move || !seen.seen().is_empty());
        assert!(matches!(endpoint.ask(&server.url("/"), &[], &stop), Err(Refusal::Stopped)));
    }
}
