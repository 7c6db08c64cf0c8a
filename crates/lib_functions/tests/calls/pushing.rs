//! Calls of `push`, `poll` and `finalize`: what they are passed, and what their requests carry.

use lib_functions::{CallError, HostValue, LibError, LibErrorKind, PushAnswer, PushCall, RowStatus, Running};
use testkit::http::{Answer, Server};
use types::Kind;

use crate::scene::Scene;

/// A lib `x` that pushes, with these pairs in `API` and in its section `push`, and these functions.
pub fn lib(api: &str, push: &str, functions: &str) -> String {
    format!("API = {{{api}\"push\": {{{push}}}}}\n\n{functions}\n")
}

/// A call with two rows.
pub fn call<'a>(rows: &'a [HostValue], keys: &'a [String], columns: &'a HostValue) -> PushCall<'a> {
    PushCall {
        rows,
        keys,
        batch_number: 1,
        kind: Kind::Merge,
        key_columns: &[],
        columns,
        arguments: &[],
        idempotency_key: None,
    }
}

pub fn keys() -> Vec<String> {
    vec!["1:insert".to_owned(), "2:delete".to_owned()]
}

pub fn rows() -> Vec<HostValue> {
    let row = |id: i64, change: &str| {
        HostValue::Dict(vec![
            (HostValue::text(Some("__ondatra_rowid")), HostValue::int(id)),
            (HostValue::text(Some("__ondatra_change_type")), HostValue::text(Some(change))),
        ])
    };
    vec![row(1, "insert"), row(2, "delete")]
}

/// Pushes the two rows.
pub fn push(running: &Running<'_>) -> Result<PushAnswer, CallError> {
    running.push(&call(&rows(), &keys(), &HostValue::None))
}

pub fn failure<T: std::fmt::Debug>(ended: Result<T, CallError>) -> LibError {
    match ended {
        Err(CallError::Failed(error)) => error,
        other => panic!("it must fail: {other:?}"),
    }
}

const ANSWER: &str = "{\"1:insert\": \"ok\", \"2:delete\": \"ok\"}";

/// What `print` in `push` showed.
fn printed(push: &str, function: &str) -> Vec<String> {
    let stage = Scene::of(&lib("", push, &format!("{function}\n    return {ANSWER}"))).stage();
    let (rows, keys, key_columns) = (rows(), keys(), ["id".to_owned()]);
    let column = [("name", "id"), ("type", "BIGINT")];
    let column = column.map(|(key, value)| (HostValue::text(Some(key)), HostValue::text(Some(value))));
    let columns = HostValue::List(vec![HostValue::Dict(column.to_vec())]);
    let arguments = [("list".to_owned(), HostValue::text(Some("vip"))), ("mode".to_owned(), HostValue::None)];
    let call =
        PushCall { batch_number: 7, key_columns: &key_columns, arguments: &arguments, ..call(&rows, &keys, &columns) };
    let answer = stage.pushing(|running| running.push(&call)).unwrap().unwrap();
    let PushAnswer::Rows(statuses) = answer else { panic!("{answer:?}") };
    assert_eq!((statuses.rows, statuses.warnings), (vec![RowStatus::Ok, RowStatus::Ok], Vec::new()));
    stage.lines()
}

#[test]
fn push_gets_what_it_declares_and_nothing_else() {
    let args = "\"args\": [\"list\", \"mode\"]";
    let print = "def push(rows):\n    print(rows[1][\"__ondatra_change_type\"], str(rows[0][\"__ondatra_rowid\"]))";
    assert_eq!(printed(args, print), ["delete 1"]);
    let print = "def push(kind, key_columns, rows):\n    print(kind, key_columns, len(rows))";
    assert_eq!(printed(args, print), ["merge [\"id\"] 2"]);
    let print =
        "def push(rows, batch_number, columns, list, mode=\"x\"):\n    print(batch_number, columns, list, mode)";
    assert_eq!(printed(args, print), ["7 [{\"name\": \"id\", \"type\": \"BIGINT\"}] vip None"]);
    let print = "def push(rows, **kwargs):\n    print(sorted(kwargs.keys()))";
    assert_eq!(
        printed(args, print),
        ["[\"batch_number\", \"columns\", \"key_columns\", \"kind\", \"list\", \"mode\"]"]
    );
}

#[test]
fn rows_may_be_changed_by_the_function() {
    let print = "def push(rows):\n    rows.append(rows[0].pop(\"__ondatra_rowid\"))\n    print(rows[2])";
    assert_eq!(printed("", print), ["1"]);
}

#[test]
fn requests_that_write_carry_the_idempotency_key() {
    let server = Server::answers(vec![Answer::ok("{}")]);
    let api = format!("\"base_url\": \"{}\", \"headers\": {{\"idempotency-key\": \"fixed\"}}, ", server.url(""));
    let functions = "def push(rows):\n    \
                     http.post(\"post\", json={})\n    http.put(\"put\")\n    http.patch(\"patch\")\n    \
                     http.get(\"get\")\n    http.delete(\"delete\")\n    \
                     http.post(\"own\", headers={\"IDEMPOTENCY-KEY\": \"mine\"})\n    \
                     http.post(\"none\", headers={\"Idempotency-Key\": None})\n\n\
                     def poll(job_ref):\n    pass\n\n\
                     def finalize(succeeded, failed):\n    http.post(\"finalize\")\n";
    let push = "\"batch_mode\": \"atomic\", \"idempotency_header\": \"Idempotency-Key\"";
    let stage = Scene::of(&lib(&api, push, functions)).stage();
    let (rows, keys) = (rows(), keys());
    let call = PushCall { idempotency_key: Some("abc123"), ..call(&rows, &keys, &HostValue::None) };
    stage.pushing(|running| (running.push(&call).unwrap(), running.finalize(2, 0).unwrap())).unwrap();
    let sent: Vec<(String, String)> = server
        .seen()
        .iter()
        .map(|seen| (seen.path().trim_start_matches('/').to_owned(), seen.all("Idempotency-Key").join(",")))
        .collect();
    let expected = [
        ("post", "abc123"),
        ("put", "abc123"),
        ("patch", "abc123"),
        ("get", "fixed"),
        ("delete", "fixed"),
        ("own", "mine"),
        ("none", ""),
        ("finalize", "fixed"),
    ];
    assert_eq!(sent, expected.map(|(path, key)| (path.to_owned(), key.to_owned())));
}

#[test]
fn without_a_header_in_the_file_no_key_is_sent() {
    let server = Server::answers(vec![Answer::ok("{}")]);
    let functions = format!("def push(rows):\n    http.post(\"{}\")", server.url("/"));
    let stage = Scene::of(&lib("", "\"batch_mode\": \"atomic\"", &functions)).stage();
    let (rows, keys) = (rows(), keys());
    let call = PushCall { idempotency_key: Some("abc123"), ..call(&rows, &keys, &HostValue::None) };
    stage.pushing(|running| running.push(&call).unwrap()).unwrap();
    assert!(!server.seen()[0].head.contains("abc123"));
}

#[test]
fn finalize_is_called_if_there_is_one() {
    let with =
        "def push(rows):\n    pass\n\ndef finalize(succeeded, failed):\n    print(succeeded, failed)\n    return len";
    let stage = Scene::of(&lib("", "", with)).stage();
    assert!(stage.pushing(|running| running.has_finalize() && running.finalize(3, 1).is_ok()).unwrap());
    assert_eq!(stage.lines(), ["3 1"]);
    let stage = Scene::of(&lib("", "", "def push(rows):\n    pass")).stage();
    assert!(!stage.pushing(|running| running.has_finalize()).unwrap());
    let failing = with.replace("print(succeeded, failed)", "fail(\"no\", succeeded)");
    let ended = Scene::of(&lib("", "", &failing)).stage().pushing(|running| running.finalize(3, 1)).unwrap();
    assert_eq!(failure(ended).to_string(), "x.finalize: no 3");
}

#[test]
fn what_is_committed_cannot_be_aborted() {
    let functions = "def push(rows):\n    abort()\n\ndef poll(job_ref):\n    abort()\n\n\
                     def finalize(succeeded, failed):\n    abort()";
    let stage = Scene::of(&lib("", "\"batch_mode\": \"async\"", functions)).stage();
    let errors = stage.pushing(|running| {
        let job = HostValue::Dict(Vec::new());
        [failure(push(running)), failure(running.poll(&job, &keys())), failure(running.finalize(1, 0))]
    });
    for (error, name) in errors.unwrap().iter().zip(["push", "poll", "finalize"]) {
        let message = format!("x.{name}: abort() was called, but what is committed cannot be aborted");
        assert_eq!((error.to_string(), error.kind), (message, LibErrorKind::Failed));
        assert!(error.place.is_some() && !error.help.contains("next"), "{}", error.help);
    }
}

#[test]
fn what_push_fails_with_is_told_without_secrets() {
    let functions = "def push(rows):\n    fail(\"the service refused\", env.get(\"CRM_TOKEN\"))";
    let stage = Scene::of(&lib("", "", functions)).file(".env", "CRM_TOKEN=hunter2hunter2\n").stage();
    let error = failure(stage.pushing(|running| push(running)).unwrap());
    assert_eq!(error.to_string(), "x.push: the service refused [REDACTED]");
    assert!(error.place.is_some());
}
