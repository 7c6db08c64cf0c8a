//! Lineage as JSON, keys in the order of chapter 05 §3.12.

use runtime::{Lineage, LineageMode, LineageModel};
use serde_json::{Value, json};

use crate::output::Keys;

pub(super) fn document(lineage: &Lineage) -> Value {
    let mut keys = Keys::document();
    keys.put("mode", mode(lineage.mode));
    keys.put("target", target(lineage));
    keys.put("models", lineage.models.iter().map(model).collect::<Vec<_>>());
    keys.put("warnings", lineage.warnings.clone());
    keys.into()
}

/// What was asked for, as it is spelled; empty for all models.
pub(super) fn target(lineage: &Lineage) -> String {
    std::iter::once(lineage.model.as_str()).chain(lineage.column.as_deref()).collect::<Vec<_>>().join(".")
}

fn mode(mode: LineageMode) -> &'static str {
    match mode {
        LineageMode::Overview => "overview",
        LineageMode::Model => "model",
        LineageMode::Column => "column",
    }
}

fn model(model: &LineageModel) -> Value {
    json!({
        "name": model.name,
        "columns": model.columns,
        "dependencies": model.dependencies,
        "column_lineage": model.column_lineage,
    })
}
