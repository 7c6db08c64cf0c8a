//! The state is opened only when something needs it (chapter 04 §2): here it cannot be opened.

use crate::project;

const FETCHING: &str =
    "API = {\"fetch\": {}}\n\ndef fetch(page):\n    return {\"rows\": [{\"id\": 1}], \"next\": None}\n";

#[test]
fn what_needs_no_state_runs_where_it_cannot_be_opened() {
    let project = project();
    // A folder in the place of the file: whoever opens it fails.
    project.write("state.duckdb/in-the-way", "");
    project.model("raw/a", "SELECT 1 AS id");
    project.model("mart/b", "-- @kind: merge\n-- @unique_key: id\nSELECT id FROM raw.a");
    project.run(&["run"]).success();
    let again = project.run(&["run"]).success();
    assert!(again.stdout.contains("[SKIP] raw.a"), "{}", again.stdout);
    for args in [
        &["run", "mart.b"][..],
        &["run", "mart.b", "--full-refresh", "--yes"],
        &["sql", "FROM mart.b"],
        &["query", "mart.b"],
        &["validate"],
        &["check"],
        &["history"],
        &["describe", "mart.b"],
        &["lineage", "overview"],
        &["sandbox"],
    ] {
        project.run(args).success();
    }

    project.write("lib/api.star", FETCHING);
    project.model("raw/fetched", "-- @fetch\nSELECT id::BIGINT AS id FROM api()");
    let failed = project.run(&["run"]).failure(1);
    assert!(failed.stderr.contains("state"), "{}", failed.stderr);
}
