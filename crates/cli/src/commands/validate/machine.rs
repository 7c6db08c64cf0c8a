//! The report for programs: `docs/json/validate.schema.json` describes it.

use serde_json::{Map, Value, json};
use types::Diagnose;
use validate::{FileReport, Report, Summary, line};

use crate::ui::Ui;

const SCHEMA_VERSION: u32 = 4;

/// One document, indented.
pub(super) fn json(report: &Report, ui: &Ui) -> String {
    let files: Vec<Value> = report.files.iter().map(|file| Value::Object(entry(file, ui))).collect();
    let document = json!({"schema_version": SCHEMA_VERSION, "files": files, "summary": counts(&report.summary())});
    format!("{document:#}")
}

/// A document a file, then one with the counts.
pub(super) fn ndjson(report: &Report, ui: &Ui) -> String {
    let line = |file: &FileReport| {
        let mut document = Map::from_iter([("schema_version".to_owned(), json!(SCHEMA_VERSION))]);
        document.extend(entry(file, ui));
        format!("{}\n", Value::Object(document))
    };
    let files: String = report.files.iter().map(line).collect();
    let summary = json!({"schema_version": SCHEMA_VERSION, "summary": counts(&report.summary())});
    format!("{files}{summary}\n")
}

fn entry(file: &FileReport, ui: &Ui) -> Map<String, Value> {
    let status = if file.findings.is_empty() { "ok" } else { "fail" };
    let mut entry = Map::new();
    entry.insert("path".into(), json!(ui.redact(&file.path)));
    entry.insert("status".into(), json!(status));
    if !file.checks.is_empty() {
        let outcome = |passed: bool| json!(if passed { "ok" } else { "fail" });
        let checks: Map<String, Value> =
            file.checks.iter().map(|&(check, passed)| (check.as_str().to_owned(), outcome(passed))).collect();
        entry.insert("checks".into(), Value::Object(checks));
    }
    if !file.findings.is_empty() {
        entry.insert("findings".into(), file.findings.iter().map(|finding| found(finding, ui)).collect());
    }
    entry
}

fn found(finding: &model::Finding, ui: &Ui) -> Value {
    let line = line(finding);
    let mut found = Map::new();
    found.insert("path".into(), json!(ui.redact(&finding.place.file().display().to_string())));
    found.extend(line.map(|line| ("line".to_owned(), json!(line))));
    found.insert("severity".into(), json!(finding.rule.severity().as_str()));
    found.insert("rule".into(), json!(finding.rule.id()));
    found.insert("message".into(), json!(ui.redact(finding.message())));
    // Behind the keys that version 4 began with.
    found.extend(line.map(|_| ("column".to_owned(), json!(finding.place.column()))));
    found.insert("help".into(), json!(ui.redact(&finding.help())));
    Value::Object(found)
}

fn counts(summary: &Summary) -> Value {
    json!({
        "files": summary.files,
        "blockers": summary.blockers,
        "warns": summary.warns,
        "infos": summary.infos,
        "clean": summary.clean,
    })
}
