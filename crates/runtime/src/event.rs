//! What a run tells while it goes on and when it has ended.

use std::time::{Duration, SystemTime};

use push::Report;
use state::{StateError, TargetOverview};
use types::{Kind, RunType, Target};

use crate::RunError;
use crate::checking::CheckFinding;
use crate::planning::PlannedModel;

/// How a model ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It ran.
    Ok,
    /// There was nothing to do, or an upstream model failed.
    Skip,
    /// It failed.
    Failed,
}

/// What became of one model.
#[derive(Debug)]
pub struct ModelOutcome {
    /// The model.
    pub target: Target,
    /// Its kind.
    pub kind: Kind,
    /// The run type; `None` if it failed before it was decided.
    pub run_type: Option<RunType>,
    /// Why; empty for a model below a failed one.
    pub reason: String,
    /// Rows of the result.
    pub rows: i64,
    /// When its turn ended.
    pub ended: SystemTime,
    /// Time spent.
    pub duration: Duration,
    /// Why it failed.
    pub error: Option<RunError>,
    /// Texts for the user.
    pub warnings: Vec<String>,
    /// What the checks of the model found, warnings too.
    pub findings: Vec<CheckFinding>,
    /// What was delivered, if the model pushes.
    pub push: Option<Report>,
    /// What would be delivered, if the model pushes and this is a sandbox.
    pub forecast: Option<PushForecast>,
}

/// What a run would deliver of a model's changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushForecast {
    /// The lib function.
    pub lib: String,
    /// Events that it would add to the queue.
    pub events: u64,
    /// Events that are in the queue already.
    pub queued: u64,
}

impl ModelOutcome {
    /// Of a model of which nothing is known yet.
    pub(crate) fn new(planned: &PlannedModel, duration: Duration) -> Self {
        Self {
            target: planned.target().clone(),
            kind: planned.model.kind,
            run_type: None,
            reason: String::new(),
            rows: 0,
            ended: SystemTime::now(),
            duration,
            error: None,
            warnings: Vec::new(),
            findings: Vec::new(),
            push: None,
            forecast: None,
        }
    }

    /// How it ended: an error wins, then a skip.
    pub fn status(&self) -> Status {
        match (&self.error, self.run_type) {
            (Some(_), _) => Status::Failed,
            (None, Some(RunType::Skip)) => Status::Skip,
            _ => Status::Ok,
        }
    }
}

/// Receives what happens, as it happens.
pub trait Observer {
    /// The run begins; `models` is how many there are.
    fn started(&mut self, models: usize);
    /// A model's turn begins.
    fn model_started(&mut self, target: &Target);
    /// Another worker has the model, and it is waited for.
    fn model_waits(&mut self, target: &Target);
    /// A model's turn is over.
    fn model_finished(&mut self, outcome: &ModelOutcome);
}

/// How a run ended.
#[derive(Debug)]
pub struct RunSummary {
    /// Id shared by the commits of the run.
    pub dag_run_id: String,
    /// One outcome for every model that had its turn, in that order.
    pub outcomes: Vec<ModelOutcome>,
    /// What went wrong beside the models; the run went on.
    pub warnings: Vec<String>,
    /// Time of the whole run.
    pub duration: Duration,
    /// Whether the user stopped it, within a model or before one.
    pub interrupted: bool,
    /// What is in the queue at the end; `None` if that was not asked for, or if the run did not need the state.
    pub queue: Option<Result<Vec<TargetOverview>, StateError>>,
}

impl RunSummary {
    /// Number of models that ended in `status`.
    pub fn count(&self, status: Status) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.status() == status).count()
    }

    /// Rows of all models.
    pub fn rows(&self) -> i64 {
        self.outcomes.iter().map(|outcome| outcome.rows).sum()
    }
}
