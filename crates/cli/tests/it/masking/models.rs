//! Masked columns of each kind, from the first run on.

use crate::project;

const HEADERS: [&str; 5] = [
    "-- @kind: table",
    "-- @kind: append",
    "-- @kind: merge\n-- @unique_key: id",
    "-- @kind: scd2\n-- @unique_key: id",
    "-- @kind: tracked\n-- @group_key: id",
];

fn write(project: &testkit::Project, header: &str) {
    let tags = "-- @column: mail = Address | PII | mask_email\n-- @column: ssn = x | hash_pii | redact\n\
                -- @column: ID = key | redact";
    project.model("raw/x", &format!("{header}\n{tags}\nSELECT id, Mail, ssn, n FROM src.t -- the last word"));
}

fn source(project: &testkit::Project, rows: &str) {
    project.model("src/t", &format!("SELECT * FROM (VALUES {rows}) AS t(id, Mail, ssn, n)"));
}

const ALICE: &str = "1,a***@example.com,15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225,7\n";
const BOB: &str = "2,b***@example.com,NULL,8\n";
const BOBBY: &str = "2,b***@example.org,NULL,8\n";

#[test]
fn every_kind_masks_what_is_tagged_but_its_keys_in_the_order_and_spelling_of_the_query() {
    for header in HEADERS {
        let project = project();
        source(&project, "(1, 'alice@example.com', 123456789, 7)");
        write(&project, header);
        project.run(&["run"]).success();
        let current = if header.contains("scd2") { " WHERE is_current" } else { "" };
        let rows = format!("SELECT id, mail, coalesce(ssn, 'NULL'), n FROM raw.x{current} ORDER BY n");
        let is_keyed = header.contains("_key");
        let shown = |text: &str| {
            if is_keyed { text.to_owned() } else { text.replace("1,a", "[REDACTED],a").replace("2,b", "[REDACTED],b") }
        };
        assert_eq!(project.rows(&rows), shown(ALICE), "{header}");
        let described =
            project.rows("SELECT string_agg(column_name || ' ' || column_type, ', ') FROM (DESCRIBE raw.x)");
        let id = if is_keyed { "INTEGER" } else { "VARCHAR" };
        assert!(
            described.starts_with(&format!("\"id {id}, Mail VARCHAR, ssn VARCHAR, n INTEGER")),
            "{header}: {described}"
        );

        source(&project, "(1, 'alice@example.com', 123456789, 7), (2, 'bob@example.com', NULL, 8)");
        project.run(&["run"]).success();
        assert_eq!(project.rows(&rows), shown(&format!("{ALICE}{BOB}")), "{header}: the second run");
        if header.contains("append") {
            continue;
        }
        // Another address of the same form: nothing changed, as far as anybody can see.
        source(&project, "(1, 'alan@example.com', 123456789, 7), (2, 'bob@example.org', NULL, 8)");
        project.run(&["run"]).success();
        assert_eq!(project.rows(&rows), shown(&format!("{ALICE}{BOBBY}")), "{header}: the third run");
        if header.contains("scd2") {
            let versions = "SELECT id, count(*) FROM raw.x GROUP BY id ORDER BY id";
            assert_eq!(project.rows(versions), "1,1\n2,2\n", "versions are of masked values");
        }
    }
}

#[test]
fn an_incremental_append_masks_what_it_adds() {
    let project = project();
    let write = |rows: &str| {
        source(&project, rows);
        let header = "-- @kind: append\n-- @incremental: id\n-- @incremental_initial: 0\n-- @column: mail = x | redact";
        project.model(
            "raw/x",
            &format!("{header}\nSELECT id, mail FROM src.t WHERE id > getvariable('incr_last_value')::INTEGER"),
        );
        project.run(&["run"]).success();
    };
    write("(1, 'a@b', 1, 1)");
    write("(1, 'a@b', 1, 1), (2, NULL, 1, 1)");
    assert_eq!(project.rows("SELECT * FROM raw.x ORDER BY id"), "1,[REDACTED]\n2,[REDACTED]\n");
}

#[test]
fn a_delta_of_its_source_is_masked_too() {
    let project = project();
    project.model("raw/x", "-- @kind: append\n-- @column: mail = x | mask_email\nSELECT id, mail FROM src.t");
    for rows in ["(1, 'alice@example.com', 0, 0)", "(1, 'alice@example.com', 0, 0), (2, 'alan@example.com', 0, 0)"] {
        source(&project, rows);
        project.run(&["run"]).success();
    }
    assert_eq!(project.rows("SELECT count(*) FROM raw.x"), "2\n");
    assert_eq!(project.rows("SELECT DISTINCT mail FROM raw.x"), "a***@example.com\n");
    let record = project.rows(
        "SELECT json_extract_string(commit_extra_info, '$.masks[0].function') FROM lake.snapshots() \
         WHERE commit_message = 'Pipeline run: raw.x'",
    );
    assert!(record.starts_with("mask_email\n"), "{record}");
}

#[test]
fn models_below_and_checks_see_masked_values() {
    let project = project();
    source(&project, "(1, 'alice@example.com', 5, 1), (2, 'alan@example.com', 5, 1)");
    let checks = "-- @constraint: unique(mail)\n-- @warning: unique(ssn)";
    project.model(
        "raw/x",
        &format!("-- @kind: append\n-- @column: mail = x | mask_email\n{checks}\nSELECT id, mail, ssn FROM src.t"),
    );
    let output = project.run(&["run"]).failure(1);
    let found = "UNIQUE failed: mail has duplicates (value a***@example.com appears 2 times)";
    assert!(output.stdout.contains(found) && output.stdout.contains("Mail = a***@example.com"), "{}", output.stdout);

    project.model("raw/x", "-- @column: mail = x | mask_email\n-- @audit: min(mail, =, 'zz')\nSELECT mail FROM src.t");
    let output = project.run(&["run"]).failure(1);
    assert!(output.stdout.contains("actual min is a***@example.com"), "{}", output.stdout);

    project.model("raw/x", "-- @column: mail = x | mask_email\nSELECT mail FROM src.t");
    project.model("mart/y", "SELECT max(mail) AS mail FROM raw.x");
    project.run(&["run"]).success();
    assert_eq!(project.rows("FROM mart.y"), "a***@example.com\n");
}

#[test]
fn a_statement_without_a_tree_and_one_that_stands_only_in_brackets_are_masked() {
    let project = project();
    project.model("raw/p", "-- @column: a = x | redact\nPIVOT (SELECT 'a' AS k, 'raw' AS v) ON k USING max(v)");
    project.model("raw/s", "-- @column: max = x | redact\nSUMMARIZE SELECT 'raw' AS v -- end");
    project.model("raw/w", "-- @column: e = x | redact\nWITH c AS (SELECT 1 AS \"E\") FROM c");
    project.run(&["run"]).success();
    let all = "SELECT (SELECT a FROM raw.p), (SELECT max FROM raw.s), (SELECT \"E\" FROM raw.w)";
    assert_eq!(project.rows(all), "[REDACTED],[REDACTED],[REDACTED]\n");
}
