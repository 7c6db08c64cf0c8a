//! What checks found, as lines for people and as records for programs.

use runtime::CheckFinding;
use serde_json::{Map, Value, json};

use super::run::one_line;
use crate::ui::Ui;

/// The line of an error below a model.
pub(super) fn error_line(ui: &Ui, text: &str) -> String {
    format!("  ERROR: {}", one_line(&ui.message(text)))
}

/// The line of a warning below a model.
pub(super) fn warning_line(ui: &Ui, text: &str) -> String {
    format!("  WARN: {}", one_line(&ui.message(text)))
}

/// The line of the rows at fault, where they can be told: with the directive, since several findings may be one text.
pub(super) fn rows_line(ui: &Ui, finding: &CheckFinding) -> Option<String> {
    let rows = finding.rows.as_ref()?;
    Some(format!("    {}: {}", one_line(&ui.message(&finding.check)), one_line(&ui.message(&rows.summary()))))
}

/// A finding as JSON. What rows hold may be a secret, like any text.
pub(super) fn finding_record(ui: &Ui, finding: &CheckFinding) -> Value {
    let mut record = json!({
        "stage": finding.stage.as_str(),
        "check": ui.redact(&finding.check),
        "message": ui.redact(&finding.message),
        "path": finding.place.file().display().to_string(),
        "line": finding.place.line(),
    });
    if let (Some(rows), Some(map)) = (&finding.rows, record.as_object_mut()) {
        let value = |value: &Option<String>| value.as_ref().map_or(Value::Null, |text| ui.redact(text).into());
        let row = |row: &Vec<Option<String>>| -> Map<String, Value> {
            rows.columns.iter().cloned().zip(row.iter().map(value)).collect()
        };
        map.insert("rows".into(), rows.count.into());
        map.insert("sample".into(), rows.sample.iter().map(row).collect());
    }
    record
}
