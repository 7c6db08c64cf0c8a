//! Projects that cannot run: what their author sees. The snapshots are the messages, word for word.

use testkit::Project;

use crate::{BINARY, project};

#[track_caller]
fn assert_report(name: &str, project: &Project, args: &[&str]) {
    let output = project.run(args).failure(1);
    assert!(output.stderr.contains("help: "), "every error says what to do next:\n{}", output.stderr);
    insta::assert_snapshot!(name, output.transcript(&project.root()));
}

#[test]
fn missing_catalog() {
    let project = project();
    project.remove("config/catalog.sql");
    assert_report("missing_catalog", &project, &["run"]);
}

#[test]
fn missing_state_for_run_and_sandbox() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS a");
    project.remove("config/state.sql");
    assert_report("missing_state", &project, &["run"]);
    let sandbox = project.run(&["sandbox"]).failure(1);
    assert!(sandbox.stderr.starts_with("error: open state: config/state.sql required"), "{}", sandbox.stderr);
}

#[test]
fn broken_sql() {
    let project = project();
    project.model("raw/good", "SELECT 1 AS a");
    project.model("raw/broken", "-- @kind: table\n\nSELECT id,\n       nam e FRM raw.good");
    assert_report("broken_sql", &project, &["run"]);
}

#[test]
fn unknown_table() {
    let project = project();
    project.model("staging/orders", "-- @description: clean orders\nSELECT o.id\nFROM raw.ordrs AS o");
    assert_report("unknown_table", &project, &["run"]);
}

#[test]
fn unknown_column() {
    let project = project();
    project.model("raw/orders", "SELECT 1 AS id, 2 AS amount");
    project.model("staging/orders", "SELECT id,\n       amuont\nFROM raw.orders");
    assert_report("unknown_column", &project, &["run"]);
}

#[test]
fn cycle() {
    let project = project();
    project.model("a/x", "SELECT * FROM a.y");
    project.model("a/y", "SELECT * FROM a.z");
    project.model("a/z", "SELECT * FROM a.x");
    assert_report("cycle", &project, &["run"]);
    project.model("a/own", "SELECT * FROM a.own");
    let own = project.run(&["run", "a.own"]).failure(1);
    assert!(own.stderr.contains("circular dependency detected: a.own -> a.own"), "{}", own.stderr);
}

#[test]
fn duplicate_target_by_case() {
    let project = project();
    project.model("raw/orders", "SELECT 1 AS a");
    project.model("raw/Orders", "SELECT 1 AS a");
    assert_report("duplicate_target_by_case", &project, &["run"]);
}

#[test]
fn directive_typo() {
    let project = project();
    project.model("raw/orders", "-- @description: orders\n-- @uniqe_key: id\nSELECT 1 AS id");
    assert_report("directive_typo", &project, &["run"]);
}

#[test]
fn undefined_variable() {
    let project = project();
    project.write("config/secrets.sql", "-- ${NOT_HERE} in a comment is fine\nSET VARIABLE pw = '${CRM_PASSWORD}';");
    assert_report("undefined_variable", &project, &["run"]);
}

#[test]
fn wrong_key_length() {
    let project = project();
    project.write(".env", "ONDATRA_STATE_KEY=c2hvcnQgc2VjcmV0\n");
    project.model("raw/a", "SELECT 1 AS a");
    assert_report("wrong_key_length", &project, &["run"]);
    let output = project.run(&["run"]);
    assert!(!output.stderr.contains("c2hvcnQgc2VjcmV0"), "the key is shown");
    assert!(!project.root().join("ducklake.sqlite").exists(), "nothing is created");
}

#[test]
fn limit_in_a_model() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS a");
    project.model("mart/top", "SELECT *\nFROM (SELECT a FROM raw.a ORDER BY a LIMIT 10%) AS best");
    assert_report("limit_in_a_model", &project, &["run"]);
}

#[test]
fn limit_where_there_is_no_syntax_tree() {
    let project = project();
    project.model("mart/top", "PIVOT (SELECT 1 AS a, 'limit' AS \"offset\" LIMIT 1) ON a USING count(*)");
    let output = project.run(&["run"]).failure(1);
    assert!(output.stderr.contains("LIMIT is not allowed"), "{}", output.stderr);
}

#[test]
fn two_statements() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS a;\nSELECT ';' AS b;");
    assert_report("two_statements", &project, &["run"]);
}

#[test]
fn broken_configuration_sql() {
    let project = project();
    project.write("config/settings.sql", "SET memory_limit = '1GB';\nSET no_such_setting = 1;");
    project.model("raw/a", "SELECT 1 AS a");
    assert_report("broken_configuration_sql", &project, &["run"]);
}

#[test]
fn not_in_a_project() {
    let folder = Project::empty(BINARY);
    assert_report("not_in_a_project", &folder, &["run", "--no-such-flag"]);
}

#[test]
fn unknown_model() {
    let project = project();
    project.model("staging/orders", "SELECT 1 AS a");
    assert_report("unknown_model", &project, &["run", "staging.order"]);
}

#[test]
fn unknown_masking_function() {
    let project = project();
    project.model("raw/a", "-- @kind: append\n-- @column: name = n | mask_x\nSELECT 1 AS id, 'n' AS name");
    assert_report("unknown_masking_function", &project, &["run"]);
    assert!(
        !project.rows("SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'raw'").contains('1'),
        "it wrote something"
    );
}
