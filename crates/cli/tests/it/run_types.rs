//! Run types over histories: what runs again, why, and that the result equals a rebuild.

use std::collections::BTreeMap;

use testkit::{Lake, Project, Random};

use crate::project;

/// Runs everything and gives `run_type: reason` by model.
#[track_caller]
fn decisions(project: &Project) -> BTreeMap<String, String> {
    let output = project.run(&["run", "--json"]).success();
    let text = |record: &serde_json::Value, key: &str| record[key].as_str().unwrap_or_default().to_owned();
    let records = output.stdout.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    records
        .map(|record| {
            (text(&record, "model"), format!("{}: {}", text(&record, "run_type"), text(&record, "run_reason")))
        })
        .collect()
}

#[track_caller]
fn assert_decisions(project: &Project, expected: &[(&str, &str)]) {
    let found = decisions(project);
    let expected: BTreeMap<String, String> = expected.iter().map(|&(name, what)| (name.into(), what.into())).collect();
    assert_eq!(found, expected);
}

const SKIP: &str = "skip: deps unchanged";

#[test]
fn edits_and_changes_run_what_they_touch() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS id");
    project.model("staging/b", "SELECT id FROM raw.a");
    project.model("mart/c", "SELECT id FROM staging.b");
    assert_decisions(
        &project,
        &[("raw.a", "backfill: first run"), ("staging.b", "backfill: first run"), ("mart.c", "backfill: first run")],
    );
    assert_decisions(&project, &[("raw.a", "skip: no dependencies"), ("staging.b", SKIP), ("mart.c", SKIP)]);

    // Comments, blanks, case and descriptions are no edit.
    project.model("raw/a", "-- @description: new\nselect  1 as ID -- c");
    assert_decisions(&project, &[("raw.a", "skip: no dependencies"), ("staging.b", SKIP), ("mart.c", SKIP)]);

    project.model("raw/a", "SELECT 2 AS id");
    assert_decisions(
        &project,
        &[
            ("raw.a", "backfill: sql changed"),
            ("staging.b", "full: dep changed: raw.a"),
            ("mart.c", "full: dep changed: staging.b"),
        ],
    );
    assert_eq!(project.rows("FROM mart.c"), "2\n");

    // A rebuild that gives the same rows is no change for those below.
    project.model("staging/b", "SELECT id + 0 AS id FROM raw.a");
    assert_decisions(
        &project,
        &[("raw.a", "skip: no dependencies"), ("staging.b", "backfill: sql changed"), ("mart.c", SKIP)],
    );
}

#[test]
fn files_and_other_databases_are_read_every_time_but_equal_rows_change_nothing() {
    let project = project();
    project.write("data.csv", "id,n\n1,x\n2,y\n2,y\n");
    project.model("raw/file", "SELECT * FROM read_csv('data.csv')");
    project.model("raw/direct", "SELECT * FROM 'data.csv'");
    project.model("staging/b", "SELECT id FROM raw.file UNION ALL SELECT id FROM raw.direct");
    decisions(&project);
    let again = [
        ("raw.file", "full: unverifiable dep: read_csv()"),
        ("raw.direct", "full: unverifiable dep: data.csv"),
        ("staging.b", SKIP),
    ];
    assert_decisions(&project, &again);
    project.write("data.csv", "id,n\n1,x\n1,x\n2,y\n");
    let changed = decisions(&project);
    assert_eq!(
        changed["staging.b"], "full: dep changed: raw.direct",
        "one duplicate more of one row, one less of another"
    );
    assert_eq!(project.rows("SELECT sum(id) FROM staging.b"), "8\n");
}

#[test]
fn tables_of_others_are_verifiable() {
    let project = project();
    let lake = Lake::open(&project);
    lake.execute("CREATE SCHEMA ext; CREATE TABLE ext.t AS SELECT 1 AS id; CREATE TABLE main.m AS SELECT 5 AS id");
    project.model("staging/b", "SELECT t.id, m.id AS m FROM ext.T, m");
    assert_decisions(&project, &[("staging.b", "backfill: first run")]);
    assert_decisions(&project, &[("staging.b", SKIP)]);
    lake.execute("COMMENT ON TABLE ext.t IS 'no change'");
    assert_decisions(&project, &[("staging.b", SKIP)]);
    lake.execute("INSERT INTO ext.t VALUES (2)");
    assert_decisions(&project, &[("staging.b", "full: dep changed: ext.T")]);
    lake.execute("DELETE FROM ext.t WHERE id = 2");
    assert_decisions(&project, &[("staging.b", "full: dep changed: ext.T")]);
    lake.execute("ALTER TABLE ext.t ADD COLUMN x INTEGER");
    assert_decisions(&project, &[("staging.b", "full: dep changed: ext.T")]);
    lake.execute("DROP TABLE main.m; CREATE TABLE main.m AS SELECT 5 AS id");
    assert_decisions(&project, &[("staging.b", "full: dep changed: main.m")]);
    lake.execute("CALL ducklake_merge_adjacent_files('lake'); CALL ducklake_rewrite_data_files('lake')");
    assert_decisions(&project, &[("staging.b", SKIP)]);
    lake.execute("DROP TABLE main.m");
    let output = project.run(&["run"]).failure(1);
    assert!(output.stdout.contains("unverifiable dep: main.m"), "{}", output.stdout);
}

#[test]
fn views_and_macros_are_looked_through() {
    let project = project();
    let lake = Lake::open(&project);
    lake.execute("CREATE SCHEMA ext; CREATE TABLE ext.t AS SELECT 1 AS id; CREATE VIEW ext.v AS SELECT id FROM ext.t; CREATE VIEW ext.w AS FROM lake.ext.v");
    project.write(
        "config/macros/m.sql",
        "CREATE MACRO of_t(x) AS TABLE SELECT id + x AS id FROM lake.ext.t; CREATE MACRO top() AS (SELECT max(id) FROM lake.ext.t); CREATE MACRO outer_top() AS top() + 1;",
    );
    project.model("a/by_scalar", "SELECT outer_top() AS id");
    project.model("a/by_view", "SELECT id FROM ext.w");
    project.model("a/by_macro", "SELECT id FROM of_t(10)");
    project.model("a/by_query", "SELECT id FROM query('SELECT id FROM ext.t')");
    project.model("a/by_table", "SELECT id FROM query_table('ext.t')");
    project.model("a/generated", "SELECT i AS id FROM range(3) r(i), unnest([1]) u");
    decisions(&project);
    let skipped = [
        ("a.by_view", SKIP),
        ("a.by_macro", SKIP),
        ("a.by_scalar", SKIP),
        ("a.by_query", SKIP),
        ("a.by_table", SKIP),
        ("a.generated", "skip: no dependencies"),
    ];
    assert_decisions(&project, &skipped);
    lake.execute("INSERT INTO ext.t VALUES (2)");
    let changed = "full: dep changed: ext.t";
    assert_decisions(
        &project,
        &[
            ("a.by_view", changed),
            ("a.by_macro", changed),
            ("a.by_scalar", changed),
            ("a.by_query", changed),
            ("a.by_table", changed),
            ("a.generated", "skip: no dependencies"),
        ],
    );
    lake.execute("CREATE OR REPLACE VIEW ext.v AS SELECT id * 2 AS id FROM ext.t");
    let found = decisions(&project);
    assert_eq!(found["a.by_view"], "full: dep changed: ext.v");
    assert_eq!(project.rows("SELECT sum(id) FROM a.by_view"), "6\n");
    project.write(
        "config/macros/m.sql",
        "CREATE MACRO of_t(x) AS TABLE SELECT id - x AS id FROM lake.ext.t; CREATE MACRO top() AS (SELECT max(id) FROM lake.ext.t); CREATE MACRO outer_top() AS top() + 1;",
    );
    assert_eq!(decisions(&project)["a.by_macro"], "backfill: sql changed");
}

#[test]
fn lost_tables_commits_and_snapshots() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS id");
    project.model("staging/b", "SELECT id FROM raw.a");
    decisions(&project);
    let lake = Lake::open(&project);
    lake.execute("DROP TABLE staging.b");
    assert_decisions(&project, &[("raw.a", "skip: no dependencies"), ("staging.b", "backfill: first run")]);
    lake.execute("CALL ducklake_expire_snapshots('lake', older_than => now() + INTERVAL 1 DAY)");
    let found = decisions(&project);
    assert_eq!(found["raw.a"], "skip: no dependencies", "the registry outlives the snapshots");
    assert_eq!(found["staging.b"], "full: unverifiable dep: raw.a", "its read snapshot is gone");
    lake.execute("UPDATE main._ondatra_registry SET commit_info = 'nonsense' WHERE target = 'raw.a'");
    let output = project.run(&["run"]).failure(1);
    assert!(output.stderr.contains("run_type check: the recorded commit of raw.a cannot be read"), "{}", output.stderr);
}

#[test]
fn names_resolve_as_the_engine_resolves_them() {
    let project = project();
    project.model("orders", "SELECT 1 AS id");
    project.model("pg_stage/x", "SELECT 2 AS id");
    project.model("temp_stage/y", "SELECT 3 AS id");
    project.model("a/cte_hides", "WITH orders AS (SELECT 9 AS id) SELECT id FROM orders");
    project.model("a/cte_reads_itself", "WITH orders AS (SELECT id FROM orders) SELECT id FROM orders");
    project.model("a/unqualified", "SELECT id FROM Orders");
    project.model("a/by_alias", "SELECT id FROM lake.pg_stage.x UNION ALL SELECT id FROM lake.orders");
    project.model("a/deep", "SELECT CASE WHEN EXISTS (SELECT 1 FROM temp_stage.y) THEN 1 END AS id");
    project.model(
        "a/recursive",
        "WITH RECURSIVE r AS (SELECT 1 AS id UNION ALL SELECT id + 1 FROM r WHERE id < 3) SELECT id FROM r",
    );
    decisions(&project);
    project.model("orders", "SELECT 10 AS id");
    project.model("temp_stage/y", "SELECT 30 AS id");
    let found = decisions(&project);
    for (model, expected) in [
        ("a.cte_hides", "skip: no dependencies"),
        ("a.cte_reads_itself", "full: dep changed: main.orders"),
        ("a.unqualified", "full: dep changed: main.Orders"),
        ("a.by_alias", "full: dep changed: main.orders"),
        ("a.deep", "full: dep changed: temp_stage.y"),
        ("a.recursive", "skip: no dependencies"),
    ] {
        assert_eq!(found[model], expected, "{model}");
    }
}

/// Random histories of edits and of changes by another tool: after every run each table equals its query.
#[test]
fn soak_every_run_equals_a_rebuild() {
    let mut random = Random(0x0da7_a5ed);
    for _ in 0..if std::env::var_os("ONDATRA_SOAK").is_some() { 40 } else { 3 } {
        let project = project();
        let lake = Lake::open(&project);
        lake.execute("CREATE SCHEMA ext; CREATE TABLE ext.t AS SELECT i AS id, i % 3 AS g FROM range(5) r(i)");
        let mut queries: BTreeMap<&str, String> = BTreeMap::new();
        for step in 0..8 {
            match random.below(6) {
                0 => lake.execute(&format!(
                    "INSERT INTO ext.t BY NAME SELECT {step} AS id, {step} AS g FROM range({})",
                    random.below(3)
                )),
                1 => lake.execute(&format!("DELETE FROM ext.t WHERE id % 4 = {}", random.below(4))),
                2 => lake.execute(&format!("UPDATE ext.t SET g = g + {} WHERE id < 3", random.below(2))),
                3 => lake.execute("ALTER TABLE ext.t ADD COLUMN IF NOT EXISTS extra INTEGER DEFAULT 7"),
                _ => {}
            }
            for (name, sources) in
                [("raw.a", ["ext.t", "ext.t"]), ("staging.b", ["raw.a", "ext.t"]), ("mart.c", ["staging.b", "raw.a"])]
            {
                if queries.contains_key(name) && random.below(3) > 0 {
                    continue;
                }
                let source = sources[random.below(2)];
                let query = match random.below(4) {
                    0 => format!("SELECT id, g FROM {source}"),
                    1 => format!("SELECT min(id) AS id, g, count(*) AS n FROM {source} GROUP BY g"),
                    2 => format!("SELECT id, g FROM {source} UNION SELECT id + 1, g FROM {source}"),
                    _ => format!(
                        "SELECT a.id, b.g::VARCHAR AS g FROM {source} a LEFT JOIN {source} b ON a.id = b.id + 1"
                    ),
                };
                project.model(&name.replace('.', "/"), &query);
                queries.insert(name, query);
            }
            project.run(&["run"]).success();
            for (name, query) in &queries {
                let table_minus = format!(
                    "SELECT count(*) FROM ((SELECT id, g FROM ({query})) EXCEPT ALL (SELECT id, g FROM {name}))"
                );
                let query_minus = format!(
                    "SELECT count(*) FROM ((SELECT id, g FROM {name}) EXCEPT ALL (SELECT id, g FROM ({query})))"
                );
                assert_eq!((lake.number(&table_minus), lake.number(&query_minus)), (0, 0), "{name}: {query}");
            }
        }
    }
}

#[test]
fn what_has_no_syntax_tree_is_never_taken_for_unchanged() {
    let project = project();
    let lake = Lake::open(&project);
    lake.execute("CREATE SCHEMA ext; CREATE TABLE ext.t AS SELECT 'a' AS g, 1 AS v");
    project.write("d.csv", "g,v\na,1\n");
    project.write(
        "config/macros/m.sql",
        "CREATE MACRO read_t(x) AS TABLE (FROM lake.ext.t), (a, b) AS TABLE (SELECT a, b);",
    );
    let long = vec!["1"; 400].join("+");
    project.model("p/file", "PIVOT 'd.csv' ON g USING sum(v) AS qty");
    project.model("p/function", "PIVOT read_csv('d.csv') ON g USING sum(v)");
    project.model("p/by_macro", "PIVOT read_t(0) ON g USING sum(v)");
    project.model("p/constant", "PIVOT (SELECT 1 AS g, 2 AS v) ON g USING sum(v)");
    project.model("p/long", &format!("SELECT {long} + v AS x FROM ext.t"));
    project.model("p/overloaded", "SELECT v FROM read_t(0)");
    project.model("qty", "SELECT 1 AS g");
    decisions(&project);
    let found = decisions(&project);
    assert_eq!(found["p.file"], "full: unverifiable dep: d.csv");
    assert_eq!(found["p.function"], "full: unverifiable dep: read_csv()");
    assert_eq!(found["p.constant"], "full: unverifiable dep: unparsed()");
    for name in ["p.by_macro", "p.long", "p.overloaded"] {
        assert_eq!(found[name], SKIP, "{name}");
    }
    lake.execute("INSERT INTO ext.t VALUES ('b', 5)");
    let found = decisions(&project);
    for name in ["p.by_macro", "p.long", "p.overloaded"] {
        assert!(found[name].ends_with("dep changed: ext.t"), "{name}: {}", found[name]);
    }
}

#[test]
fn a_gap_in_the_history_is_no_proof_of_no_change() {
    let project = project();
    let lake = Lake::open(&project);
    lake.execute("CREATE SCHEMA ext; CREATE TABLE ext.t AS SELECT 1 AS id");
    project.model("staging/b", "SELECT id FROM ext.t");
    decisions(&project);
    lake.execute("INSERT INTO ext.t VALUES (2)");
    let inserted = lake.number("SELECT max(snapshot_id) FROM lake.snapshots()");
    lake.execute("CREATE TABLE ext.other AS SELECT 1 AS id");
    lake.execute(&format!("CALL ducklake_expire_snapshots('lake', versions => [{inserted}])"));
    assert_decisions(&project, &[("staging.b", "full: unverifiable dep: ext.t")]);
    assert_eq!(project.rows("SELECT count(*) FROM staging.b"), "2\n");
}

#[test]
fn macros_that_another_tool_keeps_in_the_lake_are_followed() {
    let project = project();
    let lake = Lake::open(&project);
    lake.execute("CREATE SCHEMA ext; CREATE TABLE ext.t AS SELECT 1 AS id");
    lake.execute("CREATE MACRO lake.main.top_id() AS (SELECT max(id) FROM lake.ext.t)");
    project.model("staging/b", "SELECT top_id() AS id");
    decisions(&project);
    lake.execute("INSERT INTO ext.t VALUES (2)");
    assert_decisions(&project, &[("staging.b", "full: dep changed: ext.t")]);
}

#[test]
fn a_damaged_record_fails_its_model_alone() {
    let project = project();
    let lake = Lake::open(&project);
    project.model("raw/a", "SELECT 1 AS id");
    project.model("raw/b", "SELECT 2 AS id");
    decisions(&project);
    lake.execute("UPDATE main._ondatra_registry SET commit_info = NULL WHERE target = 'raw.a'");
    let output = project.run(&["run"]).failure(1);
    assert!(output.stdout.contains("[FAILED] raw.a\n") && output.stdout.contains("[SKIP] raw.b"), "{}", output.stdout);
}
