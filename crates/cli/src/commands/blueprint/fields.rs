//! `--fields`: which keys of a blueprint are wanted (chapter 05 §3.10).

use serde_json::{Map, Value};

/// Keys of a blueprint, in its order.
const KEYS: [&str; 15] = [
    "schema_version",
    "kind",
    "name",
    "path",
    "fetch",
    "push",
    "auth",
    "base_url",
    "headers",
    "timeout",
    "retry",
    "backoff",
    "endpoints",
    "is_sink",
    "rate_limit",
];
/// Those that come along whatever is asked for.
const ALWAYS: usize = 2;
/// Keys below a key.
const INNER: [(&str, &[&str]); 3] = [
    (
        "fetch",
        &["args", "page_size", "supported_kinds", "mode", "functions", "poll_interval", "poll_timeout", "poll_backoff"],
    ),
    (
        "push",
        &[
            "args",
            "supported_kinds",
            "batch_size",
            "batch_mode",
            "max_concurrent",
            "poll_interval",
            "poll_timeout",
            "functions",
        ],
    ),
    ("rate_limit", &["requests", "per"]),
];
/// Keys below which any key may be asked for.
const FREE: [&str; 2] = ["auth", "headers"];

/// What is wanted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fields {
    /// A key, and perhaps one below it.
    paths: Vec<(String, Option<String>)>,
}

impl Fields {
    /// Reads `a.b, c`.
    ///
    /// # Errors
    /// A path that no blueprint has, or none at all.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("--fields is empty".into());
        }
        let path = |path: &str| {
            let path = path.trim();
            let (key, inner) = path.split_once('.').map_or((path, None), |(key, inner)| (key, Some(inner)));
            if KEYS.contains(&key) && inner.is_none_or(|inner| has_inner(key, inner)) {
                return Ok((key.to_owned(), inner.map(str::to_owned)));
            }
            Err(format!("unknown field: {path:?}"))
        };
        Ok(Self { paths: text.split(',').map(path).collect::<Result<_, _>>()? })
    }

    /// The wanted part of a document; what it does not have is null.
    pub(super) fn of(&self, document: &Value) -> Value {
        let mut chosen = Map::new();
        for (at, key) in KEYS.into_iter().enumerate() {
            let wanted: Vec<&Option<String>> =
                self.paths.iter().filter(|(wanted, _)| wanted == key).map(|(_, inner)| inner).collect();
            if at < ALWAYS || wanted.iter().any(|inner| inner.is_none()) {
                chosen.insert(key.into(), document[key].clone());
            } else if !wanted.is_empty() {
                let wanted: Vec<&str> = wanted.into_iter().flatten().map(String::as_str).collect();
                chosen.insert(key.into(), inner(key, &document[key], &wanted));
            }
        }
        Value::Object(chosen)
    }
}

/// The wanted keys below a key, in the order that they have there whatever there is; free ones as the file has them, then
/// those that it does not have.
fn inner(outer: &str, value: &Value, wanted: &[&str]) -> Value {
    let known = INNER.iter().filter(|(key, _)| *key == outer).flat_map(|(_, keys)| keys.iter().copied());
    let present = value.as_object().into_iter().flatten().map(|(key, _)| key.as_str());
    let ordered = known.chain(present).filter(|key| wanted.contains(key)).chain(wanted.iter().copied());
    let mut chosen = Map::new();
    for key in ordered {
        chosen.entry(key).or_insert_with(|| value[key].clone());
    }
    Value::Object(chosen)
}

fn has_inner(key: &str, inner: &str) -> bool {
    let is_free = FREE.contains(&key) && !inner.is_empty() && !inner.contains('.');
    is_free || INNER.iter().any(|(outer, keys)| *outer == key && keys.contains(&inner))
}

/// What may be asked for.
pub(super) fn help() -> String {
    let inner = INNER.iter().map(|(key, keys)| format!("{key}.{{{}}}", keys.join(",")));
    let free = FREE.iter().map(|key| format!("{key}.<key>"));
    let all: Vec<String> = KEYS[ALWAYS..].iter().map(|&key| key.to_owned()).chain(inner).chain(free).collect();
    format!("write a list of: {}", all.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Fields;

    #[test]
    fn unknown_paths_are_refused() {
        for text in
            ["", "  ", "nope", "fetch.nope", "name,", ",name", "fetch.args.x", "auth.a.b", "auth.", "endpoints.path"]
        {
            assert!(Fields::parse(text).is_err(), "{text}");
        }
        for text in ["name", " fetch.args , push", "auth.env,headers.X-Key", "rate_limit.per", "schema_version"] {
            assert!(Fields::parse(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn what_is_wanted_keeps_its_order_and_what_is_missing_is_null() {
        let document = json!({"schema_version": 1, "kind": "detail", "name": "crm", "path": "lib/crm.star",
                              "fetch": {"args": ["a"], "mode": "sync"}, "timeout": 30});
        let of = |text: &str| Fields::parse(text).unwrap().of(&document).to_string();
        let head = r#"{"schema_version":1,"kind":"detail","#;
        assert_eq!(of("timeout,name"), format!(r#"{head}"name":"crm","timeout":30}}"#));
        assert_eq!(of("fetch.mode, fetch.args"), format!(r#"{head}"fetch":{{"args":["a"],"mode":"sync"}}}}"#));
        assert_eq!(of("fetch.args,fetch"), format!(r#"{head}"fetch":{{"args":["a"],"mode":"sync"}}}}"#));
        let ordered = r#""fetch":{"args":["a"],"page_size":null,"mode":"sync","functions":null}"#;
        assert_eq!(of("fetch.functions,fetch.mode,fetch.page_size,fetch.args"), format!("{head}{ordered}}}"));
        assert_eq!(of("push,auth.env"), format!(r#"{head}"push":null,"auth":{{"env":null}}}}"#));
    }
}
