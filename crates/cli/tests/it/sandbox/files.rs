//! The fork of catalogs in files: nothing of production is changed, whatever the lake is like.

use std::collections::BTreeMap;

use testkit::{Catalog, Lake, Project, open_lake};

use super::{everything, has, inside, records, sandbox};
use crate::{BINARY, project};

/// Models of every kind, twice: the second run deletes, updates and inserts, so that all kinds of files come up.
fn of_all_kinds(project: &Project, version: i64) {
    project.model("raw/a", &format!("SELECT i AS id, i % 3 AS k, i * {version} AS v FROM range({version}, 30) t(i)"));
    for (name, header) in [
        ("whole", "-- @kind: table"),
        ("added", "-- @kind: append\n-- @partitioned_by: k"),
        ("merged", "-- @kind: merge\n-- @unique_key: id"),
        ("versions", "-- @kind: scd2\n-- @unique_key: id"),
        ("groups", "-- @kind: tracked\n-- @group_key: k"),
    ] {
        project.model(&format!("m/{name}"), &format!("{header}\nSELECT id, k, v FROM raw.a"));
    }
}

/// The rows of each model by the columns that are its own, as text.
fn contents<'a>(project: &Project, models: impl Iterator<Item = &'a String>) -> BTreeMap<String, Vec<String>> {
    let rows = |model: &String| project.rows(&format!("SELECT id, k, v FROM {model} ORDER BY ALL"));
    models.map(|model| (model.clone(), rows(model).lines().map(str::to_owned).collect())).collect()
}

/// How many rows one has more than the other, as multisets.
fn more(rows: &[String], others: &[String]) -> usize {
    let mut others = others.to_vec();
    let mut is_alone = |row: &&String| {
        let at = others.iter().position(|other| other == *row);
        at.map(|at| others.swap_remove(at)).is_none()
    };
    rows.iter().filter(|row| is_alone(row)).count()
}

#[test]
fn a_sandbox_tells_what_the_run_then_does_and_changes_nothing() {
    for catalog in [Catalog::Sqlite, Catalog::Duckdb] {
        let project = Project::new(BINARY, catalog);
        for version in 1..=3 {
            of_all_kinds(&project, version);
            if version > 1 {
                let told = records(&project, &[], 0);
                let then = contents(&project, told.keys());
                let counts = |project: &Project| {
                    let all = told.keys().map(|model| format!("SELECT '{model}' AS m, count(*) AS n FROM {model}"));
                    project.rows(&format!("{} ORDER BY m", all.collect::<Vec<_>>().join(" UNION ALL ")))
                };
                let before = counts(&project);
                let told_before: String =
                    told.iter().map(|(model, record)| format!("{model},{}\n", record["diff"]["rows_before"])).collect();
                assert_eq!(told_before, before, "{catalog:?}");
                project.run(&["run"]).success();
                let told_after: String =
                    told.iter().map(|(model, record)| format!("{model},{}\n", record["diff"]["rows_after"])).collect();
                assert_eq!(told_after, counts(&project), "{catalog:?}");
                let now = contents(&project, told.keys());
                for (model, record) in &told {
                    let truth = (more(&now[model], &then[model]), more(&then[model], &now[model]));
                    let diff = |key: &str| usize::try_from(record["diff"][key].as_u64().unwrap()).unwrap();
                    assert_eq!((diff("rows_added"), diff("rows_removed")), truth, "{catalog:?} {model} {version}");
                }
            } else {
                project.run(&["run"]).success();
            }
        }
    }
}

#[test]
fn rows_inside_the_catalog_and_deletions_beside_files_come_along() {
    for catalog in [Catalog::Sqlite, Catalog::Duckdb] {
        let project = Project::new(BINARY, catalog);
        project.model("mart/sums", "SELECT count(*) AS n, sum(id) AS s FROM ext.\"od\"\"d\"");
        project.run(&["sql", "SELECT 1"]).success();
        let lake = open_lake(catalog, &project.root(), 100);
        let files = "CREATE SCHEMA lake.ext; CREATE TABLE lake.ext.\"od\"\"d\" AS SELECT i AS id FROM range(1000) t(i);\
                     DELETE FROM lake.ext.\"od\"\"d\" WHERE id % 10 = 0; INSERT INTO lake.ext.\"od\"\"d\" VALUES (5000);\
                     DELETE FROM lake.ext.\"od\"\"d\" WHERE id = 5; ALTER TABLE lake.ext.\"od\"\"d\" RENAME TO odd;\
                     ALTER TABLE lake.ext.odd RENAME TO \"od\"\"d\"";
        lake.execute(files).unwrap();
        drop(lake);
        let told = records(&project, &[], 0);
        assert_eq!(told["mart.sums"]["diff"]["rows_after"], 1);
        project.run(&["run"]).success();
        let told = records(&project, &[], 0);
        assert_eq!(told["mart.sums"]["run_type"], "skip", "{told:?}");
        project.model("mart/sums", "SELECT count(*) AS n, sum(id) AS s FROM ext.\"od\"\"d\" -- again\nWHERE true");
        let told = records(&project, &[], 0);
        assert_eq!(told["mart.sums"]["run_reason"], "sql changed", "{told:?}");
        assert!(told["mart.sums"].get("diff").is_none(), "the same sums: {told:?}");
    }
}

/// Another process is in the middle of its work: its log lies beside the catalog, and what it has not committed is not there.
#[test]
fn a_catalog_in_use_is_forked_as_it_was_committed() {
    let project = project();
    project.model("mart/n", "SELECT count(*) AS n FROM ext.t");
    let lake = Lake::open(&project);
    lake.execute("CREATE SCHEMA ext; CREATE TABLE ext.t AS SELECT 1 AS a");
    project.run(&["run"]).success();
    let path = project.root().join("ducklake.sqlite");
    lake.execute(&format!("ATTACH '{}' AS reader (TYPE sqlite); BEGIN; FROM reader.ducklake_snapshot", path.display()));
    let writer = Lake::open(&project);
    writer.execute("INSERT INTO ext.t VALUES (2)");
    let log = std::fs::metadata(project.root().join("ducklake.sqlite-wal")).unwrap().len();
    assert!(log > 0, "what was committed is in the log");
    let told = records(&project, &[], 0);
    assert_eq!(told["mart.n"]["diff"]["sample_added"], serde_json::json!([["2"]]), "{told:?}");
    lake.execute("ROLLBACK");
}

/// A sandbox waits for no run, and no run for a sandbox.
#[test]
fn a_run_in_progress_is_not_waited_for() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS a");
    project.run(&["run"]).success();
    let config = std::fs::File::open(project.root().join("config")).unwrap();
    config.lock().unwrap();
    project.model("raw/a", "SELECT 2 AS a");
    has(&inside(&sandbox(&project, &[]).success()), "Changed:   1 models");
}

#[test]
fn two_at_once_do_not_meet() {
    let project = project();
    project.model("raw/a", "SELECT i AS a FROM range(1000) t(i)");
    project.run(&["run"]).success();
    project.model("raw/a", "SELECT i AS a FROM range(1001) t(i)");
    let before = everything(&project);
    let all: Vec<_> =
        (0..3).map(|_| project.command(&["sandbox"]).stdout(std::process::Stdio::piped()).spawn().unwrap()).collect();
    for one in all {
        let output = one.wait_with_output().unwrap();
        assert!(output.status.success());
        has(&String::from_utf8(output.stdout).unwrap(), "Rows: 1000 → 1001 (+1, +0.1%)");
    }
    assert!(everything(&project) == before, "nothing is changed and nothing is left");
}

/// What the ATTACH says besides path and place of the files goes for the fork, too.
#[test]
fn any_form_of_the_attach_is_followed() {
    let data = tempfile::tempdir().unwrap();
    for (attach, alias) in [
        ("ATTACH IF NOT EXISTS 'ducklake:sub dir/it''s.db' AS \"Lake\" /* here */ -- there", "\"Lake\""),
        (
            "SET memory_limit = '1GB'; ATTACH $$ducklake:sqlite:x.sqlite$$ AS my_lake (ENCRYPTED, DATA_PATH '{data}')",
            "my_lake",
        ),
        (
            "ATTACH 'ducklake:duckdb:plain.db' AS l (DATA_PATH 'files', METADATA_SCHEMA 'Meta data', METADATA_CATALOG meta_db)",
            "l",
        ),
    ] {
        let project = project();
        std::fs::create_dir(project.root().join("sub dir")).unwrap();
        project.write("config/catalog.sql", &attach.replace("{data}", &data.path().display().to_string()));
        project.model("raw/a", "SELECT 1 AS v UNION ALL SELECT 2");
        project.model("mart/b", &format!("-- @kind: merge\n-- @unique_key: v\nSELECT v FROM {alias}.raw.a"));
        project.run(&["run"]).success();
        project.model("raw/a", "SELECT 1 AS v UNION ALL SELECT 3");
        let files = || std::fs::read_dir(data.path()).unwrap().count();
        let before = files();
        let told = records(&project, &[], 0);
        assert_eq!(files(), before);
        assert_eq!(told["raw.a"]["diff"]["sample_added"], serde_json::json!([["3"]]), "{attach}");
        assert_eq!(told["mart.b"]["diff"]["rows_after"], 3, "{attach}");
    }
}

#[test]
fn failed_models_leave_folders_of_production_alone() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS v");
    project.run(&["run"]).success();
    // Of a model's table that is to come, and empty: a run of the model would remove it when it fails.
    std::fs::create_dir_all(project.root().join("ducklake.sqlite.files/raw/b/v=1")).unwrap();
    project.model("raw/b", "-- @audit: row_count(>, 10)\nSELECT 1 AS v");
    sandbox(&project, &["raw.b"]).failure(1);
}
