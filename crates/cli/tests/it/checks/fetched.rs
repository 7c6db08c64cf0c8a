//! Checks of models that fetch: the rows wait in the state until the lake has them.

use serde_json::json;
use testkit::Project;
use testkit::http::{Answer, Server};

use crate::checks::{records, texts};
use crate::project;

const LIB: &str = r#"
API = {"base_url": "URL", "fetch": {"args": []}}

def fetch():
    resp = http.get("/items")
    if not resp.ok:
        fail("status", resp.status_code)
    return {"rows": resp.json}
"#;

fn fetching(header: &str) -> (Project, Server) {
    let rows = json!([{"id": 1, "name": "x"}, {"id": 2, "name": null}]).to_string();
    let api = Server::new(move |_, _| Answer::ok(rows.clone()));
    let project = project();
    project.write("lib/api.star", &LIB.replace("URL", &api.url("")));
    write(&project, header);
    (project, api)
}

fn write(project: &Project, header: &str) {
    let select = "SELECT id::BIGINT AS id, name::VARCHAR AS name FROM api()";
    project.model("raw/x", &format!("-- @kind: append\n-- @fetch\n{header}\n{select}"));
}

#[test]
fn constraints_see_what_was_fetched_and_what_they_refuse_is_not_kept() {
    let (project, api) = fetching("-- @constraint: not_null(name)\n-- @constraint: own()");
    project.write(
        "config/macros/own.sql",
        "CREATE MACRO ondatra_constraint_own(t) AS TABLE SELECT n || ' rows' AS m FROM query('SELECT count(*) AS n FROM ' || t);",
    );
    let output = project.run(&["run", "--json"]).failure(1);
    let errors = ["NOT NULL failed: name has 1 NULL values", "2 rows"];
    assert_eq!(texts(&records(&output)[0], "errors"), errors);
    assert_eq!(api.seen().len(), 1);
    // The same rows would fail again: they are asked for anew.
    write(&project, "-- @audit: row_count(>, 1)\n-- @warning: not_null(name)");
    let output = project.run(&["run", "--json"]).success();
    assert_eq!(api.seen().len(), 2);
    assert_eq!(texts(&records(&output)[0], "warnings"), ["not_null warning: name has 1 NULL values"]);
    assert_eq!(project.rows("SELECT count(*) FROM raw.x"), "2\n");
}

#[test]
fn rows_are_kept_where_only_the_directive_is_wrong() {
    let (project, api) = fetching("-- @constraint: not_null(nope)");
    project.run(&["run"]).failure(1);
    write(&project, "-- @constraint: not_null(id)");
    project.run(&["run"]).success();
    assert_eq!(api.seen().len(), 1, "what was fetched was committed");
    assert_eq!(project.rows("SELECT count(*) FROM raw.x"), "2\n");
}

#[test]
fn nothing_is_fetched_for_an_audit_that_is_no_call_and_other_models_run() {
    let project = project();
    project.write("lib/bad.star", "API = {\"fetch\": {}}\ndef fetch():\n    fail(\"it was called\")\n");
    project.write("lib/good.star", "API = {\"fetch\": {}}\ndef fetch():\n    return {\"rows\": [{\"id\": 1}]}\n");
    project.model("raw/bad", "-- @fetch\n-- @audit: row_count(>, 0\nSELECT id::INT AS id FROM bad()");
    project.model("raw/good", "-- @fetch\n-- @audit: row_count(>, 0)\nSELECT id::INT AS id FROM good()");
    let output = project.run(&["run"]).failure(1);
    let all = format!("{}{}", output.stdout, output.stderr);
    assert!(all.contains("audit dispatch error: unbalanced parentheses") && all.contains("[OK] raw.good"), "{all}");
    assert!(!all.contains("it was called"), "{all}");
}
