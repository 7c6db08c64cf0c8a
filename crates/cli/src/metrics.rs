//! A run as metrics for Prometheus (`run --metrics-file`).

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use runtime::{ModelOutcome, RunError, RunSummary, Status};
use state::TargetOverview;
use telemetry::{Metrics, MetricsFile, MetricsFileError};

use crate::error::CliError;
use crate::invocation::Invocation;
use crate::ui::Ui;

/// The variable that stands for `--metrics-file`.
const VARIABLE: &str = "ONDATRA_METRICS_FILE";

/// Where the metrics of a run go.
pub(crate) struct RunMetrics {
    file: MetricsFile,
    clock: Instant,
}

impl RunMetrics {
    /// Tries out the file of the flag, seen from where the command was started, or else that of the variable, seen
    /// from the root. `None` if none is named.
    pub(crate) fn prepare(flag: Option<&str>, invocation: &Invocation) -> Result<Option<Self>, CliError> {
        let of_project = invocation.environment.get(VARIABLE).filter(|path| !path.is_empty());
        let path = match (flag, of_project) {
            (Some(path), _) => invocation.cwd.join(path),
            (None, Some(path)) => invocation.root.join(path),
            (None, None) => return Ok(None),
        };
        let file = MetricsFile::prepare(&path)?;
        Ok(Some(Self { file, clock: Instant::now() }))
    }

    /// Writes what a run came to. A file that cannot be written any more is a warning: the run is over.
    pub(crate) fn write(&self, ran: Result<&RunSummary, &RunError>, ui: &Ui) {
        let mut metrics = Metrics::default();
        run_metrics(&mut metrics, ran, self.clock.elapsed());
        if let Ok(summary) = ran {
            model_metrics(&mut metrics, &summary.outcomes);
            push_metrics(&mut metrics, &summary.outcomes);
        }
        match ran.ok().and_then(|summary| summary.queue.as_ref().map(|queue| (queue, &summary.outcomes))) {
            Some((Ok(queue), outcomes)) => queue_metrics(&mut metrics, queue, outcomes),
            Some((Err(error), _)) => ui.warn(&format!("no metrics of the queue: {}", ui.message(&error.to_string()))),
            None => {}
        }
        if let Err(error) = self.file.write(metrics.text()) {
            ui.warn(&ui.message(&error.to_string()));
        }
    }
}

impl From<MetricsFileError> for CliError {
    fn from(error: MetricsFileError) -> Self {
        Self::Failed(Box::new(error))
    }
}

/// Numbers of rows and events are far below what would be rounded.
#[allow(clippy::cast_precision_loss)]
fn number(count: u64) -> f64 {
    count as f64
}

fn one(value: f64) -> [([(&'static str, &'static str); 0], f64); 1] {
    [([], value)]
}

fn run_metrics(metrics: &mut Metrics, ran: Result<&RunSummary, &RunError>, elapsed: Duration) {
    let summary = ran.ok();
    let count = |status| summary.map_or(0, |summary| summary.count(status)) as u64;
    let is_clean = |summary: &RunSummary| !summary.interrupted && summary.warnings.is_empty();
    let succeeded = summary.is_some_and(is_clean) && count(Status::Failed) == 0;
    let interrupted = match ran {
        Ok(summary) => summary.interrupted,
        Err(error) => matches!(error, RunError::Interrupted),
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let rows = summary.map_or(0, |summary| u64::try_from(summary.rows()).unwrap_or(0));
    metrics.gauge("ondatrasql_build_info", "The version that ran.", [([("version", env!("CARGO_PKG_VERSION"))], 1.0)]);
    metrics.gauge(
        "ondatrasql_run_timestamp_seconds",
        "When the last run ended, in seconds since 1970.",
        one(number(now.as_secs())),
    );
    metrics.gauge(
        "ondatrasql_run_success",
        "Whether the last run went well: 1, or 0 if a model failed, it was interrupted or could not begin.",
        one(f64::from(u8::from(succeeded))),
    );
    metrics.gauge(
        "ondatrasql_run_interrupted",
        "Whether the last run was interrupted.",
        one(f64::from(u8::from(interrupted))),
    );
    metrics.gauge("ondatrasql_run_duration_seconds", "How long the last run took.", one(elapsed.as_secs_f64()));
    metrics.gauge("ondatrasql_run_rows", "Rows that the last run wrote.", one(number(rows)));
    metrics.gauge(
        "ondatrasql_run_models",
        "Models of the last run by how they ended.",
        [("ok", Status::Ok), ("skipped", Status::Skip), ("failed", Status::Failed)]
            .map(|(word, status)| ([("status", word)], number(count(status)))),
    );
}

fn model_metrics(metrics: &mut Metrics, outcomes: &[ModelOutcome]) {
    let targets: Vec<(String, &ModelOutcome)> =
        outcomes.iter().map(|outcome| (outcome.target.to_string(), outcome)).collect();
    let mut of_each = |name: &str, help: &str, value: &dyn Fn(&ModelOutcome) -> f64| {
        metrics.gauge(
            name,
            help,
            targets.iter().map(|(target, outcome)| ([("target", target.as_str())], value(outcome))),
        );
    };
    of_each("ondatrasql_model_duration_seconds", "How long the turn of a model took.", &|outcome| {
        outcome.duration.as_secs_f64()
    });
    of_each("ondatrasql_model_rows", "Rows of the result of a model.", &|outcome| {
        number(u64::try_from(outcome.rows).unwrap_or(0))
    });
    of_each("ondatrasql_model_failed", "Whether a model failed.", &|outcome| {
        f64::from(u8::from(outcome.status() == Status::Failed))
    });
}

fn push_metrics(metrics: &mut Metrics, outcomes: &[ModelOutcome]) {
    let pushed: Vec<(String, [(&str, u64); 3])> = outcomes
        .iter()
        .filter_map(|outcome| {
            let push = outcome.push.as_ref()?;
            let counts = [("delivered", push.delivered), ("rejected", push.rejected), ("to_retry", push.to_retry)];
            Some((outcome.target.to_string(), counts))
        })
        .collect();
    let samples = pushed.iter().flat_map(|(target, counts)| {
        counts.map(|(result, count)| ([("target", target.as_str()), ("result", result)], number(count)))
    });
    metrics.gauge("ondatrasql_push_events", "Events of the last run by what became of them.", samples);
}

fn queue_metrics(metrics: &mut Metrics, queue: &[TargetOverview], outcomes: &[ModelOutcome]) {
    // The queue knows targets in lower case; models are called as their files are.
    let names: BTreeMap<String, String> =
        outcomes.iter().map(|outcome| (outcome.target.key(), outcome.target.to_string())).collect();
    let name = |target: &TargetOverview| names.get(&target.target).unwrap_or(&target.target).clone();
    let targets: Vec<(String, &TargetOverview)> = queue.iter().map(|target| (name(target), target)).collect();
    let depths = targets.iter().flat_map(|(name, target)| {
        let in_flight = target.in_flight.iter().map(|worker| worker.events).sum();
        let states =
            [("pending", target.pending), ("in_flight", in_flight), ("waiting", target.waiting), ("dead", target.dead)];
        states.map(|(state, events)| ([("target", name.as_str()), ("state", state)], number(events)))
    });
    metrics.gauge("ondatrasql_queue_events", "Events in the queue by their state, after the last run.", depths);
    let ages =
        targets.iter().map(|(name, target)| ([("target", name.as_str())], number(target.oldest_s.unwrap_or_default())));
    metrics.gauge(
        "ondatrasql_queue_oldest_event_age_seconds",
        "Age of the oldest event that is still to be delivered, 0 if there is none.",
        ages,
    );
}
