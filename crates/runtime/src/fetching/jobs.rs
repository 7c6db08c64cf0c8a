//! Fetches of a run, side by side: each is done before its model's turn comes, or while it is waited for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;

use engine::LakeFacts;
use fetch::{Fetch, Fetched, PageMasker, ROW_FORMAT, Staged};
use http_client::Stop;
use lib_functions::{Host, HostValue, Lib, Registry};
use state::{FetchLease, SharedStore, StagedFetch, StateError};
use types::fnv1a;

use super::acks::acknowledged;
use super::arguments::arguments;
use super::checks::{FetchPlan, FetchPlans};
use super::claims::{drop_orphans, left_by_the_dead, settle};
use crate::lib_host::HostContext;
use crate::planning::PlannedModel;
use crate::step::{RunStep, StepSink};
use crate::task::Task;
use crate::{Cancellation, RunError};

/// So many rows that are in the lake the state keeps, until there is time to delete them.
const KEPT_ROWS: u64 = 100_000;

/// What jobs are made with.
pub(crate) struct JobsContext<'a> {
    pub host: &'a HostContext<'a>,
    pub facts: &'a LakeFacts,
    pub registry: &'a Registry,
    pub plans: &'a FetchPlans,
    pub cancellation: &'a Cancellation,
    pub run_id: &'a str,
    /// Whether everything is to be fetched, whatever earlier runs left.
    pub is_refresh: bool,
    /// All targets that the project has, in lower case, if all models run.
    pub targets: Option<BTreeSet<String>>,
}

/// The fetches of a run.
pub(crate) struct Fetches {
    pub store: SharedStore,
    /// What each comes to, by lower-case target.
    answers: BTreeMap<String, Receiver<Result<Fetched, RunError>>>,
    /// Targets of which the lake has acknowledged fetches, in lower case.
    acked: BTreeSet<String>,
    done: Done,
}

/// What is in the lake, and of no use in the state any more.
#[derive(Default)]
struct Done {
    leases: Vec<FetchLease>,
    rows: u64,
    /// Why some of it could not be deleted.
    trouble: Vec<String>,
}

/// A fetch that is to be done.
struct Job<'a> {
    lib: &'a Lib,
    columns: Vec<fetch::Column>,
    masker: Option<PageMasker>,
    arguments: Vec<(String, HostValue)>,
    target: String,
    fingerprint: String,
    warnings: Vec<String>,
    answer: Sender<Result<Fetched, RunError>>,
}

/// Starts the fetches of `models` on up to `jobs` threads of `scope`.
pub(crate) fn run_jobs<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    context: &JobsContext<'env>,
    models: &[(&'env PlannedModel, Task)],
    store: SharedStore,
    jobs: usize,
) -> Result<Fetches, RunError> {
    let mut left = left_by_the_dead(&store)?;
    if let Some(targets) = &context.targets {
        for warning in drop_orphans(&store, context.run_id, &left, targets)? {
            (context.host.output)(&format!("warning: {warning}"));
        }
    }
    let acks = acknowledged(&context.host.session.connection, &context.host.session.lake, context.facts)?;
    let acked = acks.keys().cloned().collect();
    let mut fetches = Fetches { store, answers: BTreeMap::new(), acked, done: Done::default() };
    // The first jobs run while the others are prepared.
    let queue = start_workers(scope, context, &fetches.store, jobs.min(models.len()))?;
    for (planned, task) in models {
        let key = planned.target().key();
        let Some(plan) = context.plans.get(&key) else { continue };
        let (answer, answers) = channel();
        let earlier = Earlier { left: left.remove(&key).unwrap_or_default(), acks: acks.get(&key) };
        match prepare(context, (planned, plan, task), &fetches.store, earlier, &answer) {
            // Workers take jobs until there are none: they are there.
            Ok(Prepared::Job(job)) => drop(queue.send(job)),
            Ok(Prepared::Resumed(staged)) => drop(answer.send(Ok(Fetched::Rows(staged)))),
            // The model fails in its turn; the others go on.
            Err(error) => drop(answer.send(Err(error))),
        }
        fetches.answers.insert(key, answers);
    }
    Ok(fetches)
}

/// Starts threads that run jobs until the last one is done.
fn start_workers<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    context: &JobsContext<'env>,
    store: &SharedStore,
    workers: usize,
) -> Result<Sender<Job<'env>>, RunError> {
    let (queue, jobs) = channel::<Job<'env>>();
    let jobs = Arc::new(Mutex::new(jobs));
    let cancellation = context.cancellation.clone();
    let stop = Stop::new(move || cancellation.check().is_err());
    let host = context.host.host(stop.clone())?;
    for _ in 0..workers {
        let (jobs, host, store, stop) = (Arc::clone(&jobs), host.clone(), store.clone(), stop.clone());
        let (run_id, steps) = (context.run_id.to_owned(), context.host.steps.clone());
        scope.spawn(move || {
            while let Some(job) = next(&jobs) {
                job.run(&host, &store, &stop, (&run_id, &steps));
            }
        });
    }
    Ok(queue)
}

fn next<'a>(jobs: &Mutex<Receiver<Job<'a>>>) -> Option<Job<'a>> {
    jobs.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

enum Prepared<'a> {
    Resumed(Staged),
    Job(Job<'a>),
}

/// What earlier runs fetched for a model: what they left in the state, and which of it is in the lake.
struct Earlier<'a> {
    left: Vec<StagedFetch>,
    acks: Option<&'a BTreeSet<String>>,
}

fn prepare<'env>(
    context: &JobsContext<'env>,
    (planned, plan, task): (&PlannedModel, &FetchPlan, &Task),
    store: &SharedStore,
    earlier: Earlier<'_>,
    answer: &Sender<Result<Fetched, RunError>>,
) -> Result<Prepared<'env>, RunError> {
    let lib = context.registry.get(&plan.lib).ok_or_else(|| lib_functions::LibError::stopped(&plan.lib))?;
    let table_exists = context.facts.tables.contains_key(&planned.target().key());
    let arguments = arguments(context.host.session, planned, plan, task, table_exists)?;
    let target = planned.target().to_string();
    let fingerprint = fingerprint(planned, lib, &arguments);
    let none = BTreeSet::new();
    let acks = earlier.acks.unwrap_or(&none);
    let (kind, refresh) = (planned.model.kind, context.is_refresh);
    let (resumed, mut warnings) = settle(store, earlier.left, kind, context.run_id, &fingerprint, acks, refresh)?;
    if let Some(mut staged) = resumed {
        staged.warnings.append(&mut warnings);
        return Ok(Prepared::Resumed(staged));
    }
    let (columns, answer) = (plan.columns.clone(), answer.clone());
    let masker = plan.masks.masker(context.host.session, &columns)?;
    Ok(Prepared::Job(Job { lib, columns, masker, arguments, target, fingerprint, warnings, answer }))
}

/// What rows depend on: the model, the lib's files, and what it is called with.
fn fingerprint(planned: &PlannedModel, lib: &Lib, arguments: &[(String, HostValue)]) -> String {
    let mut text = format!("{ROW_FORMAT}\0{}", planned.hash);
    for (path, source) in lib.texts() {
        text.push_str(&format!("\0{}\0{source}", path.display()));
    }
    // The time of the last commit is one of them: rows from before it are not used after it.
    for (name, value) in arguments {
        text.push_str(&format!("\0{name}={value:?}"));
    }
    format!("{:016x}{:016x}", fnv1a(text.as_bytes()), fnv1a(text.chars().rev().collect::<String>().as_bytes()))
}

impl Job<'_> {
    fn run(self, host: &Host, store: &SharedStore, stop: &Stop, (run_id, steps): (&str, &StepSink)) {
        let fetch = Fetch {
            lib: self.lib,
            host,
            arguments: self.arguments.iter().map(|(name, value)| (name.as_str(), value.clone())).collect(),
            columns: self.columns,
            masker: self.masker.as_ref(),
            target: &self.target,
            run_id,
            fingerprint: &self.fingerprint,
            store,
            stop,
        };
        let mut outcome = if stop.is_requested() {
            Err(RunError::Interrupted)
        } else {
            steps.timed(&self.target, RunStep::Fetch, || fetch.run()).map_err(RunError::from)
        };
        if let Ok(Fetched::Rows(Staged { warnings, .. }) | Fetched::Aborted { warnings }) = &mut outcome {
            warnings.extend(self.warnings);
        }
        // Nobody waits any more if the run was ended.
        let _ = self.answer.send(outcome);
    }
}

impl Fetches {
    /// The fetches of a target that the state has; `None` if the lake has acknowledged none.
    pub(crate) fn present(&self, target: &types::Target) -> Result<Option<Vec<String>>, RunError> {
        if !self.acked.contains(&target.key()) {
            return Ok(None);
        }
        let found = self.store.lock().fetches(&target.to_string())?;
        Ok(Some(found.into_iter().map(|fetch| fetch.claim_id).collect()))
    }

    /// What a model's fetch came to, once it is done. While it is waited for, the state forgets what is in the lake.
    pub(crate) fn take(&mut self, key: &str) -> Result<Fetched, RunError> {
        let Some(answers) = self.answers.remove(key) else { return Err(RunError::Interrupted) };
        let answer = match answers.try_recv() {
            Err(TryRecvError::Empty) => {
                self.forget_done();
                answers.recv().ok()
            }
            answer => answer.ok(),
        };
        answer.unwrap_or(Err(RunError::Interrupted))
    }

    /// The rows are in the lake: the state forgets them when there is time, or when they are many. After a crash the next
    /// run does it.
    pub(crate) fn finished(&mut self, staged: &Staged) {
        self.done.leases.push(staged.lease.clone());
        self.done.rows += staged.rows;
        if self.done.rows >= KEPT_ROWS {
            self.forget_done();
        }
    }

    /// Has the state forget what is in the lake.
    fn forget_done(&mut self) {
        let leases = std::mem::take(&mut self.done.leases);
        self.done.rows = 0;
        let mut store = self.store.lock();
        let forgotten = match store.drop_fetches(&leases) {
            // Whose they are by now deletes them.
            Err(StateError::LeaseLost { .. }) => leases.iter().try_for_each(|lease| match store.drop_fetch(lease) {
                Err(StateError::LeaseLost { .. }) => Ok(()),
                dropped => dropped,
            }),
            dropped => dropped,
        };
        self.done.trouble.extend(forgotten.err().map(|error| format!("staged rows stay until the next run: {error}")));
    }

    /// The end of the run: what is in the lake is forgotten. Gives what went wrong with it.
    pub(crate) fn end(mut self) -> Vec<String> {
        self.forget_done();
        self.done.trouble
    }
}
