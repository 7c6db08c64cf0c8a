//! `ondatrasql sandbox`: a run against a fork of the lake, compared with production (chapter 05 §4).

mod boxes;
mod diff;
mod records;

use std::process::ExitCode;
use std::sync::Arc;

use project::check_state_key;
use runtime::{
    Cancellation, ModelOutcome, Observer, RunError, RunOptions, SandboxOptions, SandboxSummary, new_run_id,
    sandbox as run_sandbox,
};
use types::Target;

use super::model_log::{log_model, log_start, summary_fields};
use super::run::{conclude, done_line, one_line};
use super::state::{state_config, state_opener};
use crate::args::SandboxArgs;
use crate::error::CliError;
use crate::invocation::Invocation;
use crate::log::Level;
use crate::metrics::{CommandMetrics, Measured};
use crate::progress::Progress;
use crate::signals::cancel_on_signal;
use crate::trace::{Ended, Trace};
use crate::ui::Ui;

/// How many models fetch at a time, as in `run`.
const JOBS: usize = 4;

pub(crate) fn sandbox(args: SandboxArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    let invocation = Invocation::enter(ui)?;
    let cancellation = Cancellation::default();
    cancel_on_signal(&cancellation)?;
    let session = invocation.session_options();
    let metrics = CommandMetrics::prepare(Measured::Sandbox, args.metrics_file.as_deref(), &invocation)?;
    let state = state_config(&invocation, args.state_wait)?;
    let open_state = state_opener(&invocation.root, &invocation.environment, &session, args.state_wait)?;
    let run_id = new_run_id();
    ui.log().set_sandbox(&run_id);
    let trace = Trace::start("sandbox", &invocation.environment, ui);
    let run = RunOptions {
        wish: None,
        model: args.model,
        state_wait: args.state_wait,
        open_state,
        redactor: ui.redactor(),
        output: Arc::new({
            let log = ui.log();
            move |line| log.printed(line)
        }),
        jobs: JOBS,
        waits: true,
        root: invocation.root,
        cwd: invocation.cwd,
        environment: invocation.environment,
        session,
        cancellation,
        run_id: run_id.clone(),
        steps: trace.as_ref().map(Trace::sink).unwrap_or_default(),
        // It is that of the real lake.
        looks_at_queue: false,
    };
    let (model, models) = (run.model.clone(), run.root.join("models").display().to_string());
    let mut report = Report { ui, progress: None, trace: trace.as_ref() };
    let tried = check_state_key(&run.root, &run.environment).map_err(RunError::from).and_then(|file| {
        let confirm = |connections| confirm(ui, connections, args.yes);
        let options = SandboxOptions { run, state: state(file), confirm: &confirm };
        run_sandbox(&options, &mut report)
    });
    report.progress = None;
    let ended = match &tried {
        Ok(summary) => finish(ui, summary, model.is_some(), &models),
        Err(_) => Ok(ExitCode::FAILURE),
    };
    if let Some(metrics) = metrics {
        metrics.write_sandbox(tried.as_ref(), ui);
    }
    if let Some(trace) = trace {
        let ended = tried.as_ref().map(|summary| Ended::from(&summary.run));
        trace.finish(&run_id, model.as_deref(), ended, ui);
    }
    tried?;
    ended
}

fn finish(ui: &Ui, summary: &SandboxSummary, is_single: bool, models: &str) -> Result<ExitCode, CliError> {
    show(ui, summary, is_single, models)?;
    let is_logged = ui.logs_json();
    if is_logged && !is_single {
        ui.progress(Level::Info, &done_line(&summary.run), summary_fields(&summary.run));
    }
    conclude(ui, &summary.run, is_single, is_logged)
}

/// Whether connections to production may be ended; `None` if nobody can be asked.
fn confirm(ui: &Ui, connections: u64, yes: bool) -> Option<bool> {
    ui.warn(&format!("sandbox will terminate {connections} active connection(s)"));
    if yes { Some(true) } else { ui.ask("Continue?") }
}

fn show(ui: &Ui, summary: &SandboxSummary, is_single: bool, models: &str) -> Result<(), CliError> {
    if ui.json {
        return records::print(ui, summary);
    }
    match (&summary.run.outcomes[..], summary.run.interrupted) {
        (_, true) => {}
        ([outcome], _) if is_single => boxes::one_model(ui, summary, outcome),
        ([], _) => ui.line(&format!("No models found in {models}")),
        _ => boxes::all_models(ui, summary),
    }
    Ok(())
}

/// A sandbox tells people all at its end: until then there is the bar. The log has each model when it has ended.
struct Report<'a> {
    ui: &'a Ui,
    progress: Option<Progress>,
    trace: Option<&'a Trace>,
}

impl Observer for Report<'_> {
    fn started(&mut self, models: usize) {
        if models > 0 && self.ui.logs_json() {
            log_start(self.ui, models);
        }
        self.progress = Some(Progress::new(self.ui, models));
    }

    fn model_started(&mut self, target: &Target) {
        if let Some(progress) = &self.progress {
            progress.begin(one_line(&target.to_string()));
        }
    }

    fn model_waits(&mut self, _: &Target) {}

    fn model_finished(&mut self, outcome: &ModelOutcome) {
        if let Some(trace) = self.trace {
            trace.model_finished(outcome, self.ui);
        }
        if self.ui.logs_json() {
            log_model(self.ui, outcome);
        }
        if let Some(progress) = &self.progress {
            progress.advance();
        }
    }
}
