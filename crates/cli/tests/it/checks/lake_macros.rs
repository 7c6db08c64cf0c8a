//! Macros that somebody stored in the lake, whose names are those of checks and masks.

use testkit::{Lake, Project};

use crate::checks::{records, texts};
use crate::project;

/// For every name that checks and masks call: shipped ones, what these are made of, the project's own, the engine's.
const STORED: [&str; 9] = [
    "lake.main.ondatra_constraint_not_null(t, col) AS TABLE SELECT NULL::VARCHAR AS message",
    "lake.main.ondatra_constraint_own(t) AS TABLE SELECT NULL::VARCHAR AS message",
    "lake.main.ondatra_checks_show(val) AS 'replaced'",
    "lake.main.query(sql) AS TABLE SELECT 0 AS violations",
    "lake.main.mask_email(v) AS v",
    "lake.main.mask_own(v) AS v",
    "lake.main.mask_brief(v) AS v",
    "lake.main.hash(v) AS v",
    "lake.main.sha256(v) AS v",
];

const OWN: &str = "CREATE MACRO mask_own(v) AS '***';\n\
                   CREATE TEMP MACRO mask_brief(v) AS '---';\n\
                   CREATE MACRO ondatra_constraint_own(t) AS TABLE SELECT 'own' AS message;";

const TAGS: &str = "-- @column: a = a | mask_email\n-- @column: b = b | mask_own\n-- @column: c = c | hash\n\
                    -- @column: d = d | hash_pii\n-- @column: e = e | MASK_BRIEF\n";

fn with_stored() -> Project {
    let project = project();
    project.write("config/macros/own.sql", OWN);
    project.model("raw/first", "SELECT 1 AS x");
    project.run(&["run"]).success();
    let lake = Lake::open(&project);
    for stored in STORED {
        lake.execute(&format!("CREATE MACRO {stored}"));
    }
    project
}

fn assert_masked(project: &Project, table: &str, end: &str) {
    let rows = project.rows(&format!("SELECT a, b, c, d, e FROM {table}"));
    assert!(rows.starts_with("x***@y.z,***,") && rows.trim_end().ends_with(end), "{rows}");
    assert!(!rows.contains("clear"), "{rows}");
}

#[test]
fn they_take_the_place_of_no_mask() {
    let project = with_stored();
    let columns = "'xx@y.z' AS a, 'clear' AS b, 'clear' AS c, 'clear' AS d, 'clear' AS e";
    project.model("raw/plain", &format!("{TAGS}SELECT {columns}"));
    project.write(
        "lib/api.star",
        "API = {\"fetch\": {}}\ndef fetch():\n    return {\"rows\": [{\"a\": \"xx@y.z\", \"b\": \"clear\", \
         \"c\": \"clear\", \"d\": \"clear\", \"e\": \"clear\"}]}\n",
    );
    let declared: Vec<String> =
        ["a", "b", "c", "d", "e"].iter().map(|name| format!("{name}::VARCHAR AS {name}")).collect();
    project.model(
        "raw/fetched",
        &format!("-- @fetch\n{}SELECT {} FROM api()", TAGS.replace("MASK_BRIEF", "MASK_OWN"), declared.join(", ")),
    );
    project.model("raw/late", &format!("-- @kind: append\nSELECT {columns}"));
    project.run(&["run"]).success();
    assert_masked(&project, "raw.plain", ",---");
    // Pages are masked on another connection, which has no temporary macros.
    assert_masked(&project, "raw.fetched", ",***");
    // Rows that the table holds in clear.
    project.model("raw/late", &format!("-- @kind: append\n{}SELECT {columns}", TAGS.replace("| hash\n", "| redact\n")));
    project.run(&["run", "raw.late"]).success();
    assert_eq!(project.rows("SELECT count(*) FROM raw.late WHERE a = 'xx@y.z' OR 'clear' IN (b, c, d, e)"), "0\n");
}

#[test]
fn they_take_the_place_of_no_check() {
    let project = with_stored();
    project.model("raw/a", "-- @constraint: not_null(x)\n-- @constraint: own()\nSELECT NULL::INT AS x");
    let output = project.run(&["run", "--json", "raw.a"]).failure(1);
    assert_eq!(texts(&records(&output)[0], "errors"), ["NOT NULL failed: x has 1 NULL values", "own"]);
    assert_eq!(records(&output)[0]["findings"][0]["rows"], 1);
    // One that only the lake has is none.
    Lake::open(&project)
        .execute("CREATE MACRO lake.main.ondatra_audit_mine(t) AS TABLE SELECT NULL::VARCHAR AS message");
    project.model("raw/a", "-- @audit: mine()\nSELECT 1 AS x");
    let output = project.run(&["run", "raw.a"]).failure(1);
    assert!(output.stdout.contains("ondatra_audit_mine does not exist"), "{}", output.stdout);
}
