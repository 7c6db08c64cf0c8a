//! A run with nothing to do over a long history of the lake.

use std::path::Path;

use crate::fifty::fifty_models;
use crate::measure::{Figure, time};
use crate::workspace::{Project, source_rows};

/// A project of fifty models that has run, and so many snapshots since then: changes of a table that no
/// model reads, each with a commit record of the usual size. They are written into the catalog at once.
fn settled(binary: &Path, snapshots: usize) -> Project {
    let project = Project::new();
    let connection = project.bare_engine();
    let source = source_rows(1_000);
    connection
        .execute(&format!("CREATE SCHEMA ext; CREATE TABLE ext.source AS {source}; CREATE TABLE ext.other (i INTEGER)"))
        .unwrap();
    drop(connection);
    for (schema, name, sql) in fifty_models("ext.source") {
        project.write(&format!("models/{schema}/{name}.sql"), &sql);
    }
    project.run(binary);
    let connection = project.bare_engine();
    let metadata = "__ducklake_metadata_lake";
    connection
        .execute(&format!(
            "SET VARIABLE newest = (SELECT max(snapshot_id) FROM {metadata}.ducklake_snapshot); \
             SET VARIABLE other = (SELECT table_id FROM {metadata}.ducklake_table WHERE table_name = 'other'); \
             INSERT INTO {metadata}.ducklake_snapshot BY NAME SELECT s.* REPLACE (snapshot_id + i AS snapshot_id) \
             FROM {metadata}.ducklake_snapshot s, range(1, {snapshots} + 1) r(i) WHERE snapshot_id = getvariable('newest'); \
             INSERT INTO {metadata}.ducklake_snapshot_changes BY NAME SELECT getvariable('newest') + i AS snapshot_id, \
             'inserted_into_table:' || getvariable('other') AS changes_made, 'ondatrasql' AS author, \
             repeat('x', 1500) AS commit_extra_info FROM range(1, {snapshots} + 1) r(i)"
        ))
        .unwrap();
    project
}

pub fn figure(binary: &Path) -> Figure {
    of(binary, 10_000, "no-op run, 50 models: 10,000 snapshots / 100 snapshots")
}

pub fn very_long(binary: &Path) -> Figure {
    of(binary, 100_000, "no-op run, 50 models: 100,000 snapshots / 100 snapshots")
}

fn of(binary: &Path, snapshots: usize, what: &'static str) -> Figure {
    let (long, short) = (settled(binary, snapshots), settled(binary, 100));
    Figure::measure(what, 1.2, |_| time(|| long.run(binary)), |_| time(|| short.run(binary)))
}
