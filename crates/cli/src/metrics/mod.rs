//! A run, a sandbox or a delivery as metrics for Prometheus (`--metrics-file`).

mod models;
mod page;
mod queue;

use std::time::Instant;

use runtime::{Drained, RunError, RunSummary, SandboxSummary, Status};
use telemetry::{MetricsFile, MetricsFileError};

use self::page::{Page, Whole};
use crate::error::CliError;
use crate::invocation::Invocation;
use crate::ui::Ui;

/// The variable that stands for `run --metrics-file`. Other commands do not follow it: they would replace the file of the
/// run.
const VARIABLE: &str = "ONDATRA_METRICS_FILE";

/// What metrics are of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measured {
    Run,
    Sandbox,
    Drain,
}

impl Measured {
    /// What its own families begin with, and how it is called.
    const fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Sandbox => "sandbox",
            Self::Drain => "drain",
        }
    }

    /// What its parts are called.
    const fn part(self) -> &'static str {
        match self {
            Self::Run | Self::Sandbox => "model",
            Self::Drain => "target",
        }
    }
}

/// Where the metrics of a command go.
pub(crate) struct CommandMetrics {
    file: MetricsFile,
    measured: Measured,
    project: String,
    clock: Instant,
}

impl CommandMetrics {
    /// Tries out the file of the flag, seen from where the command was started, or else, of a run, that of the variable,
    /// seen from the root. `None` if none is named.
    pub(crate) fn prepare(
        measured: Measured,
        flag: Option<&str>,
        invocation: &Invocation,
    ) -> Result<Option<Self>, CliError> {
        let of_project = invocation.environment.get(VARIABLE).filter(|path| !path.is_empty());
        let path = match (flag, of_project.filter(|_| measured == Measured::Run)) {
            (Some(path), _) => invocation.cwd.join(path),
            (None, Some(path)) => invocation.root.join(path),
            (None, None) => return Ok(None),
        };
        let file = MetricsFile::prepare(&path)?;
        let project = invocation.root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Some(Self { file, measured, project, clock: Instant::now() }))
    }

    /// Writes what a run came to.
    pub(crate) fn write_run(&self, ran: Result<&RunSummary, &RunError>, ui: &Ui) {
        let mut page = self.page(ran.map(Whole::of_run));
        models::totals(&mut page, ran.ok());
        if let Ok(summary) = ran {
            models::each(&mut page, &summary.outcomes);
            queue::of_run(&mut page, summary, ui);
        }
        self.put(&page, ui);
    }

    /// Writes what a sandbox came to: nothing of the queue, which is that of the real lake.
    pub(crate) fn write_sandbox(&self, tried: Result<&SandboxSummary, &RunError>, ui: &Ui) {
        let mut page = self.page(tried.map(|summary| Whole::of_run(&summary.run)));
        models::totals(&mut page, tried.ok().map(|summary| &summary.run));
        if let Ok(summary) = tried {
            models::each(&mut page, &summary.run.outcomes);
            models::changes(&mut page, summary);
        }
        self.put(&page, ui);
    }

    /// Writes what a delivery came to.
    pub(crate) fn write_drain(&self, drained: Result<&Drained, &RunError>, ui: &Ui) {
        let mut page = self.page(drained.map(|drained| Whole {
            is_clean: drained.targets.iter().all(|target| target.status() != Status::Failed),
            is_interrupted: drained.interrupted,
        }));
        queue::targets(&mut page, drained.map_or(&[], |drained| &drained.targets));
        if let Ok(drained) = drained {
            queue::of_drain(&mut page, drained, ui);
        }
        self.put(&page, ui);
    }

    fn page(&self, ended: Result<Whole, &RunError>) -> Page {
        let of_error = |error: &RunError| Whole { is_clean: false, is_interrupted: error.is_interrupt() };
        let whole = ended.unwrap_or_else(of_error);
        Page::new(self.measured, &self.project, &whole, self.clock.elapsed())
    }

    /// A file that cannot be written any more is a warning: the command is over.
    fn put(&self, page: &Page, ui: &Ui) {
        if let Err(error) = self.file.write(page.metrics.text()) {
            ui.warn(&ui.message(&error.to_string()));
        }
    }
}

impl From<MetricsFileError> for CliError {
    fn from(error: MetricsFileError) -> Self {
        Self::Failed(Box::new(error))
    }
}
