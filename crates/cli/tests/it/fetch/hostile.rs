//! APIs that answer what nobody asked for. What a client or a reader alone shows is tested there (`http_client/tests`,
//! `lib_functions/src/builtins`): here is what the user sees, and that the table stays as it was.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use testkit::Project;
use testkit::http::{Answer, Seen, Server};

use super::{model, run, staged, with_lib};

/// Asks for the path that it is given.
const ASKING: &str = r#"
def fetch(path):
    resp = http.get(path)
    if not resp.ok:
        fail("status", resp.status_code)
    return {"rows": resp.json["rows"]}
"#;

/// A project with a model `raw.x<number>` for each type of a column `ab`, that asks for `/<number>`.
fn project_of(api: &Server, types: impl Iterator<Item = &'static str>) -> Project {
    let project = with_lib(api, "\"args\": [\"path\"]", ASKING);
    for (at, sql_type) in types.enumerate() {
        let columns = format!("ab::{sql_type} AS ab");
        model(&project, &format!("raw/x{at}"), "table", &columns, &format!("api('/{at}')"));
    }
    project
}

/// The number of the model that asks.
fn number(request: &Seen) -> usize {
    request.path()[1..].parse().unwrap()
}

/// Most memory of a run that is sent a body without end, with the engine and all: the body may take 256 MiB by default.
const MEMORY_MAX: u64 = 1 << 30;

/// Answers, each with the type of the column and a part of the error.
fn refused() -> Vec<(Answer, &'static str, &'static str)> {
    let deep = format!("{{\"rows\": [{{\"ab\": {}{}}}]}}", "[".repeat(100_000), "]".repeat(100_000));
    let huge = format!("{{\"rows\": [{{\"ab\": {}}}]}}", "9".repeat(200_000));
    let rows = |rows: &str| Answer::ok(format!("{{\"rows\": {rows}}}"));
    vec![
        (Answer::ok("<html>"), "JSON", "line 1, column 1: expected a value, found '<'"),
        (Answer::ok(deep), "JSON", "nested more than 512 levels deep"),
        (rows("[{\"ab\": NaN}]"), "DOUBLE", "line 1, column 18: expected a value, found 'N'"),
        (rows("[{\"ab\": 1}, 7]"), "BIGINT", "page 1, row 2: a row must be a dict, not int"),
        (rows("[{\"ab\": 9223372036854775808}]"), "BIGINT", "it is out of range"),
        (rows("[{\"ab\": 170141183460469231731687303715884105728}]"), "HUGEINT", "it is out of range"),
        (Answer::ok(huge), "VARCHAR", "digits"),
        (
            rows("[{\"AB\": 1, \"Ab\": 2}]"),
            "BIGINT",
            "the keys \"AB\" and \"Ab\" are both equal to \"ab\" but for case",
        ),
        (rows("[{\"AB\": \"1\", \"ab\": \"x\"}]"), "BIGINT", "the value x is not valid for BIGINT: it is no integer"),
    ]
}

#[test]
fn what_cannot_be_taken_is_a_clear_error_and_leaves_the_table() {
    let is_hostile = Arc::new(AtomicBool::new(false));
    let (hostile, answers) = (Arc::clone(&is_hostile), refused());
    let api = Server::new(move |_, request| {
        let answer = &answers[number(request)].0;
        if hostile.load(Ordering::SeqCst) { answer.clone() } else { Answer::ok("{\"rows\": [{\"ab\": null}]}") }
    });
    let cases = refused();
    let project = project_of(&api, cases.iter().map(|case| case.1));
    run(&project);
    is_hostile.store(true, Ordering::SeqCst);
    let output = project.run(&["run"]).failure(1);
    let errors: Vec<&str> = output.stderr.split("error: ").collect();
    for (at, (_, _, expected)) in cases.iter().enumerate() {
        let target = format!("raw.x{at}");
        let error = errors.iter().find(|error| error.contains(&target)).unwrap_or_else(|| panic!("{target}"));
        assert!(error.contains(expected), "{target}: {expected}\n{error}");
        assert!(error.len() < 4_000, "{target}: it can be read\n{error}");
        assert_eq!(staged(&project, &target), []);
    }
    let counts: Vec<String> = (0..cases.len()).map(|at| format!("SELECT count(*) AS n FROM raw.x{at}")).collect();
    let kept = project.rows(&format!("SELECT sum(n)::INT FROM ({})", counts.join(" UNION ALL ")));
    assert_eq!(kept, format!("{}\n", cases.len()));
}

#[test]
fn what_is_odd_but_has_a_value_becomes_it() {
    let huge = "9".repeat(5_000);
    let cases = [
        ("VARCHAR", b"{\"rows\": [{\"ab\": \"gr\xfcn\"}]}".to_vec(), "gr\u{fffd}n"),
        ("BIGINT", b"{\"rows\": [{\"ab\": 1, \"ab\": 2, \"b\": 3, \"ab\": 4}]}".to_vec(), "4"),
        ("BIGINT", b"{\"rows\": [{\"AB\": 5}]}".to_vec(), "5"),
        ("BIGINT", b"{\"rows\": [{\"AB\": 5, \"ab\": 6}]}".to_vec(), "6"),
        (
            "HUGEINT",
            b"{\"rows\": [{\"ab\": -99999999999999999999999999999999999999}]}".to_vec(),
            "-99999999999999999999999999999999999999",
        ),
        ("VARCHAR", format!("{{\"rows\": [{{\"ab\": {huge}}}]}}").into_bytes(), &huge),
        ("VARCHAR", b"\xef\xbb\xbf{\"rows\": [{\"ab\": \"\\ud800\"}]}".to_vec(), "\u{fffd}"),
    ];
    let answers: Vec<Vec<u8>> = cases.iter().map(|(_, body, _)| body.clone()).collect();
    let api = Server::new(move |_, request| Answer::ok(&answers[number(request)]));
    let project = project_of(&api, cases.iter().map(|case| case.0));
    run(&project);
    let tables: Vec<String> =
        (0..cases.len()).map(|at| format!("SELECT {at} AS n, ab::VARCHAR AS ab FROM raw.x{at}")).collect();
    let found = project.rows(&format!("SELECT ab FROM ({}) ORDER BY n", tables.join(" UNION ALL ")));
    for ((sql_type, _, expected), found) in cases.iter().zip(found.lines()) {
        assert_eq!(found, *expected, "{sql_type}");
    }
}

/// The peak of a process' memory, in bytes, as long as it runs.
fn peak(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024)
}

#[test]
fn a_body_without_end_is_an_error_in_bounded_memory() {
    let chunk = [b"100000\r\n".as_slice(), &vec![b' '; 1 << 20], b"\r\n"].concat();
    let api = Server::new(move |_, request| match request.path() {
        "/endless" => Answer::head(200, &[("Transfer-Encoding", "chunked")]).forever(&chunk, Duration::ZERO),
        _ => Answer::ok("{\"rows\": [{\"ab\": 1}]}"),
    });
    let project = with_lib(&api, "\"args\": [\"path\"]", ASKING);
    model(&project, "raw/x", "table", "ab::INTEGER AS ab", "api('/good')");
    run(&project);
    model(&project, "raw/x", "table", "ab::INTEGER AS ab", "api('/endless')");
    let mut child = project.command(&["run"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        most = most.max(peak(child.id()).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("268435456") && text.contains("raise \"max_response_bytes\""), "{text}");
    assert!((1 << 28..MEMORY_MAX).contains(&most), "{most} bytes");
    assert_eq!(project.rows("FROM raw.x"), "1\n");
}
