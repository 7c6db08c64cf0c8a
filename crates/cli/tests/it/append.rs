//! The kind append, and merge over deltas: which rows a run adds (chapter 02 §4 and §8).

use testkit::{Lake, Project};

use crate::project;

const APPEND: &str = "-- @kind: append";
const MERGE: &str = "-- @kind: merge\n-- @unique_key: id";

/// A project over the lake tables `ext.o (id, cust, v)` and `ext.c (cust, name)`.
fn over(header: &str, select: &str) -> (Project, Lake) {
    let project = project();
    let lake = Lake::open(&project);
    lake.execute(
        "CREATE SCHEMA ext; CREATE TABLE ext.o (id INTEGER, cust INTEGER, v INTEGER); \
         INSERT INTO ext.o VALUES (1, 1, 10), (2, 2, 20); \
         CREATE TABLE ext.c (cust INTEGER, name VARCHAR); INSERT INTO ext.c VALUES (1, 'a'), (2, 'b')",
    );
    project.model("m/x", &format!("{header}\n{select}"));
    run(&project);
    (project, lake)
}

#[track_caller]
fn run(project: &Project) -> String {
    project.run(&["run", "m.x"]).success().stdout
}

/// Runs and compares the rows that the run tells and the table.
#[track_caller]
fn expect(project: &Project, rows: usize, reason: &str, table: &str) {
    let output = run(project);
    assert!(output.contains(&format!("incremental, {rows} rows,")), "{output}");
    assert!(output.contains(&format!("— {reason})")), "{output}");
    assert!(!output.contains("WARN"), "{output}");
    assert_eq!(project.rows("FROM m.x ORDER BY ALL"), table);
}

const RUN: &str = "incremental run";

#[test]
fn append_adds_new_rows_and_only_those() {
    for select in [
        "SELECT id, v FROM ext.o",
        "WITH c AS (SELECT * FROM ext.o) SELECT id, v FROM c",
        "SELECT ext.o.id, lake.ext.o.v FROM ext.o",
        "SELECT o.id, o.v FROM lake.ext.O AS o WHERE o.v IS NOT NULL",
        "SELECT id, v FROM (SELECT * FROM (SELECT id, v FROM ext.o) x) y ORDER BY id",
    ] {
        let (project, lake) = over(APPEND, select);
        expect(&project, 0, RUN, "1,10\n2,20\n");
        lake.execute("INSERT INTO ext.o VALUES (2, 2, 20), (3, 1, 30); DELETE FROM ext.o WHERE id = 1");
        expect(&project, 2, RUN, "1,10\n2,20\n2,20\n3,30\n");
        lake.execute("DELETE FROM ext.o WHERE id = 3");
        lake.execute("INSERT INTO ext.o VALUES (3, 1, 30)");
        expect(&project, 0, RUN, "1,10\n2,20\n2,20\n3,30\n");
        // A change of a column that is not selected emits the row again.
        lake.execute("UPDATE ext.o SET cust = 7 WHERE id = 3");
        expect(&project, 1, RUN, "1,10\n2,20\n2,20\n3,30\n3,30\n");
    }
}

#[test]
fn a_query_without_a_source_in_the_lake_is_appended_whole() {
    let (project, _lake) = over(APPEND, "SELECT 1 AS x");
    expect(&project, 1, RUN, "1\n1\n");
    let (project, lake) = over(APPEND, "SELECT id FROM ext.o UNION ALL SELECT 9 AS id FROM range(1)");
    expect(&project, 1, RUN, "1\n2\n9\n9\n");
    lake.execute("INSERT INTO ext.o VALUES (5, 1, 1)");
    expect(&project, 2, RUN, "1\n2\n5\n9\n9\n9\n");
}

#[test]
fn joins_find_every_pair_with_a_new_row_once() {
    let join = "SELECT o.id, name FROM ext.o o JOIN ext.c c USING (cust)";
    let (project, lake) = over(APPEND, join);
    lake.execute("INSERT INTO ext.o VALUES (3, 1, 30)");
    expect(&project, 1, RUN, "1,a\n2,b\n3,a\n");
    lake.execute("INSERT INTO ext.c VALUES (1, 'a2')");
    expect(&project, 0, RUN, "1,a\n2,b\n3,a\n");
    lake.execute("INSERT INTO ext.o VALUES (4, 1, 40); INSERT INTO ext.c VALUES (2, 'b2')");
    expect(&project, 2, RUN, "1,a\n2,b\n3,a\n4,a\n4,a2\n");
}

#[test]
fn orders_and_their_summed_items_may_both_grow() {
    let project = project();
    let lake = Lake::open(&project);
    lake.execute(
        "CREATE SCHEMA ext; CREATE TABLE ext.o AS SELECT 1 AS id; CREATE TABLE ext.i AS SELECT 1 AS id, 5 AS x",
    );
    for (name, select) in [
        (
            "inner",
            "SELECT o.id, s FROM ext.o o JOIN (SELECT id, sum(x)::INTEGER AS s FROM ext.i GROUP BY id) i USING (id)",
        ),
        (
            "outer",
            "SELECT o.id, s FROM ext.o o LEFT JOIN (SELECT id, sum(x)::INTEGER AS s FROM ext.i GROUP BY id) i USING (id)",
        ),
        ("total", "SELECT o.id, sum(x)::INTEGER AS s FROM ext.o o JOIN ext.i i USING (id) GROUP BY o.id"),
        ("counted", "SELECT o.id, count(*)::INTEGER AS s FROM ext.o o JOIN ext.i i USING (id) GROUP BY ALL"),
    ] {
        project.model(&format!("m/{name}"), &format!("{APPEND}\n{select}"));
    }
    project.run(&["run"]).success();
    lake.execute("INSERT INTO ext.o VALUES (1), (2); INSERT INTO ext.i VALUES (1, 6), (2, 7), (2, 8)");
    let output = project.run(&["run"]).success().stdout;
    assert!(
        output.contains("[OK] m.total (append, incremental, 3 rows") && output.contains("aggregate per batch")
            || output.contains("GROUP BY per batch"),
        "{output}"
    );
    // New orders with all items, and old orders with new items.
    assert_eq!(project.rows("FROM m.inner ORDER BY ALL"), "1,5\n1,6\n1,11\n2,15\n");
    assert_eq!(project.rows("FROM m.outer ORDER BY ALL"), "1,5\n1,6\n1,11\n2,15\n");
    assert_eq!(project.rows("SELECT id, sum(s)::INTEGER FROM m.total GROUP BY id ORDER BY id"), "1,22\n2,15\n");
    assert_eq!(project.rows("SELECT id, sum(s)::INTEGER FROM m.counted GROUP BY id ORDER BY id"), "1,4\n2,2\n");
    lake.execute("INSERT INTO ext.i VALUES (1, 100)");
    project.run(&["run"]).success();
    assert_eq!(
        project.rows("SELECT s FROM m.outer WHERE s >= 100"),
        "100\n100\n",
        "the other orders do not come again"
    );
    assert_eq!(project.rows("SELECT count(*) FROM m.outer"), "6\n");
}

#[test]
fn union_branches_self_joins_and_views() {
    let (project, lake) = over(APPEND, "SELECT id FROM ext.o UNION ALL SELECT cust FROM ext.c");
    lake.execute("INSERT INTO ext.c VALUES (7, 'g')");
    expect(&project, 1, RUN, "1\n1\n2\n2\n7\n");
    lake.execute("INSERT INTO ext.c VALUES (8, 'h'); INSERT INTO ext.o VALUES (9, 1, 1)");
    expect(&project, 2, RUN, "1\n1\n2\n2\n7\n8\n9\n");

    let (project, lake) = over(APPEND, "SELECT a.id, b.id AS other FROM ext.o a JOIN ext.o b ON a.cust = b.cust");
    lake.execute("INSERT INTO ext.o VALUES (3, 1, 1)");
    expect(&project, 2, RUN, "1,1\n2,2\n3,1\n3,3\n");

    let project = crate::project();
    let lake = Lake::open(&project);
    lake.execute(
        "CREATE SCHEMA ext; CREATE TABLE t AS SELECT 1 AS id; CREATE VIEW ext.v AS SELECT id + 1 AS id FROM t",
    );
    project.model("m/x", &format!("{APPEND}\nWITH t AS (SELECT 100 AS id) SELECT ext.v.id FROM ext.v"));
    run(&project);
    lake.execute("INSERT INTO t VALUES (5)");
    expect(&project, 1, RUN, "2\n6\n");
    lake.execute("CREATE OR REPLACE VIEW ext.v AS SELECT id + 2 AS id FROM t");
    let output = project.run(&["run", "m.x"]).failure(1);
    assert!(output.stderr.contains("2 rows would be dropped by a rebuild"), "{}", output.stderr);
    assert!(output.stderr.contains("--full-refresh") && output.stderr.contains("--keep"), "{}", output.stderr);
}

#[test]
fn what_a_delta_cannot_stand_in_for_rebuilds_without_loss_or_stops() {
    let full_join = "SELECT coalesce(o.cust, c.cust) AS cust, name FROM ext.o o FULL JOIN ext.c c USING (cust)";
    let (project, lake) = over(APPEND, full_join);
    expect(&project, 0, RUN, "1,a\n2,b\n");
    lake.execute("INSERT INTO ext.c VALUES (3, 'c')");
    expect(&project, 3, "incremental run, full query: FULL JOIN", "1,a\n2,b\n3,c\n");
    lake.execute("UPDATE ext.c SET name = 'B' WHERE cust = 2");
    let output = project.run(&["run", "m.x"]).failure(1);
    assert!(
        output.stderr.contains(
            "1 rows would be dropped by a rebuild (incremental run, full query: FULL JOIN), for example: 2, b"
        ),
        "{}",
        output.stderr
    );
    assert_eq!(project.rows("FROM m.x ORDER BY ALL"), "1,a\n2,b\n3,c\n");
}

#[test]
fn append_groups_see_one_batch() {
    let (project, lake) = over(APPEND, "SELECT cust, sum(v)::INTEGER AS s FROM ext.o GROUP BY cust");
    lake.execute("INSERT INTO ext.o VALUES (3, 1, 5)");
    expect(&project, 1, "incremental run, GROUP BY per batch", "1,5\n1,10\n2,20\n");
    let (project, lake) = over(APPEND, "SELECT DISTINCT cust FROM ext.o");
    lake.execute("INSERT INTO ext.o VALUES (3, 1, 5), (4, 1, 6)");
    expect(&project, 1, "incremental run, DISTINCT per batch", "1\n1\n2\n");
}

#[test]
fn merge_reads_deltas_only_where_each_key_gets_the_row_of_the_whole_query() {
    let (project, lake) = over(MERGE, "SELECT id, v FROM ext.o");
    expect(&project, 0, RUN, "1,10\n2,20\n");
    lake.execute(
        "INSERT INTO ext.o VALUES (3, 1, 30); UPDATE ext.o SET v = 11 WHERE id = 1; DELETE FROM ext.o WHERE id = 2",
    );
    expect(&project, 2, RUN, "1,11\n2,20\n3,30\n");

    let (project, lake) = over(MERGE, "SELECT cust AS id, sum(v)::INTEGER AS s FROM ext.o GROUP BY cust");
    lake.execute("INSERT INTO ext.o VALUES (3, 1, 5)");
    expect(&project, 2, "incremental run, full query: GROUP BY", "1,15\n2,20\n");

    let (project, lake) = over(MERGE, "SELECT id, name FROM ext.o LEFT JOIN ext.c USING (cust)");
    lake.execute("INSERT INTO ext.o VALUES (3, 9, 5)");
    expect(&project, 1, RUN, "1,a\n2,b\n3,\n");
    lake.execute("UPDATE ext.c SET name = 'A' WHERE cust = 1");
    expect(&project, 3, "incremental run, full query: ext.c changed", "1,A\n2,b\n3,\n");

    let (project, lake) = over(MERGE, "SELECT id, (SELECT max(v) FROM ext.o) AS top FROM ext.o");
    lake.execute("INSERT INTO ext.o VALUES (3, 9, 50)");
    expect(&project, 3, "incremental run, full query: ext.o changed", "1,50\n2,50\n3,50\n");

    let (project, lake) = over(MERGE, "SELECT 1 AS id, geomean(v)::INTEGER AS g FROM ext.o");
    lake.execute("INSERT INTO ext.o VALUES (3, 9, 1)");
    expect(&project, 1, "incremental run, full query: aggregate", "1,6\n");
}

#[test]
fn refills_upstream_and_maintenance_add_nothing() {
    let project = project();
    let lake = Lake::open(&project);
    lake.execute("CREATE SCHEMA ext; CREATE TABLE ext.t AS SELECT i AS id, i % 2 AS g FROM range(20) r(i)");
    project.model("raw/a", "SELECT id, g FROM ext.t");
    project.model("m/x", &format!("{APPEND}\nSELECT id, g FROM raw.a"));
    project.run(&["run"]).success();
    // All rows are written again, but for one.
    lake.execute("INSERT INTO ext.t VALUES (99, 1)");
    project.run(&["run"]).success();
    assert_eq!(project.rows("SELECT count(*), count(DISTINCT id) FROM m.x"), "21,21\n");
    // Retyped upstream: dropped and added, yet the same values.
    project.model("raw/a", "SELECT id, g::BIGINT + 0 AS g FROM ext.t");
    project.run(&["run"]).success();
    assert_eq!(project.rows("SELECT count(*) FROM m.x"), "21\n");
    for statement in [
        "DELETE FROM raw.a WHERE id < 5",
        "CALL ducklake_rewrite_data_files('lake', delete_threshold => 0.01)",
        "CALL ducklake_merge_adjacent_files('lake')",
    ] {
        lake.execute(statement);
        project.run(&["run", "m.x"]).success();
        assert_eq!(project.rows("SELECT count(*) FROM m.x"), "21\n", "{statement}");
    }
    lake.execute(
        "UPDATE raw.a SET g = 5 WHERE id = 7; CALL ducklake_rewrite_data_files('lake', delete_threshold => 0.0)",
    );
    project.run(&["run", "m.x"]).success();
    assert_eq!(project.rows("SELECT count(*) FROM m.x"), "22\n");
}

#[test]
fn a_lost_snapshot_rebuilds_without_loss_or_stops_and_keep_goes_on() {
    let (project, lake) = over(APPEND, "SELECT id, v FROM ext.o");
    lake.execute("INSERT INTO ext.o VALUES (3, 1, 30)");
    let expire = "CALL ducklake_expire_snapshots('lake', older_than => now() + INTERVAL 1 DAY)";
    lake.execute(expire);
    let output = run(&project);
    assert!(
        output.contains("WARN: CDC failed, using full query: the snapshot at which ext.o was read is gone"),
        "{output}"
    );
    assert_eq!(project.rows("FROM m.x ORDER BY ALL"), "1,10\n2,20\n3,30\n");
    lake.execute("DELETE FROM ext.o WHERE id = 1");
    lake.execute(expire);
    let output = project.run(&["run", "m.x"]).failure(1);
    let expected = "1 rows would be dropped by a rebuild (CDC failed, using full query: the snapshot at which ext.o was read is gone)";
    assert!(output.stderr.contains(expected), "{}", output.stderr);
    let output = project.run(&["run", "m.x", "--keep"]).success().stdout;
    assert!(output.contains("(append, incremental, 0 rows") && output.contains("— kept)"), "{output}");
    assert!(output.contains("WARN: kept, and nothing added"), "{output}");
    lake.execute("INSERT INTO ext.o VALUES (4, 1, 40)");
    expect(&project, 1, RUN, "1,10\n2,20\n3,30\n4,40\n");
}

#[test]
fn an_edited_append_keeps_its_history_or_stops() {
    let (project, lake) = over(APPEND, "SELECT id, v FROM ext.o");
    project.model("m/x", &format!("{APPEND}\nSELECT id, v, cust FROM ext.o"));
    let output = run(&project);
    assert!(output.contains("(append, incremental, 2 rows,") && output.contains("— sql changed)"), "{output}");
    assert_eq!(project.rows("FROM m.x ORDER BY ALL"), "1,10,1\n2,20,2\n", "refilled once");
    lake.execute("TRUNCATE ext.o; INSERT INTO ext.o VALUES (5, 1, 50)");
    project.model("m/x", &format!("{APPEND}\nSELECT id, v, cust, 1 AS n FROM ext.o"));
    let output = project.run(&["run", "m.x"]).failure(1);
    assert!(output.stderr.contains("2 rows would be dropped"), "{}", output.stderr);
    assert_eq!(project.rows("SELECT count(*) FROM m.x"), "2\n");
    let output = project.run(&["run", "m.x", "--keep"]).success().stdout;
    assert!(output.contains("(append, incremental, 1 rows") && output.contains("— kept)"), "{output}");
    assert_eq!(project.rows("FROM m.x ORDER BY ALL"), "1,10,1,\n2,20,2,\n5,50,1,1\n");
    expect(&project, 0, RUN, "1,10,1,\n2,20,2,\n5,50,1,1\n");
    let output = project.run(&["run", "m.x", "--full-refresh", "--yes"]).success().stdout;
    assert!(output.contains("(append, backfill, 1 rows"), "{output}");
    assert_eq!(project.rows("FROM m.x"), "5,50,1,1\n");
    project.model("m/t", "SELECT 1 AS x");
    for (words, expected) in [
        (&["run", "m.t", "--keep"][..], "--keep is for append models, m.t is table"),
        (&["run", "--keep"], "--keep and --full-refresh need a model"),
        (&["run", "m.x", "--keep", "--full-refresh"], "--keep cannot be used with --full-refresh"),
    ] {
        let output = project.run(words).failure(2);
        assert!(output.stderr.contains(expected), "{}", output.stderr);
    }
}

#[test]
fn the_cursor_moves_with_the_commits() {
    let select = "SELECT id, v, getvariable('incr_last_value') AS seen, getvariable('incr_is_backfill') AS b, \
                  getvariable('incr_last_run') <> '' AS ran, getvariable('incr_cursor') AS c \
                  FROM ext.o WHERE id > getvariable('incr_last_value')";
    let header = format!("{APPEND}\n-- @incremental: id\n-- @incremental_initial: '0'");
    let (project, lake) = over(&header, select);
    lake.execute("INSERT INTO ext.o VALUES (5, 1, 50), (0, 1, 0)");
    expect(&project, 1, RUN, "1,10,0,true,false,id\n2,20,0,true,false,id\n5,50,2,false,true,id\n");
    project.model(
        "m/y",
        &format!("{APPEND}\nSELECT getvariable('incr_last_value') AS a, getvariable('incr_is_backfill') AS b"),
    );
    project.run(&["run"]).success();
    assert_eq!(project.rows("FROM m.y"), ",\n", "nothing leaks from one model to the next");
    project.model(
        "m/z",
        &format!("{APPEND}\n-- @incremental: id\nSELECT id FROM ext.o WHERE id > getvariable('incr_last_value')"),
    );
    let output = project.run(&["run", "m.z"]).failure(1);
    assert!(output.stderr.contains("-- @incremental_initial: 0"), "{}", output.stderr);
    project.model("m/x", &format!("{APPEND}\n-- @incremental: nope\nSELECT id FROM ext.o"));
    let output = project.run(&["run", "m.x"]).failure(1);
    assert!(output.stderr.contains("@incremental column \"nope\" is not in the model output"), "{}", output.stderr);
}

#[test]
fn keep_keeps_values_too() {
    let (project, lake) = over(APPEND, "SELECT id, v::VARCHAR || 'x' AS v FROM ext.o");
    lake.execute("TRUNCATE ext.o");
    for (select, expected) in [
        (
            "SELECT id, upper(v::VARCHAR) AS w FROM ext.o",
            "column `v`: 2 values would be lost, the model does not give it any more",
        ),
        ("SELECT id, v FROM ext.o", "column `v`: 2 values would be lost, which are no INTEGER"),
    ] {
        project.model("m/x", &format!("{APPEND}\n{select}"));
        let output = project.run(&["run", "m.x", "--keep"]).failure(1);
        assert!(output.stderr.contains(expected), "{}", output.stderr);
        assert_eq!(project.rows("FROM m.x ORDER BY ALL"), "1,10x\n2,20x\n");
    }
    let header = format!("{APPEND}\n-- @incremental: at_v");
    project.model("m/x", &format!("{header}\nSELECT id, v::VARCHAR AS v, v + 1 AS at_v FROM ext.o"));
    let output = project.run(&["run", "m.x", "--keep"]).failure(1);
    assert!(
        output.stderr.contains("the table has no column `at_v`, from which to read how far it has come"),
        "{}",
        output.stderr
    );
}

#[test]
fn a_merge_that_lost_its_snapshot_says_so() {
    let (project, lake) = over(MERGE, "SELECT id, v FROM ext.o");
    lake.execute("UPDATE ext.o SET v = 5 WHERE id = 1");
    lake.execute("CALL ducklake_expire_snapshots('lake', older_than => now() + INTERVAL 1 DAY)");
    let output = run(&project);
    assert!(output.contains("full query: changes cannot be read"), "{output}");
    assert!(
        output.contains("WARN: CDC failed, using full query: the snapshot at which ext.o was read is gone"),
        "{output}"
    );
    assert_eq!(project.rows("FROM m.x ORDER BY ALL"), "1,5\n2,20\n");
}
