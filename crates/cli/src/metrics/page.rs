//! Metrics of a command as they grow, with what all commands have.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use runtime::{RunSummary, Status};
use telemetry::Metrics;

use super::Measured;

/// How the whole of it ended.
pub(super) struct Whole {
    /// Whether nothing failed.
    pub is_clean: bool,
    pub is_interrupted: bool,
}

impl Whole {
    pub fn of_run(summary: &RunSummary) -> Self {
        let is_clean = summary.warnings.is_empty() && summary.count(Status::Failed) == 0;
        Self { is_clean, is_interrupted: summary.interrupted }
    }
}

/// The metrics of a command.
pub(super) struct Page {
    pub metrics: Metrics,
    pub measured: Measured,
}

impl Page {
    /// Begins with when the command ended, how, and how long it took.
    pub fn new(measured: Measured, project: &str, whole: &Whole, elapsed: Duration) -> Self {
        let mut page = Self { metrics: Metrics::with_labels(&[("project", project)]), measured };
        let (word, part) = (measured.word(), measured.part());
        let version = [("command", word), ("version", env!("CARGO_PKG_VERSION"))];
        page.metrics.gauge("ondatrasql_build_info", "The version that ran.", [(version, 1.0)]);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        page.own(
            "timestamp_seconds",
            &format!("When the last {word} ended, in seconds since 1970."),
            one(number(now.as_secs())),
        );
        page.own(
            "success",
            &format!(
                "Whether the last {word} went well: 1, or 0 if a {part} failed, it was interrupted or could not begin."
            ),
            one(truth(whole.is_clean && !whole.is_interrupted)),
        );
        page.own("interrupted", &format!("Whether the last {word} was interrupted."), one(truth(whole.is_interrupted)));
        page.own("duration_seconds", &format!("How long the last {word} took."), one(elapsed.as_secs_f64()));
        page
    }

    /// Adds a family that is of this command alone.
    pub fn own<'a, L: AsRef<[(&'static str, &'a str)]>>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (L, f64)>,
    ) {
        self.metrics.gauge(&format!("ondatrasql_{}_{name}", self.measured.word()), help, samples);
    }
}

/// Numbers of rows and events are far below what would be rounded.
#[allow(clippy::cast_precision_loss)]
pub(super) fn number(count: u64) -> f64 {
    count as f64
}

pub(super) fn truth(is_so: bool) -> f64 {
    f64::from(u8::from(is_so))
}

pub(super) fn one(value: f64) -> [([(&'static str, &'static str); 0], f64); 1] {
    [([], value)]
}
