//! `ondatrasql validate`: every rule, the scopes, the outputs, broken projects.

mod broken;
mod contract;
mod functions;
mod output;
mod rules;
mod scope;
mod unusable;

use serde_json::Value;
use testkit::Project;

use crate::project;

/// A finding as path, line and rule: all that a test names.
type Found = (String, Option<u64>, String);

/// The report in JSON; whatever is found, there is one.
#[track_caller]
fn report(project: &Project, args: &[&str]) -> Value {
    let output = project.run(&[&["--json", "validate"], args].concat());
    let report: Value = serde_json::from_str(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}\nstdout:\n{}\nstderr:\n{}", output.stdout, output.stderr));
    let summary = &report["summary"];
    let is_fine = summary["blockers"] == 0 && summary["warns"] == 0;
    assert_eq!(output.code, i32::from(!is_fine), "{report:#}\n{}", output.stderr);
    report
}

/// All findings of a report, in its order.
fn found(report: &Value) -> Vec<Found> {
    let files = report["files"].as_array().unwrap();
    let findings = files.iter().flat_map(|file| file["findings"].as_array().into_iter().flatten());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    findings.map(|found| (text(&found["path"]), found["line"].as_u64(), text(&found["rule"]))).collect()
}

/// The paths of a report, in its order.
fn paths(report: &Value) -> Vec<&str> {
    report["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect()
}

/// A project with these files.
fn with_files(files: &[(&str, &str)]) -> Project {
    let project = project();
    for (path, text) in files {
        project.write(path, text);
    }
    project
}
