//! A run with nothing to do: its cost follows neither the tables' sizes nor, beyond reading them, the models.

use std::path::Path;

use crate::fifty::fifty_models;
use crate::measure::{Figure, time};
use crate::workspace::{Project, source_rows};

/// A project of the first `models` of the fifty, over a lake table of `rows` rows, already run.
fn settled(binary: &Path, rows: usize, models: usize) -> Project {
    let project = Project::new();
    let connection = project.bare_engine();
    connection.execute(&format!("CREATE SCHEMA ext; CREATE TABLE ext.source AS {}", source_rows(rows))).unwrap();
    drop(connection);
    for (schema, name, sql) in fifty_models("ext.source").into_iter().take(models) {
        project.write(&format!("models/{schema}/{name}.sql"), &sql);
    }
    project.run(binary);
    project
}

pub fn over_table_size(binary: &Path) -> Figure {
    let (large, small) = (settled(binary, 1_000_000, 50), settled(binary, 1_000, 50));
    let what = "no-op run, 50 models: 1,000,000 rows / 1,000 rows";
    Figure::measure(what, 1.2, |_| time(|| large.run(binary)), |_| time(|| small.run(binary)))
}

pub fn over_models(binary: &Path) -> Figure {
    let (many, one) = (settled(binary, 1_000, 50), settled(binary, 1_000, 1));
    let what = "no-op run: 50 models / 1 model";
    Figure::measure(what, 1.6, |_| time(|| many.run(binary)), |_| time(|| one.run(binary)))
}
