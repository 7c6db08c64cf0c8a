//! Fetches of a run, side by side: each is done before its model's turn comes, or while it is waited for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;
use std::time::{Duration, Instant};

use engine::LakeFacts;
use fetch::{Fetch, Fetched, PageMasker, ROW_FORMAT, Staged};
use http_client::Stop;
use lib_functions::{Host, HostValue, Lib, Registry};
use state::{FetchLease, SharedStore, StateError};
use types::fnv1a;

use super::acks::acknowledged;
use super::arguments::arguments;
use super::checks::FetchPlans;
use super::claims::{Left, drop_orphans, left_by_the_dead, settle};
use crate::arrivals::{Landed, Promise};
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
pub(crate) struct Fetches<'a> {
    pub store: SharedStore,
    context: JobsContext<'a>,
    queue: Sender<Job<'a>>,
    /// What dead workers left.
    left: Left,
    /// Fetches that are in the lake, by lower-case target.
    acks: BTreeMap<String, BTreeSet<String>>,
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

/// A fetch that is to be done, and where its rows are awaited.
struct Job<'a> {
    to_do: ToFetch<'a>,
    promise: Promise,
}

enum Prepared<'a> {
    Resumed(Staged),
    Job(ToFetch<'a>),
}

/// What is to be fetched.
struct ToFetch<'a> {
    lib: &'a Lib,
    columns: Vec<fetch::Column>,
    masker: Option<PageMasker>,
    arguments: Vec<(String, HostValue)>,
    target: String,
    fingerprint: String,
    warnings: Vec<String>,
}

/// Starts up to `threads` threads of `scope`, which fetch what they are told.
pub(crate) fn start_fetching<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    context: JobsContext<'env>,
    facts: &LakeFacts,
    store: SharedStore,
    threads: usize,
) -> Result<Fetches<'env>, RunError> {
    let left = left_by_the_dead(&store)?;
    if let Some(targets) = &context.targets {
        for warning in drop_orphans(&store, context.run_id, &left, targets)? {
            (context.host.output)(&format!("warning: {warning}"));
        }
    }
    let acks = acknowledged(&context.host.session.connection, &context.host.session.lake, facts)?;
    let queue = start_workers(scope, &context, &store, threads)?;
    Ok(Fetches { store, context, queue, left, acks, done: Done::default() })
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
                let clock = Instant::now();
                let fetched = job.to_do.run(&host, &store, &stop, (&run_id, &steps));
                job.promise.keep(Landed::Fetched(fetched), clock.elapsed());
            }
        });
    }
    Ok(queue)
}

fn next<'a>(jobs: &Mutex<Receiver<Job<'a>>>) -> Option<Job<'a>> {
    jobs.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
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

impl ToFetch<'_> {
    fn run(
        self,
        host: &Host,
        store: &SharedStore,
        stop: &Stop,
        (run_id, steps): (&str, &StepSink),
    ) -> Result<Fetched, RunError> {
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
        outcome
    }
}

impl<'a> Fetches<'a> {
    /// Has a model's rows fetched, unless an earlier run left them: then they land at once.
    pub(crate) fn begin(&mut self, planned: &PlannedModel, task: &Task, facts: &LakeFacts, promise: Promise) {
        let to_do = match self.prepare(planned, task, facts) {
            Ok(Prepared::Job(to_do)) => to_do,
            Ok(Prepared::Resumed(staged)) => {
                return promise.keep(Landed::Fetched(Ok(Fetched::Rows(staged))), Duration::ZERO);
            }
            Err(error) => return promise.keep(Landed::Fetched(Err(error)), Duration::ZERO),
        };
        // The workers take jobs until there are none: they are there.
        drop(self.queue.send(Job { to_do, promise }));
    }

    fn prepare(&mut self, planned: &PlannedModel, task: &Task, facts: &LakeFacts) -> Result<Prepared<'a>, RunError> {
        let Self { context, store, .. } = self;
        let key = planned.target().key();
        let Some(plan) = context.plans.get(&key) else { return Err(RunError::Interrupted) };
        let lib = context.registry.get(&plan.lib).ok_or_else(|| lib_functions::LibError::stopped(&plan.lib))?;
        let arguments = arguments(context.host.session, planned, plan, task, facts.tables.contains_key(&key))?;
        let fingerprint = fingerprint(planned, lib, &arguments);
        let none = BTreeSet::new();
        let (resumed, mut warnings) = settle(
            store,
            self.left.remove(&key).unwrap_or_default(),
            planned.model.kind,
            context.run_id,
            &fingerprint,
            self.acks.get(&key).unwrap_or(&none),
            context.is_refresh,
        )?;
        if let Some(mut staged) = resumed {
            staged.warnings.append(&mut warnings);
            return Ok(Prepared::Resumed(staged));
        }
        let columns = plan.columns.clone();
        let masker = plan.masks.masker(context.host.session, &columns)?;
        let target = planned.target().to_string();
        Ok(Prepared::Job(ToFetch { lib, columns, masker, arguments, target, fingerprint, warnings }))
    }

    /// The fetches of a target that the state has; `None` if the lake has acknowledged none.
    pub(crate) fn present(&self, target: &types::Target) -> Result<Option<Vec<String>>, RunError> {
        if !self.acks.contains_key(&target.key()) {
            return Ok(None);
        }
        let found = self.store.lock().fetches(&target.to_string())?;
        Ok(Some(found.into_iter().map(|fetch| fetch.claim_id).collect()))
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
    pub(crate) fn forget_done(&mut self) {
        let leases = std::mem::take(&mut self.done.leases);
        if leases.is_empty() {
            return;
        }
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
