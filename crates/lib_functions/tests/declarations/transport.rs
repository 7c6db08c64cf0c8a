//! How requests are made: what holds for both directions, and what each of them overrides.

use std::time::Duration;

use lib_functions::{Lib, Transport};

use crate::{assert_fails, good};

fn read(top: &str, fetch: &str, push: &str) -> Lib {
    good(&format!(
        "API = {{{top} \"fetch\": {{{fetch}}}, \"push\": {{{push}}}}}\ndef fetch(): pass\ndef push(rows): pass\n"
    ))
}

/// The values of the keys, in short.
fn summary(transport: &Transport) -> String {
    let headers: Vec<_> = transport.headers.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let number = |duration: Option<Duration>| duration.map_or("-".into(), |duration| duration.as_secs().to_string());
    let limit = transport.rate_limit.map_or("-".into(), |limit| format!("{}/{:?}", limit.requests, limit.per));
    let retry = transport.retry.map_or("-".into(), |retry| retry.to_string());
    format!("{} {} {retry} {} {limit}", headers.join(","), number(transport.timeout), number(transport.backoff))
}

const TOP: &str = "\"headers\": {\"A\": \"top\", \"B\": \"top\"}, \"timeout\": 10, \"retry\": 1, \"backoff\": 2, \
                   \"rate_limit\": {\"requests\": 1, \"per\": \"1s\"},";
const OWN: &str = "\"headers\": {\"b\": \"own\", \"C\": \"own\"}, \"timeout\": 20, \"retry\": 0, \"backoff\": 0, \
                   \"rate_limit\": {\"requests\": 2, \"per\": \"1m\"}";

#[test]
fn a_direction_overrides_and_does_not_leak_into_the_other() {
    let top = "A=top,B=top 10 1 2 1/1s";
    let own = "A=top,b=own,C=own 20 0 0 2/60s";
    for (fetch, push, expected) in [("", "", (top, top)), (OWN, "", (own, top)), ("", OWN, (top, own))] {
        let lib = read(TOP, fetch, push);
        let found = (summary(&lib.api.fetch_transport()), summary(&lib.api.push_transport()));
        assert_eq!((found.0.as_str(), found.1.as_str()), expected);
    }
    let lib = read("", OWN, "");
    assert_eq!(summary(&lib.api.fetch_transport()), "b=own,C=own 20 0 0 2/60s");
    assert_eq!(summary(&lib.api.push_transport()), " - - - -");
}

#[test]
fn each_key_is_overridden_by_itself() {
    for (key, expected) in [
        ("\"timeout\": 0.5", "A=top,B=top 0 1 2 1/1s"),
        ("\"retry\": 9", "A=top,B=top 10 9 2 1/1s"),
        ("\"backoff\": 9", "A=top,B=top 10 1 9 1/1s"),
        ("\"rate_limit\": {\"requests\": 9, \"per\": \"1h\"}", "A=top,B=top 10 1 2 9/3600s"),
        ("\"rate_limit\": None", "A=top,B=top 10 1 2 1/1s"),
        ("\"headers\": {\"a\": \"own\"}", "B=top,a=own 10 1 2 1/1s"),
    ] {
        assert_eq!(summary(&read(TOP, key, "").api.fetch_transport()), expected);
        assert_eq!(summary(&read(TOP, "", key).api.push_transport()), expected);
    }
}

#[test]
fn a_rate_limit_needs_both_keys() {
    let text = |limit: &str| format!("API = {{\"fetch\": {{}},\n  \"rate_limit\": {limit}}}\ndef fetch(): pass\n");
    let path = "API[\"rate_limit\"]";
    for (limit, said, words) in [
        ("{}", " needs both \"requests\" and \"per\"", "\"rate_limit\""),
        ("{\"requests\": 1}", " needs both \"requests\" and \"per\"", "\"rate_limit\""),
        ("{\"per\": \"1s\"}", " needs both \"requests\" and \"per\"", "\"rate_limit\""),
        ("{\"requests\": 0, \"per\": \"1s\"}", "[\"requests\"] must be from 1", "0"),
        ("{\"requests\": 1.5, \"per\": \"1s\"}", "[\"requests\"]: expected int, got float", "1.5"),
        ("{\"requests\": None, \"per\": \"1s\"}", "[\"requests\"]: expected int, got None", "None"),
        ("{\"requests\": 1, \"per\": \"0s\"}", "[\"per\"] must be a duration", "\"0s\""),
        ("{\"requests\": 1, \"per\": 60}", "[\"per\"]: expected string, got int", "60"),
        ("[1, \"1s\"]", ": expected dict, got list", "[1, \"1s\"]"),
    ] {
        assert_fails(&text(limit), &format!("{path}{said}"), 2, words);
    }
    let inner = "API = {\"fetch\": {\"rate_limit\": {\"requests\": 1}}}\ndef fetch(): pass\n";
    assert_fails(inner, "API[\"fetch\"][\"rate_limit\"] needs both", 1, "\"rate_limit\"");
}
