//! Constraints, audits and warnings, end to end (chapter 01 §4).

mod command;
mod fetched;
mod hostile;
mod lake_macros;
mod own;
mod shipped;
mod stages;
mod traces;

use serde_json::Value;
use testkit::{Output, Project};

use crate::project;

/// A project with the model `raw.a` over `id` and `name`.
fn with_model(header: &str, rows: &str) -> Project {
    let project = project();
    project.model("raw/a", &format!("{header}\nSELECT * FROM (VALUES {rows}) AS t(id, name)"));
    project
}

/// The records of a run.
pub(crate) fn records(output: &Output) -> Vec<Value> {
    output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The texts of a record's list.
pub(crate) fn texts(record: &Value, key: &str) -> Vec<String> {
    record[key].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// The last snapshot of the lake.
fn snapshot(project: &Project) -> String {
    project.rows("SELECT max(snapshot_id) FROM lake.snapshots()")
}
