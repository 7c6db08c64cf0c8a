//! The keys of `API`, of `fetch` and of `push`: defaults, values, wrong types, values out of range.

use std::time::Duration;

use lib_functions::{BatchMode, Lib};
use types::Kind;

use crate::{assert_fails, fetching, good};

/// A file with these keys of `API` beside `fetch`.
fn top(keys: &str) -> String {
    format!("API = {{\"fetch\": {{}}, {keys}}}\ndef fetch():\n    pass\n")
}

/// A file that pushes, with these keys of `API["push"]`.
fn pushing(keys: &str) -> String {
    format!("API = {{\"push\": {{{keys}}}}}\ndef push(rows):\n    pass\ndef poll(job_ref):\n    pass\n")
}

/// Each key with a value that is refused, what is said of it, and the words that the place points at.
#[track_caller]
fn assert_refused(file: impl Fn(&str) -> String, path: &str, cases: &[(&str, &str, &str)]) {
    for (key, value, said) in cases {
        let expected = format!("{path}[\"{key}\"]{said}");
        assert_fails(&file(&format!("\"{key}\": {value}")), &expected, 1, value);
    }
}

#[test]
fn keys_of_the_top_level_have_defaults() {
    let lib = good(&top(""));
    assert_eq!(lib.api.base_url, None);
    assert_eq!(lib.api.auth, None);
    assert_eq!(lib.api.max_response_bytes, 268_435_456);
    let transport = lib.api.fetch_transport();
    assert!(transport.headers.is_empty());
    assert_eq!((transport.timeout, transport.retry, transport.backoff), (None, None, None));
    assert_eq!(transport.rate_limit, None);
}

#[test]
fn keys_of_the_top_level_are_read() {
    for url in ["https://api.example.com/v1", "http://localhost:8080", "HTTPS://x.y"] {
        assert_eq!(good(&top(&format!("\"base_url\": \"{url}\""))).api.base_url.as_deref(), Some(url));
    }
    assert_eq!(good(&top("\"max_response_bytes\": 1")).api.max_response_bytes, 1);
    for key in ["base_url", "auth", "headers", "rate_limit"] {
        good(&top(&format!("\"{key}\": None")));
    }
}

#[test]
fn keys_of_the_top_level_are_checked() {
    let url = " must be an http or https URL";
    assert_refused(
        top,
        "API",
        &[
            ("base_url", "5", ": expected string, got int"),
            ("base_url", "\"\"", url),
            ("base_url", "\"api.example.com\"", url),
            ("base_url", "\"ftp://x.y\"", url),
            ("base_url", "\"https://\"", url),
            ("auth", "\"x\"", ": expected dict, got string"),
            ("headers", "[]", ": expected dict, got list"),
            ("max_response_bytes", "0", " must be from 1 to"),
            ("max_response_bytes", "-1", " must be from 1 to"),
            ("max_response_bytes", "1.5", ": expected int, got float"),
            ("max_response_bytes", "99999999999999999999999999", " must be from 1 to"),
            ("max_response_bytes", "None", ": expected int, got None"),
        ],
    );
}

#[test]
fn the_five_keys_of_requests_are_checked_everywhere() {
    let cases = [
        ("timeout", "\"30\"", ": expected number of seconds, got string"),
        ("timeout", "True", ": expected number of seconds, got bool"),
        ("timeout", "None", ": expected number of seconds, got None"),
        ("timeout", "0", " must be more than 0 seconds"),
        ("timeout", "-1", " must be more than 0 seconds"),
        ("timeout", "1e300", " must be more than 0 seconds"),
        ("retry", "-1", " must be from 0 to 4294967295"),
        ("retry", "4294967296", " must be from 0 to 4294967295"),
        ("retry", "1.0", ": expected int, got float"),
        ("retry", "True", ": expected int, got bool"),
        ("retry", "\"3\"", ": expected int, got string"),
        ("backoff", "-0.1", " must be 0 seconds or more"),
        ("backoff", "\"1s\"", ": expected number of seconds, got string"),
        ("headers", "\"x\"", ": expected dict, got string"),
        ("rate_limit", "5", ": expected dict, got int"),
    ];
    assert_refused(top, "API", &cases);
    assert_refused(fetching, "API[\"fetch\"]", &cases);
    assert_refused(pushing, "API[\"push\"]", &cases);
}

#[test]
fn headers_are_strings_and_stand_once() {
    assert_fails(&top("\"headers\": {\"A\": 1}"), "API[\"headers\"][\"A\"]: expected string, got int", 1, "1");
    assert_fails(&top("\"headers\": {\"A\": None}"), "API[\"headers\"][\"A\"]: expected string, got None", 1, "None");
    assert_fails(&top("\"headers\": {\"X-A\": \"1\", \"x-a\": \"2\"}"), "the header \"x-a\" twice", 1, "\"x-a\"");
    assert_fails(
        &top("\"headers\": {\"A B\": \"1\"}"),
        "\"A B\": it is not a name that a header can have",
        1,
        "\"A B\"",
    );
    assert_fails(&top("\"headers\": {\"A\": \"1\\n2\"}"), "its value holds a control character", 1, "\"A\"");
    let lib = good(&top("\"headers\": {\"B\": \"1\", \"A\": \"\"}"));
    assert_eq!(lib.api.fetch_transport().headers, [("B".into(), "1".into()), ("A".into(), String::new())]);
}

#[test]
fn keys_of_fetch_have_defaults() {
    let fetch = good(&fetching("")).api.fetch.unwrap();
    assert!(fetch.args.is_empty());
    assert_eq!((fetch.page_size, fetch.max_pages), (0, 100_000));
    assert_eq!((fetch.supported_columns, fetch.supported_kinds), (None, None));
    assert!(!fetch.is_async);
    assert_eq!((fetch.poll_interval, fetch.poll_timeout), (Duration::from_secs(5), Duration::from_mins(5)));
    assert_eq!(fetch.poll_backoff, 1);
}

#[test]
fn keys_of_fetch_are_read() {
    let fetch = good(&fetching(
        "\"args\": [\"a\", \"_b2\"], \"page_size\": 100, \"supported_columns\": [\"id\"], \
         \"supported_kinds\": [\"table\", \"append\", \"merge\", \"scd2\", \"tracked\"], \"poll_interval\": \"2m\", \
         \"poll_timeout\": \"1h30m\", \"poll_backoff\": 2, \"max_pages\": 7",
    ));
    let fetch = fetch.api.fetch.unwrap();
    assert_eq!(fetch.args, ["a", "_b2"]);
    assert_eq!((fetch.page_size, fetch.poll_backoff, fetch.max_pages), (100, 2, 7));
    assert_eq!(fetch.supported_columns.unwrap(), ["id"]);
    assert_eq!(fetch.supported_kinds.unwrap(), Kind::ALL);
    assert_eq!((fetch.poll_interval, fetch.poll_timeout), (Duration::from_mins(2), Duration::from_mins(90)));
    let empty = good(&fetching("\"supported_columns\": [], \"supported_kinds\": None")).api.fetch.unwrap();
    assert_eq!((empty.supported_columns, empty.supported_kinds), (Some(Vec::new()), None));
}

#[test]
fn keys_of_fetch_are_checked() {
    let duration = " must be a duration like \"5s\" or \"1m30s\", more than 0";
    assert_refused(
        fetching,
        "API[\"fetch\"]",
        &[
            ("args", "\"a\"", ": expected list of strings, got string"),
            ("args", "None", ": expected list of strings, got None"),
            ("page_size", "-1", " must be from 0"),
            ("page_size", "\"9\"", ": expected int, got string"),
            ("supported_columns", "{}", ": expected list of strings, got dict"),
            ("supported_kinds", "\"table\"", ": expected list of strings, got string"),
            ("async", "1", ": expected bool, got int"),
            ("async", "\"true\"", ": expected bool, got string"),
            ("mode", "\"later\"", " must be \"sync\" or \"async\""),
            ("mode", "True", ": expected string, got bool"),
            ("poll_interval", "5", ": expected string, got int"),
            ("poll_interval", "\"5\"", duration),
            ("poll_interval", "\"0s\"", duration),
            ("poll_interval", "\"-1s\"", duration),
            ("poll_interval", "\"1d\"", duration),
            ("poll_interval", "\"\"", duration),
            ("poll_timeout", "\"5 m\"", duration),
            ("poll_timeout", "\"99999999999h\"", duration),
            ("poll_backoff", "0", " must be from 1"),
            ("poll_backoff", "1.5", ": expected int, got float"),
            ("max_pages", "0", " must be from 1"),
            ("max_pages", "None", ": expected int, got None"),
        ],
    );
}

#[test]
fn durations_add_their_parts() {
    for (text, millis) in [("500ms", 500), ("1s", 1000), ("2m", 120_000), ("1h", 3_600_000), ("1m30s", 90_000)] {
        let fetch = good(&fetching(&format!("\"poll_interval\": \"{text}\""))).api.fetch.unwrap();
        assert_eq!(fetch.poll_interval, Duration::from_millis(millis), "{text}");
    }
}

#[test]
fn args_are_unique_identifiers_that_nobody_else_passes() {
    for file in [fetching, pushing] {
        for name in ["", "1a", "a b", "a-b", "é", "a."] {
            let text = file(&format!("\"args\": [\"x\", \"{name}\"]"));
            assert_fails(&text, &format!("[\"args\"]: \"{name}\" is no identifier"), 1, &format!("\"{name}\""));
        }
        assert_fails(&file("\"args\": [\"a\", \"b\", 'a']"), "\"a\" stands twice", 1, "'a'");
        assert_fails(&file("\"args\": [\"a\", 1]"), "[\"args\"][1]: expected string, got int", 1, "1");
    }
    let injected = ["page", "columns", "target", "is_backfill", "cursor", "initial_value", "last_value", "last_run"];
    let of_push = ["rows", "batch_number", "kind", "key_columns"];
    let collides = |text: String, name: &str| {
        assert_fails(&text, &format!("\"{name}\" collides"), 1, &format!("\"{name}\""));
    };
    for name in injected {
        collides(fetching(&format!("\"args\": [\"{name}\"]")), name);
    }
    for name in injected.into_iter().chain(of_push) {
        collides(pushing(&format!("\"args\": [\"{name}\"]")), name);
    }
    good(&fetching("\"args\": [\"rows\", \"kind\"]"));
}

#[test]
fn kinds_are_real_ones() {
    for file in [fetching, pushing] {
        for kind in ["view", "Table", ""] {
            let file = file(&format!("\"supported_kinds\": [\"table\", \"{kind}\"]"));
            let said = format!("\"{kind}\" is no kind: there are table, append, merge, scd2, tracked");
            assert_fails(&file, &said, 1, &format!("\"{kind}\""));
        }
    }
}

#[test]
fn async_has_another_name_and_both_must_agree() {
    let functions =
        "\ndef submit():\n  pass\ndef check(job_ref):\n  pass\ndef fetch_result(result_ref, page):\n  pass\n";
    for (keys, is_async) in [
        ("\"async\": True", true),
        ("\"mode\": \"async\"", true),
        ("\"async\": True, \"mode\": \"async\"", true),
        ("\"async\": False", false),
        ("\"mode\": \"sync\"", false),
    ] {
        let text = if is_async { format!("API = {{\"fetch\": {{{keys}}}}}{functions}") } else { fetching(keys) };
        assert_eq!(good(&text).api.fetch.unwrap().is_async, is_async, "{keys}");
    }
    assert_fails(&fetching("\"async\": True, \"mode\": \"sync\""), "something else than \"async\"", 1, "\"sync\"");
}

#[test]
fn keys_that_were_removed_are_told_apart_from_unknown_ones() {
    for key in ["columns", "dynamic_columns"] {
        for value in ["[]", "True", "None"] {
            let text = fetching(&format!("\"{key}\": {value}"));
            assert_fails(&text, &format!("API[\"fetch\"][\"{key}\"] was removed"), 1, &format!("\"{key}\""));
        }
    }
}

#[test]
fn keys_of_push_have_defaults() {
    let push = good(&pushing("")).api.push.unwrap();
    assert!(push.args.is_empty());
    assert_eq!((push.batch_size, push.max_concurrent, push.max_attempts), (1, 1, 0));
    assert_eq!((push.batch_mode, push.supported_kinds, push.is_net), (BatchMode::Sync, None, false));
    assert_eq!((push.poll_interval, push.poll_timeout), (Duration::from_secs(30), Duration::from_hours(1)));
    assert_eq!((push.retry_backoff, push.idempotency_header), (Duration::from_secs(1), None));
}

#[test]
fn keys_of_push_are_read() {
    let read = |keys: &str| good(&pushing(keys)).api.push.unwrap();
    let push = read("\"args\": [\"a\"], \"batch_size\": 50, \"max_concurrent\": 4");
    assert_eq!((push.args.len(), push.batch_size, push.max_concurrent), (1, 50, 4));
    let push = read("\"poll_interval\": \"1s\", \"poll_timeout\": \"2h\", \"batch_mode\": \"async\"");
    assert_eq!((push.poll_interval, push.poll_timeout), (Duration::from_secs(1), Duration::from_hours(2)));
    for (word, mode) in [("sync", BatchMode::Sync), ("atomic", BatchMode::Atomic), ("async", BatchMode::Async)] {
        assert_eq!(read(&format!("\"batch_mode\": \"{word}\"")).batch_mode, mode);
    }
    let push = read(
        "\"retry_backoff\": 0.5, \"max_attempts\": 3, \"changes\": \"net\", \"idempotency_header\": \"Idempotency-Key\"",
    );
    assert_eq!((push.retry_backoff, push.max_attempts, push.is_net), (Duration::from_millis(500), 3, true));
    assert_eq!(push.idempotency_header.as_deref(), Some("Idempotency-Key"));
}

#[test]
fn keys_of_push_are_checked() {
    assert_refused(
        pushing,
        "API[\"push\"]",
        &[
            ("args", "{}", ": expected list of strings, got dict"),
            ("batch_size", "0", " must be from 1"),
            ("batch_size", "\"1\"", ": expected int, got string"),
            ("max_concurrent", "0", " must be from 1"),
            ("max_concurrent", "257", " must be from 1 to 256"),
            ("max_concurrent", "2.0", ": expected int, got float"),
            ("batch_mode", "\"fast\"", " must be \"sync\" or \"atomic\" or \"async\""),
            ("batch_mode", "1", ": expected string, got int"),
            ("retry_backoff", "-1", " must be 0 seconds or more"),
            ("max_attempts", "-1", " must be from 0"),
            ("changes", "\"all\"", " must be \"raw\" or \"net\""),
            ("idempotency_header", "1", ": expected string, got int"),
            ("idempotency_header", "\"\"", " must be the name of a header"),
            ("idempotency_header", "\"Idempotency Key\"", " must be the name of a header"),
            ("idempotency_header", "\"Authorization\"", " must be a header of its own"),
        ],
    );
    let polled = |keys: &str| pushing(&format!("\"batch_mode\": \"async\", {keys}"));
    assert_refused(
        polled,
        "API[\"push\"]",
        &[("poll_interval", "\"0s\"", " must be a duration"), ("poll_timeout", "60", ": expected string, got int")],
    );
}

#[test]
fn keys_of_push_go_with_its_mode() {
    for mode in ["", "\"batch_mode\": \"sync\",", "\"batch_mode\": \"atomic\","] {
        for key in ["poll_interval", "poll_timeout"] {
            let said = format!("API[\"push\"][\"{key}\"] needs \"batch_mode\": \"async\"");
            assert_fails(&pushing(&format!("{mode} \"{key}\": \"1s\"")), &said, 1, &format!("\"{key}\""));
        }
    }
    for mode in ["atomic", "async"] {
        let text = |calls: u8| pushing(&format!("\"max_concurrent\": {calls}, \"batch_mode\": \"{mode}\""));
        good(&text(1));
        let said = format!("API[\"push\"][\"max_concurrent\"] must be 1 with \"batch_mode\": \"{mode}\"");
        assert_fails(&text(2), &said, 1, "2");
    }
}

#[test]
fn a_section_is_a_dict_and_one_of_them_is_there() {
    for (value, kind) in [("[]", "list"), ("\"x\"", "string"), ("True", "bool"), ("1", "int"), ("None", "None")] {
        for section in ["fetch", "push"] {
            let text = format!("API = {{\"{section}\": {value}}}\n");
            assert_fails(&text, &format!("API[\"{section}\"]: expected dict, got {kind}"), 1, value);
        }
    }
    for text in ["API = {}\n", "API = {\n  \"base_url\": \"https://x.y\",\n}\n"] {
        assert_fails(text, "must have at least one of \"fetch\" and \"push\"", 1, "API");
    }
    let both = |lib: &Lib| (lib.api.fetch.is_some(), lib.api.push.is_some());
    assert_eq!(
        both(&good("API = {\"fetch\": {}, \"push\": {}}\ndef fetch(): pass\ndef push(rows): pass\n")),
        (true, true)
    );
    assert_eq!(both(&good("API = {\"push\": {}}\ndef push(rows): pass\n")), (false, true));
}
