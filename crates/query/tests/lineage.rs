//! Column lineage of real syntax trees, rule by rule.
#![allow(clippy::unwrap_used)]

mod world;

use world::{World, shown, sources};

/// Compares each query's lineage with what is expected: in short trees and complete ones, with the names that the
/// engine gives and without.
fn check(cases: &[(&str, &str)]) {
    let world = World::new();
    for (sql, expected) in cases {
        let output = world.output(sql);
        let lineage = world.lineage(sql, &output);
        assert_eq!(shown(&lineage), *expected, "{sql}");
        let names: Vec<_> = lineage.iter().map(|entry| entry.column.clone()).collect();
        assert_eq!(names, output, "one entry per column: {sql}");
        assert_eq!(world.lineage_of(&world.full_tree(sql).unwrap(), &output), lineage, "complete tree: {sql}");
        let alone = world.lineage(sql, &[]);
        for (entry, expected) in alone.iter().zip(&lineage).filter(|_| alone.len() == lineage.len()) {
            assert_eq!(sources(entry), sources(expected), "without the names: {sql}");
            assert!(entry.column.is_empty() || entry.column == expected.column, "{}: {sql}", entry.column);
        }
    }
}

/// As `check`, for queries all of whose columns are known without the engine.
fn check_known(cases: &[(&str, &str)]) {
    check(cases);
    let world = World::new();
    for (sql, expected) in cases {
        assert_eq!(shown(&world.lineage(sql, &[])), *expected, "{sql}");
    }
}

#[test]
fn the_outermost_step_names_the_transformation() {
    check(&[
        ("SELECT a FROM t", "a: t.a"),
        ("SELECT t.a AS x FROM t", "x: t.a"),
        ("SELECT sum(a) AS x FROM t", "x: AGGREGATION sum t.a"),
        ("SELECT SUM(a) AS x FROM t", "x: AGGREGATION sum t.a"),
        ("SELECT total(a) AS x FROM t", "x: AGGREGATION total t.a"),
        ("SELECT sum(a + b) AS x FROM t", "x: AGGREGATION sum t.a, AGGREGATION sum t.b"),
        ("SELECT round(sum(a) / 2) AS x FROM t", "x: FUNCTION round t.a"),
        ("SELECT sum(a) / 2 AS x FROM t", "x: ARITHMETIC t.a"),
        ("SELECT sum(a) OVER (PARTITION BY b ORDER BY c) AS x FROM t", "x: AGGREGATION sum t.a"),
        ("SELECT sum(a) FILTER (WHERE b > 1) AS x FROM t", "x: AGGREGATION sum t.a, AGGREGATION sum t.b"),
        ("SELECT list(a ORDER BY b) AS x FROM t", "x: AGGREGATION list t.a, AGGREGATION list t.b"),
        ("SELECT sum(DISTINCT a) AS x FROM t", "x: AGGREGATION sum t.a"),
        (
            "SELECT a + b AS x, a - 1 AS y, a * b AS z FROM t",
            "x: ARITHMETIC t.a, ARITHMETIC t.b | y: ARITHMETIC t.a | z: ARITHMETIC t.a, ARITHMETIC t.b",
        ),
        (
            "SELECT a / 2 AS x, a % 2 AS y, a ^ 2 AS z, -a AS n FROM t",
            "x: ARITHMETIC t.a | y: ARITHMETIC t.a | z: ARITHMETIC t.a | n: ARITHMETIC t.a",
        ),
        ("SELECT a + a AS x FROM t", "x: ARITHMETIC t.a"),
        (
            "SELECT CASE WHEN a > 1 THEN b ELSE c END AS x FROM t",
            "x: CONDITIONAL t.a, CONDITIONAL t.b, CONDITIONAL t.c",
        ),
        ("SELECT CASE a WHEN 1 THEN b END AS x FROM t", "x: CONDITIONAL t.a, CONDITIONAL t.b"),
        (
            "SELECT coalesce(a, b) AS x, nullif(a, c) AS y FROM t",
            "x: CONDITIONAL t.a, CONDITIONAL t.b | y: CONDITIONAL t.a, CONDITIONAL t.c",
        ),
        ("SELECT a::VARCHAR AS x, TRY_CAST(a AS DATE) AS y FROM w", "x: CAST w.a | y: CAST w.a"),
        ("SELECT CAST(sum(a) AS VARCHAR) AS x FROM t", "x: CAST t.a"),
        ("SELECT upper(a::VARCHAR) AS x FROM t", "x: FUNCTION upper t.a"),
        ("SELECT a > b AS x FROM t", "x: FUNCTION > t.a, FUNCTION > t.b"),
        ("SELECT a BETWEEN b AND c AS x FROM t", "x: FUNCTION between t.a, FUNCTION between t.b, FUNCTION between t.c"),
        (
            "SELECT a IN (1, b) AS x, NOT (a > 1 AND a < 9) AS y FROM t",
            "x: FUNCTION in t.a, FUNCTION in t.b | y: FUNCTION not t.a",
        ),
        ("SELECT a IS NULL AS x, a || 'x' AS y FROM t", "x: FUNCTION is null t.a | y: FUNCTION || t.a"),
        ("SELECT a > 1 AND b > 1 AS x FROM t", "x: FUNCTION and t.a, FUNCTION and t.b"),
        (
            "SELECT l[1] AS x, [a, b] AS y, {'k': a} AS z FROM t",
            "x: FUNCTION array_extract t.l | y: FUNCTION list_value t.a, FUNCTION list_value t.b | z: FUNCTION struct_pack t.a",
        ),
        ("SELECT d::VARCHAR COLLATE NOCASE AS x FROM u", "x: FUNCTION collate u.d"),
        ("SELECT 1 AS x, 'a' AS y, now() AS z, NULL AS n, current_date AS d", "x: | y: | z: | n: | d:"),
    ]);
}

#[test]
fn ranking_windows_take_partition_and_order() {
    check(&[
        (
            "SELECT row_number() OVER (PARTITION BY a ORDER BY b) AS x FROM t",
            "x: FUNCTION row_number t.a, FUNCTION row_number t.b",
        ),
        (
            "SELECT rank() OVER (ORDER BY b) AS x, dense_rank() OVER (ORDER BY b) AS y FROM t",
            "x: FUNCTION rank t.b | y: FUNCTION dense_rank t.b",
        ),
        (
            "SELECT ntile(4) OVER (ORDER BY b) AS x, percent_rank() OVER (ORDER BY b) AS y, cume_dist() OVER (ORDER BY b) AS z FROM t",
            "x: FUNCTION ntile t.b | y: FUNCTION percent_rank t.b | z: FUNCTION cume_dist t.b",
        ),
        ("SELECT row_number() OVER w1 AS x FROM t WINDOW w1 AS (PARTITION BY c)", "x: FUNCTION row_number t.c"),
        ("SELECT lag(a, 1, c) OVER (ORDER BY b) AS x FROM t", "x: AGGREGATION lag t.a, AGGREGATION lag t.c"),
        ("SELECT first_value(a) OVER (ORDER BY b) AS x FROM t", "x: AGGREGATION first_value t.a"),
    ]);
}

#[test]
fn counting_rows_is_of_every_table() {
    check(&[
        ("SELECT count(*) FROM t", "count_star(): AGGREGATION count t.*"),
        ("SELECT count() AS n FROM t JOIN u USING (a)", "n: AGGREGATION count t.*, AGGREGATION count u.*"),
        ("SELECT count(*) OVER (PARTITION BY a) AS n FROM t", "n: AGGREGATION count t.*"),
        ("SELECT count(*) FILTER (WHERE b > 1) AS n FROM t", "n: AGGREGATION count t.*, AGGREGATION count t.b"),
        ("SELECT count(a) AS n FROM t, u AS o(q)", "n: AGGREGATION count t.a"),
        (
            "WITH c AS (SELECT 1 FROM t, u) SELECT count(*) AS n FROM c, w",
            "n: AGGREGATION count t.*, AGGREGATION count u.*, AGGREGATION count w.*",
        ),
        (
            "SELECT count(*) AS n FROM (SELECT a FROM t UNION ALL SELECT a FROM u)",
            "n: AGGREGATION count t.*, AGGREGATION count u.*",
        ),
        ("SELECT count(*) AS n FROM v", "n: AGGREGATION count t.*"),
        ("SELECT count(*) AS n FROM range(3)", "n:"),
        ("SELECT count(*) + 1 AS n FROM t", "n: ARITHMETIC t.*"),
        ("SELECT count(*) AS n FROM t SEMI JOIN u USING (a)", "n: AGGREGATION count t.*, AGGREGATION count u.*"),
    ]);
}

#[test]
fn names_resolve_by_actual_columns() {
    check_known(&[
        ("SELECT x, b FROM t JOIN u ON t.a = u.a", "x: u.x | b: t.b"),
        ("SELECT u.a, t.a AS ta FROM t, u", "a: u.a | ta: t.a"),
        ("SELECT o.id FROM raw.orders AS o", "id: raw.orders.id"),
        ("SELECT orders.id, raw.orders.amount FROM raw.orders", "id: raw.orders.id | amount: raw.orders.amount"),
        ("SELECT main.t.a, memory.main.t.b, memory.t.c FROM t", "a: t.a | b: t.b | c: t.c"),
        ("SELECT id, \"ODD name\" AS n FROM Raw.Orders", "id: raw.orders.id | n: raw.orders.odd Name"),
        ("SELECT p, x FROM u AS k(p)", "p: u.a | x: u.x"),
        ("SELECT k.a FROM t AS k, u", "a: t.a"),
        ("SELECT b AS a, a AS b FROM t", "a: t.b | b: t.a"),
        ("SELECT l.a AS x, r.a AS y FROM t l JOIN t r ON l.a = r.b", "x: t.a | y: t.a"),
    ]);
}

#[test]
fn a_field_is_not_its_column() {
    check(&[
        ("SELECT s.f FROM t", "f: FUNCTION struct_extract t.s"),
        (
            "SELECT t.s.f AS x, main.t.s.g AS y FROM t",
            "x: FUNCTION struct_extract t.s | y: FUNCTION struct_extract t.s",
        ),
        ("SELECT (s).f AS x, s['g'] AS y FROM t", "x: FUNCTION struct_extract t.s | y: FUNCTION array_extract t.s"),
        ("SELECT s.* FROM t", "f: FUNCTION struct_extract t.s | g: FUNCTION struct_extract t.s"),
        ("SELECT unnest(s) FROM t", "f: FUNCTION unnest t.s | g: FUNCTION unnest t.s"),
        ("SELECT a, unnest(s), b FROM t", "a: t.a | f: FUNCTION unnest t.s | g: FUNCTION unnest t.s | b: t.b"),
        ("SELECT unnest(l) AS x, unnest([a]) AS y FROM t", "x: FUNCTION unnest t.l | y: FUNCTION unnest t.a"),
        ("SELECT u FROM u", "u: FUNCTION struct_pack u.a, FUNCTION struct_pack u.x, FUNCTION struct_pack u.d"),
        // A table's column goes before a column's field.
        ("SELECT s.a FROM u AS s, t", "a: u.a"),
    ]);
}

#[test]
fn aliases_of_the_same_list() {
    check_known(&[
        ("SELECT a AS n, n + 1 AS m FROM t", "n: t.a | m: ARITHMETIC t.a"),
        ("SELECT sum(a) AS n, n AS m FROM t", "n: AGGREGATION sum t.a | m: AGGREGATION sum t.a"),
        // A column goes before an alias.
        ("SELECT a AS b, b AS n FROM t", "b: t.a | n: t.b"),
        ("SELECT a AS n, (SELECT n) AS m FROM t", "n: t.a | m: t.a"),
    ]);
}

#[test]
fn ctes_and_derived_tables_are_followed() {
    check_known(&[
        ("SELECT total FROM (SELECT sum(b) AS total FROM t)", "total: AGGREGATION sum t.b"),
        ("SELECT total + 1 AS n FROM (SELECT sum(b) AS total FROM t)", "n: ARITHMETIC t.b"),
        ("WITH c AS (SELECT a AS k FROM t) SELECT k FROM C", "k: t.a"),
        ("WITH c(k) AS (SELECT a, b FROM t) SELECT * FROM c", "k: t.a | b: t.b"),
        ("WITH c AS (SELECT a FROM t), d AS (SELECT a + 1 AS e FROM c) SELECT e FROM d", "e: ARITHMETIC t.a"),
        ("WITH c AS MATERIALIZED (SELECT a FROM t) SELECT o.a FROM c AS o", "a: t.a"),
        // Inside its own WITH the name is the table.
        ("WITH t AS (SELECT b AS a FROM t) SELECT a FROM t", "a: t.b"),
        ("WITH t AS (SELECT 1 AS a) SELECT m.a FROM main.t AS m", "a: main.t.a"),
        (
            "WITH c AS (SELECT a FROM t) SELECT * FROM (WITH c AS (SELECT b FROM t) SELECT * FROM c), c AS o",
            "b: t.b | a: t.a",
        ),
        ("SELECT q.k FROM (SELECT a, b FROM t) AS q(k)", "k: t.a"),
        ("SELECT unnamed_subquery.a FROM (SELECT a FROM t)", "a: t.a"),
        ("SELECT \"sum(b)\" AS n FROM (SELECT a, sum(b) FROM t GROUP BY a)", "n: AGGREGATION sum t.b"),
        ("SELECT a_1 FROM (SELECT a, b AS a FROM t)", "a_1: t.b"),
        ("SELECT a_1, x FROM (FROM t, u)", "a_1: u.a | x: u.x"),
        ("SELECT p, q FROM vv", "p: ARITHMETIC t.b | q: t.a"),
        ("SELECT * FROM v", "a: t.a | total: AGGREGATION sum t.b"),
    ]);
}

#[test]
fn subqueries_as_values() {
    check(&[
        ("SELECT (SELECT max(x) FROM u) AS n FROM t", "n: AGGREGATION max u.x"),
        ("SELECT (SELECT x FROM u LIMIT 1) AS n", "n: u.x"),
        (
            "SELECT (SELECT max(u.x + t.b) FROM u WHERE u.a = t.a) AS n FROM t",
            "n: AGGREGATION max u.x, AGGREGATION max t.b",
        ),
        // The inner table is nearer.
        ("SELECT (SELECT max(a) FROM u) AS n FROM t", "n: AGGREGATION max u.a"),
        ("SELECT (SELECT max(b) FROM u) AS n FROM t", "n: AGGREGATION max t.b"),
        ("SELECT (SELECT (SELECT t.b + u.x) FROM u LIMIT 1) AS n FROM t", "n: ARITHMETIC t.b, ARITHMETIC u.x"),
        ("SELECT a IN (SELECT x FROM u) AS n FROM t", "n: FUNCTION in t.a, FUNCTION in u.x"),
        ("SELECT a > ANY (SELECT x FROM u) AS n FROM t", "n: FUNCTION any t.a, FUNCTION any u.x"),
        ("SELECT EXISTS (SELECT 1 FROM u) AS n FROM t", "n: FUNCTION exists u.*"),
        ("WITH c AS (SELECT x FROM u) SELECT (SELECT max(x) FROM c) AS n FROM t", "n: AGGREGATION max u.x"),
    ]);
}

#[test]
fn set_operations_merge_branches() {
    check_known(&[
        ("SELECT a FROM t UNION ALL SELECT x FROM u", "a: t.a, u.x"),
        ("SELECT a AS n, b FROM t UNION SELECT 1, sum(x) FROM u", "n: t.a | b: t.b, AGGREGATION sum u.x"),
        ("SELECT a FROM t EXCEPT SELECT x FROM u", "a: t.a, u.x"),
        ("SELECT a FROM t UNION ALL SELECT a FROM t", "a: t.a"),
        ("SELECT a, b FROM t UNION ALL BY NAME SELECT z, b AS B FROM w", "a: t.a | b: t.b, w.b | z: w.z"),
        ("FROM u UNION BY NAME FROM w", "a: u.a, w.a | x: u.x | d: u.d | b: w.b | z: w.z"),
        (
            "SELECT k FROM (SELECT a AS k FROM t UNION ALL SELECT d FROM u UNION ALL SELECT z FROM w)",
            "k: t.a, u.d, w.z",
        ),
        (
            "WITH c AS (SELECT 1 AS n UNION ALL SELECT a FROM t) (SELECT n FROM c INTERSECT SELECT d FROM u)",
            "n: t.a, u.d",
        ),
    ]);
}

#[test]
fn stars_expand() {
    check_known(&[
        ("SELECT * FROM u", "a: u.a | x: u.x | d: u.d"),
        ("FROM u", "a: u.a | x: u.x | d: u.d"),
        ("SELECT u.*, 1 AS one FROM w, u", "a: u.a | x: u.x | d: u.d | one:"),
        ("SELECT * EXCLUDE (A) FROM u", "x: u.x | d: u.d"),
        ("SELECT * EXCLUDE (u.a) FROM u, w", "x: u.x | d: u.d | a: w.a | b: w.b | z: w.z"),
        ("SELECT * REPLACE (a + x AS X) FROM u", "a: u.a | X: ARITHMETIC u.a, ARITHMETIC u.x | d: u.d"),
        ("SELECT * RENAME (a AS k) FROM u", "k: u.a | x: u.x | d: u.d"),
        ("SELECT * RENAME (w.a AS k) FROM u, w", "a: u.a | x: u.x | d: u.d | k: w.a | b: w.b | z: w.z"),
        ("SELECT COLUMNS(u.*), COLUMNS(* EXCLUDE (a, x)) FROM u", "a: u.a | x: u.x | d: u.d | d: u.d"),
        ("SELECT COLUMNS(*) + 1 FROM u", "a: ARITHMETIC u.a | x: ARITHMETIC u.x | d: ARITHMETIC u.d"),
        ("SELECT coalesce(*COLUMNS(* EXCLUDE (x))) AS n FROM u", "n: CONDITIONAL u.a, CONDITIONAL u.d"),
        ("SELECT #2 AS n FROM u", "n: u.x"),
        ("SELECT o.* FROM (SELECT u.* FROM u) AS o", "a: u.a | x: u.x | d: u.d"),
        ("SELECT n FROM (SELECT * EXCLUDE (x) RENAME (d AS n) FROM u)", "n: u.d"),
    ]);
}

#[test]
fn what_the_tree_cannot_choose_is_told_by_the_names() {
    check(&[
        ("SELECT COLUMNS('a|d') FROM u", "a: u.a | d: u.d"),
        ("SELECT COLUMNS('(?i)^X$') FROM u", "x: u.x"),
        ("SELECT COLUMNS(['d', 'A']) FROM u", "a: u.a | d: u.d"),
        ("SELECT * LIKE 'a%' FROM u", "a: u.a"),
        ("SELECT * NOT ILIKE 'A%' FROM u", "x: u.x | d: u.d"),
        ("SELECT * SIMILAR TO '[ad]' FROM u", "a: u.a | d: u.d"),
        ("SELECT * NOT SIMILAR TO '[ad]' FROM u", "x: u.x"),
        ("SELECT * NOT LIKE 'x!_' ESCAPE '!' FROM u", "a: u.a | x: u.x | d: u.d"),
        ("SELECT x + 1 AS n FROM (SELECT u.* LIKE 'x' FROM u)", "n: ARITHMETIC u.x"),
        ("SELECT sum(COLUMNS('x|d')) FROM u", "x: AGGREGATION sum u.x | d: AGGREGATION sum u.d"),
        // Under one alias they are not told apart, unless all are chosen.
        ("SELECT sum(COLUMNS('x|d')) AS n FROM u", "n: | n:"),
        (
            "SELECT sum(COLUMNS('.')) AS n FROM u",
            "n: AGGREGATION sum u.a | n: AGGREGATION sum u.x | n: AGGREGATION sum u.d",
        ),
        ("SELECT coalesce(*COLUMNS('a|d')) AS n FROM u", "n:"),
        // Both have such a column.
        ("SELECT COLUMNS('^a$') FROM u, t", "a: | a:"),
        ("SELECT COLUMNS(c -> c != 'x') FROM u", "a: u.a | d: u.d"),
        ("SELECT sum(COLUMNS(c -> c != 'x')) FROM u", "a: AGGREGATION sum u.a | d: AGGREGATION sum u.d"),
        ("SELECT 1 AS one, * GLOB '[ax]', d FROM u", "one: | a: u.a | x: u.x | d: u.d"),
        ("SELECT COLUMNS('(.)') AS 'p_\\1' FROM u", "p_a: u.a | p_x: u.x | p_d: u.d"),
        ("SELECT * FROM (SELECT COLUMNS(c -> c != 'x') FROM u)", "a: u.a | d: u.d"),
        ("SELECT d + 1 AS n FROM (SELECT COLUMNS(c -> c != 'x') FROM u)", "n: ARITHMETIC u.d"),
        ("SELECT COLUMNS(c -> c != 'x') AS k FROM u", "k: | k:"),
        (
            "SELECT count(*) OVER (), a + b, -t.a FROM t",
            "count() OVER (): AGGREGATION count t.* | (a + b): ARITHMETIC t.a, ARITHMETIC t.b | -(t.a): ARITHMETIC t.a",
        ),
    ]);
}

#[test]
fn joins() {
    check_known(&[
        ("SELECT * FROM u JOIN w USING (a)", "a: u.a | x: u.x | d: u.d | b: w.b | z: w.z"),
        ("SELECT a FROM u JOIN w USING (A)", "a: u.a"),
        ("SELECT a, w.a AS wa FROM u LEFT JOIN w USING (a)", "a: u.a | wa: w.a"),
        ("SELECT a FROM u RIGHT JOIN w USING (a)", "a: w.a"),
        ("SELECT a FROM u FULL JOIN w USING (a)", "a: CONDITIONAL u.a, CONDITIONAL w.a"),
        ("SELECT a FROM u JOIN w USING (a) JOIN t USING (a)", "a: u.a"),
        ("SELECT w.* FROM u JOIN w USING (a)", "a: w.a | b: w.b | z: w.z"),
        ("SELECT * FROM u NATURAL JOIN w", "a: u.a | x: u.x | d: u.d | b: w.b | z: w.z"),
        (
            "SELECT * FROM u NATURAL FULL JOIN w",
            "a: CONDITIONAL u.a, CONDITIONAL w.a | x: u.x | d: u.d | b: w.b | z: w.z",
        ),
        ("SELECT * EXCLUDE (a) FROM u FULL JOIN w USING (a)", "x: u.x | d: u.d | b: w.b | z: w.z"),
        ("SELECT * EXCLUDE (u.a) FROM u JOIN w USING (a)", "x: u.x | d: u.d | a: u.a | b: w.b | z: w.z"),
        ("SELECT * FROM u SEMI JOIN w USING (a)", "a: u.a | x: u.x | d: u.d"),
        ("SELECT a FROM u ANTI JOIN w ON u.a = w.b", "a: u.a"),
        ("SELECT x, z FROM u POSITIONAL JOIN w", "x: u.x | z: w.z"),
        ("SELECT y FROM t, LATERAL (SELECT t.a + b AS y)", "y: ARITHMETIC t.a, ARITHMETIC t.b"),
        ("SELECT y FROM t, (SELECT t.a AS y) AS o", "y: t.a"),
        (
            "SELECT k FROM t, LATERAL (SELECT b AS m) AS o, LATERAL (SELECT o.m + t.c AS k)",
            "k: ARITHMETIC t.b, ARITHMETIC t.c",
        ),
        (
            "SELECT * FROM (u JOIN w USING (a)) JOIN (SELECT a, b AS tb FROM t) USING (a)",
            "a: u.a | x: u.x | d: u.d | b: w.b | z: w.z | tb: t.b",
        ),
    ]);
}

#[test]
fn recursive_queries() {
    check_known(&[
        ("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT n FROM r", "n:"),
        (
            "WITH RECURSIVE r AS (SELECT a, b FROM t UNION ALL SELECT r.a, w.z FROM r JOIN w ON r.b = w.a) SELECT * FROM r",
            "a: t.a | b: t.b, w.z",
        ),
        // What goes into one column goes on into the next.
        (
            "WITH RECURSIVE r(p, q, o) AS (SELECT a, 0, 0 FROM t UNION ALL SELECT p, p, q FROM r) SELECT o FROM r",
            "o: t.a",
        ),
        (
            "WITH RECURSIVE r(n) AS (SELECT a FROM t UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT n FROM r",
            "n: t.a, ARITHMETIC t.a",
        ),
        (
            "WITH RECURSIVE r(a, b) USING KEY (a) AS (SELECT a, b FROM t UNION SELECT w.a, o.b FROM r, recurring.r AS o, w) SELECT * FROM r",
            "a: t.a, w.a | b: t.b",
        ),
    ]);
}

#[test]
fn what_is_no_table() {
    check(&[
        ("SELECT * FROM range(3) AS r(i)", "i:"),
        ("SELECT range, generate_series FROM range(3), generate_series(1, 2)", "range: | generate_series:"),
        ("SELECT x FROM t, unnest(t.l) AS o(x)", "x: FUNCTION unnest t.l"),
        (
            "SELECT o.unnest AS x, ordinality FROM t, unnest(t.l) WITH ORDINALITY AS o",
            "x: FUNCTION unnest t.l | ordinality:",
        ),
        ("SELECT value, id FROM j, json_each(j.doc)", "value: FUNCTION json_each j.doc | id: FUNCTION json_each j.doc"),
        ("VALUES (1, 2), (3, 4)", "col0: | col1:"),
        ("SELECT p FROM (VALUES (1, 2)) AS o(p, q)", "p:"),
        ("SELECT p FROM t, (VALUES (t.a), (t.b + 1)) AS o(p)", "p: t.a, ARITHMETIC t.b"),
        (
            "SELECT a, * FROM repeat_row(1, 2, num_rows = 1), t",
            "a: t.a | column0: | column1: | a: t.a | b: t.b | c: t.c | s: t.s | l: t.l",
        ),
        // It has more columns than are known, one of which may be this.
        ("SELECT column0, o.column1 AS x, b FROM t, repeat_row(1, 2, num_rows = 1) AS o", "column0: | x: | b: t.b"),
        ("SELECT name FROM pragma_table_info('t')", "name:"),
        ("SELECT p, o.q FROM repeat_row(1, 2, num_rows = 1) AS o(p, q)", "p: | q:"),
        ("SELECT a FROM t UNION ALL SELECT * FROM repeat_row(1, num_rows = 1)", "a: t.a"),
        ("SELECT * FROM repeat_row(1, 2, num_rows = 1) UNION ALL SELECT a, b FROM t", "column0: t.a | column1: t.b"),
    ]);
}

#[test]
fn lambdas_and_json_arrows() {
    check(&[
        (
            "SELECT list_transform(l, lambda a: a + b) AS x FROM t",
            "x: FUNCTION list_transform t.l, FUNCTION list_transform t.b",
        ),
        ("SELECT list_reduce(l, lambda p, q: p + q) AS x FROM t", "x: FUNCTION list_reduce t.l"),
        ("SELECT [y * 2 FOR y IN l IF y > 1] AS x FROM t", "x: FUNCTION list_apply t.l"),
        ("SELECT list_transform([s], lambda e: e.f) AS x FROM t", "x: FUNCTION list_transform t.s"),
        ("SELECT doc -> 'k' AS x, doc ->> 'k' AS y FROM j", "x: FUNCTION -> j.doc | y: FUNCTION ->> j.doc"),
        ("SELECT upper(doc -> 'k') AS x FROM j", "x: FUNCTION upper j.doc"),
    ]);
}

#[test]
fn pivots() {
    check(&[
        (
            "FROM (SELECT a, b, c FROM t) PIVOT (sum(c) FOR a IN (1, 2))",
            "b: t.b | 1: AGGREGATION sum t.c, AGGREGATION sum t.a | 2: AGGREGATION sum t.c, AGGREGATION sum t.a",
        ),
        (
            "FROM t PIVOT (sum(c) AS s, max(c) FOR a IN (1 AS one) GROUP BY b)",
            "b: t.b | one_s: AGGREGATION sum t.c, AGGREGATION sum t.a | one_max(c): AGGREGATION max t.c, AGGREGATION max t.a",
        ),
        (
            "SELECT one_2 FROM t PIVOT (sum(c) FOR a IN (1 AS one) b IN (2, 3))",
            "one_2: AGGREGATION sum t.c, AGGREGATION sum t.a, AGGREGATION sum t.b",
        ),
        ("FROM u UNPIVOT (v FOR n IN (a, x))", "d: u.d | n: | v: u.a, u.x"),
        ("FROM u UNPIVOT ((v, o) FOR n IN ((a, x)))", "d: u.d | n: | v: u.a | o: u.x"),
        ("FROM u UNPIVOT (v FOR n IN (*))", "n: | v: u.a, u.x, u.d"),
        ("FROM u UNPIVOT (v FOR n IN (a + 1 AS q, x))", "d: u.d | n: | v: ARITHMETIC u.a, u.x"),
        ("FROM u UNPIVOT (v FOR n IN (COLUMNS('a|x')))", "d: u.d | n: | v:"),
    ]);
}
