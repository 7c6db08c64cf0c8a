//! A run of all models, or of one.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::{EngineOptions, LakeFacts, needed_extensions};
use jiff::Timestamp;
use lib_functions::Registry;
use model::Model;
use plan::Cycle;
use project::{ConfigFile, ConfigFiles, Environment, Redactor, check_state_key, find_model_files, read_config};
use state::{Recovery, SqlStore, StateError, TargetOverview};
use types::{Rule, Target};

use crate::ahead::{Ahead, Surroundings};
use crate::decisions::Decisions;
use crate::execute::RunContext;
use crate::fetching::{JobsContext, check_models, read_registry, start_fetching};
use crate::functions::KnownFunctions;
use crate::git::git_info;
use crate::leases::Leases;
use crate::lib_host::{HostContext, managed_tokens};
use crate::masking::{masks_anew, protect_spills};
use crate::outside::{Deliveries, Outside};
use crate::planning::{Planned, PlannedModel, last_commit, plan_models, sort};
use crate::progress::Progress;
use crate::pushing::{Forecasts, Pushes, check_pushes};
use crate::requirements::check_runs;
use crate::schedule::Schedule;
use crate::step::StepSink;
use crate::turns::Turns;
use crate::world::{Needs, World};
use crate::{
    Cancellation, ModelOutcome, Observer, ProjectLock, RunError, RunSummary, Session, StateSession, load_models,
    select_model,
};

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
    /// How many models fetch at a time, and how many run their queries.
    pub jobs: usize,
    /// Whether to wait for a model that another worker runs; it is skipped otherwise.
    pub waits: bool,
    /// To stop it.
    pub cancellation: Cancellation,
    /// The run's id, by [`new_run_id`]: its commits have it.
    pub run_id: String,
    /// Is told how long what took.
    pub steps: StepSink,
    /// Whether the summary is to tell what is in the queue, where the run has the state open anyway.
    pub looks_at_queue: bool,
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
    let RunFiles { config, state, models } = RunFiles::read(options)?;
    if models.is_empty() {
        observer.started(0);
        return Ok(Ran::default().summary(&options.run_id, clock));
    }
    let _lock = ProjectLock::take(&options.root, options.state_wait, &options.cancellation)?;
    let session = Session::open(&config, &options.session)?;
    let scene = Scene {
        options,
        session: &session,
        local: config.local.as_ref(),
        world: World::Real { open_state: &options.open_state, is_shared: is_shared(&state) },
    };
    let ran = run_models(&scene, models, observer)?;
    Ok(ran.summary(&options.run_id, clock))
}

/// The files that a run is made of, read before any database is open.
pub(crate) struct RunFiles {
    pub config: ConfigFiles,
    pub state: ConfigFile,
    pub models: Vec<Model>,
}

impl RunFiles {
    pub(crate) fn read(options: &RunOptions) -> Result<Self, RunError> {
        let config = read_config(&options.root, &options.environment)?;
        let state = check_state_key(&options.root, &options.environment)?;
        let models = match &options.model {
            Some(operand) => vec![select_model(&options.root, &options.cwd, operand)?],
            None => load_models(&options.root)?,
        };
        Ok(Self { config, state, models })
    }
}

/// Where models run.
pub(crate) struct Scene<'a> {
    pub options: &'a RunOptions,
    pub session: &'a Session,
    /// `variables/local.sql`.
    pub local: Option<&'a ConfigFile>,
    pub world: World<'a>,
}

/// Models that had their turns.
#[derive(Default)]
pub(crate) struct Ran {
    pub planned: Vec<PlannedModel>,
    /// The lake before the first turn.
    pub facts: LakeFacts,
    pub outcomes: Vec<ModelOutcome>,
    /// What went wrong beside the models.
    pub warnings: Vec<String>,
    pub interrupted: bool,
    /// What is in the queue, if it was looked at.
    pub queue: Option<Result<Vec<TargetOverview>, StateError>>,
}

impl Ran {
    pub(crate) fn summary(self, run_id: &str, clock: Instant) -> RunSummary {
        let Self { outcomes, warnings, interrupted, queue, .. } = self;
        let (dag_run_id, duration) = (run_id.to_owned(), clock.elapsed());
        RunSummary { dag_run_id, outcomes, warnings, duration, interrupted, queue }
    }
}

/// Gives each of the models its turn.
pub(crate) fn run_models(scene: &Scene<'_>, models: Vec<Model>, observer: &mut dyn Observer) -> Result<Ran, RunError> {
    let Scene { options, session, world, .. } = scene;
    let dag_run_id = &options.run_id;
    let git = git_info(&options.root);
    let facts = LakeFacts::read(&session.connection, &session.lake, &session.metadata)?;
    let Planned { models, names } = plan(options, session, &facts, models)?;
    protect_spills(session, models.iter().map(|planned| &planned.model))?;
    let registry = read_registry(session, &options.root)?;
    warn_of_unknown_keys(options, &registry);
    let plans = check_models(session, &registry, &models, options.model.is_some(), &options.cancellation)?;
    let pushing = check_pushes(&registry, &models)?;
    let functions = KnownFunctions::default();
    let local = scene.local.map(|file| file.with_catalog(&session.lake));
    let context = RunContext {
        session,
        names: &names,
        local: local.as_ref(),
        functions: &functions,
        cancellation: &options.cancellation,
        dag_run_id,
        git: &git,
        steps: &options.steps,
        seen: Cell::new(facts.commits_at),
    };
    let decisions = Decisions::new(&models, &facts, options.wish);
    // Nothing that these read is made by this run.
    let will_fetch = |planned: &&PlannedModel| {
        planned.model.fetch && decisions.is_decided(planned) && check_runs(session, planned, &facts).is_ok()
    };
    let fetches = models.iter().filter(will_fetch).count();
    // What was pushed once may have left rows there, whatever the model does now.
    let masks_anew = |planned: &PlannedModel| {
        last_commit(planned, &facts).is_ok_and(|last| masks_anew(&planned.model, last.as_ref()))
    };
    let entered = world.enter(&Needs {
        fetches: fetches > 0,
        masks: models.iter().any(masks_anew),
        pushed: pushing.keys().cloned().collect(),
    })?;
    let state = entered.session.as_ref();
    let tokens = world
        .tokens(&entered)
        .map(|store| managed_tokens(&options.root, &options.environment, &options.redactor, store, dag_run_id));
    let host = HostContext {
        session,
        root: &options.root,
        environment: &options.environment,
        redactor: &options.redactor,
        output: Arc::clone(&options.output),
        steps: options.steps.clone(),
        tokens,
    };
    let mut warnings = Vec::new();
    let deliveries = match (&entered.look, state) {
        _ if pushing.is_empty() => None,
        (Some(look), _) => Some(Deliveries::Forecast(Forecasts { plans: &pushing, registry: &registry, look })),
        (None, Some(state)) => {
            let recovery = recover(state, &mut warnings);
            let to = (&registry, &pushing);
            Some(Deliveries::Push(Pushes::start(&host, state, &options.cancellation, to, dag_run_id, recovery)?))
        }
        (None, None) => None,
    };
    observer.started(models.len());
    let (outcomes, interrupted) = std::thread::scope(|scope| {
        let jobs = JobsContext {
            host: &host,
            registry: &registry,
            plans: &plans,
            cancellation: &options.cancellation,
            run_id: dag_run_id,
            is_refresh: options.wish == Some(Wish::FullRefresh),
            targets: options.model.is_none().then(|| models.iter().map(|planned| planned.target().key()).collect()),
        };
        let store = state.filter(|_| fetches > 0).map(|state| state.store.clone());
        let start = |store| start_fetching(scope, jobs, &facts, store, options.jobs.min(fetches));
        let leases = state.filter(|_| world.has_leases()).map(|state| Leases {
            store: &state.store,
            run_id: dag_run_id,
            waits: options.waits,
        });
        let outside = Outside {
            plans: &plans,
            redactor: &options.redactor,
            store: state.map(|state| &state.store),
            fetches: store.map(start).transpose()?,
            planned_with: &facts,
            pushed: &pushing,
            deliveries,
            leases,
        };
        let around = Surroundings { names: &names, cancellation: &options.cancellation, steps: &options.steps };
        let turns = Turns {
            context: &context,
            models: &models,
            facts: Arc::new(facts.clone()),
            decisions,
            ahead: Ahead::new(scope, session, around, options.jobs.min(models.len()), leases.is_some())?,
            outside,
            observer,
            // What a worker leases and does not fetch yet, another one could; one waits, so that there is always one to go
            // on with.
            fetches_max: if leases.is_some() { options.jobs + 1 } else { usize::MAX },
            validates: matches!(world, World::Sandbox { .. }),
            schedule: Schedule::new(&models),
            progress: Progress::default(),
        };
        let (outcomes, told, interrupted) = turns.take_all();
        warnings.extend(told);
        Ok::<_, RunError>((outcomes, interrupted))
    })?;
    let queue = state.filter(|_| options.looks_at_queue).map(|state| state.store.lock().overview());
    Ok(Ran { outcomes, planned: models, facts, warnings, interrupted, queue })
}

/// A key that nobody knows would have no effect without a word.
fn warn_of_unknown_keys(options: &RunOptions, registry: &Registry) {
    for remark in registry.libs().flat_map(|lib| &lib.remarks).filter(|remark| remark.rule == Rule::UnknownKey) {
        let place = &remark.place;
        (options.output)(&format!("warning: {}:{}: {}", place.file().display(), place.line(), remark.message));
    }
}

/// Recovers what workers left that are gone. What stays is found again by the next run; nothing of it is in the way of
/// this one.
fn recover(state: &StateSession, warnings: &mut Vec<String>) -> Recovery {
    state.store.lock().recover().unwrap_or_else(|error| {
        warnings.push(format!("what earlier runs left in the queue was not recovered: {error}"));
        Recovery::default()
    })
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

/// Whether other processes may use the state at the same time. It is read off the text, so that a file of one's own is
/// not opened for it.
fn is_shared(state: &ConfigFile) -> bool {
    let needed = needed_extensions(&[&state.expanded.text]);
    needed.contains(&"postgres_scanner") || needed.contains(&"quack")
}

/// The id of a run that begins now: `YYYYMMDD-HHMMSS-<6 hex>`, UTC.
pub fn new_run_id() -> String {
    let now = Timestamp::now();
    let mut random = [0; 3];
    // Without random bytes the time alone still tells runs apart.
    let _ = getrandom::fill(&mut random);
    let [a, b, c] = random;
    format!("{}-{a:02x}{b:02x}{c:02x}", now.strftime("%Y%m%d-%H%M%S"))
}
