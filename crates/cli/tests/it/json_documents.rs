//! What commands print with `--json`, against the schemas in `docs/json/`; commands with a file of their own have it there.

use serde_json::Value;
use testkit::Project;

use crate::BINARY;
use crate::docs::repository;
use crate::schema::document;

/// A project with a table, with findings of two stages.
fn with_findings() -> Project {
    let project = Project::empty(BINARY);
    project.run(&["init"]).success();
    let checks = "-- @warning: not_null(name)\n";
    project.model("raw/a", &format!("{checks}SELECT range AS id, NULL::VARCHAR AS name FROM range(3)"));
    project
}

#[track_caller]
fn told(project: &Project, schema: &str, args: &[&str]) -> Value {
    document(schema, &project.run(&[args, &["--json"]].concat()).stdout)
}

#[test]
fn each_document_is_as_its_schema_says() {
    let project = with_findings();
    let ran = told(&project, "run", &["run"]);
    assert_eq!(ran["findings"][0]["rows"], 3, "{ran}");
    assert_eq!(told(&project, "run", &["run", "raw.a"])["status"], "skip");
    let checked = told(&project, "check", &["check", "--store-failures"]);
    assert_eq!(checked["stored"]["rows"], 3, "{checked}");
    project.model("raw/b", "SELECT broken FROM nowhere");
    assert_eq!(told(&project, "run", &["run", "raw.b"])["status"], "error");
    told(&project, "version", &["version"]);
    let answer = told(&project, "sql", &["sql", "SELECT 1 AS a, 2 AS a, NULL AS b, MAP {'k': 1} AS m"]);
    assert_eq!(answer["rows"][0]["a_1"], 2, "{answer}");
    assert_eq!(told(&project, "query", &["query", "raw.a", "--limit", "2"])["rows"].as_array().unwrap().len(), 2);
    told(&project, "script", &["checkpoint"]);
    project.write("sql/odd.sql", "SELECT 1 AS a; SELECT nonsense;");
    let script = told(&project, "script", &["odd"]);
    assert_eq!(
        (&script["statements"][0]["status"], &script["statements"][1]["status"]),
        (&"ok".into(), &"error".into())
    );
    project.write("lib/api.star", "API = {\"fetch\": {}, \"auth\": {\"provider\": \"crm\"}}\ndef fetch(): pass\n");
    assert_eq!(told(&project, "auth-status", &["auth", "status"])["providers"][0]["source"], "none");
}

/// A schema that no test reads tells what somebody once thought.
#[test]
fn every_schema_is_read_by_a_test() {
    let folder = format!("{}/crates/cli/tests/it", repository());
    let mut tests = String::new();
    let mut folders = vec![std::path::PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|ending| ending == "rs") {
                tests.push_str(&std::fs::read_to_string(entry).unwrap());
            }
        }
    }
    for entry in std::fs::read_dir(format!("{}/docs/json", repository())).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let name = name.strip_suffix(".schema.json").unwrap();
        assert!(tests.contains(&format!("\"{name}\"")) || tests.contains(&format!("{name}.schema.json")), "{name}");
    }
}
