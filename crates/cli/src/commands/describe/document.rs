//! A description as JSON, keys in the order of chapter 05 §3.9.

use runtime::{DescribedColumn, DescribedStep, Description, Moment, RunRecord};
use serde_json::{Value, json};

use crate::output::{Keys, bytes};

/// Failed runs leave no commit, so all that are known succeeded.
const SUCCESS_RATE: u8 = 100;

pub(super) fn document(model: &Description) -> Value {
    let mut keys = Keys::document();
    keys.put("target", model.target.as_str());
    keys.put("kind", model.kind.as_str());
    keys.put_some("schema", model.schema.as_str());
    keys.put_some("materialization", model.run_type.clone());
    keys.put_some("source_file", model.source_file.clone());
    keys.put_some("blueprint", model.blueprint.clone());
    keys.put_some("blueprint_error", model.blueprint_error.clone());
    keys.put_some("total_runs", model.total_runs);
    keys.put_some("avg_duration_ms", model.avg_duration_ms);
    keys.put_some("total_rows", model.total_rows);
    keys.put("table_size", table_size(model));
    if model.total_runs > 0 {
        keys.put("success_rate", SUCCESS_RATE);
    }
    keys.put_some("last_run", model.last_run.as_ref().map(Moment::rfc3339));
    keys.put_some("first_run", model.first_run.as_ref().map(Moment::rfc3339));
    keys.put_some("dependencies", model.dependencies.clone());
    keys.put_some("downstream", model.downstream.clone());
    keys.put_some("columns", model.columns.iter().map(column).collect::<Vec<_>>());
    keys.put_some("recent_runs", model.recent_runs.iter().map(run).collect::<Vec<_>>());
    keys.put_some("definition", model.definition.clone());
    keys.put_some("description", model.description.clone());
    keys.put_some("constraints", model.constraints.clone());
    keys.put_some("audits", model.audits.clone());
    keys.put_some("warnings", model.warnings.clone());
    keys.put_some("steps", model.steps.iter().map(step).collect::<Vec<_>>());
    keys.put_some("duckdb_version", model.duckdb_version.clone());
    keys.put_some("git_commit", model.git_commit.clone());
    keys.put_some("gather_warnings", model.gather_warnings.clone());
    keys.into()
}

/// The size of the table's files, for people.
pub(super) fn table_size(model: &Description) -> String {
    model.table_bytes.map_or_else(|| "N/A".into(), bytes)
}

/// Whether a column may be NULL, in SQL's words.
pub(super) fn nullable(column: &DescribedColumn) -> Option<&'static str> {
    column.is_nullable.map(|is_nullable| if is_nullable { "NULL" } else { "NOT NULL" })
}

fn column(column: &DescribedColumn) -> Value {
    let mut keys = Keys::new();
    keys.put("name", column.name.as_str());
    keys.put("type", column.type_name.as_str());
    keys.put_some("nullable", nullable(column));
    keys.put_some("constraint", column.constraint.clone());
    keys.put_some("description", column.description.clone());
    keys.into()
}

fn run(run: &RunRecord) -> Value {
    json!({
        "timestamp": run.time.rfc3339(),
        "duration_ms": run.duration_ms.unwrap_or(0),
        "rows": run.rows.unwrap_or(0),
        "success": true,
    })
}

fn step(step: &DescribedStep) -> Value {
    json!({"name": step.name, "duration_ms": step.duration_ms, "status": step.status})
}
