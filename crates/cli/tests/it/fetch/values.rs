//! Values that do not fit, and warnings about what came or did not.

use serde_json::json;
use testkit::http::Server;

use super::{PAGES, model, page, page_number, returning, run, silent, staged, with_lib};

#[test]
fn a_bad_value_names_target_page_row_column_value_and_type() {
    let api = Server::new(|_, request| match page_number(request) {
        1 => page(&json!([{"n": 1}, {"n": 2}]), 2),
        _ => page(&json!([{"n": 3}, {"n": 4}, {"n": 1.5}]), ()),
    });
    let project = with_lib(&api, "", PAGES);
    model(&project, "raw/x", "append", "n::BIGINT AS total", "api()");
    let output = project.run(&["run"]).failure(1);
    let text = output.stderr;
    for word in ["raw.x", "page 2", "row 3", "column \"total\"", "\"n\"", "1.5", "BIGINT", "FETCH-002", "TRY_CAST"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert_eq!(staged(&project, "raw.x"), []);
    model(&project, "raw/x", "append", "TRY_CAST(n AS BIGINT) AS total", "api()");
    run(&project);
    assert_eq!(project.rows("SELECT total FROM raw.x ORDER BY ALL"), "1\n2\n3\n4\n\n");
}

#[test]
fn a_value_that_only_the_engine_can_refuse_is_found_too() {
    for (sql_type, good, bad) in [
        ("UUID", "0b7a4b3c-8a5c-4b0a-9d6a-1f2e3d4c5b6a", "not-a-uuid"),
        ("DATE", "2026-01-31", "2026-02-31"),
        ("INTERVAL", "3 days", "three days"),
    ] {
        let (good, bad) = (good.to_owned(), bad.to_owned());
        let api = Server::new({
            let (good, bad) = (good.clone(), bad.clone());
            move |_, request| match page_number(request) {
                1 => page(&json!([{"n": good}, {"n": good}]), 2),
                _ => page(&json!([{"n": good}, {"n": bad}]), ()),
            }
        });
        let project = with_lib(&api, "", PAGES);
        model(&project, "raw/x", "table", &format!("n::{sql_type} AS n"), "api()");
        let text = project.run(&["run"]).failure(1).stderr;
        for word in ["raw.x", "page 2", "row 2", "column \"n\"", &bad, sql_type, "FETCH-002"] {
            assert!(text.contains(word), "{word}: {text}");
        }
        assert_eq!(staged(&project, "raw.x"), [], "{sql_type}");
        model(&project, "raw/x", "table", &format!("TRY_CAST(n AS {sql_type}) AS n"), "api()");
        run(&project);
        assert_eq!(project.rows("SELECT count(*), count(n) FROM raw.x"), "4,3\n", "{sql_type}");
    }
}

#[test]
fn secrets_in_bad_values_are_not_shown() {
    let project = with_lib(&silent(), "", "def fetch():\n    return {\"rows\": [{\"n\": env.get(\"MY_TOKEN\")}]}\n");
    let env = std::fs::read_to_string(project.root().join(".env")).unwrap();
    project.write(".env", &format!("{env}MY_TOKEN=hidden-value-1\n"));
    model(&project, "raw/x", "table", "n::BIGINT AS n", "api()");
    let output = project.run(&["run", "--json"]).failure(1);
    assert!(output.stderr.contains("[REDACTED]"), "{output:?}");
    assert!(!format!("{output:?}").contains("hidden-value-1"), "{output:?}");
}

#[test]
fn values_become_what_their_columns_declare() {
    let rows = r#"[{"i": 9007199254740993, "d": 0.285, "f": 1, "b": True, "t": "2026-01-01T10:00:00+02:00",
        "j": "abc", "s": {"zip": 1, "x": 2}, "l": [1, 2], "v": 1.0, "m": {"a": 1}, "z": None}]"#;
    let project = with_lib(&silent(), "", &returning(rows));
    let columns = "i::BIGINT AS i, d::DECIMAL(10,2) AS d, f::DOUBLE AS f, b::BOOLEAN AS b, t::TIMESTAMP AS t, j::JSON AS j, \
                   s::STRUCT(street VARCHAR, zip INTEGER) AS s, l::INTEGER[] AS l, v::VARCHAR AS v, \
                   m::MAP(VARCHAR, INTEGER) AS m, z::DATE AS z";
    model(&project, "raw/x", "table", columns, "api()");
    run(&project);
    let row = project.rows(
        "SELECT i, d, f, b, t::VARCHAR, j::VARCHAR, s.street IS NULL, s.zip, l::VARCHAR, v, m['a'], z IS NULL FROM raw.x",
    );
    assert_eq!(
        row,
        "9007199254740993,0.29,1.0,true,2026-01-01 08:00:00,\"\"\"abc\"\"\",true,1,\"[1, 2]\",1.0,1,true\n"
    );
}

#[test]
fn what_did_not_come_and_what_nobody_knows_gives_one_warning() {
    let api = Server::new(|_, request| {
        let number = page_number(request);
        let next = (number < 3).then_some(number + 1);
        testkit::http::Answer::ok(json!({"rows": [{"A": 1}], "next": next, "total": 3, "nxt": 1}).to_string())
    });
    let project = with_lib(&api, "", PAGES);
    model(&project, "raw/x", "table", "a::INTEGER AS a, gone::DATE AS gone, lost::DATE AS lost", "api()");
    let output = run(&project);
    assert_eq!(output.matches("WARN: ").count(), 2, "{output}");
    assert!(output.contains("WARN: api: unknown keys in what it returned: total, nxt"), "{output}");
    assert!(output.contains("WARN: api: no row has the column gone, lost"), "{output}");
    assert_eq!(project.rows("SELECT a, gone, lost FROM raw.x LIMIT 1"), "1,,\n");
}

#[test]
fn an_empty_fetch_misses_no_column() {
    let project = with_lib(&silent(), "", &returning("[]"));
    model(&project, "raw/x", "table", "a::INTEGER AS a", "api()");
    assert!(!run(&project).contains("WARN"));
}

#[test]
fn a_page_that_is_none_is_an_error_with_its_place() {
    for (value, expected) in [
        ("[]", "must return dict"),
        ("None", "must return dict"),
        ("{}", "must include 'rows' key"),
        ("{\"rows\": {}}", "'rows' must be a list"),
        ("{\"rows\": [{\"a\": 1}, 7]}", "page 1, row 2"),
        ("{\"rows\": [{}]}", "page 1, row 1"),
        ("{\"rows\": [{1: 2}]}", "page 1, row 1"),
        ("{\"rows\": [{\"a\": len}]}", "page 1, row 1"),
    ] {
        let project = with_lib(&silent(), "", &format!("def fetch():\n    return {value}\n"));
        model(&project, "raw/x", "table", "a::VARCHAR AS a", "api()");
        let text = project.run(&["run"]).failure(1).stderr;
        assert!(text.contains(expected) && text.contains("raw.x"), "{value}: {text}");
    }
}
