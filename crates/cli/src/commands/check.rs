//! `ondatrasql check`: the checks of models on their present tables.

use std::process::ExitCode;
use std::time::Instant;

use runtime::{Cancellation, CheckOptions, CheckedModel, Stage};
use serde_json::json;

use super::findings::{error_line, finding_record, rows_line, warning_line};
use super::run::one_line;
use crate::args::CheckArgs;
use crate::duration::format;
use crate::error::CliError;
use crate::invocation::Invocation;
use crate::signals::cancel_on_signal;
use crate::ui::{Color, Ui};

pub(crate) fn check(args: CheckArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    let clock = Instant::now();
    let invocation = Invocation::enter(ui)?;
    let cancellation = Cancellation::default();
    cancel_on_signal(&cancellation)?;
    let options = CheckOptions {
        session: invocation.session_options(),
        root: invocation.root,
        cwd: invocation.cwd,
        environment: invocation.environment,
        models: args.models,
        store_failures: args.store_failures,
        state_wait: args.state_wait,
        cancellation,
    };
    let mut written = Ok(());
    let checked = runtime::check(&options, &mut |model| {
        if !ui.json {
            for line in lines(ui, model) {
                ui.line(&line);
            }
        } else if written.is_ok() {
            written = ui.result(&record(ui, model));
        }
    })?;
    let failed = checked.iter().filter(|model| model.has_failed()).count();
    if options.models.len() != 1 {
        ui.line(&if checked.is_empty() {
            "No model has checks.".to_owned()
        } else {
            let with_table = checked.iter().filter(|model| model.has_table).count();
            format!("\nDone: {with_table} checked, {failed} failed ({})", format(clock.elapsed()))
        });
    }
    match written {
        // A reader that is gone does not make what was found a success.
        Err(error) if !matches!(error, CliError::ClosedPipe) => Err(error),
        _ if failed > 0 => Ok(ExitCode::FAILURE),
        _ => Ok(ExitCode::SUCCESS),
    }
}

fn lines(ui: &Ui, model: &CheckedModel) -> Vec<String> {
    let target = one_line(&model.target.to_string());
    if !model.has_table {
        return vec![format!("{} {target} (no table yet)", ui.paint("[SKIP]", Color::Yellow))];
    }
    let status = if model.has_failed() { ui.paint("[FAILED]", Color::Red) } else { ui.paint("[OK]", Color::Green) };
    let mut lines = vec![format!("{status} {target} ({}, {})", counts(model), format(model.duration))];
    lines.extend(model.refused.iter().map(|text| error_line(ui, text)));
    for report in &model.reports {
        let line = if report.stage == Stage::Warning { warning_line } else { error_line };
        lines.extend(report.texts().iter().map(|text| line(ui, text)));
        lines.extend(report.findings.iter().filter_map(|finding| rows_line(ui, finding)));
    }
    lines.extend(model.notes.iter().map(|note| warning_line(ui, note)));
    if let Some((table, rows)) = &model.stored {
        lines.push(format!("  STORED: {rows} rows in {table}"));
    }
    lines
}

/// `2 constraints, 1 audit`.
fn counts(model: &CheckedModel) -> String {
    let count = |report: &runtime::StageReport| {
        format!("{} {}{}", report.checked, report.stage, if report.checked == 1 { "" } else { "s" })
    };
    match model.reports.iter().map(count).collect::<Vec<_>>() {
        counts if counts.is_empty() => "no checks".to_owned(),
        counts => counts.join(", "),
    }
}

fn record(ui: &Ui, model: &CheckedModel) -> String {
    let status = match model {
        CheckedModel { has_table: false, .. } => "skip",
        model if model.has_failed() => "error",
        _ => "ok",
    };
    let texts = |is_warning: bool| {
        let reports = model.reports.iter().filter(move |report| (report.stage == Stage::Warning) == is_warning);
        reports.flat_map(runtime::StageReport::texts).map(|text| ui.redact(&text)).collect::<Vec<_>>()
    };
    let notes = model.notes.iter().map(|note| ui.redact(note));
    let mut record = json!({
        "schema_version": 1,
        "model": model.target.to_string(),
        "status": status,
        "duration_ms": u64::try_from(model.duration.as_millis()).unwrap_or(u64::MAX),
        "checks": model.reports.iter().map(|report| report.checked).sum::<usize>(),
        "errors": model.refused.iter().map(|text| ui.redact(text)).chain(texts(false)).collect::<Vec<_>>(),
        "warnings": texts(true).into_iter().chain(notes).collect::<Vec<_>>(),
        "findings": model.findings().map(|finding| finding_record(ui, finding)).collect::<Vec<_>>(),
    });
    if let (Some((table, rows)), Some(map)) = (&model.stored, record.as_object_mut()) {
        map.insert("stored".into(), json!({"table": table.to_string(), "rows": rows}));
    }
    record.to_string()
}
