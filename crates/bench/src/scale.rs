//! Kinds that compare all rows each time take no longer for a row as rows grow.

use std::path::Path;

use crate::measure::{Figure, time};
use crate::workspace::{Project, source_rows};

fn project(rows: usize) -> Project {
    let project = Project::new();
    let connection = project.bare_engine();
    connection.execute(&format!("CREATE SCHEMA ext; CREATE TABLE ext.source AS {}", source_rows(rows))).unwrap();
    drop(connection);
    let select = "SELECT id, grp, name, amount FROM ext.source";
    project.write("models/m/g.sql", &format!("-- @kind: tracked\n-- @group_key: grp\n{select}"));
    project.write("models/m/s.sql", &format!("-- @kind: scd2\n-- @unique_key: id\n{select}"));
    project
}

pub fn figure(binary: &Path) -> Figure {
    let (large, small) = (project(400_000), project(100_000));
    large.run(binary);
    small.run(binary);
    let what = "tracked and scd2, no change: 400,000 rows / 100,000 rows";
    Figure::measure(what, 4.0, |_| time(|| large.run(binary)), |_| time(|| small.run(binary)))
}
