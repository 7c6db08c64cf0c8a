//! A sandbox of a lake with many files against one of a lake with few, with the same changes: its cost follows those.

use std::path::Path;

use crate::measure::{Figure, time};
use crate::workspace::{Project, source_rows};

const METADATA: &str = "__ducklake_metadata_lake";

/// A project in which a model adds to a table of so many files, and what it reads has changed since the last run.
///
/// The files are in the catalog alone: nothing asks for them.
fn changed(binary: &Path, files: usize) -> Project {
    let project = Project::new();
    project.write("models/raw/orders.sql", &source_rows(1_000));
    project.write("models/mart/log.sql", "-- @kind: append\nSELECT id, grp, name, amount FROM raw.orders");
    project.run(binary);
    let connection = project.bare_engine();
    let copies = |table: &str, replaced: &str| {
        format!(
            "INSERT INTO {METADATA}.{table} BY NAME SELECT f.* REPLACE ({replaced}) \
             FROM {METADATA}.{table} f, range(1, {files} + 1) r(i) \
             WHERE f.table_id = (SELECT table_id FROM {METADATA}.ducklake_table WHERE table_name = 'log');"
        )
    };
    let file = "1000 + i AS data_file_id, 'not-there-' || i || '.parquet' AS path, 1000 * i AS row_id_start";
    let sql = [
        copies("ducklake_data_file", file),
        copies("ducklake_file_column_stats", "1000 + i AS data_file_id"),
        format!("UPDATE {METADATA}.ducklake_snapshot SET next_file_id = 1000000"),
    ];
    connection.execute(&sql.concat()).unwrap();
    drop(connection);
    project.write("models/raw/orders.sql", &source_rows(1_010));
    project
}

pub fn size(binary: &Path) -> Figure {
    let (large, small) = (changed(binary, 10_000), changed(binary, 10));
    let what = "sandbox, same changes: 10,000 files / 10 files";
    let sandbox = |project: &Project| time(|| project.command(binary, &["sandbox"]));
    Figure::measure(what, 1.3, |_| sandbox(&large), |_| sandbox(&small))
}
