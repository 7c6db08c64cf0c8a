//! Which functions there must be, with which parameters.

use crate::{assert_fails, good, read};

const ASYNC: &str = "API = {\"fetch\": {\"async\": True, \"args\": [\"a\"]}}\n";

fn sync(args: &str, function: &str) -> String {
    format!("API = {{\"fetch\": {{\"args\": {args}}}}}\n{function}\n")
}

fn pushing(keys: &str, functions: &str) -> String {
    format!("API = {{\"push\": {{{keys}}}}}\n{functions}\n")
}

#[test]
fn fetch_takes_its_args_and_what_the_runtime_passes() {
    for (args, function) in [
        ("[]", "def fetch(): pass"),
        ("['a']", "def fetch(a): pass"),
        ("['a']", "def fetch(a = None, page = None): pass"),
        ("['a']", "def fetch(*, a, page): pass"),
        ("['a']", "def fetch(**kwargs): pass"),
        ("['a', 'b']", "def fetch(b, **kwargs): pass"),
        ("['a']", "def fetch(a, *rest): pass"),
        (
            "['a']",
            "def fetch(page, columns, target, is_backfill, cursor, initial_value, last_value, last_run, a): pass",
        ),
        ("['a']", "fetch = lambda a, page: {}"),
    ] {
        let lib = good(&sync(args, function));
        assert!(lib.functions.contains_key("fetch"));
    }
}

#[test]
fn fetch_that_cannot_be_called_is_refused() {
    for (args, function, said, line, words) in [
        ("[]", "def other(): pass", "there is no function fetch(), which API[\"fetch\"] needs", 1, "\"fetch\""),
        ("[]", "def Fetch(): pass", "there is no function fetch()", 1, "\"fetch\""),
        ("['a', 'b']", "def fetch(a): pass", "fetch(): missing parameter \"b\"", 2, "fetch"),
        ("['a']", "def fetch(*args): pass", "fetch(): missing parameter \"a\"", 2, "fetch"),
        ("['a']", "fetch = lambda page: {}", "fetch(): missing parameter \"a\"", 2, "fetch"),
        ("[]", "def fetch(x): pass", "fetch(): undeclared parameter \"x\": add it to \"args\"", 2, "x"),
        ("[]", "def fetch(page,\n    size = 5): pass", "fetch(): undeclared parameter \"size\"", 3, "size"),
        ("[]", "def fetch(x = 1, **kwargs): pass", "fetch(): undeclared parameter \"x\"", 2, "x"),
        ("[]", "def fetch(job_ref): pass", "fetch(): undeclared parameter \"job_ref\"", 2, "job_ref"),
    ] {
        assert_fails(&sync(args, function), said, line, words);
    }
}

#[test]
fn async_functions_take_what_they_are_passed() {
    for functions in [
        "def submit(a): pass\ndef check(job_ref): pass\ndef fetch_result(result_ref, page): pass\n",
        "def submit(**kwargs): pass\ndef check(**kwargs): pass\ndef fetch_result(**kwargs): pass\n",
        "def submit(a, columns, target, is_backfill, cursor, initial_value, last_value, last_run): pass\n\
         def check(job_ref, more = 1): pass\ndef fetch_result(page, *, result_ref, more = 1): pass\n",
    ] {
        let lib = good(&format!("{ASYNC}{functions}"));
        assert_eq!(lib.functions.keys().collect::<Vec<_>>(), ["check", "fetch_result", "submit"]);
    }
}

#[test]
fn async_functions_that_are_missing_or_cannot_be_called_are_refused() {
    let submit = "def submit(a): pass\n";
    let check = "def check(job_ref): pass\n";
    let result = "def fetch_result(result_ref, page): pass\n";
    for (functions, said, line, words) in [
        (["", check, result], "async fetch requires submit()", 1, "\"fetch\""),
        ([submit, "", result], "async fetch requires check()", 1, "\"fetch\""),
        ([submit, check, ""], "async fetch requires fetch_result()", 1, "\"fetch\""),
        (["def submit(): pass\n", check, result], "submit(): missing parameter \"a\"", 2, "submit"),
        (["def submit(a, page): pass\n", check, result], "submit(): undeclared parameter \"page\"", 2, "page"),
        (["def submit(a, x): pass\n", check, result], "submit(): undeclared parameter \"x\"", 2, "x"),
        ([submit, "def check(job): pass\n", result], "check() must accept \"job_ref\"", 3, "check"),
        ([submit, "def check(): pass\n", result], "check() must accept \"job_ref\"", 3, "check"),
        (
            [submit, "def check(job_ref, target): pass\n", result],
            "check(): undeclared parameter \"target\"",
            3,
            "target",
        ),
        (
            [submit, check, "def fetch_result(page): pass\n"],
            "fetch_result() must accept \"result_ref\"",
            4,
            "fetch_result",
        ),
        (
            [submit, check, "def fetch_result(result_ref): pass\n"],
            "fetch_result() must accept \"page\"",
            4,
            "fetch_result",
        ),
        (
            [submit, check, "def fetch_result(result_ref, page, x): pass\n"],
            "fetch_result(): undeclared parameter \"x\"",
            4,
            "x",
        ),
    ] {
        assert_fails(&format!("{ASYNC}{}", functions.concat()), said, line, words);
    }
    let both = format!("{ASYNC}{submit}{check}{result}def fetch(a): pass\n");
    assert_fails(&both, "async fetch uses submit/check/fetch_result, not fetch", 5, "fetch");
}

#[test]
fn a_sync_file_may_have_functions_of_those_names() {
    good(&sync("[]", "def fetch(): pass\ndef submit(x, y): pass\ndef check(): pass"));
}

#[test]
fn a_push_only_file_needs_no_fetch() {
    assert!(read("API = {\"push\": {}}\ndef push(rows): pass\n").is_ok());
}

#[test]
fn push_takes_rows_and_what_it_likes_of_the_rest() {
    for (keys, functions) in [
        ("", "def push(rows): pass"),
        ("", "def push(**kwargs): pass"),
        ("", "push = lambda rows, kind = None: None"),
        ("", "def push(rows, batch_number, kind, key_columns, columns): pass"),
        ("\"args\": ['a', 'b']", "def push(rows): pass"),
        ("\"args\": ['a', 'b']", "def push(b, rows, a = None): pass"),
        ("\"args\": ['page_size']", "def push(*, rows, page_size): pass"),
        ("", "def push(rows): pass\ndef finalize(succeeded, failed): pass"),
        ("", "def push(rows): pass\ndef finalize(**kwargs): pass"),
        ("\"batch_mode\": \"async\"", "def push(rows): pass\ndef poll(job_ref, more = 1): pass"),
        // Without jobs the name means nothing.
        ("", "def push(rows): pass\ndef poll(x, y): pass"),
    ] {
        assert!(good(&pushing(keys, functions)).functions.contains_key("push"));
    }
}

#[test]
fn functions_that_push_and_cannot_be_called_are_refused() {
    let push = "def push(rows): pass";
    let mode = "\"batch_mode\": \"async\"";
    for (keys, functions, said, line, words) in [
        ("", "def other(rows): pass", "there is no function push(), which API[\"push\"] needs", 1, "\"push\""),
        ("", "def push(): pass", "push() must accept \"rows\"", 2, "push"),
        ("", "def push(*rows): pass", "push() must accept \"rows\"", 2, "push"),
        ("", "def push(rows, x): pass", "push(): undeclared parameter \"x\": add it to \"args\"", 2, "x"),
        ("", "def push(rows, x = 1, **kwargs): pass", "push(): undeclared parameter \"x\"", 2, "x"),
        // What a fetch is passed, a push is not.
        ("", "def push(rows, target): pass", "push(): undeclared parameter \"target\"", 2, "target"),
        (mode, push, "async push requires poll()", 1, "\"push\""),
        (mode, "def push(rows): pass\ndef poll(job): pass", "poll() must accept \"job_ref\"", 3, "poll"),
        (mode, "def push(rows): pass\ndef poll(job_ref, x): pass", "poll(): undeclared parameter \"x\"", 3, "x"),
        ("", "def push(rows): pass\ndef finalize(failed): pass", "finalize() must accept \"succeeded\"", 3, "finalize"),
        ("", "def push(rows): pass\ndef finalize(succeeded): pass", "finalize() must accept \"failed\"", 3, "finalize"),
        (
            "",
            "def push(rows): pass\ndef finalize(succeeded, failed, x): pass",
            "finalize(): undeclared parameter \"x\": nothing passes it",
            3,
            "x",
        ),
    ] {
        assert_fails(&pushing(keys, functions), said, line, words);
    }
}

#[test]
fn a_file_that_only_fetches_may_have_functions_of_the_names_of_push() {
    good(&sync("[]", "def fetch(): pass\ndef push(x): pass\ndef finalize(): pass"));
}

#[test]
fn parameters_are_known_with_what_may_be_left_out() {
    let lib = good(&sync("['a', 'b']", "def fetch(a, b = 5, *, page, **rest): pass"));
    let fetch = &lib.functions["fetch"];
    let parameters: Vec<_> = fetch.parameters.iter().map(|one| (one.name.as_str(), one.has_default)).collect();
    assert_eq!(parameters, [("a", false), ("b", true), ("page", false)]);
    assert!(fetch.takes_any && fetch.accepts("anything"));
}
