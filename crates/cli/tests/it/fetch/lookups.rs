//! `lookup()` reads the lake as it is when a run begins.

use super::{model, run, silent, with_lib};
use crate::project;

/// Looks three keys up.
fn looking(column: &str) -> String {
    format!(
        "def fetch():\n    found = lookup(\"raw.users\", \"id\", \"{column}\", [1, 2, 3])\n    \
         return {{\"rows\": [{{\"t\": repr(found)}}]}}\n"
    )
}

#[test]
fn the_newest_row_counts_also_if_its_value_is_null() {
    let project = project();
    project.model("raw/users", "-- @kind: append\nSELECT 1 AS id, 'old' AS mail UNION ALL SELECT 2, 'two'");
    run(&project);
    project.model("raw/users", "-- @kind: append\nSELECT 1 AS id, NULL::VARCHAR AS mail");
    project.run(&["run", "--keep", "raw.users"]).success();
    assert_eq!(project.rows("SELECT count(*) FROM raw.users WHERE id = 1"), "2\n");
    project.write("lib/api.star", &super::lib(&silent(), "", &looking("mail")));
    model(&project, "raw/x", "table", "t::VARCHAR AS t", "api()");
    run(&project);
    let found = project.rows("SELECT t FROM raw.x");
    assert!(!found.contains("old") && found.contains("two"), "{found}");
}

#[test]
fn a_column_that_is_missing_is_named_with_its_table() {
    let project = with_lib(&silent(), "", &looking("male"));
    project.model("raw/users", "SELECT 1 AS id, 'a' AS mail");
    model(&project, "raw/x", "table", "t::VARCHAR AS t", "api()");
    // What is looked up is not ordered before.
    let _ = project.run(&["run", "raw.users"]).success();
    let error = project.run(&["run", "raw.x"]).failure(1).stderr;
    assert!(error.contains("the table raw.users has no column \"male\""), "{error}");
}
