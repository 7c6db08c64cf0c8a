//! What a function is called with: the arguments of SQL in every form, and what the runtime passes.

use testkit::http::Server;

use super::{COLUMNS, Items, model, run, silent, with_lib};
use crate::project;

/// Gives its arguments back as a row.
const ECHO: &str = "
def fetch(a = \"default\", b = \"default\", c = \"default\"):
    return {\"rows\": [{\"a\": repr(a), \"b\": repr(b), \"c\": repr(c)}]}
";

#[test]
fn every_form_of_an_argument_arrives_as_the_text_of_its_value() {
    let project = with_lib(&silent(), "\"args\": [\"a\", \"b\", \"c\"]", ECHO);
    project.write("config/variables/global.sql", "SET VARIABLE since = DATE '2026-01-02';");
    let cases = [
        ("'x', 42, 1.50", "\"x\"|\"42\"|\"1.50\""),
        ("true, NULL, -7", "\"true\"|None|\"-7\""),
        ("'it''s'", "\"it's\"|\"default\"|\"default\""),
        ("", "\"default\"|\"default\"|\"default\""),
        ("c => 'z', a => 1 + 1", "\"2\"|\"default\"|\"z\""),
        ("'x', c := 'z'", "\"x\"|\"default\"|\"z\""),
        ("getvariable('since'), getvariable('none'), upper('e')", "\"2026-01-02\"|None|\"E\""),
        ("[1, 2], {'k': 'v'}, MAP {'m': 1}", "\"[1,2]\"|\"{\\\"k\\\":\\\"v\\\"}\"|\"{\\\"m\\\":1}\""),
        (
            "DATE '2026-03-01', TIMESTAMP '2026-03-01 10:00:00', 1e3",
            "\"2026-03-01\"|\"2026-03-01 10:00:00\"|\"1000.0\"",
        ),
        ("list_transform([1, 2], lambda x: x + 1)", "\"[2,3]\"|\"default\"|\"default\""),
    ];
    for (at, (arguments, _)) in cases.iter().enumerate() {
        let columns = "a::VARCHAR AS a, b::VARCHAR AS b, c::VARCHAR AS c";
        model(&project, &format!("raw/x{at}"), "table", columns, &format!("api({arguments})"));
    }
    run(&project);
    let tables: Vec<String> = (0..cases.len())
        .map(|at| format!("SELECT {at} AS nr, a || '|' || b || '|' || c AS t FROM raw.x{at}"))
        .collect();
    let output = project.run(&[
        "sql",
        &format!("SELECT t FROM ({}) ORDER BY nr", tables.join(" UNION ALL ")),
        "--format",
        "json",
    ]);
    let found: Vec<serde_json::Value> = serde_json::from_str(&output.success().stdout).unwrap();
    for ((arguments, expected), found) in cases.iter().zip(&found) {
        assert_eq!(found["t"], *expected, "api({arguments})");
    }
}

#[test]
fn an_argument_without_a_value_of_its_own_is_refused_at_its_place() {
    for (argument, expected) in [
        ("[1.0::DOUBLE, 'nan'::DOUBLE]", "it holds NaN or infinity"),
        ("1e0 / 0", "its value is inf, which is no number"),
        ("count(*)", "it is an aggregate, which needs rows"),
        ("upper(max('a'))", "it is an aggregate, which needs rows"),
        ("repeat('x', 20000000)", "it is longer than 16 MiB as text"),
    ] {
        let project = with_lib(&silent(), "\"args\": [\"a\", \"b\", \"c\"]", ECHO);
        model(&project, "raw/x", "table", "a::VARCHAR AS a", &format!("api('é', {argument})"));
        let output = project.run(&["run"]).failure(1);
        assert!(output.stderr.contains("the argument \"b\" of \"api\""), "{argument}: {}", output.stderr);
        assert!(output.stderr.contains(expected), "{argument}: {}", output.stderr);
        assert!(output.stderr.contains("models/raw/x.sql:4:"), "{argument}: {}", output.stderr);
    }
}

#[test]
fn nan_in_the_column_of_the_cursor_is_not_where_it_has_come_to() {
    let echo = "def fetch(last_value):\n    return {\"rows\": [{\"n\": \"nan\", \"v\": last_value}, {\"n\": 2.5}]}\n";
    let project = with_lib(&silent(), "", echo);
    let header = "append\n-- @incremental: n\n-- @incremental_initial: 0";
    model(&project, "raw/x", header, "n::DOUBLE AS n, v::VARCHAR AS v", "api()");
    run(&project);
    run(&project);
    assert_eq!(project.rows("SELECT DISTINCT v FROM raw.x WHERE v IS NOT NULL ORDER BY v"), "0\n2.5\n");
}

#[test]
fn the_runtime_passes_what_the_function_declares() {
    let asking = r#"
def fetch(page, columns, target, is_backfill, cursor, initial_value, last_value, last_run):
    resp = http.get("/items", params = {"cursor": page.cursor, "limit": page.size, "since": last_value,
        "columns": json.encode(columns), "target": target, "is_backfill": is_backfill, "of": cursor,
        "initial": initial_value, "last_run": last_run})
    if not resp.ok:
        fail("status", resp.status_code)
    return resp.json
"#;
    let (project, items) = (project(), Items::start(&[(1, 1, "a"), (5, 1, "b")]));
    project.write("lib/items.star", &super::lib(&items.api, "\"page_size\": 100", asking));
    let header = "append\n-- @incremental: nr\n-- @incremental_initial: 0";
    model(&project, "raw/x", header, "id::BIGINT AS nr, v::TEXT AS v", "items()");
    let asked = |name: &str, api: &Server| api.seen()[0].parameter(name).unwrap();
    run(&project);
    let api = &items.api;
    let names = ["since", "target", "is_backfill", "of", "initial", "last_run"];
    assert_eq!(names.map(|name| asked(name, api)), ["0", "raw.x", "true", "nr", "0", ""]);
    let columns = asked("columns", api);
    assert_eq!(columns, r#"[{"name":"id","type":"BIGINT"},{"name":"v","type":"VARCHAR"}]"#);
    api.take_seen();

    // The second run begins at the newest row, the third too: nothing came.
    items.set(&[(1, 1, "a"), (5, 1, "b"), (7, 1, "c")]);
    run(&project);
    assert_eq!(names[..5].iter().map(|name| asked(name, api)).collect::<Vec<_>>(), ["5", "raw.x", "false", "nr", "0"]);
    let last_run = asked("last_run", api);
    assert!(last_run.starts_with("20") && last_run.len() >= 19, "{last_run}");
    api.take_seen();
    run(&project);
    assert_eq!(asked("since", api), "7");
    assert!(asked("last_run", api) >= last_run);
    api.take_seen();

    // A rebuild asks for everything.
    project.run(&["run", "raw.x", "--full-refresh", "--yes"]).success();
    assert_eq!(["since", "is_backfill"].map(|name| asked(name, api)), ["0", "true"]);
    assert_eq!(project.rows("SELECT count(*) FROM raw.x"), "3\n");
    api.take_seen();

    // So does a change of the definition, but not one of the lib file.
    project.write("lib/items.star", &super::lib(api, "\"page_size\": 99", asking));
    run(&project);
    assert_eq!(["since", "is_backfill", "limit"].map(|name| asked(name, api)), ["7", "false", "99"]);
    api.take_seen();
    model(&project, "raw/x", header, "id::BIGINT AS nr, v::TEXT AS v, k::INTEGER AS k", "items()");
    run(&project);
    assert_eq!(["since", "is_backfill"].map(|name| asked(name, api)), ["0", "true"]);
    assert_eq!(project.rows("SELECT count(*), count(k) FROM raw.x"), "3,3\n");
}

#[test]
fn without_incremental_everything_is_wanted_every_time() {
    let (project, items) = (project(), Items::start(&[(1, 1, "a")]));
    items.lib(&project, 10);
    model(&project, "raw/x", "merge\n-- @unique_key: id", COLUMNS, "items()");
    run(&project);
    run(&project);
    let since = |at: usize| items.api.seen()[at].parameter("since").unwrap();
    assert_eq!([since(0), since(1)], ["1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"]);
}

#[test]
fn a_time_as_cursor_has_the_text_form_of_the_engine() {
    let asking = r#"
def fetch(last_value):
    resp = http.get("/x", params = {"since": last_value})
    return {"rows": [{"seen": "2026-01-02T10:00:00"}] if resp.ok else []}
"#;
    let api = Server::new(|_, _| testkit::http::Answer::ok(""));
    let project = with_lib(&api, "", asking);
    model(&project, "raw/x", "append\n-- @incremental: seen", "seen::TIMESTAMP AS seen", "api()");
    run(&project);
    run(&project);
    let since: Vec<String> = api.seen().iter().map(|request| request.parameter("since").unwrap()).collect();
    assert_eq!(since, ["1970-01-01T00:00:00Z", "2026-01-02 10:00:00"]);
}

#[test]
fn a_function_that_takes_all_gets_all() {
    let all = "
def fetch(**kwargs):
    return {\"rows\": [{\"names\": \",\".join(sorted(kwargs.keys()))}]}
";
    let project = with_lib(&silent(), "\"args\": [\"a\"]", all);
    model(&project, "raw/x", "table", "names::VARCHAR AS names", "api('1')");
    run(&project);
    assert_eq!(
        project.rows("FROM raw.x"),
        "\"a,columns,cursor,initial_value,is_backfill,last_run,last_value,page,target\"\n"
    );
}
