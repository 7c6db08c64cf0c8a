//! The docs say of rules and documents what the code does.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use types::Rule;

use super::{report, with_files};
use crate::BINARY;
use crate::docs::repository;

fn read(path: &str) -> String {
    fs::read_to_string(format!("{}/docs/{path}", repository())).unwrap()
}

#[test]
fn every_rule_is_explained_with_its_severity_and_no_other() {
    let page = read("validate.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let explained: Vec<(&str, &str)> = rows
        .map(|row| {
            let cells: Vec<&str> = row.split(" | ").collect();
            assert!(cells.len() >= 3 && !cells[2].trim_end_matches(" |").is_empty(), "{row}");
            (cells[0].trim_end_matches('`'), cells[1])
        })
        .collect();
    let rules: BTreeSet<(&str, &str)> = Rule::ALL.iter().map(|rule| (rule.id(), rule.severity().as_str())).collect();
    assert_eq!(explained.iter().copied().collect::<BTreeSet<_>>(), rules);
    assert_eq!(explained.len(), rules.len(), "a rule is explained twice");
}

/// Asserts that a value has the keys of the schema's definition, all required ones, and values that it allows.
#[track_caller]
fn assert_fits(value: &Value, schema: &Value, name: &str) {
    let definition = &schema["$defs"][name];
    let object = value.as_object().unwrap();
    for required in definition["required"].as_array().unwrap() {
        assert!(object.contains_key(required.as_str().unwrap()), "{name} lacks {required}: {value:#}");
    }
    for (key, value) in object {
        let property = &definition["properties"][key];
        assert!(property.is_object(), "the schema does not know {key} of {name}");
        let is_type = match property["type"].as_str() {
            Some("string") => value.is_string(),
            Some("integer") => value.as_i64().is_some_and(|number| number >= property["minimum"].as_i64().unwrap()),
            _ => true,
        };
        assert!(is_type, "{key} of {name}: {value}");
        if let Some(choices) = property["enum"].as_array() {
            assert!(choices.contains(value), "{key} of {name}: {value}");
        }
    }
}

#[test]
fn the_schema_describes_the_documents() {
    let schema: Value = serde_json::from_str(&read("json/validate.schema.json")).unwrap();
    assert_eq!(schema["$defs"]["schemaVersion"], json!({"const": 4}));
    let project = with_files(&[
        ("models/raw/a.sql", "SELECT 1 AS a"),
        ("models/raw/b.sql", "-- @push: x\nSELECT * FROM ext.t LIMIT 1"),
        ("models/raw/c.sql", "-- @fetch\nSELECT * FROM y()"),
        ("lib/x.star", "X = 1\n"),
        ("config/extensions.sql", "LOAD no_such;"),
    ]);
    let report = report(&project, &[]);
    assert_fits(&report, &schema, "report");
    assert_fits(&report["summary"], &schema, "summary");
    let (mut checks, mut findings) = (BTreeSet::new(), 0);
    for file in report["files"].as_array().unwrap() {
        assert_fits(file, &schema, "file");
        checks.extend(file["checks"].as_object().into_iter().flat_map(|checks| checks.keys().cloned()));
        for finding in file["findings"].as_array().into_iter().flatten() {
            findings += 1;
            assert_fits(finding, &schema, "finding");
        }
    }
    assert!(findings >= 5, "{report:#}");
    let known = &schema["$defs"]["file"]["properties"]["checks"]["propertyNames"]["enum"];
    let known: BTreeSet<String> = known.as_array().unwrap().iter().map(|name| name.as_str().unwrap().into()).collect();
    assert_eq!(checks, known);
}

#[test]
fn the_example_project_passes() {
    let folder = format!("{}/examples/flights", repository());
    let output = Command::new(BINARY).arg("validate").current_dir(folder).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("✓ strict-fetch") && text.contains("✓ strict-push") && text.contains("0 INFO"), "{text}");
}
