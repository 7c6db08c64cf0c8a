//! `sandbox`: a run against a fork, compared with production, which is the same before and after (chapter 05 §4).

mod boxes;
mod diff;
mod files;
mod outside;
mod removal;
mod server;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use testkit::{Output, Project};

use crate::schema::document;

/// Every file and folder below the project with what it holds.
fn everything(project: &Project) -> BTreeMap<String, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    collect(&project.root(), &project.root(), &mut found);
    found
}

fn collect(root: &Path, folder: &Path, found: &mut BTreeMap<String, Option<Vec<u8>>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().display().to_string();
        if path.is_dir() {
            found.insert(name, None);
            collect(root, &path, found);
        } else {
            found.insert(name, Some(fs::read(&path).unwrap()));
        }
    }
}

/// Runs a sandbox, after which every byte of the project has to be the same.
#[track_caller]
fn sandbox(project: &Project, args: &[&str]) -> Output {
    let before = everything(project);
    let output = project.run(&[&["sandbox"], args].concat());
    let after = everything(project);
    let names = |all: &BTreeMap<String, Option<Vec<u8>>>| all.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&before), names(&after), "{output:?}");
    let changed: Vec<&String> =
        before.iter().filter(|(name, bytes)| after[*name] != **bytes).map(|(name, _)| name).collect();
    assert!(changed.is_empty(), "{changed:?} changed: {output:?}");
    assert_eq!(fs::read_dir(project.temp_root()).unwrap().count(), 0, "nothing is left in the temporary folder");
    output
}

/// The lines inside a box, without its borders.
#[track_caller]
fn inside(output: &Output) -> String {
    let lines = output.stdout.lines().filter_map(|line| line.strip_prefix("║ ")?.strip_suffix(" ║"));
    lines.map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The records of a sandbox by model.
#[track_caller]
fn records(project: &Project, args: &[&str], code: i32) -> BTreeMap<String, Value> {
    let output = sandbox(project, &[args, &["--json"]].concat()).failure(code);
    assert!(!output.stdout.contains(['║', '╔']) && !output.stderr.contains('║'), "{output:?}");
    let lines = output.stdout.lines().map(|line| document("sandbox", &format!("{line}\n")));
    lines.map(|record| (record["model"].as_str().unwrap_or_default().to_owned(), record)).collect()
}

#[track_caller]
fn has(text: &str, part: &str) {
    assert!(text.contains(part), "{part:?} is not in:\n{text}");
}
