//! The same fifty models, over the same table of a lake, run by each.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::project::PeerProject;
use super::{DBT, Environment, SQLMESH, against};
use crate::fifty::{Input, fifty, fifty_models};
use crate::measure::{Figure, time};
use crate::workspace::{Project, source_rows};

const ROWS: usize = 100_000;
const SQLMESH_MODEL: &str = include_str!("../../peers/sqlmesh/model.sql");
const PLAN: [&str; 3] = ["plan", "--auto-apply", "--no-prompts"];

/// The cheapest command / the cheapest that a user of `SQLMesh` waits for every day.
pub fn version(binary: &Path) -> Figure {
    let what = "version / SQLMesh no-op run";
    against(&SQLMESH, what, |environment| {
        let (ours, peer) = (Project::new(), settled_sqlmesh(environment));
        let version = || ours.command(binary, &["version"]);
        Figure::measure(what, 0.033, |_| time(version), |_| time(|| peer.run(&["run"])))
    })
}

pub fn no_op_sqlmesh(binary: &Path) -> Figure {
    let what = "no-op run, 50 models / SQLMesh no-op run";
    against(&SQLMESH, what, |environment| {
        let (ours, peer) = (settled_ours(binary), settled_sqlmesh(environment));
        Figure::measure(what, 0.2, |_| time(|| ours.run(binary)), |_| time(|| peer.run(&["run"])))
    })
}

/// dbt knows no run without work: it makes its tables each time.
pub fn no_op_dbt(binary: &Path) -> Figure {
    no_op_dbt_of(binary, "no-op run, 50 models / dbt run, DuckLake", "lake")
}

pub fn no_op_dbt_file(binary: &Path) -> Figure {
    no_op_dbt_of(binary, "no-op run, 50 models / dbt run, DuckDB file, 4 threads", "file")
}

fn no_op_dbt_of(binary: &Path, what: &'static str, target: &'static str) -> Figure {
    against(&DBT, what, |environment| {
        let (ours, peer) = (settled_ours(binary), dbt(environment));
        let run = || peer.run(&["run", "--target", target]);
        run();
        Figure::measure(what, 0.083, |_| time(|| ours.run(binary)), |_| time(run))
    })
}

/// What dbt and `SQLMesh` have parsed is kept, in their favor; only the tables, and what is known of them, are gone.
pub fn first_run_dbt(binary: &Path) -> Figure {
    let what = "first run, 50 models / dbt run, DuckLake";
    against(&DBT, what, |environment| {
        let (ours, peer) = (ours(), dbt(environment));
        peer.run(&["parse"]);
        let run = || peer.run(&["run"]);
        Figure::measure(what, 1.0, |_| anew(&ours, || ours.run(binary)), |_| anew(&peer.lake, run))
    })
}

pub fn first_run_sqlmesh(binary: &Path) -> Figure {
    let what = "first run, 50 models / SQLMesh plan";
    against(&SQLMESH, what, |environment| {
        let (ours, peer) = (ours(), settled_sqlmesh(environment));
        let plan = || peer.run(&PLAN);
        Figure::measure(what, 1.0, |_| anew(&ours, || ours.run(binary)), |_| anew(&peer.lake, plan))
    })
}

/// Time of a run over a lake that holds the source alone.
fn anew(lake: &Project, run: impl FnOnce()) -> Duration {
    lake.forget_lake();
    let _ = fs::remove_file(lake.dir.path().join("state.duckdb"));
    make_source(lake);
    time(run)
}

fn make_source(lake: &Project) {
    let table = format!("CREATE SCHEMA ext; CREATE TABLE ext.source AS {}", source_rows(ROWS));
    lake.bare_engine().execute(&table).unwrap();
}

fn ours() -> Project {
    let project = Project::new();
    for (schema, name, sql) in fifty_models("ext.source") {
        project.write(&format!("models/{schema}/{name}.sql"), &sql);
    }
    make_source(&project);
    project
}

fn settled_ours(binary: &Path) -> Project {
    let project = ours();
    project.run(binary);
    project
}

/// With the source in the lake and in the file of the target `file`.
fn dbt(environment: &'static Environment) -> PeerProject {
    let project = PeerProject::dbt(environment);
    project.lake.write("models/sources.yml", include_str!("../../peers/dbt/fifty/sources.yml"));
    for model in fifty() {
        let sql = model.sql(|input| match input {
            Input::Source => "{{ source('ext', 'source') }}".to_owned(),
            Input::Model { name, .. } => format!("{{{{ ref('{name}') }}}}"),
        });
        project.lake.write(&format!("models/{}/{}.sql", model.schema, model.name), &sql);
    }
    make_source(&project.lake);
    let file = "ATTACH 'warehouse.duckdb' AS warehouse; CREATE SCHEMA warehouse.ext; \
                CREATE TABLE warehouse.ext.source AS FROM lake.ext.source";
    project.lake.bare_engine().execute(file).unwrap();
    project
}

/// Planned and run, so that nothing is left to do.
fn settled_sqlmesh(environment: &'static Environment) -> PeerProject {
    let project = PeerProject::sqlmesh(environment);
    project.lake.write("external_models.yaml", include_str!("../../peers/sqlmesh/external_models.yaml"));
    for (schema, name, sql) in fifty_models("ext.source") {
        let text = SQLMESH_MODEL.replace("<schema>", schema).replace("<name>", &name).replace("<query>", &sql);
        project.lake.write(&format!("models/{schema}/{name}.sql"), &text);
    }
    make_source(&project.lake);
    project.run(&PLAN);
    project.run(&["run"]);
    project
}
