//! Which columns an edit renamed.
#![allow(clippy::unwrap_used)]

mod world;

use query::renamed_columns;
use world::World;

fn renames(old: &str, new: &str) -> Vec<(String, String)> {
    let world = World::new();
    let [old_columns, new_columns] = [old, new].map(|sql| world.output(sql));
    let [old, new] = [(old, &old_columns), (new, &new_columns)].map(|(sql, output)| world.lineage(sql, output));
    renamed_columns(&old, &new, &old_columns, &new_columns)
}

#[test]
fn the_same_column_under_another_name_is_renamed() {
    let pair = |old: &str, new: &str| (old.to_owned(), new.to_owned());
    let cases = [
        ("SELECT a, b FROM t", "SELECT a AS k, b FROM t", vec![pair("a", "k")]),
        ("SELECT a, b FROM t", "SELECT b AS n, a AS m FROM t", vec![pair("b", "n"), pair("a", "m")]),
        ("SELECT a FROM t", "WITH c AS (SELECT a AS k FROM t) SELECT k AS K2, 1 AS one FROM c", vec![pair("a", "K2")]),
        ("SELECT o.a FROM t AS o", "SELECT T.A AS k FROM T", vec![pair("a", "k")]),
        ("SELECT u.a, w.z FROM u, w", "SELECT u.a, w.z AS k FROM u, w", vec![pair("z", "k")]),
        // A new column may stand beside it.
        ("SELECT a FROM t", "SELECT a AS k, b FROM t", vec![pair("a", "k")]),
    ];
    for (old, new, expected) in cases {
        assert_eq!(renames(old, new), expected, "{old} -> {new}");
    }
}

#[test]
fn everything_else_is_no_rename() {
    for (old, new) in [
        // Crosswise: both names are there before and after.
        ("SELECT a, b FROM t", "SELECT b AS a, a AS b FROM t"),
        ("SELECT a, b FROM t", "SELECT b AS a FROM t"),
        // Only the case differs.
        ("SELECT a FROM t", "SELECT a AS A FROM t"),
        // The old name goes on, for another column.
        ("SELECT a FROM t", "SELECT b AS a, a AS k FROM t"),
        // The new name was there, for another column.
        ("SELECT a, b AS k FROM t", "SELECT a AS k FROM t"),
        // Not the same column.
        ("SELECT a FROM t", "SELECT b AS k FROM t"),
        ("SELECT a FROM u", "SELECT a AS k FROM w"),
        // Not the column itself.
        ("SELECT a + 1 AS x FROM t", "SELECT a AS k FROM t"),
        ("SELECT a FROM t", "SELECT a::VARCHAR AS k FROM t"),
        ("SELECT s.f AS x FROM t", "SELECT s.g AS k FROM t"),
        ("SELECT sum(a) AS x FROM t", "SELECT sum(a) AS k FROM t"),
        // More than one source.
        ("SELECT a FROM t", "SELECT a AS k FROM t UNION ALL SELECT x FROM u"),
        ("SELECT a AS p FROM u UNION ALL SELECT a FROM w", "SELECT a AS k FROM u"),
        // The column feeds several.
        ("SELECT a, a AS b FROM t", "SELECT a AS k FROM t"),
        ("SELECT a FROM t", "SELECT a AS k, a AS m FROM t"),
        ("SELECT a FROM t", "SELECT a AS k, a + 1 AS m FROM t"),
        ("SELECT a, max(a) OVER () AS m FROM t", "SELECT a AS k FROM t"),
        // No sources at all.
        ("SELECT 1 AS x", "SELECT 1 AS k"),
    ] {
        assert_eq!(renames(old, new), [], "{old} -> {new}");
    }
}

#[test]
fn columns_that_only_the_table_has_count_too() {
    let world = World::new();
    let lineage = |sql: &str| world.lineage(sql, &world.output(sql));
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let (old, new) = (lineage("SELECT a FROM t"), lineage("SELECT a AS k FROM t"));
    assert_eq!(renamed_columns(&old, &new, &names(&["a"]), &names(&["k"])).len(), 1);
    assert_eq!(renamed_columns(&old, &new, &names(&["a", "K"]), &names(&["k"])), []);
    assert_eq!(renamed_columns(&old, &new, &names(&["a"]), &names(&["k", "A"])), []);
}
