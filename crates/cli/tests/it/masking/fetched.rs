//! Models that fetch: a row waits in the state before the lake has it, and waits masked.

use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use state::BackendKind;
use testkit::http::{Answer, Server};
use testkit::{Project, StateFixture};

use super::files_with;
use crate::{BINARY, project};

const COLUMNS: &str = "id::BIGINT AS id, mail::VARCHAR AS mail, born::DATE AS born, note::VARCHAR AS note";
const TAGS: &str = "-- @column: MAIL = x | mask_email\n-- @column: born = x | mask_year";
const YEAR: &str = "CREATE MACRO mask_year(v) AS date_trunc('year', v)::DATE;";

/// A function that returns these rows (JSON, which is Starlark here).
fn returning(project: &Project, rows: &str) {
    project
        .write("lib/api.star", &format!("API = {{\"fetch\": {{}}}}\ndef fetch():\n    return {{\"rows\": {rows}}}\n"));
    project.write("config/macros/own.sql", YEAR);
}

fn model(project: &Project, kind: &str, more: &str) {
    project.model("raw/x", &format!("-- @kind: {kind}\n-- @fetch\n{TAGS}\n{more}SELECT {COLUMNS}\nFROM api()\n"));
}

const ROWS: &str = r#"[{"id": 1, "mail": "alice@example.com", "born": "1984-05-06", "note": "a\"b"},
    {"id": 2, "mail": None, "born": None, "note": None}, {"id": 3, "mail": "x", "born": "2000-12-31", "note": "é"}]"#;
const MASKED: &str = "1,a***@example.com,1984-01-01,\"a\"\"b\"\n2,,,\n3,***,2000-01-01,é\n";

#[test]
fn every_kind_gets_masked_rows_of_the_types_that_the_functions_give() {
    for kind in
        ["table", "append", "merge\n-- @unique_key: id", "scd2\n-- @unique_key: id", "tracked\n-- @group_key: id"]
    {
        let project = project();
        returning(&project, ROWS);
        model(&project, kind, "-- @constraint: not_in(mail, 'alice@example.com')\n");
        project.run(&["run"]).success();
        assert_eq!(project.rows("SELECT id, mail, born, note FROM raw.x ORDER BY id"), MASKED, "{kind}");
        if !kind.contains("append") {
            project.run(&["run"]).success();
            assert_eq!(project.rows("SELECT id, mail, born, note FROM raw.x ORDER BY id"), MASKED, "{kind}");
        }
        assert_eq!(project.rows("SELECT typeof(born), typeof(mail) FROM raw.x GROUP BY ALL"), "DATE,VARCHAR\n");
    }
}

#[test]
fn a_masked_number_is_a_text_and_what_try_cast_leaves_is_masked() {
    let project = project();
    returning(&project, r#"[{"ssn": 123456789, "n": "odd"}, {"ssn": 12, "n": "7"}]"#);
    let tags = "-- @column: ssn = x | mask_ssn\n-- @column: n = x | hash";
    project.model(
        "raw/x",
        &format!("-- @fetch\n{tags}\nSELECT ssn::BIGINT AS ssn, TRY_CAST(n AS INTEGER) AS n FROM api()"),
    );
    project.run(&["run"]).success();
    let rows = "SELECT ssn, typeof(n), n = hash(NULL::INTEGER), n = hash(7) FROM raw.x ORDER BY ssn";
    assert_eq!(project.rows(rows), "***-**-****,UBIGINT,false,true\n***-**-6789,UBIGINT,true,false\n");
}

#[test]
fn functions_know_the_variables_of_the_session_and_tables_of_the_lake() {
    let project = project();
    returning(&project, r#"[{"a": "x", "b": "x"}]"#);
    project.write("config/variables/constants.sql", "SET VARIABLE pepper = ['it''s', 'p'];");
    project.model("map", "SELECT 'x' AS k, 'seen' AS v");
    project.run(&["run", "main.map"]).success();
    project.write(
        "config/macros/own.sql",
        "CREATE MACRO mask_own(v) AS v || getvariable('pepper')[1];\n\
         CREATE MACRO mask_map(x) AS (SELECT max(v) FROM map WHERE k = x);",
    );
    let tags = "-- @column: a = x | mask_own\n-- @column: b = x | mask_map";
    project.model("raw/x", &format!("-- @fetch\n{tags}\nSELECT a::VARCHAR AS a, b::VARCHAR AS b FROM api()"));
    project.run(&["run"]).success();
    assert_eq!(project.rows("FROM raw.x"), "xit's,seen\n");
}

#[test]
fn a_mask_that_does_not_work_is_told_before_anything_is_fetched() {
    for (tags, said) in [
        (
            "-- @column: mial = x | redact",
            "the masked column `mial` is not in the model output (available columns: mail)",
        ),
        ("-- @column: mail = x | mask_nil", "Scalar Function with name mask_nil does not exist!"),
        (
            "-- @column: mail = x | mask_list",
            "mask_list gives VARCHAR[], and what a fetch masks must be of a simple type",
        ),
    ] {
        let project = project();
        project.write("lib/api.star", "API = {\"fetch\": {}}\ndef fetch():\n    fail(\"it was called\")\n");
        project.write("config/macros/own.sql", "CREATE MACRO mask_list(v) AS [v];");
        project.model("raw/x", &format!("-- @fetch\n{tags}\nSELECT mail::VARCHAR AS mail FROM api()"));
        let output = project.run(&["run"]).failure(1);
        assert!(output.stderr.contains(said) && output.stderr.contains("raw/x.sql:2:"), "{}", output.stderr);
        assert!(!output.stderr.contains("it was called"), "{}", output.stderr);
    }
}

#[test]
fn no_message_shows_a_value_of_a_masked_column() {
    for (columns, tag, said) in [
        (
            "mail::INTEGER AS mail",
            "redact",
            "page 1, row 2, column \"mail\": the value (of a masked column) is not valid for INTEGER",
        ),
        (
            "mail::UUID AS mail",
            "redact",
            "page 1, row 1, column \"mail\": the value (of a masked column) is not valid for UUID",
        ),
        (
            "mail::VARCHAR AS mail",
            "mask_bad",
            "a page cannot be masked: the engine failed at a value, which is not shown",
        ),
    ] {
        let project = project();
        returning(&project, r#"[{"mail": "41"}, {"mail": "rawsecret"}]"#);
        project.write("config/macros/own.sql", "CREATE MACRO mask_bad(v) AS v::INTEGER;");
        project.model("raw/x", &format!("-- @fetch\n-- @column: mail = x | {tag}\nSELECT {columns} FROM api()"));
        let output = project.run(&["run", "--json"]).failure(1);
        assert!(output.stderr.contains(said), "{}", output.stderr);
        assert!(!format!("{}{}", output.stdout, output.stderr).contains("rawsecret"), "{}", output.stderr);
    }
}

#[test]
fn rows_that_an_empty_fetch_keeps_are_masked_once_and_not_again() {
    let project = project();
    returning(&project, r#"[{"id": 1, "mail": "alice@example.com"}]"#);
    let write = |tag: &str, more: &str| {
        let columns = format!("id::BIGINT AS id, mail::VARCHAR AS mail{more}");
        project.model(
            "raw/x",
            &format!("-- @kind: tracked\n-- @group_key: id\n-- @fetch\n{tag}SELECT {columns} FROM api()"),
        );
        project.run(&["run"]).success();
        project.rows("SELECT mail FROM raw.x")
    };
    assert_eq!(write("", ""), "alice@example.com\n");
    returning(&project, "[]");
    let tag = "-- @column: mail = x | hash_pii\n";
    let masked = write(tag, "");
    assert!(masked.starts_with("ff8d9819"), "{masked}");
    assert_eq!(write(tag, ", n::INTEGER AS n"), masked, "the table has it masked");
}

/// Pages enough that some are staged while others are asked for; at the last one somebody looks.
const PAGES: &str = r#"
def fetch(page):
    number = page.cursor or 1
    resp = http.get("/page", params = {"number": str(number)})
    if not resp.ok:
        fail("status", resp.status_code)
    ids = range(number * 10000, (number + 1) * 10000)
    rows = [{"id": i, "mail": "raw" + "secret%d@example.com" % i, "open": "open" + "mark%d" % i} for i in ids]
    return {"rows": rows, "next": number + 1 if number < 5 else None}
"#;

#[test]
fn the_state_never_has_a_masked_value_in_clear() {
    let fixture = Arc::new(OnceLock::<StateFixture>::new());
    let looked: Arc<Mutex<Vec<(usize, Vec<String>)>>> = Arc::default();
    let (seen, looking) = (Arc::clone(&looked), Arc::clone(&fixture));
    let look = move |fixture: &StateFixture| {
        let folders = [
            fixture.project.root(),
            fixture.project.temp_root(),
            fixture.postgres.as_ref().unwrap().folder().to_owned(),
        ];
        let found = |text: &str| folders.iter().flat_map(|folder| files_with(folder, text)).collect::<Vec<_>>();
        (found("openmark").len(), found("rawsecret"))
    };
    let look = Arc::new(look);
    let looks = Arc::clone(&look);
    let api = Server::new(move |_, request| {
        if request.parameter("number").as_deref() == Some("5") {
            seen.lock().unwrap().push(looks(looking.get().unwrap()));
        }
        Answer::ok("{}")
    });
    let _ = fixture.set(StateFixture::new(BINARY, BackendKind::Postgres));
    let fixture = fixture.get().unwrap();
    let project = &fixture.project;
    project.write("lib/api.star", &format!("API = {{\"base_url\": \"{}\", \"fetch\": {{}}}}\n{PAGES}", api.url("")));
    let columns = "id::BIGINT AS id, mail::VARCHAR AS mail, open::VARCHAR AS open";
    let header = "-- @kind: append\n-- @fetch\n-- @column: mail = x | mask_email";
    let write = |check: &str| project.model("raw/x", &format!("{header}\n{check}SELECT {columns}\nFROM api()"));

    write("-- @constraint: in_list(mail, 'nobody')\n");
    let failed = project.run(&["run", "--json"]).failure(1);
    assert!(failed.stdout.contains("r***@example.com"), "{}", failed.stdout);
    let output = format!("{}{}", failed.stdout, failed.stderr);
    assert!(!output.contains("rawsecret"), "{output}");
    write("");
    let ran = project.run(&["run"]).success();
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("rawsecret"));
    assert_eq!(project.rows("SELECT DISTINCT mail FROM raw.x"), "r***@example.com\n");
    looked.lock().unwrap().push(look(fixture));
    let looked = looked.lock().unwrap();
    assert_eq!(looked.len(), 3);
    for (open, raw) in looked.iter() {
        assert!(*open > 0, "what is not masked is found, so what is would be");
        assert_eq!(raw, &Vec::<String>::new());
    }
}

#[test]
fn rows_of_a_run_that_was_killed_are_committed_as_they_wait_masked_once() {
    let blocked = Arc::new(AtomicBool::new(true));
    let flag = Arc::clone(&blocked);
    let api = Server::new(move |_, _| {
        while flag.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(10));
        }
        Answer::ok("{}")
    });
    let project = project();
    let other = "def fetch():\n    resp = http.get(\"/other\")\n    if not resp.ok:\n        fail(\"x\")\n    return {\"rows\": []}\n";
    project.write("lib/other.star", &format!("API = {{\"base_url\": \"{}\", \"fetch\": {{}}}}\n{other}", api.url("")));
    returning(&project, r#"[{"id": 1, "mail": "alice@example.com"}]"#);
    let endless = "SELECT count(*) AS n FROM range(10000000) a(i), range(10000000) b(j) WHERE (i * j) % 7 = 9";
    project.model("a/first", endless);
    let columns = "id::BIGINT AS id, mail::VARCHAR AS mail";
    project.model(
        "raw/x",
        &format!("-- @kind: append\n-- @fetch\n-- @column: mail = x | hash_pii\nSELECT {columns} FROM api()"),
    );
    project.model("raw/y", "-- @fetch\nSELECT id::BIGINT AS id FROM other()");
    // One fetch after the other: when the second one asks, the first one is complete.
    let mut command = project.command(&["run", "--jobs", "1"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    api.wait_for(|request| request.path() == "/other");
    child.kill().unwrap();
    child.wait().unwrap();
    blocked.store(false, Ordering::SeqCst);
    project.remove("models/a/first.sql");
    project.remove("models/raw/y.sql");
    let output = project.run(&["run"]).success().stdout;
    assert!(output.contains("resumed 1 staged rows"), "{output}");
    assert!(project.rows("SELECT mail FROM raw.x").starts_with("ff8d9819"), "masked once");
}
