//! Lib files that are broken, calls without `@fetch`, and SQL that breaks a rule: all before the first request.

use testkit::http::{Answer, Server};

use super::{COLUMNS, Items, model, returning, run, silent, with_lib};
use crate::project;

#[test]
fn a_broken_lib_stops_the_whole_run_before_any_request_or_write() {
    let (project, items) = (project(), Items::start(&[(1, 1, "a")]));
    items.lib(&project, 10);
    project.write(
        "lib/broken.star",
        "BASE = \"http://x\"\nAPI = {\"base_url\": BASE, \"fetch\": {}}\ndef fetch():\n    pass\n",
    );
    model(&project, "raw/good", "table", COLUMNS, "items()");
    model(&project, "raw/bad", "table", "a::INTEGER AS a", "broken()");
    project.model("raw/plain", "SELECT 1 AS a");
    let text = project.run(&["run"]).failure(1).stderr;
    assert!(text.contains("lib/broken.star:2") && text.contains("LIB-001"), "{text}");
    assert_eq!(items.api.seen().len(), 0);
    assert_eq!(project.rows("SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'raw'"), "0\n");
    // Only the libs that a model calls matter to it.
    project.run(&["run", "raw.good"]).success();
    project.run(&["run", "raw.plain"]).success();
    assert_eq!(project.rows("SELECT count(*) FROM raw.good"), "1\n");
    let text = project.run(&["run", "raw.bad"]).failure(1).stderr;
    assert!(text.contains("lib/broken.star:2"), "{text}");
}

#[test]
fn a_broken_lib_of_every_sort_is_named() {
    for (text, expected) in [
        ("API = {\"timeout\": \"30\", \"fetch\": {}}\ndef fetch():\n    pass\n", "timeout"),
        ("API = {\"retry\": -1, \"fetch\": {}}\ndef fetch():\n    pass\n", "retry"),
        ("API = {\"fetch\": {\"args\": [\"cursor\"]}}\ndef fetch(cursor):\n    pass\n", "cursor"),
        ("API = {\"fetch\": {}}\n", "fetch"),
        ("API = {\"fetch\": {}}\ndef fetch(x):\n    pass\n", "undeclared parameter"),
        ("API = {\"fetch\": {\"async\": True}}\ndef fetch():\n    pass\n", "fetch"),
        ("API = {}\n", "must have at least one of"),
        ("API = {\"fetch\": {}\n", "lib/broken.star"),
    ] {
        let project = project();
        project.write("lib/broken.star", text);
        project.model("raw/plain", "SELECT 1 AS a");
        let error = project.run(&["run"]).failure(1).stderr;
        assert!(error.contains(expected) && error.contains("broken"), "{text}: {error}");
    }
}

#[test]
fn a_lib_call_without_the_directive_is_an_error() {
    let project = with_lib(&silent(), "", &returning("[{\"a\": 1}]"));
    project.model("raw/x", "SELECT a::INTEGER AS a FROM api()");
    let text = project.run(&["run"]).failure(1).stderr;
    assert!(text.contains("lacks @fetch") && text.contains("models/raw/x.sql:1"), "{text}");
}

#[test]
fn findings_of_the_sql_stand_at_their_place_before_any_request() {
    let items = Items::start(&[(1, 1, "a")]);
    for (sql, expected, place) in [
        ("SELECT *\nFROM items()", "SELECT * is not allowed", "3:"),
        ("SELECT id::INTEGER AS id,\n  k\nFROM items()", "is not cast", "4:3"),
        ("SELECT id::INTEGER\nFROM items()", "has no explicit alias", "3:"),
        ("SELECT id::INTEGER AS a, k::INTEGER AS A\nFROM items()", "duplicate output column name", "3:"),
        ("SELECT id::INTEGER AS id\nFROM items()\nWHERE id > 1", "WHERE", "5:"),
        ("SELECT id::INTEGER AS id\nFROM items()\nLIMIT 5", "LIMIT", "5:"),
        ("SELECT id::INTEGER AS id\nFROM items(), items()", "JOIN is not allowed", "4:"),
        ("SELECT id::INTEGER AS id\nFROM raw.other", "no lib calls", "4:"),
        ("SELECT id::INTEGER AS id\nFROM item()", "did you mean \"items\"", "4:"),
        ("SELECT id::INTEGER AS id\nFROM items('x')", "too many arguments", "4:"),
    ] {
        let project = project();
        items.lib(&project, 10);
        project.model("raw/x", &format!("-- @kind: table\n-- @fetch\n{sql}\n"));
        project.model("raw/before", "SELECT 1 AS a");
        let text = project.run(&["run"]).failure(1).stderr;
        assert!(text.contains(expected), "{sql}: {text}");
        assert!(text.contains(&format!("models/raw/x.sql:{place}")), "{sql}: {text}");
    }
    assert_eq!(items.api.seen().len(), 0);
}

#[test]
fn requests_whose_status_nobody_looks_at_give_a_warning() {
    let unchecked = "def fetch():\n    http.get(\"/x\")\n    return {\"rows\": [{\"a\": 1}]}\n";
    let api = Server::new(|_, _| Answer::new(404, &[], ""));
    let project = with_lib(&api, "", unchecked);
    model(&project, "raw/x", "table", "a::INTEGER AS a", "api()");
    let output = run(&project);
    assert_eq!(output.matches("without checking resp.ok").count(), 1, "{output}");
    let allowed = format!("# ondatracheck:allow-unchecked-status it always answers\n{unchecked}");
    project.write("lib/api.star", &super::lib(&api, "", &allowed));
    assert!(!run(&project).contains("WARN"));
}

#[test]
fn an_unset_secret_is_an_error_before_any_request() {
    let items = Items::start(&[(1, 1, "a")]);
    let project = project();
    let lib = super::lib(&items.api, "", super::ITEMS)
        .replace("\"fetch\"", "\"auth\": {\"env\": \"NO_SUCH_KEY\"}, \"fetch\"");
    project.write("lib/items.star", &lib);
    model(&project, "raw/x", "table", COLUMNS, "items()");
    let text = project.run(&["run"]).failure(1).stderr;
    assert!(text.contains("NO_SUCH_KEY"), "{text}");
    assert_eq!(items.api.seen().len(), 0);
}
