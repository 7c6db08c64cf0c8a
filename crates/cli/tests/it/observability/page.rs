//! `docs/observability.md`: its example as it is written, and its tables against what there is.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::Scene;
use crate::docs::{blocks, repository};
use crate::project;

fn keys(line: &str) -> Vec<String> {
    let object: Value = serde_json::from_str(line).unwrap();
    object.as_object().unwrap().keys().cloned().collect()
}

/// Names in backticks of the first column of a table below a heading.
fn first_column(heading: &str) -> BTreeSet<String> {
    let page = fs::read_to_string(format!("{}/docs/observability.md", repository())).unwrap();
    let below = page.split_once(&format!("\n{heading}\n")).unwrap().1;
    let below = below.split("\n## ").next().unwrap();
    let cells = below.lines().filter_map(|line| line.strip_prefix("| `")?.split('|').next());
    cells
        .flat_map(|cell| cell.split('`').filter(|name| name.contains('_')).map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

#[test]
fn the_example_gives_what_the_page_shows() {
    let project = project();
    project.model("raw/orders", "SELECT range AS id FROM range(2)");
    let command = blocks("observability.md", "").into_iter().find(|block| block.language == "sh").unwrap();
    let mut calls = command.text.lines();
    let folder = calls.next().unwrap().strip_prefix("mkdir -p ").unwrap();
    fs::create_dir(project.root().join(folder)).unwrap();
    let call = calls.next().unwrap().strip_prefix("ondatrasql ").unwrap();
    let (call, _) = call.split_once(" 2> ").unwrap();
    let output = project.run(&call.split(' ').collect::<Vec<_>>()).success();
    assert_eq!(output.stdout, "");

    let shown = &blocks("observability.md", "## The log")[0].text;
    assert_eq!(shown.lines().count(), output.stderr.lines().count());
    for (shown, said) in shown.lines().zip(output.stderr.lines()) {
        assert_eq!(keys(shown), keys(said));
        let message = |line: &str| serde_json::from_str::<Value>(line).unwrap()["message"].as_str().unwrap().to_owned();
        let normal = |line: &str| testkit::normalize(&message(line), &project.root());
        assert_eq!(normal(shown), normal(said));
    }
    let written = fs::read_to_string(project.root().join("metrics/shop.prom")).unwrap();
    let name = project.root().file_name().unwrap().to_str().unwrap().to_owned();
    let written = written.replace(&format!("project=\"{name}\""), "project=\"shop\"");
    for line in blocks("observability.md", "## Metrics")[0].text.lines() {
        assert!(written.lines().any(|one| one == line), "{line}: {written}");
    }
}

#[test]
fn the_table_of_metrics_is_the_metrics_that_there_are() {
    let scene = Scene::new();
    let written = |command: &[&str]| {
        scene.project.run(&[command, &["--metrics-file", "m.prom"]].concat()).success();
        fs::read_to_string(scene.project.root().join("m.prom")).unwrap()
    };
    let written = [&["run"][..], &["sandbox"], &["queue", "drain"]].map(written).concat();
    let names = written.lines().filter_map(|line| line.strip_prefix("# HELP ")?.split(' ').next());
    assert_eq!(names.map(str::to_owned).collect::<BTreeSet<_>>(), first_column("## Metrics"));
}
