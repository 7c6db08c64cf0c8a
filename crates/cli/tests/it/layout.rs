//! `@partitioned_by` and `@sorted_by` (chapter 02 §3.5), and renames and retypes of the columns they name.

use testkit::{Lake, Project};

use crate::project;

const PARTITIONS: &str = "SELECT string_agg(transform || ' ' || column_name, ', ' ORDER BY partition_key_index) \
    FROM __ducklake_metadata_lake.ducklake_partition_info i JOIN __ducklake_metadata_lake.ducklake_partition_column p USING (partition_id, table_id) \
    JOIN __ducklake_metadata_lake.ducklake_column c ON c.table_id = p.table_id AND c.column_id = p.column_id AND c.end_snapshot IS NULL \
    JOIN __ducklake_metadata_lake.ducklake_table t ON t.table_id = p.table_id AND t.table_name = 'x' AND t.end_snapshot IS NULL WHERE i.end_snapshot IS NULL";
const SORTS: &str = "SELECT string_agg(expression, ', ' ORDER BY sort_key_index) \
    FROM __ducklake_metadata_lake.ducklake_sort_info i JOIN __ducklake_metadata_lake.ducklake_sort_expression USING (sort_id, table_id) WHERE i.end_snapshot IS NULL";

#[track_caller]
fn assert_layout(lake: &Lake, partitions: &str, sorts: &str) {
    let text = |sql: &str| lake.connection.query_value(sql).unwrap().into_text().unwrap_or_default();
    assert_eq!((text(PARTITIONS), text(SORTS)), (partitions.to_owned(), sorts.to_owned()));
}

fn over(header: &str, select: &str) -> (Project, Lake) {
    let project = project();
    let lake = Lake::open(&project);
    lake.execute(
        "CREATE SCHEMA ext; CREATE TABLE ext.t AS SELECT i::INTEGER AS id, DATE '2025-01-01' + i::INTEGER AS d, 'v' || i % 3 AS v FROM range(400) r(i)",
    );
    edit(&project, header, select);
    (project, lake)
}

fn edit(project: &Project, header: &str, select: &str) {
    project.model("m/x", &format!("{header}\n{select}"));
    project.run(&["run", "m.x"]).success();
}

#[test]
fn a_layout_is_made_changed_and_taken_away_for_every_kind() {
    for kind in [
        "-- @kind: table",
        "-- @kind: append",
        "-- @kind: merge\n-- @unique_key: id",
        "-- @kind: scd2\n-- @unique_key: id",
        "-- @kind: tracked\n-- @group_key: id",
    ] {
        let all = "SELECT id, d, v FROM ext.t";
        let (project, lake) = over(&format!("{kind}\n-- @partitioned_by: year(d), v\n-- @sorted_by: id"), all);
        assert_layout(&lake, "year d, identity v", "id");
        assert!(lake.number("SELECT count(*) FROM ducklake_list_files('lake', 'x', schema => 'm')") >= 6, "{kind}");
        // An append table with rows that the query does not give again would not be rebuilt.
        if kind != "-- @kind: append" {
            lake.execute("UPDATE ext.t SET v = 'new' WHERE id = 7");
        }
        lake.execute("INSERT INTO ext.t VALUES (1000, '2020-02-02', 'v1')");
        project.run(&["run", "m.x"]).success();
        edit(&project, &format!("{kind}\n-- @partitioned_by: bucket(4, id)\n-- @sorted_by: v, d"), all);
        assert_layout(&lake, "bucket(4) id", "v, d");
        lake.execute("INSERT INTO ext.t VALUES (1001, '2020-02-03', 'v1')");
        edit(&project, kind, all);
        assert_layout(&lake, "", "");
        assert_eq!(project.rows("SELECT count(DISTINCT id) FROM m.x"), "402\n", "{kind}");
        project.run(&["run", "m.x"]).success();
    }
}

#[test]
fn columns_of_a_layout_are_dropped_renamed_and_retyped() {
    for kind in ["-- @kind: table", "-- @kind: merge\n-- @unique_key: id"] {
        let laid_out = format!("{kind}\n-- @partitioned_by: v\n-- @sorted_by: d");
        let (project, lake) = over(&laid_out, "SELECT id, d, v FROM ext.t");
        // Both columns are dropped in the run in which the layout goes.
        edit(&project, kind, "SELECT id, 1 AS n FROM ext.t");
        assert_layout(&lake, "", "");
        edit(&project, &laid_out, "SELECT id, d, v FROM ext.t");
        assert_layout(&lake, "identity v", "d");
        // They get other types, under the same layout.
        edit(&project, &laid_out, "SELECT id, d::TIMESTAMP AS d, length(v) AS v FROM ext.t");
        assert_layout(&lake, "identity v", "d");
        edit(&project, &laid_out.replace("by: v", "by: w"), "SELECT id, d, v AS w FROM ext.t");
        assert_layout(&lake, "identity w", "d");
        assert_eq!(project.rows("SELECT count(*), count(DISTINCT w) FROM m.x"), "400,3\n", "{kind}");
    }
}

#[test]
fn a_layout_of_columns_that_are_not_there_is_an_error_before_anything_is_written() {
    let (project, lake) = over("-- @kind: table", "SELECT id, d, v FROM ext.t");
    for (header, expected) in [
        (
            "-- @partitioned_by: nope",
            "@partitioned_by column \"nope\" is not in the model output (available columns: id, d, v)",
        ),
        ("-- @sorted_by: id, nope", "@sorted_by column \"nope\" is not in the model output"),
        ("-- @partitioned_by: year(v)", "@partitioned_by year(v): the column is VARCHAR"),
        ("-- @partitioned_by: hour(d)", "@partitioned_by hour(d): the column is DATE"),
    ] {
        project.model("m/x", &format!("{header}\nSELECT id, d, v FROM ext.t WHERE id < 3"));
        let output = project.run(&["run", "m.x"]).failure(1);
        assert!(output.stderr.contains(expected), "{}", output.stderr);
    }
    assert_eq!(project.rows("SELECT count(*) FROM m.x"), "400\n");
    assert_layout(&lake, "", "");
}
