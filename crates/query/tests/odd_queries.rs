//! Queries on which lineage must not fail, run forever or invent sources.
#![allow(clippy::unwrap_used)]

mod world;

use std::time::{Duration, Instant};

use model::SyntaxTree;
use query::{Catalog, Functions, Relation, column_lineage};
use serde_json::json;
use world::{ODD, World, damaged, shown};

/// As `world.lineage`, for queries that the engine would refuse.
fn lineage(world: &World, sql: &str) -> String {
    shown(&world.lineage(sql, &[]))
}

#[test]
fn what_cannot_be_resolved_has_no_sources() {
    let world = World::new();
    let cases = [
        ("SELECT nothing FROM t", "nothing:"),
        ("SELECT t.nothing, u.a FROM t", "nothing: | a:"),
        ("SELECT a FROM t, u", "a:"),
        ("SELECT t.a FROM main.t, other.t", "a:"),
        ("SELECT a FROM unknown", "a:"),
        ("SELECT unknown.a FROM unknown, t", "a:"),
        ("SELECT a AS x FROM 'file.parquet'", "x:"),
        ("SELECT * FROM unknown", ""),
        ("SELECT a, * FROM unknown, t", "a: t.a | a: t.a | b: t.b | c: t.c | s: t.s | l: t.l"),
        // The file may have such a column.
        ("SELECT (SELECT max(b) FROM unknown) AS n FROM t", "n:"),
        ("SELECT (SELECT max(t.b) FROM unknown) AS n FROM t", "n: AGGREGATION max t.b"),
        ("SELECT a AS n, n + 1 AS m FROM t, unknown", "n: t.a | m:"),
        ("SELECT * FROM unknown NATURAL JOIN t", ""),
        ("SELECT a, t.b FROM unknown NATURAL JOIN t", "a: t.a | b: t.b"),
        ("SELECT a, b FROM unknown JOIN t USING (a)", "a: | b: t.b"),
        ("SELECT a FROM unknown RIGHT JOIN t USING (a)", "a: t.a"),
        ("SELECT a FROM unknown FULL JOIN t USING (a)", "a:"),
        ("SELECT * FROM unknown UNION ALL SELECT a FROM t", ": t.a"),
        ("SELECT k FROM (SELECT * FROM unknown UNION ALL SELECT a FROM t)", "k:"),
        ("SELECT a FROM (SELECT * FROM unknown UNION ALL BY NAME SELECT a FROM t)", "a:"),
        ("SELECT a, b FROM t UNION ALL SELECT *, 1, * FROM unknown", "a: | b:"),
        ("SELECT q FROM (SELECT a, * FROM unknown) AS o(p, q)", "q:"),
        ("SELECT p FROM (SELECT a, * FROM t, unknown) AS o(p, q)", "p: t.a"),
        ("SELECT #1, #9, #2 FROM u, unknown", " : u.a | :  | : u.x"),
        ("SELECT unknown FROM unknown", "unknown:"),
    ];
    for (sql, expected) in cases {
        let expected = expected.replace("  ", " ");
        assert_eq!(lineage(&world, sql).trim(), expected.trim(), "{sql}");
    }
}

#[test]
fn columns_of_a_file_take_their_place() {
    let world = World::new();
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let cases: [(&str, &[&str], &str); 6] = [
        ("SELECT t.a, f.*, t.b FROM t, 'f.csv' AS f", &["a", "x", "a_1", "b"], "a: t.a | x: | a_1: | b: t.b"),
        // Two files: only what its name tells.
        ("SELECT f.*, b, g.* FROM t, 'f.csv' AS f, 'g.csv' AS g", &["x", "y", "b", "z"], "x: | y: | b: t.b | z:"),
        ("SELECT f.*, b, g.* FROM t, 'f.csv' AS f, 'g.csv' AS g", &["x", "b", "z"], "x: | b: t.b | z:"),
        ("SELECT f.*, b, g.* FROM t, 'f.csv' AS f, 'g.csv' AS g", &["b", "b", "y", "z"], "b: | b: | y: | z:"),
        // Names that do not go with the query at all.
        ("SELECT a, b FROM t", &["B"], "B: t.b"),
        ("SELECT a, b FROM t", &["x", "y", "a"], "x: | y: | a: t.a"),
    ];
    for (sql, output, expected) in cases {
        assert_eq!(shown(&world.lineage(sql, &names(output))), expected, "{sql} {output:?}");
    }
}

/// Views that read each other in a circle, and one that grows at each level.
struct Circle(World);

impl Catalog for Circle {
    fn relation(&self, _: Option<&str>, _: Option<&str>, name: &str) -> Relation {
        let sql = match name.strip_prefix("grow") {
            Some("0") => "SELECT 1 AS a FROM t".to_owned(),
            Some(level) => {
                let below: u32 = level.parse::<u32>().unwrap() - 1;
                format!("SELECT a, (SELECT max(t.a) FROM t) AS m FROM grow{below} JOIN grow{below} AS o USING (a)")
            }
            None if name == "self" => "SELECT a, t.b FROM self JOIN t USING (a)".to_owned(),
            None if name == "ping" => "SELECT a, 1 AS b FROM pong".to_owned(),
            None if name == "pong" => "SELECT a FROM ping UNION ALL SELECT a FROM t".to_owned(),
            None => return self.0.relation(None, None, name),
        };
        let columns = ["a", "b"].map(str::to_owned).to_vec();
        Relation::View { name: name.to_owned(), columns, tree: self.0.tree(&sql) }
    }
}

#[test]
fn views_in_a_circle_and_towers_of_views_end() {
    let circle = Circle(World::new());
    let of = |sql: &str| shown(&column_lineage(&circle.0.tree(sql), &[], &circle, &Functions::default()));
    assert_eq!(of("SELECT * FROM self"), "a: | b: t.b");
    assert_eq!(of("SELECT * FROM ping"), "a: t.a | b:");
    let start = Instant::now();
    assert_eq!(of("SELECT b FROM grow60"), "b: FUNCTION max t.a");
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn queries_that_name_themselves_end() {
    let world = World::new();
    for sql in [
        "WITH c AS (SELECT * FROM c) SELECT * FROM c",
        "WITH RECURSIVE c AS (SELECT * FROM c) SELECT * FROM c",
        "WITH RECURSIVE c AS (SELECT a FROM c UNION ALL SELECT a FROM c) SELECT * FROM c",
        "WITH RECURSIVE c AS (SELECT a FROM d UNION ALL SELECT a FROM c), d AS (SELECT a FROM c) SELECT * FROM d",
        "WITH RECURSIVE a AS (SELECT 1 AS x UNION ALL (WITH RECURSIVE b AS (SELECT x FROM a UNION ALL SELECT x + 1 FROM b) \
         SELECT x FROM b)) SELECT x FROM a",
        "SELECT a AS a, a AS a FROM t",
        "SELECT x AS y, y AS x",
    ] {
        lineage(&world, sql);
    }
}

#[test]
fn long_and_deep_queries_end() {
    // As deep as the engine allows; the command line runs on a stack as large as this one.
    let deep = || {
        let world = World::new();
        let start = Instant::now();
        let sum = vec!["a"; 900].join(" + ");
        assert_eq!(lineage(&world, &format!("SELECT {sum} AS n FROM t")), "n: ARITHMETIC t.a");
        let calls = format!("{}a{}", "abs(".repeat(300), ")".repeat(300));
        assert_eq!(lineage(&world, &format!("SELECT {calls} AS n FROM t")), "n: FUNCTION abs t.a");
        let union = vec!["SELECT a FROM t"; 2000].join(" UNION ALL ");
        assert_eq!(lineage(&world, &union), "a: t.a");
        let nested = format!("{}SELECT a FROM t{}", "SELECT * FROM (".repeat(200), ")".repeat(200));
        assert_eq!(lineage(&world, &nested), "a: t.a");
        let joins: Vec<String> = (0..300).map(|at| format!("t AS t{at}")).collect();
        assert_eq!(lineage(&world, &format!("SELECT t299.b FROM {}", joins.join(", "))), "b: t.b");
        let ctes: Vec<String> =
            (1..300).map(|at| format!("c{at} AS (SELECT a, b FROM c{} JOIN c0 USING (a))", at - 1)).collect();
        let ctes = format!(
            "WITH c0 AS (SELECT a, b FROM t), {} SELECT a FROM c299",
            ctes.join(", ").replace("SELECT a, b FROM", "SELECT a, c0.b FROM")
        );
        assert_eq!(lineage(&world, &ctes), "a: t.a");
        assert!(start.elapsed() < Duration::from_mins(1), "{:?}", start.elapsed());
    };
    std::thread::Builder::new().stack_size(512 << 20).spawn(deep).unwrap().join().unwrap();
}

#[test]
fn nothing_fails_over_odd_queries() {
    let world = World::new();
    for sql in ODD {
        let Some(documents) = world.full_tree(sql) else { continue };
        let output = ["a", "b"].map(str::to_owned);
        let known = world.lineage_of(&documents, &output);
        assert_eq!(known.len(), 2, "{sql}");
        world.lineage_of(&documents, &[]);
        damaged(&documents, |broken| {
            world.lineage_of(broken, &output);
        });
    }
    for tree in
        [json!(null), json!({}), json!([1]), json!({ "statements": [] }), json!({ "statements": [{ "node": 1 }] })]
    {
        assert!(world.lineage_of(&SyntaxTree(tree), &[]).is_empty());
    }
}
