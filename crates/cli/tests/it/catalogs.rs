//! What looks at the lake tells the same of it, wherever the lake keeps its metadata.

use serde_json::{Value, json};
use testkit::{Catalog, Postgres, Project, open_lake};

use crate::BINARY;
use crate::schema::document;

/// The documents of a project in which two models ran, without what changes from run to run.
fn told(project: &Project) -> Vec<Value> {
    project.model("raw/orders", "SELECT range % 3 AS id FROM range(1500)");
    project.model(
        "mart/totals",
        "-- @kind: merge\n-- @unique_key: id\n-- @description: Totals\n-- @column: id = Customer\n\
         SELECT id, count(*) AS n FROM raw.orders GROUP BY id",
    );
    project.run(&["run"]).success();
    let ask = |name: &str, args: &[&str]| {
        let output = project.run(&[args, &["--json"]].concat()).success();
        assert_eq!(output.stderr, "");
        let mut told = document(name, &output.stdout);
        forget(&mut told);
        told
    };
    vec![ask("history", &["history"]), ask("stats", &["stats"]), ask("describe", &["describe", "Mart.Totals"])]
}

/// Blots out times, durations and the lake's own place.
fn forget(value: &mut Value) {
    let changing = ["time", "timestamp", "last_run", "first_run", "run_id", "duration_ms", "avg_duration_ms"];
    match value {
        Value::Object(keys) => {
            keys.retain(|key, _| !["catalog_type", "data_path", "table_size"].contains(&key.as_str()));
            for (key, value) in keys {
                if changing.contains(&key.as_str()) {
                    *value = json!("changes");
                }
                forget(value);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(forget),
        _ => {}
    }
}

#[test]
fn sqlite_duckdb_and_postgresql_tell_the_same() {
    let expected = told(&Project::new(BINARY, Catalog::Sqlite));
    assert_eq!(expected[0]["runs"].as_array().unwrap().len(), 2);
    assert_eq!(expected[2]["columns"][0]["description"], "Customer");
    assert_eq!(told(&Project::new(BINARY, Catalog::Duckdb)), expected);
    let server = Postgres::start();
    server.create_database("lake");
    let project = Project::new(BINARY, Catalog::Sqlite);
    let files = project.root().join("files");
    for schema in ["", ", METADATA_SCHEMA 'Meta'"] {
        let attach = format!(
            "ATTACH 'ducklake:postgres:{}' AS my_lake (DATA_PATH '{}', DATA_INLINING_ROW_LIMIT 0{schema});",
            server.connection("lake"),
            files.join(schema.len().to_string()).display()
        );
        project.write("config/catalog.sql", &attach);
        assert_eq!(told(&project), expected, "{attach}");
    }
}

/// What commands that open the lake say of it, which all is of production's own file.
#[track_caller]
fn refused(project: &Project, says: &str, help: &str) {
    for args in [&["sql", "SELECT 1"][..], &["run"], &["sandbox"], &["doctor"]] {
        let output = project.run(args).failure(1);
        let text = format!("{}{}", output.stdout, output.stderr);
        assert!(text.contains(says) && text.contains(&format!("help: {help}")), "{args:?} {says}: {text}");
        assert!(!text.contains("Invalid Error") && !text.contains(".sandbox"), "{args:?}: {text}");
    }
}

#[test]
fn a_damaged_catalog_is_not_blamed_on_the_statement() {
    for (catalog, file, says) in [
        (Catalog::Sqlite, "ducklake.sqlite", "file is not a database"),
        (Catalog::Duckdb, "ducklake.duckdb", "ducklake.duckdb\" exists, but it is not a valid DuckDB database file"),
    ] {
        let project = Project::new(BINARY, catalog);
        project.model("raw/a", "SELECT 1 AS id");
        project.write(file, &"no database at all\n".repeat(100));
        refused(&project, says, "the catalog's file is damaged, or is something else");
    }
}

#[test]
fn a_catalog_that_another_process_has_is_told_with_that_process() {
    let project = Project::new(BINARY, Catalog::Duckdb);
    project.model("raw/a", "SELECT 1 AS id");
    project.run(&["run"]).success();
    let held = open_lake(Catalog::Duckdb, &project.root(), 0);
    for args in [&["sql", "SELECT 1"][..], &["doctor"]] {
        let output = project.run(args).failure(1);
        let text = format!("{}{}", output.stdout, output.stderr);
        assert!(text.contains(&format!("(PID {})", std::process::id())), "{text}");
        assert!(text.contains("help: another process has the catalog's file: wait until it has ended"), "{text}");
    }
    drop(held);
}

#[test]
fn a_mistake_in_the_attach_is_still_one_of_the_statement() {
    let project = Project::new(BINARY, Catalog::Duckdb);
    project.write("config/catalog.sql", "ATTACH 'ducklake:duckdb:x.duckdb' AS lake (META_NOPE 1);");
    let output = project.run(&["sql", "SELECT 1"]).failure(1);
    assert!(output.stderr.contains("help: correct the statement in config/catalog.sql"), "{}", output.stderr);
}
