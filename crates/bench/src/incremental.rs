//! An incremental run with 1,000 changed rows: its cost follows the changes, not the source.

use std::path::Path;
use std::time::Duration;

use crate::measure::{Figure, time};
use crate::workspace::{Project, source_rows};

const HUGE: usize = 100_000_000;
const LARGE: usize = 10_000_000;
const SMALL: usize = 100_000;

/// The rows that change lie among the newest, as they do in a table of events: 600 are new, 300 updated and
/// 100 deleted each time.
fn change(project: &Project, rows: usize, round: usize) {
    let connection = project.bare_engine();
    let (first, newest) = (rows + round * 600, rows - 5_000 + round);
    connection
        .execute(&format!(
            "BEGIN; UPDATE ext.source SET amount = amount + 1 WHERE id >= {newest} AND id < {newest} + 3000 AND id % 10 = 3; \
             DELETE FROM ext.source WHERE id >= {newest} + 3000 AND id < {newest} + 4000 AND id % 10 = {}; \
             INSERT INTO ext.source SELECT {first} + i, 1, 'new', 1 FROM range(600) r(i); COMMIT",
            round % 10
        ))
        .unwrap();
}

fn settled(binary: &Path, rows: usize, header: &str) -> Project {
    let project = Project::new();
    let connection = project.bare_engine();
    connection.execute(&format!("CREATE SCHEMA ext; CREATE TABLE ext.source AS {}", source_rows(rows))).unwrap();
    drop(connection);
    project.write("models/m/x.sql", &format!("{header}\nSELECT id, grp, upper(name) AS name, amount FROM ext.source"));
    project.run(binary);
    project
}

fn figure(binary: &Path, what: &'static str, header: &str, rows: usize) -> Figure {
    let (large, small) = (settled(binary, rows, header), settled(binary, SMALL, header));
    let run = |project: &Project, rows: usize, round: usize| -> Duration {
        change(project, rows, round);
        time(|| project.run(binary))
    };
    Figure::measure(what, 1.3, |round| run(&large, rows, round), |round| run(&small, SMALL, round))
}

pub fn append(binary: &Path) -> Figure {
    figure(binary, "append, 1,000 changes: 10,000,000 rows / 100,000 rows", "-- @kind: append", LARGE)
}

pub fn append_huge(binary: &Path) -> Figure {
    figure(binary, "append, 1,000 changes: 100,000,000 rows / 100,000 rows", "-- @kind: append", HUGE)
}

pub fn merge(binary: &Path) -> Figure {
    figure(binary, "merge, 1,000 changes: 10,000,000 rows / 100,000 rows", "-- @kind: merge\n-- @unique_key: id", LARGE)
}
