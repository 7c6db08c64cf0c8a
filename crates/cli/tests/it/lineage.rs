//! What a commit tells of its columns, and the renames that follow from it (chapter 02 §5.1 and §7).

use testkit::{Lake, Project};

use crate::project;

/// The lineage that the registry holds for `m.x`.
fn lineage(lake: &Lake) -> String {
    let sql = "SELECT json_extract(commit_info, '$.column_lineage')::VARCHAR FROM lake.main._ondatra_registry WHERE target = 'm.x'";
    lake.connection.query_value(sql).unwrap().into_text().unwrap_or_default()
}

fn over(header: &str, select: &str) -> (Project, Lake) {
    let project = project();
    let lake = Lake::open(&project);
    lake.execute(
        "CREATE SCHEMA ext; CREATE TABLE ext.t AS SELECT 1 AS id, 'a' AS v, 5 AS n UNION ALL SELECT 2, 'b', 6",
    );
    edit(&project, header, select);
    (project, lake)
}

#[track_caller]
fn edit(project: &Project, header: &str, select: &str) -> String {
    project.model("m/x", &format!("{header}\n{select}"));
    project.run(&["run", "m.x"]).success().stdout
}

#[test]
fn commits_tell_where_columns_come_from() {
    let (project, lake) =
        over("", "WITH c AS (SELECT * FROM ext.t) SELECT id, n * 2 AS d, count(*) AS k FROM c GROUP BY ALL");
    assert_eq!(
        lineage(&lake),
        r#"[{"column":"id","sources":[{"table":"ext.t","column":"id","transformation":"IDENTITY"}]},{"column":"d","sources":[{"table":"ext.t","column":"n","transformation":"ARITHMETIC"}]},{"column":"k","sources":[{"table":"ext.t","column":"*","transformation":"AGGREGATION","function":"count"}]}]"#
    );
    lake.execute("CREATE VIEW ext.w AS SELECT v AS name FROM ext.t");
    edit(&project, "", "SELECT * FROM ext.w");
    assert_eq!(
        lineage(&lake),
        r#"[{"column":"name","sources":[{"table":"ext.t","column":"v","transformation":"IDENTITY"}]}]"#
    );
    edit(&project, "", "PIVOT ext.t ON v USING sum(n)");
    assert_eq!(lineage(&lake), "", "a statement without a tree has none");
}

#[test]
fn a_table_that_the_same_run_has_made_is_a_source() {
    let project = project();
    project.model("raw/A", "SELECT 1 AS x");
    project.model("m/x", "SELECT x AS y, a.* FROM raw.a");
    project.run(&["run"]).success();
    let lake = Lake::open(&project);
    let expected = r#"[{"column":"y","sources":[{"table":"raw.a","column":"x","transformation":"IDENTITY"}]},{"column":"x","sources":[{"table":"raw.a","column":"x","transformation":"IDENTITY"}]}]"#;
    assert_eq!(lineage(&lake), expected);
}

#[test]
fn a_renamed_column_keeps_its_values() {
    for header in [
        "-- @kind: append",
        "-- @kind: merge\n-- @unique_key: id",
        "-- @kind: scd2\n-- @unique_key: id",
        "-- @kind: tracked\n-- @group_key: id",
        "-- @kind: table",
    ] {
        let (project, lake) = over(header, "SELECT id, v, n FROM ext.t");
        let keeps = header.contains("merge") || header.contains("scd2");
        if keeps {
            lake.execute("DELETE FROM ext.t WHERE id = 2");
        }
        let output = edit(&project, header, "SELECT id, t.v AS w, n::BIGINT + 0 AS n FROM ext.t");
        assert!(output.contains("schema evolution: renamed v → w; n: INTEGER → BIGINT"), "{header}: {output}");
        assert_eq!(project.rows("SELECT id, w, n FROM m.x ORDER BY id"), "1,a,5\n2,b,6\n", "{header}");
        if header.contains("scd2") {
            assert_eq!(project.rows("SELECT id, is_current FROM m.x ORDER BY id"), "1,true\n2,false\n");
        }
    }
}

#[test]
fn what_is_no_rename_drops_and_adds() {
    let (project, _lake) = over("", "SELECT id, v, n FROM ext.t");
    let output = edit(&project, "", "SELECT id, upper(v) AS w, n FROM ext.t");
    assert!(output.contains("schema evolution: + w (VARCHAR); - v"), "{output}");
    let output = edit(&project, "", "SELECT id, n AS a, n AS b, upper(v) AS w FROM ext.t");
    assert!(output.contains("schema evolution: + a (INTEGER), b (INTEGER); - n"), "{output}");
    let (project, _lake) = over("", "SELECT id AS a, n AS b FROM ext.t");
    let output = edit(&project, "", "SELECT id AS b, n AS a FROM ext.t");
    assert!(!output.contains("schema evolution") && output.contains("(table, backfill, 2 rows"), "{output}");
    assert_eq!(project.rows("SELECT a, b FROM m.x ORDER BY b"), "5,1\n6,2\n");
}
