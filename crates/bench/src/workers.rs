//! Several workers on one lake: models that wait for an API, shared between four processes / all run by one.

use std::cell::Cell;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use testkit::Postgres;

use crate::ingest::{LIB, MODEL, Server};
use crate::measure::{Figure, time};
use crate::workspace::Project;

const MODELS: usize = 40;
const WORKERS: usize = 4;

/// 40 models of 10 pages with 50 ms each, on a catalog and a state in PostgreSQL: four workers / one, each with
/// `--jobs 1`.
pub fn share(binary: &Path) -> Figure {
    let server = Server::with(10, 20, Duration::from_millis(50));
    let postgres = Postgres::start();
    let round = Cell::new(0);
    let share = |workers: usize| {
        round.set(round.get() + 1);
        let team = team(&server, &postgres, round.get(), workers);
        let elapsed = time(|| {
            let running: Vec<Child> = team.iter().map(|worker| start(binary, worker)).collect();
            for mut worker in running {
                assert!(worker.wait().unwrap().success());
            }
        });
        let there = "SELECT count(DISTINCT table_id), sum(record_count) FROM ducklake_data_file \
                     JOIN ducklake_table USING (table_id) WHERE table_name LIKE 't%'";
        let there = postgres.sql(&format!("lake{}", round.get()), there);
        assert_eq!(there.trim(), format!("{MODELS}|{}", MODELS * 200), "each row once");
        elapsed
    };
    let what = "40 fetch models of 10 pages with 50 ms: 4 workers / 1 worker";
    Figure::measure_times(3, what, 0.333, |_| share(WORKERS), |_| share(1))
}

/// Workers, each in a folder of its own, on one lake and one state.
fn team(server: &Server, postgres: &Postgres, number: usize, workers: usize) -> Vec<Project> {
    for database in ["lake", "state"] {
        postgres.create_database(&format!("{database}{number}"));
    }
    let team: Vec<Project> = (0..workers).map(|_| Project::new()).collect();
    let files = team[0].dir.path().join("files");
    for worker in &team {
        let lake = postgres.connection(&format!("lake{number}"));
        let options = format!("(DATA_PATH '{}', DATA_INLINING_ROW_LIMIT 0)", files.display());
        worker.write("config/catalog.sql", &format!("ATTACH 'ducklake:postgres:{lake}' AS lake {options};"));
        let state = postgres.connection(&format!("state{number}"));
        worker.write("config/state.sql", &format!("ATTACH '{state}' AS state (TYPE postgres);"));
        let api = format!("API = {{\"base_url\": \"{}\", \"fetch\": {{}}}}\n{LIB}", server.url());
        worker.write("lib/api.star", &api);
        for at in 0..MODELS {
            worker.write(&format!("models/raw/t{at}.sql"), MODEL);
        }
    }
    team
}

fn start(binary: &Path, worker: &Project) -> Child {
    let mut run = Command::new(binary);
    run.args(["run", "--jobs", "1"]).current_dir(worker.dir.path()).stdout(Stdio::null());
    run.spawn().unwrap()
}
