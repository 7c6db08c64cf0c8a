//! Models in metrics: those of a run, and those of a sandbox, which have names of their own.

use runtime::{Comparison, ModelOutcome, RunSummary, SandboxSummary, Status};

use super::Measured;
use super::page::{Page, number, one, truth};

/// The numbers of models and rows; those of a run that could not begin are 0.
pub(super) fn totals(page: &mut Page, summary: Option<&RunSummary>) {
    let word = page.measured.word();
    let rows = summary.map_or(0, |summary| u64::try_from(summary.rows()).unwrap_or(0));
    page.own("rows", &format!("Rows that the last {word} wrote."), one(number(rows)));
    let count = |status| summary.map_or(0, |summary| summary.count(status)) as u64;
    page.own(
        "models",
        &format!("Models of the last {word} by how they ended."),
        [("ok", Status::Ok), ("skipped", Status::Skip), ("failed", Status::Failed)]
            .map(|(word, status)| ([("status", word)], number(count(status)))),
    );
}

/// What became of each model.
pub(super) fn each(page: &mut Page, outcomes: &[ModelOutcome]) {
    let of_sandbox = page.measured == Measured::Sandbox;
    let (prefix, place) =
        if of_sandbox { ("ondatrasql_sandbox_model", " in the last sandbox") } else { ("ondatrasql_model", "") };
    let targets: Vec<(String, &ModelOutcome)> =
        outcomes.iter().map(|outcome| (outcome.target.to_string(), outcome)).collect();
    let mut of_each = |name: &str, help: &str, value: &dyn Fn(&ModelOutcome) -> f64| {
        page.metrics.gauge(
            &format!("{prefix}_{name}"),
            &format!("{help}{place}."),
            targets.iter().map(|(target, outcome)| ([("target", target.as_str())], value(outcome))),
        );
    };
    of_each("duration_seconds", "How long the turn of a model took", &|outcome| outcome.duration.as_secs_f64());
    of_each("rows", "Rows of the result of a model", &|outcome| number(u64::try_from(outcome.rows).unwrap_or(0)));
    of_each("failed", "Whether a model failed", &|outcome| truth(outcome.status() == Status::Failed));
}

/// Which tables of a sandbox differ from production's; not of models that failed.
pub(super) fn changes(page: &mut Page, summary: &SandboxSummary) {
    let compared: Vec<(String, bool)> = summary
        .run
        .outcomes
        .iter()
        .zip(&summary.models)
        .filter_map(|(outcome, model)| {
            let comparison = model.comparison.as_ref()?;
            Some((outcome.target.to_string(), Comparison::is_changed(comparison)))
        })
        .collect();
    page.own(
        "model_changed",
        "Whether the table of a model differs from that of production in the last sandbox.",
        compared.iter().map(|(target, is_changed)| ([("target", target.as_str())], truth(*is_changed))),
    );
}
