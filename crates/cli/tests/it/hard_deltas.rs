//! Queries over which a delta once gave other rows than it should, or none: each stays here.

use testkit::{Lake, Project};

use crate::project;

const APPEND: &str = "-- @kind: append";
const MERGE: &str = "-- @kind: merge\n-- @unique_key: id";

/// A project over `setup`, a lake with the schema `raw`, whose model `m.x` has run once.
fn over(setup: &str, header: &str, select: &str) -> (Project, Lake) {
    let project = project();
    let lake = Lake::open(&project);
    lake.execute(&format!("CREATE SCHEMA raw; {setup}"));
    project.model("m/x", &format!("{header}\n{select}"));
    (project, lake)
}

/// What two runs make of `select`, with `change` in between.
#[track_caller]
fn rows(setup: &str, header: &str, select: &str, change: &str) -> String {
    let (project, lake) = over(setup, header, select);
    project.run(&["run", "m.x"]).success();
    lake.execute(change);
    project.run(&["run", "m.x"]).success();
    project.rows("FROM m.x ORDER BY ALL")
}

#[test]
fn views_are_read_as_the_engine_reads_them() {
    let setup = "CREATE TABLE raw.t (id INT, v INT); INSERT INTO raw.t VALUES (1, 1); CREATE TABLE main.t AS SELECT 900 AS id, 900 AS v; \
                 USE lake.raw; CREATE VIEW lake.raw.vv AS SELECT id, v FROM t; USE lake; \
                 CREATE VIEW raw.swapped(v, id) AS SELECT id, v + 10 FROM raw.t";
    let change = "INSERT INTO raw.t VALUES (2, 2); INSERT INTO main.t VALUES (901, 901)";
    assert_eq!(rows(setup, APPEND, "SELECT * FROM raw.vv", change), "1,1\n2,2\n", "a bare name in a view");
    assert_eq!(rows(setup, APPEND, "SELECT id, v FROM raw.swapped", change), "11,1\n12,2\n", "its own column names");
    assert_eq!(rows(setup, APPEND, "SELECT * FROM raw.swapped AS s(a)", change), "1,11\n2,12\n");
    let (project, lake) = over(setup, "", "SELECT * FROM raw.vv");
    project.run(&["run"]).success();
    lake.execute("INSERT INTO main.t VALUES (901, 901)");
    assert!(project.run(&["run"]).success().stdout.contains("[SKIP] m.x"));
}

#[test]
fn new_rows_of_aggregated_tables_are_found() {
    let setup = "CREATE TABLE raw.o AS SELECT 1 AS k; CREATE TABLE raw.i AS SELECT 1 AS k, 5 AS qty";
    for select in [
        "SELECT o.k, sum(q)::INT AS s FROM raw.o o JOIN (SELECT * RENAME (qty AS q) FROM raw.i) i USING (k) GROUP BY o.k",
        "SELECT k, sum(zz)::INT AS s FROM (SELECT o.k, i.qty AS yy, yy + 0 AS zz FROM raw.o o JOIN raw.i i USING (k)) GROUP BY k",
        "SELECT o.k, sum(\"(qty * 1)\")::INT AS s FROM raw.o o JOIN (SELECT k, qty * 1 FROM raw.i) i USING (k) GROUP BY ALL",
        "SELECT o.k, i.\"sum(qty)\"::INT AS s FROM raw.o o JOIN (SELECT k, sum(qty) FROM raw.i GROUP BY k) i USING (k)",
        "SELECT k, sum(#2)::INT AS s FROM (SELECT o.k, i.qty FROM raw.o o JOIN raw.i i USING (k)) GROUP BY k",
    ] {
        assert_eq!(rows(setup, APPEND, select, "INSERT INTO raw.i VALUES (1, 100)"), "1,5\n1,100\n", "{select}");
    }
    let counted = "SELECT o.k, count(1) AS n FROM raw.o o JOIN raw.i i USING (k) GROUP BY ALL";
    assert_eq!(rows(setup, APPEND, counted, "INSERT INTO raw.i VALUES (1, 100)"), "1,1\n1,1\n");
}

#[test]
fn rows_without_a_partner_are_told_from_rows_whose_partner_is_new() {
    let setup =
        "CREATE TABLE raw.o AS SELECT 1 AS k; CREATE TABLE raw.i (k INT, qty INT); CREATE TABLE raw.p (k INT, pay INT)";
    let right =
        "SELECT o.k, count(*) AS n, sum(i.qty)::INT AS s FROM raw.i i RIGHT JOIN raw.o o ON i.k = o.k GROUP BY o.k";
    let both = "INSERT INTO raw.o VALUES (3); INSERT INTO raw.i VALUES (3, 1000)";
    assert_eq!(rows(setup, APPEND, right, both), "1,1,\n3,1,1000\n");
    // One order whose item and payment are both new, and one that has no item at all.
    let setup_two = setup.replace("SELECT 1 AS k;", "SELECT 1 AS k UNION ALL SELECT 2;");
    for join in ["JOIN raw.p p ON p.k = o.k", "LEFT JOIN raw.p p ON p.k = o.k"] {
        let select = format!(
            "SELECT o.k, count(*) AS n, sum(i.qty)::INT AS s, sum(p.pay)::INT AS t FROM raw.o o LEFT JOIN raw.i i ON i.k = o.k {join} GROUP BY o.k"
        );
        let change = "INSERT INTO raw.i VALUES (1, 10000); INSERT INTO raw.p VALUES (1, 90), (2, 91)";
        let found = rows(&setup_two, APPEND, &select, change);
        let first = if join.starts_with("LEFT") { ["1,1,,\n", "2,1,,\n"] } else { ["", ""] };
        assert_eq!(found.replacen(first[0], "", 1).replacen(first[1], "", 1), "1,1,10000,90\n2,1,,91\n", "{join}");
    }
    let full = "SELECT o.k, sum(i.qty)::INT AS s, sum(p.pay)::INT AS t FROM raw.o o JOIN (raw.i i FULL JOIN raw.p p ON i.k = p.k) ON coalesce(i.k, p.k) = o.k GROUP BY o.k";
    assert_eq!(
        rows(setup, APPEND, full, "INSERT INTO raw.i VALUES (1, 7); INSERT INTO raw.p VALUES (1, 90)"),
        "1,7,90\n"
    );
}

#[test]
fn what_is_looked_up_makes_no_new_rows() {
    let setup = "CREATE TABLE raw.o AS SELECT 1 AS k, 1 AS cid UNION ALL SELECT 2, 1; CREATE TABLE raw.c AS SELECT 1 AS cid, 10 AS score; \
                 CREATE VIEW raw.v AS SELECT o.k, c.score, sum(o.k)::INT AS s FROM raw.o o JOIN raw.c c USING (cid) GROUP BY ALL";
    let macros = "CREATE MACRO clampm(x, min, max) AS least(greatest(x, min), max); \
                  CREATE MACRO top() AS (SELECT max(score) FROM lake.raw.c);";
    for select in [
        "SELECT o.k, clampm(c.score, 0, 100) AS x FROM raw.o o JOIN raw.c c USING (cid)",
        "SELECT o.k, c.score, top() AS x FROM raw.o o JOIN raw.c c USING (cid)",
        "SELECT o.k, x.s FROM raw.o o, LATERAL (SELECT sum(score)::INT AS s FROM raw.c c WHERE c.cid = o.cid) x",
        "SELECT count(cid) AS n, score FROM raw.o JOIN raw.c USING (cid) GROUP BY score",
        "SELECT k, score FROM raw.v",
    ] {
        let (project, lake) = over(setup, APPEND, select);
        project.write("config/macros/m.sql", macros);
        project.run(&["run", "m.x"]).success();
        lake.execute("UPDATE raw.c SET score = 11");
        let output = project.run(&["run", "m.x"]).success().stdout;
        assert!(output.contains("(append, incremental, 0 rows,"), "{select}: {output}");
    }
}

#[test]
fn a_query_without_a_driving_table_runs_whole_when_anything_it_reads_changed() {
    let setup = "CREATE TABLE raw.f AS SELECT 1 AS k; CREATE TABLE raw.mt AS SELECT 1 AS k";
    for select in [
        "SELECT a.k AS ak, b.k AS bk FROM mt() a FULL JOIN raw.f b ON a.k = b.k",
        "SELECT a.k AS ak, b.k AS bk FROM raw.f a FULL JOIN raw.f b ON a.k = b.k WHERE (SELECT count(*) FROM raw.mt) > 0",
        "SELECT * FROM query('FROM raw.' || 'mt') AS t(ak), (SELECT 1 AS bk)",
    ] {
        let (project, lake) = over(setup, APPEND, select);
        project.write("config/macros/m.sql", "CREATE MACRO mt() AS TABLE SELECT * FROM lake.raw.mt;");
        project.run(&["run", "m.x"]).success();
        lake.execute("INSERT INTO raw.mt VALUES (7)");
        let output = project.run(&["run", "m.x"]).success().stdout;
        assert!(output.contains("full query: "), "{select}: {output}");
    }
    let nearest = "SELECT t.k, t.ts, sum(q.px)::INT AS s FROM raw.tr t ASOF JOIN raw.q q ON t.k = q.k AND t.ts >= q.ts GROUP BY ALL";
    let setup = "CREATE TABLE raw.tr AS SELECT 1 AS k, 10 AS ts; CREATE TABLE raw.q AS SELECT 1 AS k, 1 AS ts, 10 AS px UNION ALL SELECT 1, 9, 90";
    assert_eq!(rows(setup, APPEND, nearest, "INSERT INTO raw.q VALUES (1, 2, 20)"), "1,10,90\n");
}

#[test]
fn merge_follows_columns_that_changed_without_their_rows() {
    let setup = "CREATE TABLE raw.t AS SELECT 1 AS id, 10 AS a, 20 AS b";
    let crosswise = "ALTER TABLE raw.t RENAME a TO z; ALTER TABLE raw.t RENAME b TO a; ALTER TABLE raw.t RENAME z TO b";
    assert_eq!(rows(setup, MERGE, "SELECT id, a, b FROM raw.t", crosswise), "1,20,10\n");
    let anew = "ALTER TABLE raw.t DROP COLUMN a; ALTER TABLE raw.t ADD COLUMN a INT DEFAULT 3";
    assert_eq!(rows(setup, MERGE, "SELECT id, a FROM raw.t", anew), "1,3\n");
}

#[test]
fn names_that_look_like_others() {
    let setup = "CREATE SCHEMA \"a.b\"; CREATE SCHEMA a; CREATE TABLE \"a.b\".c AS SELECT 1 AS id; CREATE TABLE a.\"b.c\" AS SELECT 50 AS id; \
                 CREATE SCHEMA odd; CREATE TABLE raw.o AS SELECT 1 AS id, 5 AS x; CREATE TABLE odd.o AS SELECT 1 AS id, 6 AS x; CREATE TABLE raw.\"İx\" AS SELECT 1 AS id";
    let change = "INSERT INTO \"a.b\".c VALUES (2); INSERT INTO a.\"b.c\" VALUES (51); INSERT INTO raw.o VALUES (1, 7); INSERT INTO raw.\"İx\" VALUES (2)";
    assert_eq!(rows(setup, APPEND, "SELECT * FROM \"a.b\".c", change), "1\n2\n");
    let same_name = "SELECT raw.o.x AS a, odd.o.x AS b FROM raw.o JOIN odd.o ON raw.o.id = odd.o.id";
    assert_eq!(rows(setup, APPEND, same_name, change), "5,6\n7,6\n");
    assert_eq!(rows(setup, APPEND, "SELECT id FROM raw.\"İx\"", change), "1\n2\n");
    let (project, _lake) = over(setup, "", "SELECT 1 AS id");
    for name in ["json", "csv", "parquet", "db"] {
        project.model(&format!("f/{name}"), "-- @kind: append\nSELECT 1 AS id");
    }
    project.run(&["run"]).success();
    assert_eq!(project.rows("SELECT count(*) FROM f.json"), "1\n");
}

#[test]
fn a_cursor_starts_anew_when_an_append_runs_whole() {
    let setup = "CREATE TABLE raw.t AS SELECT 1 AS ts";
    let header = "-- @kind: append\n-- @incremental: ts\n-- @incremental_initial: 0";
    let (project, lake) = over(setup, header, "SELECT ts FROM raw.t WHERE ts > getvariable('incr_last_value')");
    project.run(&["run", "m.x"]).success();
    lake.execute("INSERT INTO raw.t VALUES (2)");
    lake.execute("CALL ducklake_expire_snapshots('lake', older_than => now() + INTERVAL 1 DAY)");
    project.run(&["run", "m.x"]).success();
    assert_eq!(project.rows("FROM m.x ORDER BY ts"), "1\n2\n");
    // A cursor column that the table does not have yet.
    let renamed = header.replace("incremental: ts", "incremental: at");
    project.model("m/x", &format!("{renamed}\nSELECT ts AS at FROM raw.t WHERE ts > getvariable('incr_last_value')"));
    lake.execute("INSERT INTO raw.t VALUES (3)");
    project.run(&["run", "m.x", "--keep"]).success();
    assert_eq!(project.rows("SELECT \"at\" FROM m.x ORDER BY ALL"), "1\n2\n3\n");
}

#[test]
fn a_rebuild_that_changes_what_sql_calls_equal_is_a_loss() {
    let (project, _lake) = over("CREATE TABLE raw.t AS SELECT 'a' AS v", APPEND, "SELECT v FROM raw.t");
    project.write("config/settings.sql", "SET default_collation = 'NOCASE';");
    project.run(&["run", "m.x"]).success();
    project.model("m/x", "-- @kind: append\nSELECT upper(v) AS v FROM raw.t");
    let output = project.run(&["run", "m.x"]).failure(1);
    assert!(output.stderr.contains("1 rows would be dropped by a rebuild, for example: a"), "{}", output.stderr);
}
