//! A table that is kept up by key: changes of its source are read from the lake's change feed here, and found by the
//! time of their last change in dbt, as its documentation shows.

use std::path::Path;
use std::time::Duration;

use super::project::PeerProject;
use super::{DBT, against};
use crate::measure::{Figure, time};
use crate::workspace::Project;

const ROWS: usize = 3_000_000;
const ROUNDS: usize = 5;

pub fn incremental_dbt(binary: &Path) -> Figure {
    let what = "merge 900 changes into 3,000,000 rows / dbt merge, DuckLake";
    against(&DBT, what, |environment| {
        let (ours, peer) = (Project::new(), PeerProject::dbt(environment));
        ours.write("models/main/events_by_id.sql", include_str!("../../projects/events_by_id.sql"));
        peer.lake.write("models/sources.yml", include_str!("../../peers/dbt/incremental/sources.yml"));
        let model = include_str!("../../peers/dbt/incremental/events_by_id.sql");
        peer.lake.write("models/events_by_id.sql", model);
        make_source(&ours);
        make_source(&peer.lake);
        ours.run(binary);
        peer.run(&["run"]);
        let figure = Figure::measure_times(
            ROUNDS,
            what,
            None,
            |round| changed(&ours, round, || ours.run(binary)),
            |round| changed(&peer.lake, round, || peer.run(&["run"])),
        );
        assert_eq!(content(&ours), content(&peer.lake), "both have the same rows");
        figure
    })
}

fn make_source(lake: &Project) {
    let sql = format!(
        "CREATE SCHEMA ext; CREATE TABLE ext.events AS SELECT i AS id, i % 100 AS grp, 'name ' || i AS name, \
         (i * 7 % 1000)::DOUBLE AS amount, TIMESTAMP '2026-01-01' + to_milliseconds(i) AS updated_at \
         FROM range({ROWS}) t(i)"
    );
    lake.bare_engine().execute(&sql).unwrap();
}

/// Time of a run after 600 rows came and 300 of the newest were updated. None goes: dbt would not learn of it.
fn changed(lake: &Project, round: usize, run: impl FnOnce()) -> Duration {
    let (first, newest) = (ROWS + round * 600, ROWS - 5_000 + round);
    let now = format!("TIMESTAMP '2026-02-01' + to_days({round})");
    lake.bare_engine()
        .execute(&format!(
            "BEGIN; UPDATE ext.events SET amount = amount + 1, updated_at = {now} \
             WHERE id >= {newest} AND id < {newest} + 3000 AND id % 10 = 3; \
             INSERT INTO ext.events SELECT {first} + i, 1, 'new', 1, {now} FROM range(600) r(i); COMMIT"
        ))
        .unwrap();
    time(run)
}

/// What can be told of the table's rows in one line.
fn content(lake: &Project) -> String {
    let sql = "SELECT concat_ws(' ', count(*), sum(amount), sum(id), max(updated_at), count(DISTINCT id)) \
               FROM lake.main.events_by_id";
    lake.bare_engine().query_value(sql).unwrap().into_text().unwrap()
}
