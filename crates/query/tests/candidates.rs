//! Which references' new rows make new rows of a result: the driving ones, and those that pass through an
//! aggregate (chapter 02 §4.4).
#![allow(clippy::unwrap_used)]

mod world;

use query::{Catalog, LakeTable, Named, Names, Query, Relation};
use types::Target;
use world::World;

/// The tables of the world are those of the lake.
struct Lake<'a>(&'a World);

impl Names for Lake<'_> {
    fn table(&self, catalog: Option<&str>, schema: Option<&str>, name: &str) -> Named {
        match self.0.relation(catalog, schema, name) {
            Relation::Table { columns, .. } => Named::Table(LakeTable { target: Target::new("main", name), columns }),
            Relation::View { tree, columns, .. } => Named::View { tree, columns },
            Relation::Unknown => Named::Foreign,
        }
    }

    fn reads_lake(&self, _: &str) -> bool {
        false
    }
}

impl Lake<'_> {
    /// The candidates as `t w`, in the order of the query.
    fn candidates(&self, sql: &str) -> String {
        let tree = self.0.full_tree(sql).unwrap_or_else(|| panic!("{sql}"));
        let query = Query::read(&tree, self, self.0.functions());
        let names = query.candidates().into_iter().filter_map(|at| Some(query.table(at)?.target.name.clone()));
        names.collect::<Vec<_>>().join(" ")
    }
}

fn check(cases: &[(&str, &str)]) {
    let world = World::new();
    let lake = Lake(&world);
    let wrong: Vec<String> = cases
        .iter()
        .map(|(sql, expected)| (sql, expected, lake.candidates(sql)))
        .filter(|(_, expected, found)| *expected != found)
        .map(|(sql, expected, found)| format!("{sql}\n    expected {expected}, found {found}"))
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_lookup_is_none() {
    check(&[
        ("SELECT x, row_number() OVER (ORDER BY x) FROM u JOIN w USING (a)", "u"),
        ("SELECT a FROM t", "t"),
        ("SELECT x, z FROM u JOIN w USING (a)", "u"),
        ("SELECT sum(u.x) FROM u LEFT JOIN w USING (a)", "u"),
        ("SELECT sum(u.x), z FROM u JOIN w USING (a) GROUP BY z", "u"),
        ("SELECT sum(x) FROM u JOIN w USING (a) WHERE z > 1 GROUP BY z HAVING max(z) > 1", "u"),
        ("SELECT x, (SELECT max(z) FROM w) AS m FROM u", "u"),
        ("SELECT sum(x + (SELECT max(z) FROM w)) FROM u", "u"),
        // It chooses rows.
        ("SELECT count(*) FROM u SEMI JOIN w USING (a)", "u"),
        ("SELECT x, z FROM u JOIN (SELECT a, z FROM w) AS o USING (a)", "u"),
        // Aggregated, but not a part of the output.
        ("SELECT x FROM u JOIN (SELECT a, sum(z) AS s FROM w GROUP BY a) AS o USING (a)", "u"),
        ("SELECT x, z FROM u, w, 'f.csv' AS f", "u"),
        // The file's.
        // Correlated: looked up for each row.
        ("SELECT x, (SELECT max(t.a + w.z) FROM t) AS m FROM u JOIN w USING (a)", "u"),
    ]);
}

#[test]
fn what_passes_through_an_aggregate_is_one() {
    check(&[
        ("SELECT sum(z) FROM u JOIN w USING (a)", "u w"),
        ("SELECT sum(w.z)::INT + 1 AS n FROM u JOIN main.w USING (a)", "u w"),
        ("SELECT upper(max(u.x + o.z)::VARCHAR) FROM u JOIN w AS o USING (a)", "u w"),
        ("SELECT sum(x) FILTER (WHERE z > 1) FROM u JOIN w USING (a)", "u w"),
        ("SELECT list(x ORDER BY z) FROM u JOIN w USING (a)", "u w"),
        ("SELECT total(z) FROM u JOIN w USING (a)", "u w"),
        ("SELECT count(*) FROM u JOIN w USING (a), t", "u w t"),
        ("SELECT count(*) OVER () FROM u JOIN w USING (a)", "u w"),
        ("SELECT sum(x) OVER (PARTITION BY z ORDER BY t.b) FROM u JOIN w USING (a), t", "u w t"),
        ("SELECT x, lag(z) OVER (ORDER BY x) FROM u JOIN w USING (a)", "u w"),
        ("SELECT max(w.*) FROM u, w", "u w"),
        ("SELECT max(w) FROM u, w", "u w"),
        ("SELECT sum(x IN (SELECT a FROM t)) FROM w, u", "w u"),
        // What USING merges is of both, unless one side alone always has it.
        ("SELECT count(a) FROM u JOIN w USING (a)", "u"),
        ("SELECT count(a) FROM u FULL JOIN w USING (a)", "u w"),
        ("SELECT count(a) FROM u LEFT JOIN w USING (a)", "u"),
    ]);
}

#[test]
fn columns_are_followed_through_the_query() {
    check(&[
        ("SELECT x, s FROM u JOIN (SELECT a, sum(z) AS s FROM w GROUP BY a) AS o USING (a)", "u w"),
        ("SELECT x, s + 1 FROM u JOIN (SELECT a, sum(z) FROM w GROUP BY a) AS o(a, s) USING (a)", "u w"),
        ("SELECT * FROM u JOIN (SELECT a, sum(z) FROM w GROUP BY a) AS o USING (a)", "u w"),
        ("SELECT o.* FROM u JOIN (SELECT a, sum(z) FROM w GROUP BY a) AS o USING (a)", "u w"),
        ("SELECT sum(k) FROM u JOIN (SELECT a, z AS k FROM w) AS o USING (a)", "u w"),
        ("WITH o(a, k) AS (SELECT a, z FROM w) SELECT sum(k) FROM u JOIN o USING (a)", "w u"),
        ("SELECT sum(k) FROM u, (SELECT a AS k FROM t UNION ALL SELECT z FROM w) AS o", "u t w"),
        ("SELECT x, total FROM u JOIN v USING (a)", "u t"),
        ("SELECT x, v.a FROM u JOIN v USING (a)", "u"),
        ("SELECT sum(z) FROM u, (SELECT * FROM w) AS o, 'f.csv' AS f", "u w"),
        // A column of the file, or one that is not known.
        ("SELECT sum(o.q) FROM u, (FROM w, 'f.csv' AS f) AS o", "u w"),
        ("SELECT count(*) FROM u, (SELECT 1 AS one FROM w) AS o", "u w"),
        ("SELECT sum(COLUMNS('z')) FROM u, w", "u w"),
        ("SELECT * FROM u NATURAL JOIN (SELECT a, sum(z) AS s FROM w GROUP BY a) AS o NATURAL JOIN 'f.csv'", "u w"),
        ("SELECT sum(q) FROM u, (SELECT f.*, z FROM 'f.csv' AS f, w) AS o(p, q)", "u w"),
        ("SELECT sum(z) FROM u, (SELECT * FROM 'f.csv' UNION ALL BY NAME SELECT z FROM w) AS o", "u w"),
        ("SELECT sum(z) FROM u, (SELECT *, * FROM 'f.csv' UNION ALL SELECT * FROM w) AS o", "u w"),
        ("SELECT sum(coalesce(*COLUMNS('z'))) FROM u, w", "u w"),
        ("SELECT sum(k) FROM u, (SELECT COLUMNS('(.*)') AS 'p_\\1' FROM w) AS o", "u w"),
        ("SELECT sum(k) FROM u, (SELECT * RENAME (z AS k) FROM w) AS o", "u w"),
        ("SELECT z AS k, sum(k) FROM u, w GROUP BY z", "u w"),
        ("SELECT sum(y) FROM u, t, unnest(t.l) AS o(y)", "u t"),
        ("SELECT sum(y) FROM u, (SELECT unnest(l) AS y FROM t) AS o", "u t"),
        ("SELECT sum(y) FROM u, w, LATERAL (SELECT w.z + 1 AS y) AS o", "u w"),
        ("SELECT sum(x) FROM (SELECT x FROM u UNION ALL SELECT z FROM w)", "u w"),
        ("SELECT x FROM u UNION ALL SELECT sum(z) FROM t, w", "u t w"),
    ]);
}

#[test]
fn nothing_fails_over_damaged_trees() {
    let world = World::new();
    let lake = Lake(&world);
    for sql in world::ODD {
        let Some(tree) = world.full_tree(sql) else { continue };
        world::damaged(&tree, |broken| {
            Query::read(broken, &lake, world.functions()).candidates();
        });
    }
}

#[test]
fn what_cannot_be_told_counts() {
    check(&[
        ("SELECT sum(q) FROM u, w, 'f.csv' AS f", "u w"),
        ("SELECT u.a, count(1) AS n FROM u JOIN w USING (a) GROUP BY ALL", "u w"),
        ("SELECT u.a, sum(1) AS n FROM u JOIN w USING (a) GROUP BY ALL", "u w"),
        ("SELECT a, sum(#2) AS s FROM (SELECT u.a, w.z FROM u JOIN w USING (a)) GROUP BY a", "u w"),
        ("SELECT u.a, sum(\"(z * 2)\") AS s FROM u JOIN (SELECT a, z * 2 FROM w) i USING (a) GROUP BY ALL", "u w"),
        ("SELECT u.a, i.\"sum(z)\" AS s FROM u JOIN (SELECT a, sum(z) FROM w GROUP BY a) i USING (a)", "u w"),
        (
            "SELECT u.a, sum(zz) AS s FROM (SELECT u.a, w.z AS yy, yy + 0 AS zz FROM u JOIN w USING (a)) u GROUP BY ALL",
            "u w",
        ),
    ]);
}

#[test]
fn a_value_looked_up_for_each_row_is_none() {
    check(&[
        ("SELECT u.a, x.s FROM u, LATERAL (SELECT sum(z) AS s FROM w WHERE w.a = u.a) x", "u"),
        ("SELECT u.a, x.s FROM u, LATERAL (SELECT sum(z) AS s FROM w WHERE z = x) x", "u"),
        ("SELECT u.a, x.s FROM u, LATERAL (SELECT sum(z) AS s FROM w WHERE w.a = u.a GROUP BY w.a) x", "u w"),
        ("SELECT u.a, x.s FROM u, (SELECT sum(z) AS s FROM w WHERE z > 1) x", "u w"),
    ]);
}
