//! The kinds merge, tracked and scd2: what a run writes, keeps and refuses (chapter 02 §3 and §5.4).

use testkit::{Lake, Project};

use crate::project;

/// A project with a lake table `ext.t (id, v)` and a model `m.x` of it.
fn over(header: &str, select: &str) -> (Project, Lake) {
    let project = project();
    let lake = Lake::open(&project);
    lake.execute(
        "CREATE SCHEMA ext; CREATE TABLE ext.t (id INTEGER, v VARCHAR); INSERT INTO ext.t VALUES (1, 'a'), (2, 'b')",
    );
    project.model("m/x", &format!("{header}\n{select}"));
    (project, lake)
}

#[track_caller]
fn run(project: &Project) -> String {
    project.run(&["run", "m.x"]).success().stdout
}

#[track_caller]
fn refused(project: &Project, expected: &str) {
    let output = project.run(&["run", "m.x"]).failure(1);
    assert!(output.stderr.contains(expected), "{}", output.stderr);
}

const MERGE: &str = "-- @kind: merge\n-- @unique_key: id";
const SCD2: &str = "-- @kind: scd2\n-- @unique_key: ID";
const TRACKED: &str = "-- @kind: tracked\n-- @group_key: id";

#[test]
fn merge_upserts_and_keeps_what_is_gone_from_the_source() {
    let (project, lake) = over(MERGE, "SELECT id, v FROM ext.t");
    assert!(run(&project).contains("(merge, backfill, 2 rows,"));
    lake.execute(
        "DELETE FROM ext.t WHERE id = 1; UPDATE ext.t SET v = 'B' WHERE id = 2; INSERT INTO ext.t VALUES (3, NULL)",
    );
    assert!(run(&project).contains("(merge, incremental, 2 rows,"));
    assert_eq!(project.rows("FROM m.x ORDER BY id"), "1,a\n2,B\n3,\n");
    // Equal rows are not touched: no change for those below.
    let changes =
        "SELECT count(*) FROM lake.snapshots(), unnest(map_keys(changes)) u(k) WHERE k = 'tables_deleted_from'";
    let before = lake.number(changes);
    run(&project);
    let registry_alone = lake.number(changes) - before;
    assert_eq!(registry_alone, 1, "the registry's row, and nothing of m.x");
    project.model("m/below", "SELECT count(*) AS n FROM m.x");
    project.run(&["run"]).success();
    assert!(project.run(&["run"]).success().stdout.contains("[SKIP] m.below"));
}

#[test]
fn equal_but_not_the_same_is_a_change_for_every_kind() {
    for header in [MERGE, SCD2, TRACKED] {
        let (project, _lake) = over(
            header,
            "SELECT 1 AS id, INTERVAL '30 days' AS i, '0.0'::DOUBLE AS d, ['0.0'::FLOAT] AS l, 'abc' AS c",
        );
        project.write("config/settings.sql", "SET default_collation = 'NOCASE';");
        run(&project);
        for (at, new) in
            ["INTERVAL '1 month' AS i", "'-0.0'::DOUBLE AS d", "['-0.0'::FLOAT] AS l", "'ABC' AS c"].iter().enumerate()
        {
            let mut columns = ["INTERVAL '30 days' AS i", "'0.0'::DOUBLE AS d", "['0.0'::FLOAT] AS l", "'abc' AS c"];
            columns[at] = new;
            project.model("m/x", &format!("{header}\nSELECT 1 AS id, {}", columns.join(", ")));
            run(&project);
            let texts = "i::VARCHAR, d::VARCHAR, l::VARCHAR, c::VARCHAR";
            let current = if header == SCD2 { " WHERE is_current" } else { "" };
            let expected = project.rows(&format!("SELECT {texts} FROM (SELECT {})", columns.join(", ")));
            assert_eq!(project.rows(&format!("SELECT {texts} FROM m.x{current}")), expected, "{header} {new}");
        }
    }
}

#[test]
fn merge_follows_columns_by_name() {
    let (project, lake) = over(MERGE, "SELECT id, v, 1 AS n FROM ext.t");
    run(&project);
    lake.execute("DELETE FROM ext.t WHERE id = 1");
    project.model("m/x", &format!("{MERGE}\nSELECT 5 AS n, id FROM ext.t"));
    let output = run(&project);
    assert!(output.contains("(merge, incremental, 1 rows,") && output.contains("schema evolution: - v"), "{output}");
    project.model("m/x", &format!("{MERGE}\nSELECT v, n + 0.5 AS n, id FROM (SELECT id, v, 5 AS n FROM ext.t)"));
    run(&project);
    assert_eq!(
        project.run(&["sql", "SELECT id, n, v FROM m.x ORDER BY id", "-f", "csv"]).success().stdout,
        "id,n,v\n1,1.0,\n2,5.5,b\n"
    );
    project.model("m/x", &format!("{MERGE}\nSELECT id FROM ext.t UNION SELECT 9"));
    run(&project);
    assert_eq!(project.rows("SELECT id FROM m.x ORDER BY id"), "1\n2\n9\n", "a table of keys alone");
}

#[test]
fn keys_are_checked_before_anything_is_written() {
    for header in [MERGE, SCD2] {
        let (project, lake) = over(header, "SELECT id, v FROM ext.t");
        run(&project);
        lake.execute("INSERT INTO ext.t VALUES (2, 'x'), (2, 'y'), (7, 'z'), (7, 'z')");
        refused(&project, "2 unique_key value(s) occur more than once");
        refused(&project, "2 (3 times), 7 (2 times)");
        lake.execute("DELETE FROM ext.t WHERE id IN (2, 7); INSERT INTO ext.t VALUES (NULL, 'x')");
        refused(&project, "1 row(s) have NULL in unique_key column(s)");
        project.model("m/x", &format!("{header}\nSELECT v FROM ext.t"));
        refused(&project, "is not in the model output (available columns: v)");
        assert_eq!(project.rows("SELECT id, v FROM m.x ORDER BY id"), "1,a\n2,b\n", "{header}");
    }
    let (project, lake) = over(TRACKED, "SELECT id, v FROM ext.t");
    lake.execute("INSERT INTO ext.t VALUES (NULL, 'x')");
    refused(&project, "1 row(s) have NULL in group_key column(s) [id]");
    project.model("m/x", &format!("{TRACKED}, nope\nSELECT id, v FROM ext.t WHERE id > 0"));
    refused(&project, "@group_key column \"nope\" is not in the model output (available columns: id, v)");
}

#[test]
fn a_key_of_another_type_rebuilds_only_without_loss() {
    let (project, lake) = over(MERGE, "SELECT id, v FROM ext.t");
    run(&project);
    project.model("m/x", &format!("{MERGE}\nSELECT id::BIGINT AS id, v FROM ext.t"));
    let output = run(&project);
    assert!(output.contains("(merge, backfill, 2 rows,") && output.contains("unique_key type changed"), "{output}");
    assert!(
        output.contains("unique_key column \"id\" type changed from INTEGER to BIGINT, forcing backfill"),
        "{output}"
    );
    lake.execute("DELETE FROM ext.t WHERE id = 1");
    project.model("m/x", &format!("{MERGE}\nSELECT id::VARCHAR AS id, v FROM ext.t"));
    refused(&project, "1 rows would be dropped by a rebuild, for example: 1, a");
    refused(&project, "--full-refresh");
    assert_eq!(project.rows("SELECT typeof(id), id FROM m.x ORDER BY id"), "BIGINT,1\nBIGINT,2\n");
    project.run(&["run", "m.x", "--full-refresh"]).failure(2);
    let output = project.run(&["run", "m.x", "--full-refresh", "--yes"]).success().stdout;
    assert!(output.contains("(merge, backfill, 1 rows,") && output.contains("full refresh"), "{output}");
    assert_eq!(project.rows("SELECT typeof(id), id FROM m.x"), "VARCHAR,2\n");
    project.run(&["run", "--full-refresh"]).failure(2);
}

#[test]
fn tracked_replaces_changed_groups_and_deletes_missing_ones() {
    let (project, lake) = over(TRACKED, "SELECT id, v FROM ext.t");
    lake.execute("INSERT INTO ext.t VALUES (2, 'b2'), (3, 'c')");
    assert!(run(&project).contains("(tracked, backfill, 4 rows,"));
    assert_eq!(project.rows("SELECT count(DISTINCT _content_hash), count(*) FROM m.x"), "3,4\n");
    let row_id = "SELECT string_agg(rowid, ',' ORDER BY rowid) FROM m.x WHERE id = 1";
    let untouched = project.rows(row_id);
    lake.execute(
        "UPDATE ext.t SET v = 'B2' WHERE v = 'b2'; DELETE FROM ext.t WHERE id = 3; INSERT INTO ext.t VALUES (4, 'd')",
    );
    assert!(run(&project).contains("(tracked, incremental, 3 rows,"));
    assert_eq!(project.rows("SELECT id, v FROM m.x ORDER BY ALL"), "1,a\n2,B2\n2,b\n4,d\n");
    assert_eq!(project.rows(row_id), untouched, "an unchanged group is not written");
    for (change, expected) in [
        ("UPDATE ext.t SET v = NULL WHERE id = 1", "2"),
        ("UPDATE ext.t SET v = '' WHERE id = 1", "1"),
        ("INSERT INTO ext.t VALUES (1, '')", "2"),
    ] {
        let hash = "SELECT DISTINCT _content_hash FROM m.x WHERE id = 1";
        let before = project.rows(hash);
        lake.execute(change);
        run(&project);
        assert_ne!(project.rows(hash), before, "{change} ({expected})");
    }
    lake.execute("DELETE FROM ext.t");
    run(&project);
    assert_eq!(project.rows("SELECT count(*) FROM m.x"), "0\n", "an empty result is authoritative");
}

#[test]
fn groups_of_tracked_may_have_keys_of_every_type() {
    for key in ["0.5::DOUBLE", "'-0.0'::FLOAT", "1::VARIANT", "[1]", "{'a': 1}", "INTERVAL 1 DAY", "'a'"] {
        let (project, lake) = over(TRACKED, &format!("SELECT {key} AS id, v FROM ext.t WHERE id = 1"));
        run(&project);
        lake.execute("INSERT INTO ext.t VALUES (1, 'more')");
        assert!(run(&project).contains("2 rows,"), "{key}");
        assert_eq!(project.rows("SELECT v FROM m.x ORDER BY v"), "a\nmore\n", "{key}");
    }
}

#[test]
fn the_content_hash_depends_on_neither_row_nor_column_order() {
    let hash = |select: &str| {
        let (project, _lake) = over(TRACKED, select);
        run(&project);
        project.rows("SELECT DISTINCT _content_hash FROM m.x")
    };
    let base = hash("SELECT * FROM (VALUES (1, 'x', 2), (1, 'y', 3)) t(id, a, b)");
    assert_eq!(hash("SELECT * FROM (VALUES (3, 'y', 1), (2, 'x', 1)) t(b, a, id)"), base);
    assert_ne!(hash("SELECT * FROM (VALUES (1, 'x2', NULL), (1, 'y', 3)) t(id, a, b)"), base);
    let keys_alone = hash("SELECT 1 AS id");
    assert_ne!(hash("SELECT 1 AS id UNION ALL SELECT 1"), keys_alone, "the number of rows counts");
}

#[test]
fn scd2_closes_and_opens_versions() {
    let (project, lake) = over(SCD2, "SELECT id, v, 'mine' AS is_current FROM ext.t");
    run(&project);
    let first = lake.number("SELECT DISTINCT valid_from_snapshot FROM m.x");
    lake.execute(
        "UPDATE ext.t SET v = 'A' WHERE id = 1; DELETE FROM ext.t WHERE id = 2; INSERT INTO ext.t VALUES (3, 'c')",
    );
    assert!(run(&project).contains("(scd2, incremental, 2 rows,"));
    let history = "SELECT id, v, is_current, valid_to_snapshot IS NULL, valid_from_snapshot > 0 FROM m.x ORDER BY id, valid_from_snapshot";
    assert_eq!(
        project.rows(history),
        "1,a,false,false,true\n1,A,true,true,true\n2,b,false,false,true\n3,c,true,true,true\n"
    );
    assert!(lake.number("SELECT count(*) FROM m.x WHERE valid_to_snapshot >= valid_from_snapshot") >= 2);
    assert!(lake.number("SELECT max(valid_from_snapshot) FROM m.x") > first);
    // The key comes back with its old values: a new version.
    lake.execute("INSERT INTO ext.t VALUES (2, 'b')");
    assert!(run(&project).contains("(scd2, incremental, 1 rows,"));
    assert_eq!(project.rows("SELECT is_current FROM m.x WHERE id = 2 ORDER BY valid_from_snapshot"), "false\ntrue\n");
    assert!(run(&project).contains("(scd2, incremental, 0 rows,"), "nothing changed");
}

#[test]
fn an_edit_never_destroys_history() {
    let (project, lake) = over(SCD2, "SELECT id, v FROM ext.t");
    run(&project);
    lake.execute("UPDATE ext.t SET v = 'A' WHERE id = 1");
    run(&project);
    project.model("m/x", &format!("{SCD2}\nSELECT id, v, 10 * id AS extra FROM ext.t"));
    let output = run(&project);
    assert!(
        output.contains("(scd2, incremental, 0 rows,") && output.contains("schema evolution: + extra (INTEGER)"),
        "{output}"
    );
    assert!(run(&project).contains("(scd2, incremental, 0 rows,"), "a new column opens no versions");
    assert_eq!(
        project.rows("SELECT id, v, extra, is_current FROM m.x ORDER BY id, valid_from_snapshot"),
        "1,a,,false\n1,A,10,true\n2,b,20,true\n"
    );
    project.model("m/x", &format!("{SCD2}\nSELECT id, lower(v) AS v, 10 * id AS extra FROM ext.t"));
    assert!(run(&project).contains("(scd2, backfill, 1 rows,"), "only the changed row is versioned");
    project.model("m/x", "SELECT id, v FROM ext.t");
    refused(&project, "rows would be dropped by a rebuild");
    assert_eq!(project.rows("SELECT count(*) FROM m.x"), "4\n");
    project.run(&["run", "m.x", "--full-refresh"]).success();
    assert_eq!(project.run(&["sql", "FROM m.x ORDER BY id", "-f", "csv"]).success().stdout, "id,v\n1,A\n2,b\n");
}

#[test]
fn kinds_change_where_nothing_is_lost() {
    let (project, lake) = over("", "SELECT id, v FROM ext.t");
    for header in [TRACKED, SCD2, MERGE, TRACKED, "-- @kind: table"] {
        project.model("m/x", &format!("{header}\nSELECT id, v FROM ext.t"));
        assert!(run(&project).contains(", backfill, 2 rows,"), "{header}");
        assert_eq!(project.rows("SELECT id, v FROM m.x ORDER BY id"), "1,a\n2,b\n", "{header}");
    }
    assert_eq!(project.rows("SELECT count(*) FROM (DESCRIBE m.x)"), "2\n", "no column of another kind is left");
    // A table that another tool filled is not overwritten by a kind that keeps rows.
    lake.execute("CREATE TABLE m.y AS SELECT 99 AS id, 'theirs' AS v");
    project.model("m/y", &format!("{MERGE}\nSELECT id, v FROM ext.t"));
    let output = project.run(&["run", "m.y"]).failure(1);
    assert!(output.stderr.contains("1 rows would be dropped"), "{}", output.stderr);
}

/// Random histories: tracked equals its query, merge equals an upsert of every state, the current versions
/// of scd2 equal the query and its closed ones never change.
#[test]
fn soak_kinds_follow_random_histories() {
    let mut random = testkit::Random(0x5eed);
    let rounds = if std::env::var_os("ONDATRA_SOAK").is_some() { 30 } else { 2 };
    for _ in 0..rounds {
        let (project, lake) = over(MERGE, "SELECT id, v FROM ext.t");
        project.model("m/s", &format!("{SCD2}\nSELECT id, v FROM ext.t"));
        project.model("m/g", &format!("{TRACKED}\nSELECT id % 3 AS id, v FROM ext.t"));
        lake.execute("CREATE TABLE ext.upserts AS SELECT * FROM ext.t; CREATE TABLE ext.closed AS SELECT id, v, 0 AS f, 0 AS u FROM ext.t LIMIT 0");
        // The first state is seen by a run, as every later one is.
        project.run(&["run"]).success();
        for _ in 0..8 {
            let id = random.below(6);
            lake.execute(&match random.below(4) {
                0 => format!("DELETE FROM ext.t WHERE id = {id}"),
                1 => format!("UPDATE ext.t SET v = nullif('v{}', 'v3') WHERE id = {id}", random.below(5)),
                2 => format!("INSERT INTO ext.t SELECT {id}, 'n' WHERE {id} NOT IN (SELECT id FROM ext.t)"),
                _ => "CALL ducklake_merge_adjacent_files('lake')".into(),
            });
            lake.execute(
                "DELETE FROM ext.upserts WHERE id IN (SELECT id FROM ext.t); INSERT INTO ext.upserts FROM ext.t",
            );
            project.run(&["run"]).success();
            for (left, right) in [
                ("FROM ext.upserts", "SELECT id, v FROM m.x"),
                ("FROM ext.t", "SELECT id, v FROM m.s WHERE is_current"),
                ("SELECT id % 3, v FROM ext.t", "SELECT id, v FROM m.g"),
                (
                    "SELECT DISTINCT id, _content_hash FROM m.g",
                    "SELECT DISTINCT id, any_value(_content_hash) FROM m.g GROUP BY id",
                ),
            ] {
                for (a, b) in [(left, right), (right, left)] {
                    let missing = lake.number(&format!("SELECT count(*) FROM (({a}) EXCEPT ALL ({b}))"));
                    assert_eq!(missing, 0, "{a} EXCEPT ALL {b}");
                }
            }
            let changed = "SELECT count(*) FROM (FROM ext.closed EXCEPT ALL SELECT id, v, valid_from_snapshot, valid_to_snapshot FROM m.s WHERE NOT is_current)";
            assert_eq!(lake.number(changed), 0, "closed versions stay as they are");
            lake.execute("DELETE FROM ext.closed; INSERT INTO ext.closed SELECT id, v, valid_from_snapshot, valid_to_snapshot FROM m.s WHERE NOT is_current");
        }
    }
}

#[test]
fn a_nested_column_that_changes_leaves_the_lake_readable() {
    for header in [MERGE, SCD2, TRACKED] {
        let (project, lake) = over(header, "SELECT * FROM ext.n");
        lake.execute("CREATE TABLE ext.n AS SELECT 1 AS id, {'a': 1} AS o, 5 AS l");
        run(&project);
        lake.execute("ALTER TABLE ext.n ADD COLUMN o.b INTEGER; ALTER TABLE ext.n DROP COLUMN l; ALTER TABLE ext.n ADD COLUMN l INTEGER[]; UPDATE ext.n SET l = [7]");
        run(&project);
        run(&project);
        let current = if header == SCD2 { "WHERE is_current" } else { "" };
        assert_eq!(project.rows(&format!("SELECT o.a, o.b IS NULL, l FROM m.x {current}")), "1,true,[7]\n", "{header}");
    }
}

#[test]
fn columns_may_be_named_like_aliases_of_the_runtime() {
    for header in [MERGE, SCD2, TRACKED] {
        let select = "SELECT 1 AS id, {'id': 2} AS s, '{\"a\":1}'::JSON AS t, 3 AS key, 4 AS row_hash, 5 AS k0";
        let (project, _lake) = over(header, select);
        for _ in 0..3 {
            run(&project);
        }
        assert_eq!(project.rows("SELECT count(*) FROM m.x"), "1\n", "{header}");
    }
}

#[test]
fn tracked_is_rebuilt_when_its_columns_change() {
    let (project, lake) = over(TRACKED, "SELECT * FROM ext.t");
    run(&project);
    lake.execute("ALTER TABLE ext.t RENAME v TO w");
    assert!(run(&project).contains("schema evolution: + w (VARCHAR); - v"));
    assert_eq!(project.rows("SELECT id, w FROM m.x ORDER BY id"), "1,a\n2,b\n");
    lake.execute("CREATE OR REPLACE TABLE ext.t AS SELECT 1::BIGINT AS id, 'z' AS w");
    run(&project);
    assert_eq!(project.rows("SELECT typeof(id), w FROM m.x"), "BIGINT,z\n", "a retyped group key needs no test");
    lake.execute("CREATE OR REPLACE TABLE m.x AS SELECT 7 AS id");
    run(&project);
    assert_eq!(project.rows("SELECT id, w FROM m.x"), "1,z\n", "a table made anew by another tool");
}

#[test]
fn columns_of_the_users_own_are_no_history() {
    let (project, lake) = over(MERGE, "SELECT * FROM ext.h");
    lake.execute("CREATE TABLE ext.h AS SELECT * FROM (VALUES (1, NULL::BIGINT, NULL::BOOLEAN), (2, NULL, false)) t(id, valid_to_snapshot, is_current)");
    run(&project);
    project.model("m/x", &format!("{MERGE}\nSELECT * REPLACE (id::BIGINT AS id) FROM ext.h"));
    assert!(run(&project).contains("unique_key type changed"), "nothing is lost");
    lake.execute("DELETE FROM ext.h WHERE id = 1");
    project.model("m/x", &format!("{MERGE}\nSELECT * REPLACE (id::INTEGER AS id) FROM ext.h"));
    refused(&project, "1 rows would be dropped by a rebuild, for example: 1, NULL, NULL");
}

#[test]
fn another_key_rebuilds_only_without_loss() {
    for header in [MERGE, SCD2] {
        let (project, lake) = over(header, "SELECT id, v FROM ext.t");
        run(&project);
        let other = header.to_lowercase().replace("@unique_key: id", "@unique_key: v");
        project.model("m/x", &format!("{other}\nSELECT id, v FROM ext.t"));
        assert!(run(&project).contains(", backfill, 2 rows,"), "{header}");
        lake.execute("UPDATE ext.t SET v = 'a2' WHERE id = 1");
        run(&project);
        project.model("m/x", &format!("{header}\nSELECT id, v FROM ext.t"));
        refused(&project, "rows would be dropped by a rebuild");
    }
}

#[test]
fn a_new_column_is_null_in_versions_that_close_in_the_same_run() {
    let (project, lake) = over(SCD2, "SELECT id, v FROM ext.t");
    run(&project);
    lake.execute("UPDATE ext.t SET v = 'A2' WHERE id = 1");
    project.model("m/x", &format!("{SCD2}\nSELECT id, v, 'from ' || v AS d FROM ext.t"));
    run(&project);
    assert_eq!(
        project.rows("SELECT id, v, d, is_current FROM m.x ORDER BY id, valid_from_snapshot"),
        "1,a,,false\n1,A2,from A2,true\n2,b,from b,true\n"
    );
}

#[test]
fn keys_are_what_the_lake_stores_and_groups_what_they_are() {
    for header in [MERGE, SCD2] {
        let (project, _lake) =
            over(header, "SELECT '12:00:00+01'::TIMETZ AS id, 1 AS v UNION ALL SELECT '11:00:00+00'::TIMETZ, 2");
        refused(&project, "1 unique_key value(s) occur more than once");
    }
    let (project, _lake) = over(TRACKED, "SELECT 'a' AS id, 1 AS v");
    project.write("config/settings.sql", "SET default_collation = 'NOCASE';");
    run(&project);
    project.model("m/x", &format!("{TRACKED}\nSELECT 'A' AS id, 1 AS v"));
    run(&project);
    assert_eq!(project.rows("SELECT id FROM m.x"), "A\n");
    project.model("m/x", &format!("{TRACKED}\nSELECT 'A' AS id, 1::VARIANT AS v"));
    run(&project);
    for header in [TRACKED, MERGE, SCD2] {
        project.model("m/x", &format!("{header}\nSELECT 'A' AS id, 1::VARIANT AS v"));
        project.run(&["run", "m.x", "--full-refresh", "--yes"]).success();
        project.model("m/x", &format!("{header}\nSELECT 'A' AS id, '1'::VARIANT AS v"));
        run(&project);
        let current = if header == SCD2 { "WHERE is_current" } else { "" };
        assert_eq!(project.rows(&format!("SELECT variant_typeof(v) FROM m.x {current}")), "VARCHAR\n", "{header}");
    }
}

#[test]
fn a_renamed_key_is_the_same_key() {
    for header in [MERGE, SCD2] {
        let (project, lake) = over(header, "SELECT id, v FROM ext.t");
        run(&project);
        lake.execute("DELETE FROM ext.t WHERE id = 1; UPDATE ext.t SET v = 'B' WHERE id = 2");
        let renamed = header.to_lowercase().replace("@unique_key: id", "@unique_key: key");
        project.model("m/x", &format!("{renamed}\nSELECT id AS key, v FROM ext.t"));
        let output = run(&project);
        assert!(output.contains("schema evolution: renamed id → key"), "{output}");
        let current = if header == SCD2 { " WHERE is_current" } else { "" };
        let expected = if header == SCD2 { "2,B\n" } else { "1,a\n2,B\n" };
        assert_eq!(project.rows(&format!("SELECT key, v FROM m.x{current} ORDER BY key")), expected, "{header}");
    }
}
