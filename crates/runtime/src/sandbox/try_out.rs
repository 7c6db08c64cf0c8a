//! The course of a sandbox: fork, run, compare, remove.

use std::cell::OnceCell;
use std::path::Path;
use std::time::Instant;

use engine::EngineError;
use feed::Window;
use model::Model;
use state::StateConfig;
use types::Target;

use super::compare::{Comparing, Comparison};
use super::fork::{Fork, ForkOptions};
use super::impact::{Impact, impact};
use crate::planning::PlannedModel;
use crate::run::{Ran, RunFiles, Scene, run_models};
use crate::session::current_snapshot;
use crate::world::World;
use crate::{ModelOutcome, Observer, RunError, RunOptions, RunSummary, Session, Status};

/// Asked before connections to production are ended, with their number; `None` if nobody is there to answer.
pub type ConfirmTermination<'a> = dyn Fn(u64) -> Option<bool> + 'a;

/// What a sandbox is made with.
pub struct SandboxOptions<'a> {
    /// What to run. Its `open_state` is not asked, and it waits for nobody.
    pub run: RunOptions,
    /// Leads to the state, which is looked at.
    pub state: StateConfig,
    /// Asked before connections to production are ended.
    pub confirm: &'a ConfirmTermination<'a>,
}

/// How a sandbox ended.
#[derive(Debug)]
pub struct SandboxSummary {
    /// How the run ended.
    pub run: RunSummary,
    /// What there is to tell of each model that had its turn, in the order of the run's outcomes.
    pub models: Vec<SandboxModel>,
    /// What the change of the one model that was named means for others, or why that cannot be told; `None` if all ran, or
    /// if it failed.
    pub impact: Option<Result<Impact, String>>,
}

/// A model in a sandbox.
#[derive(Debug)]
pub struct SandboxModel {
    /// What it reads.
    pub depends: Vec<String>,
    /// How many constraints, audits and warnings it has.
    pub checks: [usize; 3],
    /// How its table differs from production's; `None` if it failed.
    pub comparison: Option<Comparison>,
}

/// Runs models against a fork of the lake. Errors are those that stop everything before the first model.
pub fn sandbox(options: &SandboxOptions<'_>, observer: &mut dyn Observer) -> Result<SandboxSummary, RunError> {
    let clock = Instant::now();
    let SandboxOptions { run, state, confirm } = options;
    let RunFiles { config, models, .. } = RunFiles::read(run)?;
    let fork_options =
        ForkOptions { root: &run.root, engine: &run.session, cancellation: &run.cancellation, confirm: *confirm };
    let mut told = Fork::remove_leftovers(&config, &fork_options);
    if models.is_empty() {
        observer.started(0);
        let run = Ran { warnings: told, ..Ran::default() }.summary(&run.run_id, clock);
        return Ok(SandboxSummary { run, models: Vec::new(), impact: None });
    }
    let fork = Fork::make(&config, &fork_options)?;
    let local = config.local.clone();
    let session = fork.session(config, &fork_options)?;
    let scene = Scene { options: run, session: &session, local: local.as_ref(), world: World::Sandbox { state } };
    let mut ran = run_models(&scene, models, observer)?;
    let handle = session.connection.interrupt_handle();
    let (models, impact) =
        run.cancellation.interruptible(handle, || look(&session, &run.root, &ran, run.model.is_some()))?;
    drop(session);
    told.extend(fork.remove().err().map(|error| error.to_string()));
    ran.warnings.append(&mut told);
    Ok(SandboxSummary { run: ran.summary(&run.run_id, clock), models, impact })
}

/// What a run did, told by the fork.
type Looked = (Vec<SandboxModel>, Option<Result<Impact, String>>);

fn look(session: &Session, root: &Path, ran: &Ran, is_single: bool) -> Result<Looked, EngineError> {
    if ran.interrupted {
        return Ok((Vec::new(), None));
    }
    let targets: Vec<&Target> = ran.planned.iter().map(PlannedModel::target).collect();
    let ends = (ran.facts.commits_at, current_snapshot(&session.connection, &session.lake)?);
    let window = Window::open(&session.connection, (&session.lake, &session.metadata), ends, &targets)?;
    let comparing = Comparing {
        session,
        window: &window,
        ends,
        facts: &ran.facts,
        counts_all: is_single,
        row_counts: OnceCell::new(),
    };
    let one = |(planned, outcome): (&PlannedModel, &ModelOutcome)| SandboxModel {
        depends: planned.depends.clone(),
        checks: checks(&planned.model),
        comparison: is_compared(outcome).then(|| comparing.compare(planned)),
    };
    // Both are in the order of the run; a model without an outcome had no turn.
    let mut outcomes = ran.outcomes.iter().peekable();
    let had_turn = ran.planned.iter().filter_map(|planned| {
        outcomes.next_if(|outcome| outcome.target == *planned.target()).map(|outcome| (planned, outcome))
    });
    let models: Vec<SandboxModel> = had_turn.map(one).collect();
    let comparison = models.first().filter(|_| is_single).and_then(|model| model.comparison.as_ref());
    let impact = comparison.map(|comparison| impact(root, ran, comparison));
    Ok((models, impact))
}

/// A failed model left its table alone.
fn is_compared(outcome: &ModelOutcome) -> bool {
    outcome.status() != Status::Failed
}

fn checks(model: &Model) -> [usize; 3] {
    [&model.constraints, &model.audits, &model.warnings].map(Vec::len)
}
