//! A run as objects of the log (`--log-format json`).

use runtime::{ModelOutcome, RunSummary, Stage, Status};

use super::findings::rows_line;
use super::run::{milliseconds, one_line, push_counts, run_line, status_word};
use crate::error::tell;
use crate::log::{Fields, Level, fields, place_fields};
use crate::ui::Ui;

/// What an object of the log tells of a whole run.
pub(super) fn summary_fields(summary: &RunSummary) -> Fields {
    fields([
        ("models_ok", summary.count(Status::Ok).into()),
        ("models_skipped", summary.count(Status::Skip).into()),
        ("models_failed", summary.count(Status::Failed).into()),
        ("rows", summary.rows().into()),
        ("duration_ms", milliseconds(summary.duration)),
    ])
}

/// Says that models begin, to people or in the log.
pub(super) fn log_start(ui: &Ui, models: usize) {
    ui.progress(Level::Info, &format!("Running {models} models..."), fields([("models", models.into())]));
}

/// A model's run as objects of the log: the run, then what is to be said of it.
pub(super) fn log_model(ui: &Ui, outcome: &ModelOutcome) {
    let target = || fields([("target", outcome.target.to_string().into())]);
    let status = outcome.status();
    let (level, word) = match status {
        Status::Ok => (Level::Info, "[OK]"),
        Status::Skip => (Level::Info, "[SKIP]"),
        Status::Failed => (Level::Error, "[FAILED]"),
    };
    let mut known = target();
    known.extend(fields([
        ("kind", outcome.kind.as_str().into()),
        ("status", status_word(status).into()),
        ("run_type", outcome.run_type.map(types::RunType::as_str).into()),
        ("reason", Some(outcome.reason.as_str()).filter(|reason| !reason.is_empty()).into()),
        ("rows", outcome.rows.into()),
        ("duration_ms", milliseconds(outcome.duration)),
    ]));
    known.extend(outcome.push.iter().flat_map(push_counts).map(|(key, count)| (key.to_owned(), count.into())));
    ui.progress(level, &run_line(word, outcome), known);
    if let Some(error) = &outcome.error {
        tell("", error, target(), ui);
    }
    for warning in &outcome.warnings {
        ui.say(Level::Warn, "", &one_line(warning), target());
    }
    for (finding, line) in outcome.findings.iter().filter_map(|finding| Some((finding, rows_line(ui, finding)?))) {
        let level = if finding.stage == Stage::Warning { Level::Warn } else { Level::Error };
        ui.say(level, "", &line, [target(), place_fields(&finding.place)].into_iter().flatten().collect());
    }
}
