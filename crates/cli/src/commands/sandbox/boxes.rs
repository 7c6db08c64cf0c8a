//! The boxes of a sandbox: of one model, and of all (chapter 05 §4.3).

use runtime::{Comparison, Impact, ModelOutcome, RunError, SandboxModel, SandboxSummary, Stage, Status};

use super::super::findings::{error_line, rows_line, warning_line};
use super::super::run::{forecast_line, one_line, run_line};
use super::diff::{diff_lines, short_lines};
use crate::output::Frame;
use crate::ui::{Color, Ui};

/// The box of one model.
pub(super) fn one_model(ui: &Ui, summary: &SandboxSummary, outcome: &ModelOutcome) {
    let mut frame = Frame::new(ui, "SANDBOX MODE");
    frame.entry(&format!("Target: {}", one_line(&outcome.target.to_string())), None);
    let model = summary.models.first();
    let depends = model.map_or_else(String::new, |model| model.depends.join(", "));
    frame.entry(&format!("Depends: {}", if depends.is_empty() { "(none)" } else { &depends }), None);
    frame.section("Result");
    execution(&mut frame, ui, outcome);
    if let Some(model) = model {
        checks(&mut frame, model, outcome);
    }
    if let Some(comparison) = model.and_then(|model| model.comparison.as_ref()) {
        frame.section("Diff vs Prod");
        for (line, color) in diff_lines(ui, comparison) {
            frame.entry(&line, color);
        }
    }
    if let Some(impact) = &summary.impact {
        frame.section("Downstream Impact");
        frame.entries(&impact_lines(impact), None);
    }
    frame.print();
}

/// The box of all models.
pub(super) fn all_models(ui: &Ui, summary: &SandboxSummary) {
    let outcomes = &summary.run.outcomes;
    let compared = || outcomes.iter().zip(summary.models.iter().map(|model| model.comparison.as_ref()));
    let mut frame = Frame::new(ui, "SANDBOX DAG RUN");
    frame.entry(&format!("Models: {}", outcomes.len()), None);
    frame.section("Execution");
    for outcome in outcomes {
        execution(&mut frame, ui, outcome);
    }
    frame.section("Summary");
    let is_changed = |comparison: Option<&Comparison>| comparison.is_some_and(Comparison::is_changed);
    let changed = compared().filter(|(_, comparison)| is_changed(*comparison)).count();
    let failed = summary.run.count(Status::Failed);
    let warned = compared().filter(|(outcome, comparison)| has_warnings(outcome, *comparison)).count();
    frame.entry(&format!("Unchanged: {} models", outcomes.len().saturating_sub(changed + failed)), None);
    frame.entry(&format!("Changed:   {changed} models"), None);
    for (name, count, color) in [("Failed:   ", failed, Color::Red), ("Warnings: ", warned, Color::Yellow)] {
        if count > 0 {
            frame.entry(&format!("{name} {count} models"), Some(color));
        }
    }
    if changed > 0 {
        frame.section("Changes");
        for (outcome, comparison) in compared().filter(|(_, comparison)| is_changed(*comparison)) {
            frame.entry(&one_line(&outcome.target.to_string()), None);
            for (line, color) in comparison.map(|comparison| short_lines(ui, comparison)).into_iter().flatten() {
                frame.entry(&format!("  {line}"), color);
            }
        }
    }
    if failed > 0 {
        frame.section("Failed");
        for outcome in outcomes.iter().filter(|outcome| outcome.status() == Status::Failed) {
            frame.entry(&one_line(&outcome.target.to_string()), None);
            frame.entries(&errors(ui, outcome), Some(Color::Red));
        }
    }
    frame.print();
}

fn has_warnings(outcome: &ModelOutcome, comparison: Option<&Comparison>) -> bool {
    !outcome.warnings.is_empty() || comparison.is_some_and(|comparison| !comparison.problems.is_empty())
}

fn errors(ui: &Ui, outcome: &ModelOutcome) -> Vec<String> {
    outcome.error.iter().flat_map(RunError::texts).map(|text| error_line(ui, &text)).collect()
}

/// The line of a model's run, and what is below it.
fn execution(frame: &mut Frame<'_>, ui: &Ui, outcome: &ModelOutcome) {
    let (status, color) = match outcome.status() {
        Status::Ok => ("[OK]", None),
        Status::Skip => ("[SKIP]", None),
        Status::Failed => ("[FAILED]", Some(Color::Red)),
    };
    frame.entry(&run_line(status, outcome), color);
    if let Some(forecast) = &outcome.forecast {
        frame.entry(&forecast_line(forecast), None);
    }
    frame.entries(&errors(ui, outcome), Some(Color::Red));
    let warnings: Vec<String> = outcome.warnings.iter().map(|text| warning_line(ui, text)).collect();
    frame.entries(&warnings, Some(Color::Yellow));
    let rows: Vec<String> = outcome.findings.iter().filter_map(|finding| rows_line(ui, finding)).collect();
    frame.entries(&rows, None);
}

/// What the checks of a model said.
fn checks(frame: &mut Frame<'_>, model: &SandboxModel, outcome: &ModelOutcome) {
    let names = ["Constraints", "Audits", "Warnings"];
    for (name, count) in names.into_iter().zip(model.checks).filter(|(_, count)| *count > 0) {
        let found = outcome.findings.iter().filter(|finding| finding.stage == Stage::Warning).count();
        let text = match (outcome.status(), name) {
            // Its findings are in the error.
            (Status::Failed, _) => continue,
            (Status::Skip, _) => format!("{count} not evaluated (model skipped)"),
            (Status::Ok, "Warnings") if found > 0 => format!("{found} triggered"),
            (Status::Ok, "Warnings") => format!("{count} checked, 0 triggered"),
            (Status::Ok, _) => format!("{count} passed"),
        };
        frame.entry(&format!("{name}: {text}"), None);
    }
}

fn impact_lines(impact: &Result<Impact, String>) -> Vec<String> {
    let Ok(Impact { affected, transitive }) = impact else { return vec!["(unable to analyze)".into()] };
    if affected.is_empty() {
        return vec!["No downstream models affected".into()];
    }
    let mut lines = vec![format!("{} model(s) affected:", affected.len())];
    for model in affected {
        lines.push(format!("→ {} [REBUILD]", one_line(&model.target)));
        lines.push(format!("    Reason: {}", one_line(&model.reason)));
        let lists = [
            ("Affected", model.columns.join(", ")),
            ("Source", model.sources.join(", ")),
            ("Transforms", model.transforms.join(", ")),
        ];
        let told = lists.into_iter().filter(|(_, list)| !list.is_empty());
        lines.extend(told.map(|(name, list)| format!("    {name}: {}", one_line(&list))));
    }
    if !transitive.is_empty() {
        lines.push(format!("Transitive impact: +{} model(s)", transitive.len()));
        for model in transitive {
            lines.push(format!("↳ {}", one_line(&model.target)));
            lines.push(format!("    Via: {}", one_line(&model.via)));
        }
    }
    lines
}
