//! `ondatrasql queue drain`: delivers without running models.

use std::process::ExitCode;

use runtime::{Drained, DrainedTarget, RunError};
use serde_json::{Value, json};

use super::{document, options};
use crate::args::QueueDrainArgs;
use crate::commands::run::{one_line, push_line};
use crate::error::{CliError, tell};
use crate::log::{Fields, Level, fields};
use crate::signals::cancel_on_signal;
use crate::ui::{Color, Ui};

pub(crate) fn drain(args: &QueueDrainArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    let options = options(args.wait.state_wait, ui)?;
    cancel_on_signal(&options.cancellation)?;
    let drained = runtime::drain(&options, args.target.as_deref(), &mut |target| {
        for (level, line) in lines(ui, target) {
            ui.progress(level, &line, fields([("target", target.target.to_string().into())]));
        }
    })?;
    if drained.targets.is_empty() && !drained.interrupted {
        ui.progress(Level::Info, "No model pushes.", Fields::new());
    }
    if ui.json {
        let targets: Vec<Value> = drained.targets.iter().map(|target| record(ui, target)).collect();
        match ui.result(&document(json!({"targets": targets}), &[])) {
            // A reader that is gone does not make a failed delivery a success.
            Ok(()) | Err(CliError::ClosedPipe) => {}
            Err(error) => return Err(error),
        }
    }
    finish(ui, &drained, args.target.is_some())
}

fn finish(ui: &Ui, drained: &Drained, is_single: bool) -> Result<ExitCode, CliError> {
    if drained.interrupted {
        return Err(RunError::Interrupted.into());
    }
    let failed: Vec<(&DrainedTarget, &RunError)> =
        drained.targets.iter().filter_map(|target| Some((target, target.error.as_ref()?))).collect();
    for (target, error) in &failed {
        // Some errors name it themselves.
        let is_named = is_single || error.to_string().starts_with(&format!("{}:", target.target));
        let context = if is_named { String::new() } else { format!("{}: ", target.target) };
        tell(&context, *error, fields([("target", target.target.to_string().into())]), ui);
    }
    match failed.len() {
        0 => Ok(ExitCode::SUCCESS),
        1 => Ok(ExitCode::FAILURE),
        many => Err(CliError::Summary(format!("{many} target(s) failed"))),
    }
}

fn lines(ui: &Ui, drained: &DrainedTarget) -> Vec<(Level, String)> {
    let status = match (&drained.error, &drained.report) {
        (Some(_), _) => ui.paint("[FAILED]", Color::Red),
        (None, None) => ui.paint("[SKIP]", Color::Yellow),
        (None, Some(_)) => ui.paint("[OK]", Color::Green),
    };
    let level = if drained.error.is_some() { Level::Error } else { Level::Info };
    let mut lines = vec![(level, format!("{status} {}", drained.target))];
    lines.extend(drained.report.iter().map(|report| (Level::Info, push_line(report))));
    let error = |error: &RunError| format!("  ERROR: {}", one_line(&ui.redact(&error.to_string())));
    // The log has it once, where it is told with its code.
    lines.extend(drained.error.iter().filter(|_| !ui.logs_json()).map(|one| (Level::Error, error(one))));
    let warning = |warning: &String| (Level::Warn, format!("  WARN: {}", one_line(warning)));
    lines.extend(warnings(ui, drained).iter().map(warning));
    lines
}

fn warnings(ui: &Ui, drained: &DrainedTarget) -> Vec<String> {
    let Some(report) = &drained.report else {
        let has_table = drained.error.is_some();
        return if has_table { Vec::new() } else { vec!["it has no table yet: run its model".into()] };
    };
    report.texts().iter().map(|text| ui.redact(text)).collect()
}

fn record(ui: &Ui, drained: &DrainedTarget) -> Value {
    let report = drained.report.as_ref();
    let status = match (&drained.error, report) {
        (Some(_), _) => "error",
        (None, None) => "skip",
        (None, Some(_)) => "ok",
    };
    let count = |count: fn(&runtime::PushReport) -> u64| report.map(count);
    json!({
        "target": drained.target.to_string(),
        "status": status,
        "push_delivered": count(|report| report.delivered),
        "push_rejected": count(|report| report.rejected),
        "push_retry": count(|report| report.to_retry),
        "push_pending": count(|report| report.pending),
        "push_dead": count(|report| report.dead),
        "errors": drained.error.iter().map(|error| ui.redact(&error.to_string())).collect::<Vec<_>>(),
        "warnings": warnings(ui, drained),
    })
}
