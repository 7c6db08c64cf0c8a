//! kill -9 of runs at random moments while they fetch: in the end each row of the API is in the table exactly once.

use std::process::Stdio;
use std::time::Duration;

use state::{BackendKind, StagedFetch};
use testkit::{Catalog, Project, Random, StateFixture};

use super::{COLUMNS, Items, model, staged, staged_in};
use crate::BINARY;

/// Latest moment of a kill, in milliseconds.
const LIFE_MS: usize = 1_500;

fn models(project: &Project, items: &Items) {
    items.lib(project, 40);
    let whole = super::ITEMS.replace("last_value", "initial_value");
    project.write("lib/everything.star", &super::lib(&items.api, "\"page_size\": 40", &whole));
    model(project, "raw/added", "append\n-- @incremental: id\n-- @incremental_initial: 0", COLUMNS, "items()");
    model(project, "raw/merged", "merge\n-- @unique_key: id", COLUMNS, "everything()");
    model(project, "raw/whole", "table", COLUMNS, "everything()");
    model(project, "raw/tracked", "tracked\n-- @group_key: k", COLUMNS, "everything()");
}

/// The API after so many kills: some rows more each time.
fn rows(kills: usize) -> Vec<(i64, i64, &'static str)> {
    (1..=i64::try_from(400 + kills * 13).unwrap()).map(|id| (id, id % 7, "v")).collect()
}

/// Kills runs of a project; `left` tells what stays of fetches of a target.
fn survive(project: &Project, kills: usize, seed: u64, left: impl Fn(&str) -> Vec<StagedFetch>) {
    let items = Items::slow(&rows(0), Duration::from_millis(4));
    models(project, &items);
    let mut random = Random(seed);
    for kill in 0..kills {
        items.set(&rows(kill));
        let mut run = project.command(&["run"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(u64::try_from(random.below(LIFE_MS)).unwrap()));
        run.kill().unwrap();
        run.wait().unwrap();
    }
    // What was fetched before the last kill may be committed first.
    project.run(&["run"]).success();
    project.run(&["run"]).success();
    let all = rows(kills.saturating_sub(1)).len();
    for table in ["added", "merged", "whole", "tracked"] {
        let found = project.rows(&format!("SELECT count(*), count(DISTINCT id), max(id) FROM raw.{table}"));
        assert_eq!(found, format!("{all},{all},{all}\n"), "raw.{table} after {kills} kills");
        assert_eq!(left(&format!("raw.{table}")), []);
    }
    assert_eq!(std::fs::read_dir(project.temp_root()).unwrap().count(), 0);
}

fn survive_on_a_file(catalog: Catalog, kills: usize, seed: u64) {
    let project = Project::new(BINARY, catalog);
    survive(&project, kills, seed, |target| staged(&project, target));
}

/// A state on a server: what a killed run held is another worker's until its lease ends, so runs fetch beside it.
fn survive_on_a_server(kind: BackendKind, kills: usize, seed: u64) {
    let fixture = StateFixture::new(BINARY, kind);
    let env = std::fs::read_to_string(fixture.project.root().join(".env")).unwrap();
    fixture.project.write(".env", &format!("{env}ONDATRA_LEASE=2\n"));
    survive(&fixture.project, kills, seed, |target| {
        fixture.open("test").run_sql("UPDATE sync_fetch SET lease_until = now() - INTERVAL '1 hour'").unwrap();
        let late = fixture.project.run(&["run", target]).success();
        assert!(!late.stdout.contains("resumed"), "{}: rows were committed since", late.stdout);
        staged_in(&fixture, target)
    });
}

#[test]
fn killed_fetches_double_and_lose_nothing() {
    survive_on_a_file(Catalog::Sqlite, 6, 11);
}

#[test]
fn killed_fetches_with_a_state_on_postgresql_double_and_lose_nothing() {
    survive_on_a_server(BackendKind::Postgres, 6, 12);
}

#[test]
#[ignore = "make soak"]
fn soak_killed_fetches_double_and_lose_nothing() {
    survive_on_a_file(Catalog::Sqlite, 100, 5);
    survive_on_a_file(Catalog::Duckdb, 100, 6);
}

#[test]
#[ignore = "make soak"]
fn soak_killed_fetches_with_a_state_on_a_server_double_and_lose_nothing() {
    survive_on_a_server(BackendKind::Postgres, 100, 7);
    survive_on_a_server(BackendKind::Quack, 100, 8);
}
