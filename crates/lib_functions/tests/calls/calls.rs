//! Functions are called as a run calls them: with arguments, pages, limits and errors.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use http_client::{Client, ClientOptions, Stop};
use lib_functions::{
    CallError, CellKind, Direction, Host, HostOptions, HostValue, Limits, Page, PageError, Registry, with_lib,
};
use project::{Environment, Redactor};

/// What a fetch gave: the page with its rows as JSON, or the error's text; and the lines of `print`.
struct Got {
    page: Result<Page, String>,
    rows: Vec<String>,
    lines: Vec<String>,
}

fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("lib")).unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

fn host(root: &Path, lines: &Arc<Mutex<Vec<String>>>, limits: Limits, stop: Stop) -> Host {
    let environment = Environment::load(root, []).unwrap();
    let lines = Arc::clone(lines);
    Host::new(HostOptions {
        root: root.to_owned(),
        redactor: Redactor::new(root, &environment),
        environment,
        client: Client::new(ClientOptions::default()),
        stop,
        output: Arc::new(move |line| lines.lock().unwrap().push(line.to_owned())),
        lookup: None,
        tokens: None,
        limits,
    })
}

fn fetch_with(files: &[(&str, &str)], limits: Limits, stop: Stop) -> Got {
    let dir = project(files);
    let registry = Registry::read(dir.path(), |_| false).unwrap();
    let lib = registry.get("x").unwrap_or_else(|| panic!("{:?}", registry.broken("x").map(|broken| &broken.error)));
    let lines = Arc::default();
    let host = host(dir.path(), &lines, limits, stop);
    let mut rows = Vec::new();
    let page = with_lib(lib, &host, Direction::Fetch, |running| {
        let arguments = [("a", HostValue::Text("1".into())), ("target", HostValue::Text("raw.x".into()))];
        running.fetch(&arguments, &HostValue::None, 1, |_, row, _| {
            let cells: Vec<String> =
                row.cells().into_iter().map(|(name, cell)| format!("{name}={}", cell.json().unwrap())).collect();
            rows.push(cells.join(","));
            Ok::<(), ()>(())
        })
    });
    let page = match page {
        Ok(Ok(page)) => Ok(page),
        Ok(Err(PageError::Call(CallError::Failed(error)))) | Err(error) => Err(match &error.place {
            Some(place) => format!("{error} at {}:{}:{}", place.file().display(), place.line(), place.column()),
            None => error.to_string(),
        }),
        Ok(Err(PageError::Call(CallError::Aborted))) => Err("aborted".into()),
        Ok(Err(PageError::Row(()))) => unreachable!(),
    };
    let lines = lines.lock().unwrap().clone();
    Got { page, rows, lines }
}

fn body(text: &str) -> String {
    format!("API = {{\"fetch\": {{\"args\": [\"a\"]}}}}\n\ndef fetch(a, page, target):\n{text}")
}

fn fetch(text: &str) -> Got {
    fetch_with(&[("lib/x.star", &body(text)), (".env", "API_KEY=abcd1234\n")], Limits::default(), Stop::never())
}

fn error(text: &str) -> String {
    fetch(text).page.expect_err(text)
}

#[test]
fn a_page_has_rows_and_a_cursor() {
    let got = fetch(
        "    return {\"rows\": [{\"n\": 1, \"t\": a + target}, {\"n\": page.cursor}], \"next\": 0, \"odd\": 1}\n",
    );
    assert_eq!(got.rows, ["n=1,t=\"1raw.x\"", "n=null"]);
    let page = got.page.unwrap();
    assert_eq!((page.rows, page.next, page.unknown_keys), (2, Some(HostValue::int(0)), vec!["odd".to_owned()]));
    for last in ["None", "\"\""] {
        let page = fetch(&format!("    return {{\"rows\": [], \"next\": {last}}}\n")).page.unwrap();
        assert_eq!(page.next, None);
    }
}

#[test]
fn what_is_no_page_is_refused() {
    for (value, expected) in [
        ("[]", "must return dict, not list"),
        ("None", "must return dict"),
        ("{}", "must include 'rows' key"),
        ("{\"rows\": {}}", "'rows' must be a list, not dict"),
        ("{\"rows\": [{\"a\": 1}, 5]}", "page 1, row 2: a row must be a dict, not int"),
        ("{\"rows\": [{}]}", "page 1, row 1: a row is an empty dict"),
        ("{\"rows\": [{1: 2}]}", "page 1, row 1: a row has the key 1, which is no string"),
        ("{\"rows\": [], \"next\": len}", "'next' cannot be a cursor"),
    ] {
        let error = error(&format!("    return {value}\n"));
        assert!(error.contains(expected) && error.starts_with("x.fetch: "), "{value}: {error}");
    }
}

#[test]
fn errors_lead_to_the_line_that_failed() {
    let looped = "    n = 0\n    while n < 3:\n        n += 1\n    return 1 // 0\n";
    assert!(error(looped).ends_with("at lib/x.star:7:12"), "{}", error(looped));
    assert!(
        error("    fail(\"no\", 5, sep=\"-\")\n").starts_with("x.fetch: no-5 at lib/x.star:4:5"),
        "{}",
        error("    fail(\"no\", 5)\n")
    );
    assert!(error("    return undefined\n").contains("undefined"));
    let helper = "def broken():\n    items = []\n    for n in [1]:\n        items[n]\n    return items\n";
    let main = "load(\"lib/_h.star\", \"broken\")\n".to_owned() + &body("    return broken()\n");
    let files = [("lib/x.star", main.as_str()), ("lib/_h.star", helper)];
    let error = fetch_with(&files, Limits::default(), Stop::never()).page.unwrap_err();
    assert!(error.contains("at lib/_h.star:4:9"), "{error}");
}

#[test]
fn loops_recursion_and_abort_work() {
    let got = fetch(
        "    n = 0\n    while True:\n        n += 1\n        if n == 5:\n            continue\n        if n > 9:\n            break\n    return {\"rows\": [{\"n\": n}]}\n",
    );
    assert_eq!(got.rows, ["n=10"]);
    let deep = "    def down(n):\n        return 0 if n == 0 else 1 + down(n - 1)\n    return {\"rows\": [{\"n\": down(1500)}]}\n";
    assert_eq!(fetch(deep).rows, ["n=1500"]);
    let endless = error("    def down(n):\n        return down(n + 1)\n    return down(0)\n");
    assert!(endless.contains("too many calls inside of each other"), "{endless}");
    assert_eq!(error("    abort()\n"), "aborted");
    assert!(error("    abort(1)\n").contains("abort: takes no arguments"));
}

#[test]
fn a_call_ends_at_its_limits() {
    let files = |text: &str| [("lib/x.star", body(text))];
    let run = |text: &str, limits| {
        let files = files(text);
        fetch_with(&[(files[0].0, &files[0].1)], limits, Stop::never()).page.unwrap_err()
    };
    let steps = run("    while True:\n        pass\n", Limits { steps: 100_000, ..Limits::default() });
    assert!(steps.contains("the limit of 100000 steps was exceeded"), "{steps}");
    let memory = "    all = []\n    for i in range(100000000):\n        all.append(str(i) * 100)\n";
    let memory = run(memory, Limits { heap_bytes: 20 << 20, ..Limits::default() });
    assert!(memory.contains("the memory limit of 20971520 bytes was exceeded"), "{memory}");
    let time = run("    sleep(60)\n", Limits { time: Duration::from_millis(100), ..Limits::default() });
    assert!(time.contains("took longer than"), "{time}");
}

#[test]
fn a_stop_ends_loops_and_sleeps() {
    for text in ["    while True:\n        pass\n", "    sleep(3600)\n"] {
        let started = Instant::now();
        let stop = Stop::new(move || started.elapsed() > Duration::from_millis(200));
        let error = fetch_with(&[("lib/x.star", &body(text))], Limits::default(), stop).page.unwrap_err();
        assert!(error.contains("was stopped"), "{error}");
        assert!(started.elapsed() < Duration::from_secs(10));
    }
}

#[test]
fn nothing_survives_between_calls_and_secrets_are_not_printed() {
    let frozen =
        "API = {\"fetch\": {}}\nseen = []\n\ndef fetch(page):\n    seen.append(1)\n    return {\"rows\": []}\n";
    let error = fetch_with(&[("lib/x.star", frozen)], Limits::default(), Stop::never()).page.unwrap_err();
    assert!(error.contains("what the top level made cannot be changed by a function"), "{error}");
    let got = fetch(
        "    env.set(\"NEW\", \"value1\")\n    print(env.get(\"API_KEY\"), env.get(\"NONE\", \"d\"), env.get(\"NEW\"), sep=\"|\")\n    return {\"rows\": []}\n",
    );
    assert_eq!(got.lines, ["[REDACTED]|d|value1"]);
}

#[test]
fn files_are_read_inside_of_the_project_only() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("s.txt"), "secret").unwrap();
    let text = format!(
        "API = {{\"fetch\": {{}}}}\n\ndef fetch(page):\n    print(glob(\"data/**/*.txt\"), read_text(\"data/a.txt\"), \
         file_exists(\"data\"), file_exists(\"data/a.txt\"), md5_file(\"data/a.txt\"), len(read_blob(\"data/a.txt\")))\n    \
         return {{\"rows\": [{{\"t\": read_text(\"{}/s.txt\")}}]}}\n",
        outside.path().display()
    );
    let files = [("lib/x.star", text.as_str()), ("data/a.txt", "é"), ("data/b/c.txt", "")];
    let got = fetch_with(&files, Limits::default(), Stop::never());
    assert_eq!(got.lines, ["[\"data/a.txt\", \"data/b/c.txt\"] é False True 66ddcd97cfdeabb2f6fb8a999b4bc76f 2"]);
    assert!(got.page.unwrap_err().contains("outside"));
    let env = format!("ONDATRA_FILE_ROOTS=/nowhere:{}\n", outside.path().display());
    let files = [("lib/x.star", text.as_str()), ("data/a.txt", "é"), (".env", env.as_str())];
    assert_eq!(fetch_with(&files, Limits::default(), Stop::never()).rows, ["t=\"secret\""]);
}

#[test]
fn cells_know_their_kinds() {
    let files = [(
        "lib/x.star",
        body(
            "    return {\"rows\": [{\"a\": 1 << 70, \"b\": 1.5, \"c\": b\"x\", \"d\": [1], \"e\": {}, \"f\": len, \"g\": time.from_timestamp(0)}]}\n",
        ),
    )];
    let dir = project(&[(files[0].0, &files[0].1)]);
    let registry = Registry::read(dir.path(), |_| false).unwrap();
    let host = host(dir.path(), &Arc::default(), Limits::default(), Stop::never());
    let kinds = with_lib(registry.get("X").unwrap(), &host, Direction::Fetch, |running| {
        let mut kinds = Vec::new();
        let arguments = [("a", HostValue::None), ("target", HostValue::None)];
        let fetched = running.fetch(&arguments, &HostValue::None, 1, |_, row, _| {
            kinds.extend(row.cells().into_iter().map(|(_, cell)| match cell.kind() {
                CellKind::BigInt(_) => "big",
                CellKind::Float(_) => "float",
                CellKind::Bytes(_) => "bytes",
                CellKind::List(_) => "list",
                CellKind::Dict(_) => "dict",
                CellKind::Other(_) => "other",
                CellKind::Time(_) => "time",
                _ => "?",
            }));
            Ok::<(), ()>(())
        });
        assert!(fetched.is_ok());
        kinds
    });
    assert_eq!(kinds.unwrap(), ["big", "float", "bytes", "list", "dict", "other", "time"]);
}
