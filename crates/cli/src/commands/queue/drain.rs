//! `ondatrasql queue drain`: delivers without running models.

use std::process::ExitCode;

use runtime::{DrainOptions, Drained, DrainedTarget, RunError, Status, new_run_id};
use serde_json::{Value, json};

use super::{document, options_in};
use crate::args::QueueDrainArgs;
use crate::commands::run::{milliseconds, one_line, push_counts, push_line, status_word};
use crate::error::{CliError, tell};
use crate::invocation::Invocation;
use crate::log::{Fields, Level, fields};
use crate::metrics::{CommandMetrics, Measured};
use crate::signals::cancel_on_signal;
use crate::trace::{Ended, Trace};
use crate::ui::{Color, Ui};

pub(crate) fn drain(args: &QueueDrainArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    let invocation = Invocation::enter(ui)?;
    let metrics = CommandMetrics::prepare(Measured::Drain, args.metrics_file.as_deref(), &invocation)?;
    let run_id = new_run_id();
    ui.log().set_run(&run_id);
    let trace = Trace::start("queue drain", &invocation.environment, ui);
    let options = DrainOptions {
        queue: options_in(invocation, args.wait.state_wait, ui)?,
        target: args.target.clone(),
        run_id: run_id.clone(),
        steps: trace.as_ref().map(Trace::sink).unwrap_or_default(),
        looks_at_queue: metrics.is_some(),
    };
    cancel_on_signal(&options.queue.cancellation)?;
    let drained = runtime::drain(&options, &mut |target| {
        if let Some(trace) = &trace {
            trace.target_drained(target, ui);
        }
        tell_target(ui, target);
    });
    let ended = match &drained {
        Ok(drained) => report(args, ui, drained),
        Err(_) => Ok(ExitCode::FAILURE),
    };
    if let Some(metrics) = metrics {
        metrics.write_drain(drained.as_ref(), ui);
    }
    if let Some(trace) = trace {
        trace.finish(&run_id, args.target.as_deref(), drained.as_ref().map(Ended::from), ui);
    }
    drained?;
    ended
}

/// Tells what became of a target: lines for people, or objects of the log, of which the first has it all.
fn tell_target(ui: &Ui, target: &DrainedTarget) {
    let named = || fields([("target", target.target.to_string().into())]);
    let mut known = named();
    known.insert("status".into(), status_word(target.status()).into());
    known.insert("duration_ms".into(), milliseconds(target.duration));
    known.extend(target.report.iter().flat_map(push_counts).map(|(key, count)| (key.to_owned(), count.into())));
    for (level, line) in lines(ui, target) {
        ui.progress(level, &line, std::mem::replace(&mut known, named()));
    }
}

fn report(args: &QueueDrainArgs, ui: &Ui, drained: &Drained) -> Result<ExitCode, CliError> {
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
    finish(ui, drained, args.target.is_some())
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
    let status = match drained.status() {
        Status::Failed => ui.paint("[FAILED]", Color::Red),
        Status::Skip => ui.paint("[SKIP]", Color::Yellow),
        Status::Ok => ui.paint("[OK]", Color::Green),
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
    let count = |count: fn(&runtime::PushReport) -> u64| report.map(count);
    json!({
        "target": drained.target.to_string(),
        "status": status_word(drained.status()),
        "push_delivered": count(|report| report.delivered),
        "push_rejected": count(|report| report.rejected),
        "push_retry": count(|report| report.to_retry),
        "push_pending": count(|report| report.pending),
        "push_dead": count(|report| report.dead),
        "errors": drained.error.iter().map(|error| ui.redact(&error.to_string())).collect::<Vec<_>>(),
        "warnings": warnings(ui, drained),
    })
}
