//! A function of `lib/` as JSON, keys in the order of chapter 05 §3.10. Secrets are named or blotted out, never shown.

use std::time::Duration;

use lib_functions::{
    Auth, AuthForm, BatchMode, Endpoint, FetchApi, KeyPlace, Lib, PushApi, RateLimit, Secret, Signature,
};
use project::REDACTED;
use serde_json::{Map, Value, json};
use types::Kind;

use super::list::is_sink;
use crate::duration::format;
use crate::output::Keys;
use crate::ui::Ui;

/// Defaults of the chapter, in seconds.
const TIMEOUT: Duration = Duration::from_secs(30);
const BACKOFF: Duration = Duration::from_secs(1);

pub(super) fn document(lib: &Lib, ui: &Ui) -> Value {
    let api = &lib.api;
    let transport = api.transport();
    let mut keys = Keys::document();
    keys.put("kind", "detail");
    keys.put("name", lib.name.as_str());
    keys.put("path", lib.path.display().to_string());
    keys.put_some("fetch", api.fetch.as_ref().map(|fetch| fetch_keys(fetch, lib)));
    keys.put_some("push", api.push.as_ref().map(|push| push_keys(push, lib)));
    keys.put_some("auth", api.auth.as_ref().map(auth));
    keys.put_some("base_url", api.base_url.as_ref().map(|url| ui.redact(url)));
    let headers = transport.headers.iter().map(|(name, value)| (name.clone(), Value::from(header(name, value, ui))));
    keys.put_some("headers", headers.collect::<Map<_, _>>());
    keys.put_some("timeout", seconds(transport.timeout.unwrap_or(TIMEOUT)));
    keys.put_some("retry", transport.retry.unwrap_or(0));
    keys.put_some("backoff", seconds(transport.backoff.unwrap_or(BACKOFF)));
    keys.put_some("endpoints", endpoints(&lib.endpoints, ui));
    keys.put_some("is_sink", is_sink(lib));
    keys.put_some("rate_limit", transport.rate_limit.as_ref().map(rate_limit));
    keys.into()
}

fn fetch_keys(fetch: &FetchApi, lib: &Lib) -> Value {
    let (mode, functions): (&str, &[&str]) =
        if fetch.is_async { ("async", &["submit", "check", "fetch_result"]) } else { ("sync", &["fetch"]) };
    let mut keys = Keys::new();
    keys.put("args", fetch.args.clone());
    keys.put_some("page_size", fetch.page_size);
    keys.put_some("supported_kinds", kinds(fetch.supported_kinds.as_deref()));
    keys.put("mode", mode);
    keys.put_some("functions", signatures(lib, functions));
    if fetch.is_async {
        keys.put("poll_interval", duration(fetch.poll_interval));
        keys.put("poll_timeout", duration(fetch.poll_timeout));
        keys.put("poll_backoff", fetch.poll_backoff);
    }
    keys.into()
}

fn push_keys(push: &PushApi, lib: &Lib) -> Value {
    let mode = match push.batch_mode {
        BatchMode::Sync => "sync",
        BatchMode::Atomic => "atomic",
        BatchMode::Async => "async",
    };
    let mut keys = Keys::new();
    keys.put("args", push.args.clone());
    keys.put_some("supported_kinds", kinds(push.supported_kinds.as_deref()));
    keys.put("batch_size", push.batch_size);
    keys.put("batch_mode", mode);
    keys.put("max_concurrent", push.max_concurrent);
    if push.batch_mode == BatchMode::Async {
        keys.put("poll_interval", duration(push.poll_interval));
        keys.put("poll_timeout", duration(push.poll_timeout));
    }
    keys.put_some("functions", signatures(lib, &["push", "poll", "finalize"]));
    keys.into()
}

fn kinds(kinds: Option<&[Kind]>) -> Vec<&'static str> {
    kinds.unwrap_or_default().iter().map(|kind| kind.as_str()).collect()
}

/// Those of the named functions that there are, with their parameters.
fn signatures(lib: &Lib, names: &[&str]) -> Map<String, Value> {
    let parameters = |function: &Signature| -> Vec<String> {
        let any = function.takes_any.then(|| "**".to_owned());
        function.parameters.iter().map(|parameter| parameter.name.clone()).chain(any).collect()
    };
    let found = names.iter().filter_map(|name| Some((name, lib.functions.get(*name)?)));
    found.map(|(name, function)| ((*name).to_owned(), Value::from(parameters(function)))).collect()
}

fn auth(auth: &Auth) -> Value {
    let mut keys = Keys::new();
    match &auth.form {
        AuthForm::ServiceAccount { file, scope } => {
            keys.put("service_account", secret(file));
            keys.put("scope", scope.as_str());
        }
        AuthForm::Provider(name) => keys.put("provider", name.to_string()),
        AuthForm::Basic { user, password } => {
            keys.put("user", secret(user));
            keys.put("pass", secret(password));
        }
        AuthForm::Key { key, place } => {
            keys.put("env", variable(key));
            match place {
                KeyPlace::Bearer => {}
                KeyPlace::Header(name) => keys.put("header", name.as_str()),
                KeyPlace::Parameter(name) => keys.put("param", name.as_str()),
            }
        }
    }
    keys.put_some("hosts", auth.hosts.clone());
    keys.into()
}

fn secret(secret: &Secret) -> Value {
    match secret {
        Secret::Variable(name) => json!({"env": name}),
        Secret::Literal(_) => json!(REDACTED),
    }
}

fn variable(secret: &Secret) -> &str {
    match secret {
        Secret::Variable(name) => name,
        Secret::Literal(_) => REDACTED,
    }
}

/// Headers whose values stand in a file without being secrets; whatever others hold may be one.
const HARMLESS: [&str; 10] = [
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "content-language",
    "content-type",
    "if-none-match",
    "prefer",
    "user-agent",
];

/// The value of a header, if it can be shown.
fn header(name: &str, value: &str, ui: &Ui) -> String {
    if HARMLESS.contains(&name.to_lowercase().as_str()) { ui.redact(value) } else { REDACTED.to_owned() }
}

fn endpoints(found: &[Endpoint], ui: &Ui) -> Vec<Value> {
    let path = |endpoint: &Endpoint| endpoint.path.as_ref().map_or_else(|| "<computed>".into(), |path| ui.redact(path));
    let mut told: Vec<(&str, String, Option<&String>)> =
        found.iter().map(|endpoint| (endpoint.method, path(endpoint), endpoint.function.as_ref())).collect();
    told.sort();
    let keys = |(method, path, function): (&str, String, Option<&String>)| {
        let mut keys = Keys::new();
        keys.put("method", method);
        keys.put("path", path);
        keys.put_some("function", function.cloned());
        keys.into()
    };
    told.into_iter().map(keys).collect()
}

fn rate_limit(limit: &RateLimit) -> Value {
    json!({"requests": limit.requests, "per": duration(limit.per)})
}

/// Seconds as they are written in a file: whole where they are.
fn seconds(time: Duration) -> Value {
    if time.subsec_nanos() == 0 { json!(time.as_secs()) } else { json!(time.as_secs_f64()) }
}

/// `5m`, not `5m0s`.
fn duration(time: Duration) -> String {
    let mut text = format(time);
    for (unit, whole) in [("m0s", 2), ("h0m", 2)] {
        if text.ends_with(unit) {
            text.truncate(text.len() - whole);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{duration, seconds};

    #[test]
    fn times_are_written_as_an_author_would() {
        for (seconds, text) in [(5, "5s"), (90, "1m30s"), (300, "5m"), (3600, "1h"), (5400, "1h30m"), (600, "10m")] {
            assert_eq!(duration(Duration::from_secs(seconds)), text);
        }
        assert_eq!(duration(Duration::from_millis(500)), "500ms");
        assert_eq!(seconds(Duration::from_secs(30)).to_string(), "30");
        assert_eq!(seconds(Duration::from_millis(2500)).to_string(), "2.5");
    }
}
