//! `sql`: one read-only statement, three forms.

use std::process::Stdio;

use crate::project;

#[test]
fn markdown_csv_and_json() {
    let project = project();
    assert_eq!(
        project.run(&["sql", "SELECT 1 AS a, NULL AS b"]).success().stdout,
        "| a   | b    |\n| --- | ---- |\n| 1   | NULL |\n"
    );
    assert_eq!(project.run(&["sql", "SELECT NULL AS a, '' AS b", "--format", "csv"]).success().stdout, "a,b\n,\"\"\n");
    assert_eq!(
        project.run(&["sql", "-f", "json", "SELECT 1 AS a, 2 AS a"]).success().stdout,
        "[{\"a\":1,\"a_1\":2}]\n"
    );
    assert_eq!(project.run(&["sql", "SELECT 1 WHERE false", "--format=json"]).success().stdout, "[]\n");
    assert_eq!(
        project.run(&["sql", "-- note\nSELECT 1 AS a", "-f", "md"]).success().stdout,
        "| a   |\n| --- |\n| 1   |\n"
    );
    let json = project.run(&["--json", "sql", "SELECT 'nan'::DOUBLE AS x, MAP {'k': 1} AS m"]).success().stdout;
    assert!(json.contains("\"x\":\"NaN\",\"m\":{\"k\":1}") && json.lines().count() == 1, "{json}");
}

#[test]
fn text_is_the_engines_own_in_the_order_of_the_query() {
    let project = project();
    let sql = "SELECT i::DECIMAL(5,2) AS d, [i, NULL] AS l, 1e21::DOUBLE AS e FROM range(3) t(i) ORDER BY i DESC";
    assert_eq!(project.rows(sql), "2.00,\"[2, NULL]\",1e+21\n1.00,\"[1, NULL]\",1e+21\n0.00,\"[0, NULL]\",1e+21\n");
    assert!(project.run(&["sql", "EXPLAIN SELECT 42"]).success().stdout.contains("42"));
    assert_eq!(project.rows("PIVOT (SELECT 1 AS a, 'x' AS b) ON b USING sum(a)"), "1\n");
}

#[test]
fn json_keeps_every_type_exact() {
    let project = project();
    let query = "SELECT 170141183460469231731687303715884105727::HUGEINT AS huge, 1.50::DECIMAL(4,2) AS dec, \
        0.1::FLOAT AS f, 1e300::DOUBLE AS d, '-inf'::DOUBLE AS inf, DATE '2024-01-02' AS day, \
        TIMESTAMP '2024-01-02 03:04:05.67' AS ts, TIMESTAMPTZ '2024-01-02 03:04:05+02' AS tz, TIME '03:04:05' AS t, \
        INTERVAL '1 year 2 months 3 days 4 seconds' AS i, '\\xAA\\x01'::BLOB AS b, [1, NULL] AS l, \
        {'b': 1, 'a': [TRUE]} AS s, '{\"z\": 1}'::JSON AS j, '101'::BIT AS bits, \
        '00000000-0000-0000-0000-00000000000f'::UUID AS u, 'x'::ENUM('x') AS e, [1, 2]::INTEGER[2] AS arr, \
        union_value(n := 5) AS un, '[NaN,]'::JSON AS bad, E'{\\n}'::JSON AS lines, ROW(1, 'x') AS r, DATE '0044-03-15 (BC)' AS ides, '10:00:00+15:59:59'::TIMETZ AS tt, 123456789012345678901234567890::BIGNUM AS big, NULL AS n";
    let json = project.run(&["sql", query, "-f", "json"]).success().stdout;
    let expected = "[{\"huge\":170141183460469231731687303715884105727,\"dec\":1.50,\"f\":0.1,\"d\":1e300,\"inf\":\"-Infinity\",\
        \"day\":\"2024-01-02\",\"ts\":\"2024-01-02T03:04:05.67Z\",\"tz\":\"2024-01-02T01:04:05Z\",\"t\":\"03:04:05\",\
        \"i\":\"1 year 2 months 3 days 00:00:04\",\"b\":\"qgE=\",\"l\":[1,null],\"s\":{\"b\":1,\"a\":[true]},\"j\":{\"z\": 1},\
        \"bits\":\"101\",\"u\":\"00000000-0000-0000-0000-00000000000f\",\"e\":\"x\",\"arr\":[1,2],\"un\":5,\"bad\":\"[NaN,]\",\"lines\":{ },\"r\":[1,\"x\"],\"ides\":\"-0043-03-15\",\"tt\":\"10:00:00+15:59:59\",\
        \"big\":\"123456789012345678901234567890\",\"n\":null}]\n";
    assert_eq!(json, expected);
}

#[test]
fn statements_that_write_are_refused_before_they_are_bound() {
    let project = project();
    project.model("raw/x", "SELECT 1 AS a");
    project.run(&["run"]).success();
    let refused = |sql: &str| {
        let output = project.run(&["sql", sql]).failure(1);
        assert!(output.stderr.contains("read-only"), "{sql}: {}", output.stderr);
    };
    refused("EXPLAIN ANALYZE DELETE FROM raw.x");
    refused("DELETE FROM raw.no_such_table");
    refused("SELECT * FROM ducklake_expire_snapshots('lake', older_than => now())");
    refused("COPY raw.x TO 'out.csv'");
    assert_eq!(project.rows("SELECT count(*) FROM raw.x"), "1\n");
    let several = project.run(&["sql", "SELECT 1; SELECT 2"]).failure(1);
    assert!(several.stderr.contains("only one statement at a time"), "{}", several.stderr);
}

#[test]
fn errors_point_into_the_statement() {
    let project = project();
    let output = project.run(&["sql", "SELECT 1 AS a\nWHERE nope > 1"]).failure(1);
    insta::assert_snapshot!("sql_error", output.transcript(&project.root()));
}

#[test]
fn a_closed_pipe_is_silent() {
    let project = project();
    let mut child = project
        .command(&["sql", "FROM range(300000)", "-f", "csv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn query_prints_a_table() {
    let project = project();
    project.model("order/select", "SELECT i AS a FROM range(20) t(i)");
    project.run(&["run"]).success();
    let query = |args: &[&str]| project.run(&[&["query", "order.select"], args].concat());
    assert_eq!(query(&["--format", "csv"]).success().stdout.lines().count(), 21);
    assert_eq!(
        query(&["-l", "2", "--json"]).success().stdout,
        "{\"schema_version\":1,\"table\":\"order.select\",\"limit\":2,\"rows\":[{\"a\":0},{\"a\":1}],\"warnings\":[]}\n"
    );
    for (args, expected) in [
        (&["query", "orders"][..], "schema.table"),
        (&["query", "raw."], "`raw.` is no schema.table"),
        (&["query", ".x"], "`.x` is no schema.table"),
        (&["query", "."], "schema.table"),
        (&["query", "a.b", "--limit", "x"], "invalid limit"),
        (&["query", "a.b", "--limit", "0"], "must be a positive integer (got 0)"),
        (&["query", "a.b", "-l", "-3"], "must be a positive integer (got -3)"),
        (&["query", "a.b", "c"], "unexpected argument"),
        (&["query"], "usage: ondatrasql query"),
    ] {
        let output = project.run(args).failure(2);
        assert!(output.stderr.contains(expected), "{args:?}: {}", output.stderr);
    }
    project.run(&["query", "no.such"]).failure(1);
}
