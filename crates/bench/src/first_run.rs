//! The first run of 50 models against the same 50 `CREATE TABLE AS` and commits in a bare loop.

use std::path::Path;

use crate::fifty::fifty_models;
use crate::measure::{Figure, time};
use crate::workspace::{Project, source_rows};

const ROWS: usize = 100_000;

pub fn figure(binary: &Path) -> Figure {
    let (ours, bare) = (Project::new(), Project::new());
    for project in [&ours, &bare] {
        let connection = project.bare_engine();
        connection.execute(&format!("COPY ({}) TO 'source.parquet'", source_rows(ROWS))).unwrap();
        drop(connection);
        project.forget_lake();
    }
    let models = fifty_models("'source.parquet'");
    for (schema, name, sql) in &models {
        ours.write(&format!("models/{schema}/{name}.sql"), sql);
    }
    Figure::measure(
        "first run, 50 models over 100,000 rows / bare loop",
        2.0,
        |_| {
            ours.forget_lake();
            time(|| ours.run(binary))
        },
        |_| {
            bare.forget_lake();
            time(|| bare_loop(&bare, &models))
        },
    )
}

fn bare_loop(project: &Project, models: &[(&str, String, String)]) {
    let connection = project.bare_engine();
    for schema in ["raw", "staging", "mart"] {
        connection.execute(&format!("CREATE SCHEMA {schema}")).unwrap();
    }
    for (schema, name, sql) in models {
        connection.execute("BEGIN").unwrap();
        connection.execute(&format!("CREATE TABLE {schema}.{name} AS {sql}")).unwrap();
        connection.execute("COMMIT").unwrap();
    }
}
