//! A run of all models, or of one.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::{EngineOptions, LakeFacts, needed_extensions};
use fetch::{Fetched, Staged};
use jiff::Timestamp;
use materialize::MaterializeError;
use model::Model;
use plan::Cycle;
use project::{ConfigFile, Environment, Redactor, check_state_key, find_model_files, read_config};
use state::{Recovery, SharedStore, SqlStore, StateError};
use types::{Decision, Kind, Reason, Rule, RunType, Target};

use crate::execute::{Executed, FetchedRows, RunContext, execute};
use crate::fetching::{FetchPlans, Fetches, JobsContext, Loading, check_models, read_registry, run_jobs};
use crate::functions::KnownFunctions;
use crate::git::git_info;
use crate::leases::{Leases, ModelLease};
use crate::lib_host::{HostContext, managed_tokens};
use crate::masking::{masks_anew, protect_spills};
use crate::planning::{Planned, PlannedModel, decide_run, last_commit, plan_models, sort};
use crate::pushing::{Pushes, check_pushes};
use crate::requirements::check_runs;
use crate::session::current_snapshot;
use crate::task::Task;
use crate::{
    Cancellation, ModelOutcome, Observer, ProjectLock, RunError, RunSummary, Session, StateSession, Status,
    load_models, select_model,
};

/// Plans of a model that others overtake, until it is given up.
const PLANS_MAX: u32 = 6;

/// What to run, and with what.
pub struct RunOptions {
    /// The project's root; the process must be in it, as the engine resolves paths against its folder.
    pub root: PathBuf,
    /// The folder the command was started in.
    pub cwd: PathBuf,
    /// Variables for the configuration.
    pub environment: Environment,
    /// The one model to run, as given; all without it.
    pub model: Option<String>,
    /// What is to become of the rows that the model's table holds.
    pub wish: Option<Wish>,
    /// How long to wait for another run to end.
    pub state_wait: Duration,
    /// For the session.
    pub session: EngineOptions,
    /// Opens the state; asked for when a model needs it.
    pub open_state: Box<dyn Fn() -> Result<SqlStore, StateError>>,
    /// Keeps secrets out of what lib functions print; learns those that they use.
    pub redactor: Redactor,
    /// Where lines of lib functions go.
    pub output: Arc<dyn Fn(&str) + Send + Sync>,
    /// How many models fetch at a time.
    pub jobs: usize,
    /// Whether to wait for a model that another worker runs; it is skipped otherwise.
    pub waits: bool,
    /// To stop it.
    pub cancellation: Cancellation,
}

/// What the user wants of the rows of a model's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// They are replaced, whatever is lost.
    FullRefresh,
    /// They are kept, whatever the query gives now.
    Keep,
}

/// Runs the project, or one model of it. Errors are those that stop everything before the first model;
/// what becomes of a model is in its outcome.
pub fn run(options: &RunOptions, observer: &mut dyn Observer) -> Result<RunSummary, RunError> {
    let clock = Instant::now();
    let config = read_config(&options.root, &options.environment)?;
    let is_shared = is_shared(&check_state_key(&options.root, &options.environment)?);
    let models = match &options.model {
        Some(operand) => vec![select_model(&options.root, &options.cwd, operand)?],
        None => load_models(&options.root)?,
    };
    let dag_run_id = dag_run_id(Timestamp::now());
    if models.is_empty() {
        observer.started(0);
        return Ok(RunSummary {
            dag_run_id,
            outcomes: Vec::new(),
            warnings: Vec::new(),
            duration: clock.elapsed(),
            interrupted: false,
        });
    }
    let _lock = ProjectLock::take(&options.root, options.state_wait, &options.cancellation)?;
    let session = Session::open(&config, &options.session)?;
    let git = git_info(&options.root);
    let facts = LakeFacts::read(&session.connection, &session.lake, &session.metadata)?;
    let Planned { models, names } = plan(options, &session, &facts, models)?;
    protect_spills(&session, models.iter().map(|planned| &planned.model))?;
    let registry = read_registry(&session, &options.root)?;
    // A key that nobody knows would have no effect without a word.
    for remark in registry.libs().flat_map(|lib| &lib.remarks).filter(|remark| remark.rule == Rule::UnknownKey) {
        let place = &remark.place;
        (options.output)(&format!("warning: {}:{}: {}", place.file().display(), place.line(), remark.message));
    }
    let plans = check_models(&session, &registry, &models, options.model.is_some(), &options.cancellation)?;
    let pushing = check_pushes(&registry, &models)?;
    let functions = KnownFunctions::default();
    let local = config.local.as_ref().map(|file| file.with_catalog(&session.lake));
    let context = RunContext {
        session: &session,
        names: &names,
        local: local.as_ref(),
        functions: &functions,
        cancellation: &options.cancellation,
        dag_run_id: &dag_run_id,
        git: &git,
        seen: Cell::new(facts.commits_at),
    };
    let mut turns = Turns::new(&models, &facts, options.wish);
    let to_fetch = turns.fetches(&session, &models, &facts);
    // What was pushed once may have left rows there, whatever the model does now.
    let masks_anew = |planned: &PlannedModel| {
        last_commit(planned, &facts).is_ok_and(|last| masks_anew(&planned.model, last.as_ref()))
    };
    let needs_state = !to_fetch.is_empty() || !pushing.is_empty() || is_shared || models.iter().any(masks_anew);
    let state = needs_state.then(|| (options.open_state)().and_then(StateSession::start)).transpose()?;
    let host = HostContext {
        session: &session,
        root: &options.root,
        environment: &options.environment,
        redactor: &options.redactor,
        output: Arc::clone(&options.output),
        tokens: state.as_ref().map(|state| {
            managed_tokens(&options.root, &options.environment, &options.redactor, &state.store, &dag_run_id)
        }),
    };
    let mut warnings = Vec::new();
    let pushes = match &state {
        Some(state) if !pushing.is_empty() => {
            // What stays is found again by the next run; nothing of it is in the way of this one.
            let recovery = state.store.lock().recover().unwrap_or_else(|error| {
                warnings.push(format!("what earlier runs left in the queue was not recovered: {error}"));
                Recovery::default()
            });
            Some(Pushes::start(&host, state, &options.cancellation, (&registry, &pushing), &dag_run_id, recovery)?)
        }
        _ => None,
    };
    observer.started(models.len());
    let interrupted = std::thread::scope(|scope| {
        let jobs = JobsContext {
            host: &host,
            facts: &facts,
            registry: &registry,
            plans: &plans,
            cancellation: &options.cancellation,
            run_id: &dag_run_id,
            is_refresh: options.wish == Some(Wish::FullRefresh),
            targets: options.model.is_none().then(|| models.iter().map(|planned| planned.target().key()).collect()),
        };
        let store = state.as_ref().filter(|_| !to_fetch.is_empty()).map(|state| state.store.clone());
        let fetches = store.map(|store| run_jobs(scope, &jobs, &to_fetch, store, options.jobs)).transpose()?;
        let planned_with = &facts;
        let mut facts = facts.clone();
        let leases = state.as_ref().filter(|_| is_shared).map(|state| Leases {
            store: &state.store,
            run_id: &dag_run_id,
            waits: options.waits,
        });
        let outside = Outside {
            plans: &plans,
            redactor: &options.redactor,
            store: state.as_ref().map(|state| &state.store),
            fetches,
            planned_with,
            pushes,
            leases,
        };
        Ok::<_, RunError>(turns.take_all(&context, &models, &mut facts, outside, observer))
    })?;
    Ok(RunSummary { dag_run_id, outcomes: turns.outcomes, warnings, duration: clock.elapsed(), interrupted })
}

fn plan(options: &RunOptions, session: &Session, facts: &LakeFacts, models: Vec<Model>) -> Result<Planned, RunError> {
    let Some(_) = options.model else {
        let targets: Vec<Target> = models.iter().map(|model| model.target.clone()).collect();
        let Planned { models, names } = plan_models(session, facts, models, &targets)?;
        return Ok(Planned { models: sort(models)?, names });
    };
    // One model alone: no graph, but the names of the others still tell models from missing tables.
    let targets = find_model_files(&options.root)?.into_iter().filter_map(|source| source.target.ok());
    let targets: Vec<Target> = targets.collect();
    let planned = plan_models(session, facts, models, &targets)?;
    match planned.models.iter().find(|planned| planned.reads(&planned.target().key())) {
        Some(planned) => Err(Cycle(vec![planned.target().clone()]).into()),
        None => Ok(planned),
    }
}

/// What a run has to do with the world outside of the lake: fetches and deliveries.
struct Outside<'a> {
    plans: &'a FetchPlans,
    redactor: &'a Redactor,
    store: Option<&'a SharedStore>,
    fetches: Option<Fetches>,
    /// The facts with which the fetches were planned.
    planned_with: &'a LakeFacts,
    pushes: Option<Pushes<'a>>,
    /// Where other workers may run the same models.
    leases: Option<Leases<'a>>,
}

impl Outside<'_> {
    /// Runs a model, with what was fetched if it fetches; `None` if there is nothing to commit.
    fn execute(
        &mut self,
        context: &RunContext<'_>,
        planned: &PlannedModel,
        task: &Task,
        facts: &LakeFacts,
        outcome: &mut ModelOutcome,
    ) -> Result<Option<Executed>, RunError> {
        let key = planned.target().key();
        let Some((plan, fetches)) = self.plans.get(&key).zip(self.fetches.as_mut()) else {
            return execute(context, planned, task, facts, None).map(Some);
        };
        let staged = match fetches.take(&key)? {
            Fetched::Aborted { warnings } => {
                outcome.warnings = [planned.warnings.clone(), warnings].concat();
                return Ok(None);
            }
            Fetched::Rows(staged) => staged,
        };
        let keeps = keeps_all(planned, &staged, facts.tables.contains_key(&key));
        if keeps && !may_change_columns(task) {
            outcome.warnings = [&planned.warnings[..], &staged.warnings].concat();
            fetches.store.lock().drop_fetch(&staged.lease)?;
            return Ok(None);
        }
        let executed = fetches.present(planned.target()).and_then(|present| {
            let loading = Loading {
                session: context.session,
                store: &fetches.store,
                cancellation: context.cancellation,
                redactor: self.redactor,
            };
            let loaded = loading.load(planned.target(), plan, &staged)?;
            let rows = FetchedRows { plan, staged: &staged, loaded: &loaded, present, keeps };
            let executed = execute(context, planned, task, facts, Some(&rows));
            let dropped = loaded.drop(&context.session.connection);
            let mut executed = executed?;
            executed.warnings.extend(dropped.err().map(|error| error.cleaned()));
            Ok(executed)
        });
        let store = &fetches.store;
        match executed {
            Ok(mut executed) => {
                executed.warnings.extend(staged.warnings.iter().cloned());
                // The lake has them: what stays is deleted by the next run.
                let cleaned = store.lock().drop_fetch(&staged.lease);
                executed.warnings.extend(cleaned.err().map(|error| format!("staged rows: {error}")));
                Ok(Some(executed))
            }
            Err(error) if is_of_rows(&error) => {
                // These rows fail every time. The first error is the one that tells.
                let _ = store.lock().drop_fetch(&staged.lease);
                Err(error)
            }
            // The rows are committed by the next run, if nothing changes till then.
            Err(error) => Err(error),
        }
    }
}

/// What the registry told of a model's last commit when the facts were read.
fn last_recorded(planned: &PlannedModel, facts: &LakeFacts) -> Option<String> {
    facts.commits.get(&planned.target().key()).map(|row| row.commit_info.clone())
}

impl Outside<'_> {
    /// Whether another process has committed a model since its fetch was planned: what was fetched follows rows that are
    /// not the newest any more.
    fn is_overtaken(&self, planned: &PlannedModel, facts: &LakeFacts) -> bool {
        let is_fetched = planned.model.fetch && self.fetches.is_some();
        is_fetched && last_recorded(planned, self.planned_with) != last_recorded(planned, facts)
    }

    /// Drops what was fetched for a model.
    fn drop_fetched(&mut self, planned: &PlannedModel) -> Result<(), RunError> {
        let Some(fetches) = &mut self.fetches else { return Ok(()) };
        if let Fetched::Rows(staged) = fetches.take(&planned.target().key())? {
            fetches.store.lock().drop_fetch(&staged.lease)?;
        }
        Ok(())
    }

    /// Has the state forget the rows that it keeps of a model which masks another column from now on. That comes before
    /// the commit: after it, nobody would know any more if it failed.
    fn forget_clear(&self, planned: &PlannedModel, task: &Task) -> Result<(), RunError> {
        match self.store {
            Some(store) if masks_anew(&planned.model, task.last.as_ref()) => {
                Ok(store.lock().forget_images(&planned.target().key())?)
            }
            _ => Ok(()),
        }
    }

    /// Delivers what a model changed, and what is left from before: the data is committed, whatever comes of it.
    fn push(&mut self, context: &RunContext<'_>, planned: &PlannedModel, outcome: &mut ModelOutcome) {
        let is_over = outcome.error.as_ref().is_some_and(|error| error.is_fatal() || error.is_interrupt());
        let Some(pushes) = self.pushes.as_mut().filter(|_| !is_over) else { return };
        match pushes.after(context.session, planned) {
            Ok(None) => {}
            Ok(Some(report)) => {
                outcome.warnings.extend(report.texts());
                if report.has_failures() && outcome.error.is_none() {
                    outcome.error = Some(RunError::Push { target: planned.target().clone(), report: report.clone() });
                }
                outcome.push = Some(report);
            }
            Err(error) if outcome.error.is_none() => outcome.error = Some(error),
            Err(error) => outcome.warnings.push(format!("push: {error}")),
        }
    }
}

/// Whether an empty fetch leaves a table as it is: `tracked` and `scd2` would take it for "everything is gone".
fn keeps_all(planned: &PlannedModel, staged: &Staged, table_exists: bool) -> bool {
    let by_presence = matches!(planned.model.kind, Kind::Tracked | Kind::Scd2);
    by_presence && table_exists && staged.rows == 0 && staged.empty_result.as_deref() != Some("delete_missing")
}

/// Whether the model may have other columns than its table. A rebuild that was asked for is none without rows.
fn may_change_columns(task: &Task) -> bool {
    task.decision.run_type == RunType::Backfill && task.decision.reason != Reason::FullRefresh
}

/// Whether the fault is in the rows or in the model, so that the same rows fail again; not in the disk, the memory or
/// another writer, nor was it the user who ended it.
fn is_of_rows(error: &RunError) -> bool {
    match error {
        RunError::Statement { error: MaterializeError::Query(error) | MaterializeError::Write(error), .. } => {
            error.is_statement_fault()
        }
        // Without findings it is the directive that has to be corrected.
        RunError::Checks(report) => !report.findings.is_empty(),
        // In the last case they were fetched behind rows that are not the newest any more.
        RunError::Fetch(_)
        | RunError::Refused { .. }
        | RunError::Statement { .. }
        | RunError::CommittedElsewhere { .. } => true,
        _ => false,
    }
}

/// The state of a run between models.
struct Turns {
    /// Decisions made in one batch at the start, by lower-case target; each is used once.
    decisions: BTreeMap<String, Result<Decision, RunError>>,
    /// Models that ran, in lower case: the decisions of their readers are made again.
    ran: BTreeSet<String>,
    /// Models that failed, or whose upstream did.
    failed: BTreeSet<String>,
    /// Whether a commit was made since the facts were read.
    stale: bool,
    outcomes: Vec<ModelOutcome>,
}

impl Turns {
    fn new(planned: &[PlannedModel], facts: &LakeFacts, wish: Option<Wish>) -> Self {
        let decide_one = |planned: &PlannedModel| {
            let decision = decide_run(planned, facts)?;
            let has_table = facts.tables.contains_key(&planned.target().key());
            Ok(match wish {
                Some(Wish::FullRefresh) if decision.reason != Reason::FirstRun => {
                    Decision::new(RunType::Backfill, Reason::FullRefresh)
                }
                // Also where a table stands that no commit tells about.
                Some(Wish::Keep) if has_table => Decision::new(RunType::Incremental, Reason::Kept),
                _ => decision,
            })
        };
        let decide = |planned: &PlannedModel| (planned.target().key(), decide_one(planned));
        let decisions = planned.iter().map(decide).collect();
        Self { decisions, ran: BTreeSet::new(), failed: BTreeSet::new(), stale: false, outcomes: Vec::new() }
    }

    /// The models that will fetch, with what is to be done with them: nothing that they read is made by this run.
    fn fetches<'a>(
        &self,
        session: &Session,
        models: &'a [PlannedModel],
        facts: &LakeFacts,
    ) -> Vec<(&'a PlannedModel, Task)> {
        let fetching =
            models.iter().filter(|planned| planned.model.fetch && check_runs(session, planned, facts).is_ok());
        let task = |planned: &'a PlannedModel| {
            let Some(Ok(decision)) = self.decisions.get(&planned.target().key()) else { return None };
            let last = last_commit(planned, facts).ok()?;
            Some((planned, Task::new(decision.clone(), &planned.model, last)))
        };
        fetching.filter_map(task).collect()
    }

    /// Runs the models in their order; gives whether the run was interrupted.
    fn take_all(
        &mut self,
        context: &RunContext<'_>,
        models: &[PlannedModel],
        facts: &mut LakeFacts,
        mut outside: Outside<'_>,
        observer: &mut dyn Observer,
    ) -> bool {
        for planned in models {
            if context.cancellation.check().is_err() {
                return true;
            }
            observer.model_started(planned.target());
            let outcome = self.take_leased(context, planned, facts, &mut outside, observer);
            observer.model_finished(&outcome);
            let error = outcome.error.as_ref();
            let fatal = error.is_some_and(RunError::is_fatal);
            // What a push leaves when it is stopped is no error of its model.
            let is_cut_off = outcome.push.as_ref().is_some_and(|push| push.pending > 0);
            let interrupted =
                error.is_some_and(RunError::is_interrupt) || is_cut_off && context.cancellation.check().is_err();
            self.outcomes.push(outcome);
            if fatal || interrupted {
                // Fetches that still run are of no use any more.
                context.cancellation.cancel();
                return interrupted;
            }
        }
        false
    }

    /// A model's turn, while no other worker has it.
    fn take_leased(
        &mut self,
        context: &RunContext<'_>,
        planned: &PlannedModel,
        facts: &mut LakeFacts,
        outside: &mut Outside<'_>,
        observer: &mut dyn Observer,
    ) -> ModelOutcome {
        let Some(leases) = outside.leases else { return self.take(context, planned, facts, outside) };
        let clock = Instant::now();
        let failed = |error| ModelOutcome { error: Some(error), ..ModelOutcome::new(planned, clock.elapsed()) };
        let lease = match leases.take(planned.target(), context.cancellation, observer) {
            Ok(ModelLease::Taken(lease)) => lease,
            Ok(ModelLease::Held(worker)) => {
                let reason = format!("held by {}", worker.as_str());
                let outcome = ModelOutcome::new(planned, clock.elapsed());
                return ModelOutcome { run_type: Some(RunType::Skip), reason, ..outcome };
            }
            Err(error) => {
                self.failed.insert(planned.target().key());
                return failed(error);
            }
        };
        let mut outcome = match self.look_again(context, facts) {
            Ok(()) => self.take(context, planned, facts, outside),
            Err(error) => {
                self.failed.insert(planned.target().key());
                failed(error)
            }
        };
        // What is not given back runs out.
        let released = leases.store.lock().release_lease(&lease);
        outcome.warnings.extend(released.err().map(|error| error.to_string()));
        outcome
    }

    /// Plans afresh, if another process has committed something since the facts were read.
    fn look_again(&mut self, context: &RunContext<'_>, facts: &mut LakeFacts) -> Result<(), RunError> {
        let session = context.session;
        if current_snapshot(&session.connection, &session.lake)? == context.seen.get() {
            return Ok(());
        }
        *facts = LakeFacts::read(&session.connection, &session.lake, &session.metadata)?;
        context.seen.set(facts.commits_at);
        self.stale = false;
        self.decisions.retain(|_, decision| decision.as_ref().is_ok_and(is_wish));
        Ok(())
    }

    fn take(
        &mut self,
        context: &RunContext<'_>,
        planned: &PlannedModel,
        facts: &mut LakeFacts,
        outside: &mut Outside<'_>,
    ) -> ModelOutcome {
        let clock = Instant::now();
        let key = planned.target().key();
        let mut outcome = ModelOutcome::new(planned, Duration::ZERO);
        if planned.depends.iter().any(|name| self.failed.contains(&name.to_lowercase())) {
            outcome.run_type = Some(RunType::Skip);
            outcome.warnings.push("skipped: upstream model failed".into());
            self.failed.insert(key);
        } else if outside.is_overtaken(planned, facts) {
            outcome.run_type = Some(RunType::Skip);
            outcome.reason = "run by another worker meanwhile".into();
            outcome.warnings.extend(outside.drop_fetched(planned).err().map(|error| error.to_string()));
        } else if let Err(error) = self.decide_and_execute(context, planned, facts, outside, &mut outcome) {
            if let RunError::Checks(report) = &error {
                outcome.findings.clone_from(&report.findings);
            }
            outcome.error = Some(error);
            self.failed.insert(key);
        } else if outcome.status() == Status::Ok {
            self.ran.insert(key);
        }
        outside.push(context, planned, &mut outcome);
        outcome.duration = clock.elapsed();
        outcome
    }

    fn decide_and_execute(
        &mut self,
        context: &RunContext<'_>,
        planned: &PlannedModel,
        facts: &mut LakeFacts,
        outside: &mut Outside<'_>,
        outcome: &mut ModelOutcome,
    ) -> Result<(), RunError> {
        check_runs(context.session, planned, facts)?;
        let key = planned.target().key();
        let wished =
            self.decisions.get(&key).and_then(|decision| decision.as_ref().ok().filter(|d| is_wish(d)).cloned());
        let mut attempt = 1;
        loop {
            match self.execute_once(context, planned, facts, outside, outcome) {
                Err(RunError::CommittedElsewhere { .. }) if !planned.model.fetch && attempt < PLANS_MAX => {
                    self.look_again(context, facts)?;
                    // What the user asked for is still to be done.
                    self.decisions.extend(wished.clone().map(|decision| (key.clone(), Ok(decision))));
                    attempt += 1;
                }
                done => return done,
            }
        }
    }

    fn execute_once(
        &mut self,
        context: &RunContext<'_>,
        planned: &PlannedModel,
        facts: &mut LakeFacts,
        outside: &mut Outside<'_>,
        outcome: &mut ModelOutcome,
    ) -> Result<(), RunError> {
        let decision = self.decide(context, planned, facts)?;
        outcome.run_type = Some(decision.run_type);
        outcome.reason = decision.reason.to_string();
        if decision.run_type == RunType::Skip {
            return Ok(());
        }
        let task = Task::new(decision, &planned.model, last_commit(planned, facts)?);
        outside.forget_clear(planned, &task)?;
        let Some(executed) = outside.execute(context, planned, &task, facts, outcome)? else { return Ok(()) };
        self.stale = true;
        outcome.run_type = Some(executed.decision.run_type);
        outcome.reason = executed.decision.reason.to_string();
        outcome.rows = executed.rows;
        outcome.warnings = executed.warnings;
        outcome.findings = executed.findings;
        Ok(())
    }

    /// The decision made at the start, or a new one if a model that this one reads has run since.
    fn decide(
        &mut self,
        context: &RunContext<'_>,
        planned: &PlannedModel,
        facts: &mut LakeFacts,
    ) -> Result<Decision, RunError> {
        let upstream_ran = planned.depends.iter().any(|name| self.ran.contains(&name.to_lowercase()));
        let settled = |decision: &Decision| {
            matches!(decision.reason, Reason::FirstRun | Reason::SqlChanged | Reason::FullRefresh | Reason::Kept)
        };
        match self.decisions.remove(&planned.target().key()) {
            Some(Ok(decision)) if upstream_ran && !settled(&decision) => {}
            Some(first) => return first,
            None => {}
        }
        if std::mem::take(&mut self.stale) {
            facts.refresh(&context.session.connection)?;
        }
        decide_run(planned, facts)
    }
}

/// Whether it was the user who decided it: no facts change that.
fn is_wish(decision: &Decision) -> bool {
    matches!(decision.reason, Reason::FullRefresh | Reason::Kept)
}

/// Whether other processes may use the state at the same time. It is read off the text, so that a file of one's own is
/// not opened for it.
fn is_shared(state: &ConfigFile) -> bool {
    let needed = needed_extensions(&[&state.expanded.text]);
    needed.contains(&"postgres_scanner") || needed.contains(&"quack")
}

/// `YYYYMMDD-HHMMSS-<6 hex>`, UTC.
pub(crate) fn dag_run_id(now: Timestamp) -> String {
    let mut random = [0; 3];
    // Without random bytes the time alone still tells runs apart.
    let _ = getrandom::fill(&mut random);
    let [a, b, c] = random;
    format!("{}-{a:02x}{b:02x}{c:02x}", now.strftime("%Y%m%d-%H%M%S"))
}
