//! `ondatrasql run`: lines for people, records for programs (chapter 05 §2).

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use runtime::{
    Cancellation, CheckFinding, ModelOutcome, Observer, PushForecast, PushReport, RunError, RunOptions, RunSummary,
    Stage, Status, Wish, new_run_id, select_model,
};
use serde_json::{Map, Value, json};
use types::{Kind, Target};

use super::findings::{error_line, finding_record, rows_line, warning_line};
use super::model_log::{log_model, log_start, summary_fields};
use super::state::state_opener;
use crate::args::RunArgs;
use crate::duration::format;
use crate::error::{CliError, tell};
use crate::invocation::Invocation;
use crate::log::{Level, fields};
use crate::metrics::{CommandMetrics, Measured};
use crate::progress::Progress;
use crate::signals::cancel_on_signal;
use crate::trace::{Ended, Trace};
use crate::ui::{Color, Ui};

pub(crate) fn run(args: RunArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    let invocation = Invocation::enter(ui)?;
    let cancellation = Cancellation::default();
    cancel_on_signal(&cancellation)?;
    let metrics = CommandMetrics::prepare(Measured::Run, args.metrics_file.as_deref(), &invocation)?;
    let session = invocation.session_options();
    if args.full_refresh && !args.yes {
        confirm_refresh(&invocation, args.model.as_deref().unwrap_or_default(), ui)?;
    }
    if args.keep {
        check_keep(&invocation, args.model.as_deref().unwrap_or_default())?;
    }
    let open_state = state_opener(&invocation.root, &invocation.environment, &session, args.state_wait)?;
    let run_id = new_run_id();
    ui.log().set_run(&run_id);
    let trace = Trace::start("run", &invocation.environment, ui);
    let options = RunOptions {
        wish: match (args.full_refresh, args.keep) {
            (true, _) => Some(Wish::FullRefresh),
            (_, true) => Some(Wish::Keep),
            _ => None,
        },
        model: args.model,
        state_wait: args.state_wait,
        open_state,
        redactor: ui.redactor(),
        output: Arc::new({
            let log = ui.log();
            move |line| log.printed(line)
        }),
        jobs: usize::from(args.jobs),
        waits: !args.no_wait,
        root: invocation.root,
        cwd: invocation.cwd,
        environment: invocation.environment,
        session,
        cancellation,
        run_id,
        steps: trace.as_ref().map(Trace::sink).unwrap_or_default(),
        looks_at_queue: metrics.is_some(),
    };
    let mut report = Report { ui, single: options.model.is_some(), progress: None, trace: trace.as_ref() };
    let ran = runtime::run(&options, &mut report);
    report.progress = None;
    let ended = match &ran {
        Ok(summary) => report.finish(&options, summary),
        Err(_) => Ok(ExitCode::FAILURE),
    };
    if let Some(metrics) = metrics {
        metrics.write_run(ran.as_ref(), ui);
    }
    if let Some(trace) = trace {
        trace.finish(&options.run_id, options.model.as_deref(), ran.as_ref().map(Ended::from), ui);
    }
    ran?;
    ended
}

/// A rebuild of anything but a `table` may lose rows for good, so it is asked for twice.
fn confirm_refresh(invocation: &Invocation, model: &str, ui: &Ui) -> Result<(), CliError> {
    let model = select_model(&invocation.root, &invocation.cwd, model)?;
    if model.kind == Kind::Table {
        return Ok(());
    }
    let question = format!("Rebuild {} ({}) and lose what its query does not give any more?", model.target, model.kind);
    match ui.ask(&question) {
        Some(true) => Ok(()),
        Some(false) => Err(CliError::Summary("nothing was rebuilt".into())),
        None => Err(CliError::usage(
            format!("--full-refresh of a {} model needs --yes without a terminal", model.kind),
            "add --yes if rows that the query does not give any more may be lost",
        )),
    }
}

/// Only an append table holds rows that a run keeps whatever its query gives.
fn check_keep(invocation: &Invocation, model: &str) -> Result<(), CliError> {
    let model = select_model(&invocation.root, &invocation.cwd, model)?;
    if model.kind == Kind::Append {
        return Ok(());
    }
    Err(CliError::usage(
        format!("--keep is for append models, {} is {}", model.target, model.kind),
        "run it without --keep: merge and scd2 keep their rows anyway, table and tracked follow their query",
    ))
}

struct Report<'a> {
    ui: &'a Ui,
    /// One model was named: no header, no Done line.
    single: bool,
    progress: Option<Progress>,
    trace: Option<&'a Trace>,
}

impl Observer for Report<'_> {
    fn started(&mut self, models: usize) {
        if models > 0 && !self.single {
            log_start(self.ui, models);
        }
        self.progress = Some(Progress::new(self.ui, models));
    }

    fn model_started(&mut self, target: &Target) {
        if let Some(progress) = &self.progress {
            progress.begin(one_line(&target.to_string()));
        }
    }

    fn model_waits(&mut self, target: &Target) {
        let target = one_line(&target.to_string());
        let text = format!("{} {target}", self.ui.paint("[WAIT]", Color::Yellow));
        let known = || fields([("target", target.as_str().into()), ("status", "wait".into())]);
        let print = || self.ui.progress(Level::Info, &text, known());
        match &self.progress {
            Some(progress) => progress.suspend(print),
            None => print(),
        }
    }

    fn model_finished(&mut self, outcome: &ModelOutcome) {
        if let Some(trace) = self.trace {
            trace.model_finished(outcome, self.ui);
        }
        if self.ui.logs_json() {
            return log_model(self.ui, outcome);
        }
        let print = || {
            for line in lines(self.ui, outcome) {
                self.ui.line(&line);
            }
        };
        match &self.progress {
            Some(progress) => {
                progress.suspend(print);
                progress.advance();
            }
            None => print(),
        }
    }
}

impl Report<'_> {
    fn finish(&self, options: &RunOptions, summary: &RunSummary) -> Result<ExitCode, CliError> {
        if self.ui.json {
            let record = |outcome| Value::from(record(self.ui, outcome, summary)).to_string();
            let warnings = summary.warnings.iter().map(|message| dag_warning(self.ui, message));
            let records: Vec<String> = warnings.chain(summary.outcomes.iter().map(record)).collect();
            if !records.is_empty() {
                match self.ui.result(&records.join("\n")) {
                    // A reader that is gone does not make a failed run a success.
                    Ok(()) | Err(CliError::ClosedPipe) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        if !self.single {
            let text = if summary.outcomes.is_empty() && !summary.interrupted {
                format!("No models found in {}", options.root.join("models").display())
            } else {
                done_line(summary)
            };
            self.ui.progress(Level::Info, &text, summary_fields(summary));
        }
        conclude(self.ui, summary, self.single, self.ui.logs_json())
    }
}

/// What went wrong with state and leftovers, as a record.
pub(super) fn dag_warning(ui: &Ui, message: &str) -> String {
    json!({"schema_version": 1, "kind": "dag_warning", "source": "_gc", "message": ui.redact(message)}).to_string()
}

/// Tells what went wrong, and with which code a run ends; `are_told` if what models failed with was told already.
pub(super) fn conclude(ui: &Ui, summary: &RunSummary, is_single: bool, are_told: bool) -> Result<ExitCode, CliError> {
    if summary.interrupted {
        return Err(RunError::Interrupted.into());
    }
    for outcome in summary.outcomes.iter().filter(|_| !are_told) {
        if let Some(error) = &outcome.error {
            let context = if is_single { String::new() } else { format!("{}: ", outcome.target) };
            tell(&context, error, fields([("target", outcome.target.to_string().into())]), ui);
        }
    }
    for warning in &summary.warnings {
        ui.warn(&one_line(&ui.message(warning)));
    }
    match summary.count(Status::Failed) {
        0 if !summary.warnings.is_empty() => Ok(ExitCode::FAILURE),
        0 => Ok(ExitCode::SUCCESS),
        1 => Ok(ExitCode::FAILURE),
        many => Err(CliError::Summary(format!("{many} model(s) failed"))),
    }
}

pub(super) fn done_line(summary: &RunSummary) -> String {
    let count = |status| summary.count(status);
    format!(
        "\nDone: {} ran, {} skipped, {} failed ({} rows, {})",
        count(Status::Ok),
        count(Status::Skip),
        count(Status::Failed),
        summary.rows(),
        format(summary.duration)
    )
}

pub(super) fn milliseconds(duration: Duration) -> Value {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX).into()
}

/// How records name the end of a model.
pub(crate) fn status_word(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok",
        Status::Skip => "skip",
        Status::Failed => "error",
    }
}

/// What was delivered, as records name it.
pub(super) fn push_counts(push: &PushReport) -> [(&'static str, u64); 5] {
    [
        ("push_delivered", push.delivered),
        ("push_rejected", push.rejected),
        ("push_retry", push.to_retry),
        ("push_pending", push.pending),
        ("push_dead", push.dead),
    ]
}

/// The line of a model's run.
pub(super) fn run_line(status: &str, outcome: &ModelOutcome) -> String {
    let reason = if outcome.reason.is_empty() { String::new() } else { format!(" — {}", outcome.reason) };
    let target = one_line(&outcome.target.to_string());
    match outcome.run_type {
        None => format!("{status} {target}"),
        Some(run_type) => format!(
            "{status} {target} ({}, {run_type}, {} rows, {}{reason})",
            outcome.kind,
            outcome.rows,
            format(outcome.duration)
        ),
    }
}

fn lines(ui: &Ui, outcome: &ModelOutcome) -> Vec<String> {
    let status = match outcome.status() {
        Status::Ok => ui.paint("[OK]", Color::Green),
        Status::Skip => ui.paint("[SKIP]", Color::Yellow),
        Status::Failed => ui.paint("[FAILED]", Color::Red),
    };
    let mut lines = vec![run_line(&status, outcome)];
    lines.extend(outcome.push.iter().map(push_line));
    lines.extend(outcome.error.iter().flat_map(RunError::texts).map(|text| error_line(ui, &text)));
    let is_warning = |finding: &&CheckFinding| finding.stage == Stage::Warning;
    lines.extend(
        outcome.findings.iter().filter(|finding| !is_warning(finding)).filter_map(|found| rows_line(ui, found)),
    );
    lines.extend(outcome.warnings.iter().map(|text| warning_line(ui, text)));
    lines.extend(outcome.findings.iter().filter(is_warning).filter_map(|found| rows_line(ui, found)));
    lines
}

/// What was delivered to a target.
pub(super) fn push_line(push: &PushReport) -> String {
    let PushReport { delivered, rejected, to_retry, pending, dead, .. } = push;
    let dead = if *dead > 0 {
        format!(", {}", super::queue::counted(*dead, "dead letter", "dead letters"))
    } else {
        String::new()
    };
    format!("  PUSH: {delivered} delivered, {rejected} rejected, {to_retry} to retry, {pending} pending{dead}")
}

/// What would be delivered to a target.
pub(super) fn forecast_line(forecast: &PushForecast) -> String {
    let PushForecast { lib, events, queued } = forecast;
    format!("  PUSH: {events} event(s) would be pushed to {lib}, {queued} already queued (nothing sent)")
}

/// A text of several lines as one.
pub(crate) fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The record of a model's run.
pub(super) fn record(ui: &Ui, outcome: &ModelOutcome, summary: &RunSummary) -> Map<String, Value> {
    let record = json!({
        "schema_version": 2,
        "model": outcome.target.to_string(),
        "kind": outcome.kind.as_str(),
        "run_type": outcome.run_type.map_or("", types::RunType::as_str),
        "run_reason": outcome.reason,
        "rows_affected": outcome.rows,
        "duration_ms": milliseconds(outcome.duration),
        "status": status_word(outcome.status()),
        "errors": outcome.error.iter().flat_map(RunError::texts).map(|text| ui.redact(&text)).collect::<Vec<_>>(),
        "warnings": outcome.warnings.iter().map(|warning| ui.redact(warning)).collect::<Vec<_>>(),
        "dag_run_id": summary.dag_run_id,
    });
    let Value::Object(mut record) = record else { return Map::new() };
    if outcome.reason.is_empty() {
        record.shift_remove("run_reason");
    }
    if !outcome.findings.is_empty() {
        record.insert("findings".into(), outcome.findings.iter().map(|found| finding_record(ui, found)).collect());
    }
    if let Some(push) = &outcome.push {
        record.extend(push_counts(push).map(|(key, count)| (key.to_owned(), count.into())));
    }
    record
}
