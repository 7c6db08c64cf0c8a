//! Queries of models, run side by side and ahead of the models' transactions. Those come one after the other: a lake does
//! not commit faster on several connections.

mod mirror;
mod rows;

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;
use std::time::Duration;

use engine::{EngineError, LakeFacts};
use plan::Names;
use query::Functions;

pub(crate) use rows::AheadRows;

use crate::arrivals::{Landed, Promise};
use crate::planning::PlannedModel;
use crate::step::{RunStep, StepSink, StepTimer};
use crate::task::Task;
use crate::{Cancellation, Session};

/// The schema, in the engine's memory, that all connections share.
const SCHEMA: &str = "memory.__ondatra_ahead";

/// What all queries share.
#[derive(Clone)]
pub(crate) struct Surroundings<'a> {
    pub names: &'a Names,
    pub cancellation: &'a Cancellation,
    pub steps: &'a StepSink,
}

/// A query that is to be run.
pub(crate) struct Job<'a> {
    /// The model's place in the run's order.
    pub at: usize,
    pub planned: &'a PlannedModel,
    pub task: Arc<Task>,
    pub facts: Arc<LakeFacts>,
    pub functions: Arc<Functions>,
    pub promise: Promise,
}

/// Threads for queries, started when they are needed.
pub(crate) struct Ahead<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    around: Surroundings<'env>,
    /// How many queries may run at a time.
    limit: usize,
    /// How many threads there are.
    threads: usize,
    /// Models whose rows are on the way or there, by their place in the run's order.
    open: BTreeSet<usize>,
    queue: Sender<Job<'env>>,
    jobs: Arc<Mutex<Receiver<Job<'env>>>>,
}

impl<'scope, 'env> Ahead<'scope, 'env> {
    /// Threads for up to `limit` queries; none if the session cannot be doubled, nor for a single query, unless its
    /// transaction has to be short, as others write to the lake.
    pub fn new(
        scope: &'scope Scope<'scope, 'env>,
        session: &Session,
        around: Surroundings<'env>,
        limit: usize,
        is_shared: bool,
    ) -> Result<Self, EngineError> {
        let (queue, jobs) = channel();
        let limit = if (limit > 1 || is_shared) && session.can_be_doubled()? { limit } else { 0 };
        if limit > 0 {
            session.connection.execute(&format!("CREATE SCHEMA IF NOT EXISTS {SCHEMA}"))?;
        }
        let jobs = Arc::new(Mutex::new(jobs));
        Ok(Self { scope, around, limit, threads: 0, open: BTreeSet::new(), queue, jobs })
    }

    /// Whether another query may begin.
    pub fn has_room(&self) -> bool {
        self.open.len() < self.limit
    }

    /// Whether rows of other models than this one are on the way or there.
    pub fn has_rows_beside(&self, at: usize) -> bool {
        self.open.iter().any(|&other| other != at)
    }

    /// Whether queries can run ahead at all.
    pub fn is_possible(&self) -> bool {
        self.limit > 0
    }

    /// Makes sure of a thread for another query, if there is room for one; outside of a transaction of `session`. A session
    /// that turns out not to be doubled stays alone: its models run their queries in their own transactions.
    pub fn is_ready(&mut self, session: &Session) -> bool {
        if self.has_room() && self.threads <= self.open.len() {
            match session.beside() {
                Ok(other) => self.start_thread(other),
                Err(_) => self.limit = 0,
            }
        }
        self.has_room()
    }

    /// Begins a query, for which there is a thread.
    pub fn begin(&mut self, job: Job<'env>) {
        self.open.insert(job.at);
        // The threads take jobs until the last sender is gone, which is here.
        let _ = self.queue.send(job);
    }

    fn start_thread(&mut self, session: Session) {
        let (jobs, around) = (Arc::clone(&self.jobs), self.around.clone());
        self.scope.spawn(move || {
            while let Some(job) = next(&jobs) {
                let rows = if around.cancellation.check().is_ok() { timed(&session, &job, &around) } else { None };
                let took = rows.as_ref().map_or(Duration::ZERO, |rows| rows.duration);
                job.promise.keep(Landed::Ahead(rows), took);
            }
        });
        self.threads += 1;
    }

    /// Drops the rows of a model, once its turn is over.
    pub fn forget(&mut self, session: &Session, at: usize) -> Result<(), EngineError> {
        if self.open.remove(&at) {
            session.connection.execute(&format!("DROP TABLE IF EXISTS {}", rows::table(at)))?;
        }
        Ok(())
    }
}

fn timed(session: &Session, job: &Job<'_>, around: &Surroundings<'_>) -> Option<AheadRows> {
    let target = job.planned.target().to_string();
    let mut timer = StepTimer::start(around.steps, &target, RunStep::Ahead);
    let rows = rows::run(session, job, around);
    timer.end(rows.as_ref().is_none_or(|rows| rows.error.is_some()));
    rows
}

fn next<'a>(jobs: &Mutex<Receiver<Job<'a>>>) -> Option<Job<'a>> {
    jobs.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}
