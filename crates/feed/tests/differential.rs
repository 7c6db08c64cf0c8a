//! The delta equals the naive difference of both versions of a table, over random histories with
//! maintenance, on both file catalogs, with rows inlined and not (chapter 02 §4.1 and §4.2).
#![allow(clippy::unwrap_used)]

use engine::{Connection, Value};
use feed::{Method, TempNames, Window};
use testkit::{Catalog, Random, open_lake};
use types::Target;

const METADATA: &str = "\"__ducklake_metadata_lake\"";

fn snapshot(connection: &Connection) -> i64 {
    connection.query_value("SELECT id FROM lake.current_snapshot()").unwrap().as_i64().unwrap()
}

/// The rows of a query, sorted, each as one text.
fn rows(connection: &Connection, sql: &str) -> Vec<String> {
    let sql = format!("SELECT r::VARCHAR AS t FROM ({sql}) r ORDER BY t");
    connection.query(&sql).unwrap().into_values().map(|mut row| text(row.swap_remove(0))).collect()
}

fn text(value: Value) -> String {
    value.into_text().unwrap_or_default()
}

/// The delta by the window, and its method; run as a model's transaction would.
fn delta(connection: &Connection, since: i64, until: i64) -> (Method, Vec<String>, Vec<String>) {
    let (table, names) = (Target::new("s", "t"), TempNames::new(0));
    connection.execute("BEGIN").unwrap();
    let window = Window::open(connection, ("lake", METADATA), (since, until), &[&table]).unwrap();
    let delta = window.delta(&table, &names).unwrap();
    let (mut new, mut old) = (Vec::new(), Vec::new());
    if delta.rows > 0 {
        new = rows(connection, &format!("FROM temp.main.{}", names.delta));
        window.before(&table, &names).unwrap();
        old = rows(connection, &format!("FROM temp.main.{}", names.before));
    }
    assert_eq!(i64::try_from(new.len()).unwrap(), delta.rows);
    names.drop(connection).unwrap();
    connection.execute("COMMIT").unwrap();
    (delta.method, new, old)
}

/// What `then` lacks of `now`, as sorted multisets.
fn difference(now: &[String], then: &[String]) -> Vec<String> {
    let mut rest = then.to_vec();
    let mut is_new = |row: &&String| match rest.iter().position(|old| old == *row) {
        Some(at) => {
            rest.remove(at);
            false
        }
        None => true,
    };
    now.iter().filter(|row| is_new(row)).cloned().collect()
}

fn step(random: &mut Random, inlined: bool) -> String {
    let n = random.below(9);
    let row = |n: usize| format!("({n}, nullif('v{}', 'v2'), {}.5, [{n}, NULL])", n % 4, n % 3);
    match random.below(13) {
        0 => format!("INSERT INTO lake.s.t (id, v, d, l) VALUES {}", row(n)),
        1 => format!("INSERT INTO lake.s.t (id, v, d, l) VALUES {}, {}, {}", row(n), row(n), row(n + 1)),
        2 => format!("INSERT INTO lake.s.t (id, v, d, l) SELECT i % 7, 'b', i, NULL FROM range({}) r(i)", 5 + n * 4),
        3 => format!("DELETE FROM lake.s.t WHERE id = {n}"),
        4 => format!("UPDATE lake.s.t SET v = 'u{}' WHERE id % 3 = {}", n % 3, n % 3),
        5 => "UPDATE lake.s.t SET d = -d WHERE d = 0.0".into(),
        6 => format!(
            "BEGIN; CREATE OR REPLACE TEMP TABLE copied AS FROM lake.s.t; TRUNCATE lake.s.t; INSERT INTO lake.s.t FROM copied WHERE id <> {n}; COMMIT"
        ),
        7 => format!(
            "MERGE INTO lake.s.t x USING (SELECT {n} AS id, 'm' AS v) y ON x.id = y.id WHEN MATCHED THEN UPDATE SET v = y.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (y.id, y.v)"
        ),
        8 => format!(
            "BEGIN; DELETE FROM lake.s.t WHERE id = {n}; INSERT INTO lake.s.t (id, v, d, l) VALUES {}; UPDATE lake.s.t SET v = 'x' WHERE id = {n}; COMMIT",
            row(n)
        ),
        9 if inlined => "CALL ducklake_flush_inlined_data('lake')".into(),
        10 => "CALL ducklake_merge_adjacent_files('lake')".into(),
        11 => {
            "CALL ducklake_flush_inlined_data('lake'); CALL ducklake_rewrite_data_files('lake', delete_threshold => 0.01)"
                .into()
        }
        _ => "INSERT INTO lake.s.other VALUES (1)".into(),
    }
}

/// 6 histories of each form in the suite, 120 with `ONDATRA_SOAK`.
#[test]
fn soak_deltas_equal_the_difference_of_versions() {
    let histories = if std::env::var_os("ONDATRA_SOAK").is_some() { 120 } else { 6 };
    let mut random = Random(0xfeed_5eed);
    for catalog in [Catalog::Sqlite, Catalog::Duckdb] {
        for inlined in [false, true] {
            for _ in 0..histories {
                history(&mut random, catalog, inlined);
            }
        }
    }
}

fn history(random: &mut Random, catalog: Catalog, inlined: bool) {
    let dir = tempfile::tempdir().unwrap();
    let connection = open_lake(catalog, dir.path(), if inlined { 10 } else { 0 });
    connection
        .execute(
            "CREATE SCHEMA lake.s; CREATE TABLE lake.s.other (i INTEGER); \
             CREATE TABLE lake.s.t (id INTEGER, v VARCHAR, d DOUBLE, l INTEGER[])",
        )
        .unwrap();
    if random.below(2) == 0 {
        // Among ids so far apart the changed ones lie close together.
        connection.execute("INSERT INTO lake.s.t (id) VALUES (-90000), (90000)").unwrap();
    }
    let mut versions = vec![snapshot(&connection)];
    let mut log = Vec::new();
    for _ in 0..12 {
        let statement = step(random, inlined);
        connection.execute(&statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        log.push(statement);
        versions.push(snapshot(&connection));
    }
    let until = snapshot(&connection);
    let now = rows(&connection, "FROM lake.s.t");
    for since in versions {
        let then = rows(&connection, &format!("FROM lake.s.t AT (VERSION => {since})"));
        let expected = difference(&now, &then);
        let (method, new, old) = delta(&connection, since, until);
        assert_eq!(new, expected, "{catalog:?}, inlined {inlined}, since {since}, {method:?}: {log:#?}");
        if !new.is_empty() {
            let mut both = [new, old].concat();
            both.sort();
            assert_eq!(both, now, "the rest and the delta are the table");
        }
    }
}

#[test]
fn each_situation_has_its_method() {
    let dir = tempfile::tempdir().unwrap();
    let connection = open_lake(Catalog::Sqlite, dir.path(), 0);
    let run = |sql: &str| {
        let since = snapshot(&connection);
        connection.execute(sql).unwrap();
        let (method, new, _) = delta(&connection, since, snapshot(&connection));
        (method, new)
    };
    connection.execute("CREATE SCHEMA lake.s; CREATE TABLE lake.s.other (i INTEGER)").unwrap();
    let texts = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    assert_eq!(
        run("CREATE TABLE lake.s.t AS SELECT i::INTEGER AS id, 'a' AS v FROM range(2) r(i)"),
        (Method::All, texts(&["{'id': 0, 'v': a}", "{'id': 1, 'v': a}"]))
    );
    for untouched in [
        "INSERT INTO lake.s.other VALUES (1)",
        "ALTER TABLE lake.s.t ADD COLUMN x INTEGER DEFAULT 7",
        "ALTER TABLE lake.s.t DROP COLUMN x",
        "ALTER TABLE lake.s.t RENAME COLUMN v TO w",
        "COMMENT ON TABLE lake.s.t IS 'c'",
        "CALL ducklake_merge_adjacent_files('lake')",
    ] {
        assert_eq!(run(untouched), (Method::Unchanged, Vec::new()), "{untouched}");
    }
    assert_eq!(run("INSERT INTO lake.s.t VALUES (2, 'b')"), (Method::Inserted, texts(&["{'id': 2, 'w': b}"])));
    assert_eq!(run("UPDATE lake.s.t SET w = 'c' WHERE id = 2"), (Method::Feed, texts(&["{'id': 2, 'w': c}"])));
    let retype = "BEGIN; CREATE TEMP TABLE c AS FROM lake.s.t; ALTER TABLE lake.s.t RENAME COLUMN id TO o; \
                  ALTER TABLE lake.s.t ADD COLUMN id BIGINT; ALTER TABLE lake.s.t DROP COLUMN o; TRUNCATE lake.s.t; \
                  INSERT INTO lake.s.t BY NAME FROM c; INSERT INTO lake.s.t (id) VALUES (9); COMMIT";
    assert_eq!(run(retype), (Method::Compare, texts(&["{'w': NULL, 'id': 9}"])));
    assert_eq!(
        run("DELETE FROM lake.s.t WHERE id = 0; CALL ducklake_rewrite_data_files('lake', delete_threshold => 0.0)"),
        (Method::Compare, Vec::new())
    );
    let anew = "CREATE OR REPLACE TABLE lake.s.t AS SELECT 1 AS id, 'a' AS w, 5 AS n UNION ALL SELECT 9, NULL, NULL";
    assert_eq!(run(anew), (Method::Compare, texts(&["{'id': 1, 'w': a, 'n': 5}"])));
    assert_eq!(run("DROP TABLE lake.s.t").0, Method::Lost);
    assert_eq!(delta(&connection, 9999, 10_000).0, Method::Lost);
}

#[test]
fn a_new_row_is_found_though_the_lake_has_forgotten_the_range_of_old_ones() {
    let dir = tempfile::tempdir().unwrap();
    let connection = open_lake(Catalog::Sqlite, dir.path(), 0);
    connection
        .execute("CREATE SCHEMA lake.s; CREATE TABLE lake.s.t AS SELECT i::INTEGER AS id FROM range(1, 20) r(i)")
        .unwrap();
    let since = snapshot(&connection);
    connection
        .execute(
            "DELETE FROM lake.s.t WHERE id < 5; CALL ducklake_rewrite_data_files('lake', delete_threshold => 0.0); \
             INSERT INTO lake.s.t VALUES (257)",
        )
        .unwrap();
    let (method, new, _) = delta(&connection, since, snapshot(&connection));
    assert_eq!((method, new), (Method::Compare, vec!["{'id': 257}".to_owned()]));
}
