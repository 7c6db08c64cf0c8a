//! `ondatrasql sandbox`: a run against a fork of the lake, compared with production (chapter 05 §4).

mod boxes;
mod diff;
mod records;

use std::process::ExitCode;
use std::sync::Arc;

use project::check_state_key;
use runtime::{
    Cancellation, ModelOutcome, Observer, RunOptions, SandboxOptions, SandboxSummary, StepSink, new_run_id,
    sandbox as run_sandbox,
};
use types::Target;

use super::run::{conclude, one_line};
use super::state::{state_config, state_opener};
use crate::args::SandboxArgs;
use crate::error::CliError;
use crate::invocation::Invocation;
use crate::progress::Progress;
use crate::signals::cancel_on_signal;
use crate::ui::Ui;

/// How many models fetch at a time, as in `run`.
const JOBS: usize = 4;

pub(crate) fn sandbox(args: SandboxArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    let invocation = Invocation::enter(ui)?;
    let cancellation = Cancellation::default();
    cancel_on_signal(&cancellation)?;
    let session = invocation.session_options();
    let state =
        state_config(&invocation, check_state_key(&invocation.root, &invocation.environment)?, args.state_wait)?;
    let is_single = args.model.is_some();
    let run_id = new_run_id();
    ui.log().set_run(&run_id);
    let models = invocation.root.join("models");
    let options = SandboxOptions {
        run: RunOptions {
            wish: None,
            model: args.model,
            state_wait: args.state_wait,
            open_state: state_opener(&invocation.root, &invocation.environment, &session, args.state_wait)?,
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
            run_id,
            steps: StepSink::default(),
            looks_at_queue: false,
        },
        state,
        confirm: &|connections| confirm(ui, connections, args.yes),
    };
    let mut report = Report { ui, progress: None };
    let summary = run_sandbox(&options, &mut report)?;
    report.progress = None;
    show(ui, &summary, is_single, &models.display().to_string())?;
    conclude(ui, &summary.run, is_single, false)
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

/// A sandbox tells all at its end: until then there is the bar.
struct Report<'a> {
    ui: &'a Ui,
    progress: Option<Progress>,
}

impl Observer for Report<'_> {
    fn started(&mut self, models: usize) {
        self.progress = Some(Progress::new(self.ui, models));
    }

    fn model_started(&mut self, target: &Target) {
        if let Some(progress) = &self.progress {
            progress.begin(one_line(&target.to_string()));
        }
    }

    fn model_waits(&mut self, _: &Target) {}

    fn model_finished(&mut self, _: &ModelOutcome) {
        if let Some(progress) = &self.progress {
            progress.advance();
        }
    }
}
