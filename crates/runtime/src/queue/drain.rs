//! Delivers what is pending, without running models.

use std::time::{Duration, Instant, SystemTime};

use project::check_state_key;
use push::Report;
use state::{StateError, TargetOverview};
use types::Target;

use super::QueueOptions;
use super::target::{Pushing, pushing_model};
use crate::lib_host::{HostContext, managed_tokens};
use crate::pushing::Pushes;
use crate::step::StepSink;
use crate::{RunError, StateSession, Status, load_models};

/// What to deliver, and who is told of it.
pub struct DrainOptions {
    /// What every command of the queue works with.
    pub queue: QueueOptions,
    /// The one target to deliver to; all that models push without it.
    pub target: Option<String>,
    /// The id of the delivery, by [`new_run_id`](crate::new_run_id).
    pub run_id: String,
    /// Is told how long what took.
    pub steps: StepSink,
    /// Whether the result is to tell what is in the queue.
    pub looks_at_queue: bool,
}

/// What became of the targets.
#[derive(Debug)]
pub struct Drained {
    /// Those that had their turn.
    pub targets: Vec<DrainedTarget>,
    /// Whether the user stopped it.
    pub interrupted: bool,
    /// What is in the queue at the end; `None` if that was not asked for, or if no model pushes.
    pub queue: Option<Result<Vec<TargetOverview>, StateError>>,
}

/// What became of a target.
#[derive(Debug)]
pub struct DrainedTarget {
    /// The target.
    pub target: Target,
    /// What was delivered; `None` if it has no table yet, or if that failed as a whole.
    pub report: Option<Report>,
    /// Why it failed, as a whole or for some rows.
    pub error: Option<RunError>,
    /// When its turn ended.
    pub ended: SystemTime,
    /// Time spent.
    pub duration: Duration,
}

impl DrainedTarget {
    /// How it ended; skipped is one that has no table yet.
    pub fn status(&self) -> Status {
        match (&self.error, &self.report) {
            (Some(_), _) => Status::Failed,
            (None, None) => Status::Skip,
            (None, Some(_)) => Status::Ok,
        }
    }
}

/// Feeds and delivers one target, or all that models push. `observe` is told of each when its turn is over.
pub fn drain(drain: &DrainOptions, observe: &mut dyn FnMut(&DrainedTarget)) -> Result<Drained, RunError> {
    let DrainOptions { queue: options, target, run_id, .. } = drain;
    check_state_key(&options.root, &options.environment)?;
    let models = match target {
        Some(name) => vec![pushing_model(options, name)?],
        None => load_models(&options.root)?.into_iter().filter(|model| model.push.is_some()).collect(),
    };
    let mut drained = Drained { targets: Vec::new(), interrupted: false, queue: None };
    if models.is_empty() {
        return Ok(drained);
    }
    let _lock = options.lock()?;
    let session = options.lake()?;
    let Pushing { planned, registry, plans } = Pushing::of(options, &session, models)?;
    let state = StateSession::start(options.store()?)?;
    let host = HostContext {
        session: &session,
        root: &options.root,
        environment: &options.environment,
        redactor: &options.redactor,
        output: options.output.clone(),
        steps: drain.steps.clone(),
        tokens: Some(managed_tokens(
            &options.root,
            &options.environment,
            &options.redactor,
            state.store.clone().into(),
            run_id,
        )),
    };
    let recovery = state.store.lock().recover()?;
    let mut pushes = Pushes::start(&host, &state, &options.cancellation, (&registry, &plans), run_id, recovery)?;
    for planned in &planned {
        drained.interrupted |= options.cancellation.check().is_err();
        if drained.interrupted {
            break;
        }
        let (target, clock) = (planned.target().clone(), Instant::now());
        let (report, error) = match pushes.after(&session, planned) {
            Ok(Some(report)) if report.has_failures() => {
                (Some(report.clone()), Some(RunError::Push { target: target.clone(), report }))
            }
            Ok(report) => (report, None),
            Err(error) => (None, Some(error)),
        };
        let is_over = error.as_ref().is_some_and(|error| error.is_fatal() || error.is_interrupt());
        let (ended, duration) = (SystemTime::now(), clock.elapsed());
        let one = DrainedTarget { target, report, error, ended, duration };
        observe(&one);
        drained.targets.push(one);
        if is_over {
            break;
        }
    }
    drained.interrupted |= options.cancellation.check().is_err();
    drained.queue = drain.looks_at_queue.then(|| state.store.lock().overview());
    Ok(drained)
}
