//! The records of a sandbox: those of a run, marked, with how tables differ.

use runtime::{Comparison, SandboxSummary};
use serde_json::{Value, json};
use types::Column;

use super::super::run::{dag_warning, record};
use crate::error::CliError;
use crate::ui::Ui;

pub(super) fn print(ui: &Ui, summary: &SandboxSummary) -> Result<(), CliError> {
    let comparisons = summary.models.iter().map(|model| model.comparison.as_ref()).chain(std::iter::repeat(None));
    let outcomes = summary.run.outcomes.iter().zip(comparisons).map(|(outcome, comparison)| {
        let mut record = record(ui, outcome, &summary.run);
        record.insert("sandbox".into(), true.into());
        if let Some(forecast) = &outcome.forecast {
            record.insert("push_events".into(), forecast.events.into());
            record.insert("push_pending".into(), forecast.queued.into());
        }
        if let Some(comparison) = comparison.filter(|comparison| comparison.is_changed()) {
            record.insert("diff".into(), diff(ui, comparison));
        }
        Value::from(record).to_string()
    });
    let warnings = summary.run.warnings.iter().map(|message| dag_warning(ui, message));
    let records: Vec<String> = warnings.chain(outcomes).collect();
    if records.is_empty() {
        return Ok(());
    }
    match ui.result(&records.join("\n")) {
        // A reader that is gone does not make a failed run a success.
        Ok(()) | Err(CliError::ClosedPipe) => Ok(()),
        Err(error) => Err(error),
    }
}

fn diff(ui: &Ui, comparison: &Comparison) -> Value {
    let columns = |columns: &[Column]| -> Vec<Value> {
        columns.iter().map(|column| json!({"name": column.name, "type": column.type_name})).collect()
    };
    let changed = comparison.changed_columns.iter();
    let changed: Vec<Value> =
        changed.map(|column| json!({"name": column.name, "old": column.old, "new": column.new})).collect();
    let rows = |rows: &[Vec<Option<String>>]| -> Vec<Vec<Option<String>>> {
        let redacted = |value: &Option<String>| value.as_ref().map(|text| ui.redact(text));
        rows.iter().map(|row| row.iter().map(redacted).collect()).collect()
    };
    json!({
        "new": comparison.is_new,
        "columns_added": columns(if comparison.is_new { &comparison.columns } else { &comparison.added_columns }),
        "columns_removed": columns(&comparison.removed_columns),
        "columns_changed": changed,
        "rows_before": comparison.rows.0,
        "rows_after": comparison.rows.1,
        "rows_added": comparison.added,
        "rows_removed": comparison.removed,
        "rows_closed": comparison.closed,
        "sample_added": rows(&comparison.sample_added),
        "sample_removed": rows(&comparison.sample_removed),
        "warnings": comparison.problems.iter().map(|text| ui.redact(text)).collect::<Vec<_>>(),
    })
}
