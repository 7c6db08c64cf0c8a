//! What is left of clear values in the lake after maintenance, and how the rest goes: what docs/masking.md promises.

use std::fs;
use std::sync::Arc;

use engine::{Connection, Database};
use testkit::{Catalog, Lake, Project, open_lake};

use super::files_with;
use crate::project;

/// What `expire`, `cleanup` and `orphaned` do, with no day of grace.
const MAINTENANCE: &str = "CALL ducklake_expire_snapshots('lake', older_than => now() + INTERVAL 1 DAY);\
                           CALL ducklake_cleanup_old_files('lake', cleanup_all => true);\
                           CALL ducklake_delete_orphaned_files('lake', cleanup_all => true);";

/// The SQL of the page that makes a table anew.
fn recipe() -> String {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/masking.md")).unwrap();
    let start = page.find("CREATE TABLE lake.raw.people_copy").expect("the recipe");
    let start = page[..start].rfind("```sql\n").unwrap() + "```sql\n".len();
    let end = start + page[start..].find("```").unwrap();
    page[start..end].to_owned()
}

fn model(project: &Project, kind: &str, tag: &str, rows: &str) {
    project.write("people.csv", &format!("id,mail\n{rows}\n"));
    let new = if kind.contains("append") { "WHERE id > getvariable('incr_last_value')::BIGINT" } else { "" };
    project.model(
        "raw/people",
        &format!(
            "-- @kind: {kind}\n{tag}SELECT id::BIGINT AS id, mail::VARCHAR AS mail FROM read_csv('people.csv') {new}"
        ),
    );
}

const TAG: &str = "-- @column: mail = x | mask_email\n";

#[test]
fn maintenance_and_a_copy_leave_no_clear_value_and_the_model_goes_on() {
    for kind in [
        "append\n-- @incremental: id\n-- @incremental_initial: 0",
        "merge\n-- @unique_key: id",
        "scd2\n-- @unique_key: id",
    ] {
        let project = project();
        model(&project, kind, "", "1,rawone@x.io\n2,rawtwo@x.io");
        project.run(&["run"]).success();
        model(&project, kind, TAG, "1,rawone@x.io\n2,rawtwo@x.io");
        project.run(&["run"]).success();
        fs::remove_file(project.root().join("people.csv")).unwrap();
        let lake = Lake::open(&project);
        let data = project.root().join("ducklake.sqlite.files");
        assert!(!files_with(&data, "rawone").is_empty(), "{kind}: the old snapshot has it");
        lake.execute(MAINTENANCE);
        assert_eq!(files_with(&data, "rawone"), Vec::<String>::new(), "{kind}");
        let bounds =
            "SELECT count(*) FROM __ducklake_metadata_lake.ducklake_table_column_stats WHERE max_value LIKE 'raw%@%'";
        assert_eq!(lake.number(bounds), 1, "{kind}: the catalog still tells the largest value that was ever there");
        lake.execute(&recipe());
        lake.execute(MAINTENANCE);
        assert_eq!(lake.number(bounds), 0, "{kind}");
        assert_eq!(files_with(&data, "rawone"), Vec::<String>::new(), "{kind}");
        drop(lake);
        model(&project, kind, TAG, "1,rawone@x.io\n2,rawtwo@x.io\n3,new@x.io");
        project.run(&["run"]).success();
        let rows = project.rows("SELECT id, mail FROM raw.people ORDER BY id");
        assert_eq!(rows, "1,r***@x.io\n2,r***@x.io\n3,n***@x.io\n", "{kind}");
    }
}

/// A catalog in DuckDB is rewritten by a copy.
#[test]
fn a_copy_of_a_catalog_is_the_same_lake_without_what_was_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = folder.path().join("ducklake.duckdb");
    let lake = open_lake(Catalog::Duckdb, folder.path(), 0);
    let run = |connection: &Connection, sql: &str| connection.execute(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    run(&lake, "CREATE TABLE lake.t AS SELECT 'rawone@x.io' AS mail");
    run(&lake, "CREATE TABLE lake.u AS SELECT 'masked' AS mail; DROP TABLE lake.t");
    run(&lake, MAINTENANCE);
    drop(lake);
    assert_eq!(files_with(folder.path(), "rawone").len(), 1, "the room of what was deleted");
    let copied = folder.path().join("copied.duckdb");
    let engine = Arc::new(Database::open(&[]).unwrap()).connect().unwrap();
    let (from, to) = (catalog.display(), copied.display());
    run(&engine, &format!("ATTACH '{from}' AS a (READ_ONLY); ATTACH '{to}' AS b; COPY FROM DATABASE a TO b"));
    drop(engine);
    fs::rename(&copied, &catalog).unwrap();
    assert_eq!(files_with(folder.path(), "rawone"), Vec::<String>::new());
    let lake = open_lake(Catalog::Duckdb, folder.path(), 0);
    run(&lake, "INSERT INTO lake.u VALUES ('later')");
    assert_eq!(lake.query_value("SELECT count(*) FROM lake.u").unwrap().as_i64(), Some(2));
}
