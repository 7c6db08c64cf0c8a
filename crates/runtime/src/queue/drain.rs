//! Delivers what is pending, without running models.

use project::check_state_key;
use push::Report;
use types::Target;

use super::QueueOptions;
use super::target::{Pushing, pushing_model};
use crate::lib_host::{HostContext, managed_tokens};
use crate::pushing::Pushes;
use crate::run::new_run_id;
use crate::step::StepSink;
use crate::{RunError, StateSession, load_models};

/// What became of the targets.
#[derive(Debug)]
pub struct Drained {
    /// Those that had their turn.
    pub targets: Vec<DrainedTarget>,
    /// Whether the user stopped it.
    pub interrupted: bool,
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
}

/// Feeds and delivers one target, or all that models push. `observe` is told of each when its turn is over.
pub fn drain(
    options: &QueueOptions,
    name: Option<&str>,
    observe: &mut dyn FnMut(&DrainedTarget),
) -> Result<Drained, RunError> {
    check_state_key(&options.root, &options.environment)?;
    let models = match name {
        Some(name) => vec![pushing_model(options, name)?],
        None => load_models(&options.root)?.into_iter().filter(|model| model.push.is_some()).collect(),
    };
    let mut drained = Drained { targets: Vec::new(), interrupted: false };
    if models.is_empty() {
        return Ok(drained);
    }
    let _lock = options.lock()?;
    let session = options.lake()?;
    let Pushing { planned, registry, plans } = Pushing::of(options, &session, models)?;
    let state = StateSession::start(options.store()?)?;
    let run_id = new_run_id();
    let host = HostContext {
        session: &session,
        root: &options.root,
        environment: &options.environment,
        redactor: &options.redactor,
        output: options.output.clone(),
        steps: StepSink::default(),
        tokens: Some(managed_tokens(
            &options.root,
            &options.environment,
            &options.redactor,
            state.store.clone().into(),
            &run_id,
        )),
    };
    let recovery = state.store.lock().recover()?;
    let mut pushes = Pushes::start(&host, &state, &options.cancellation, (&registry, &plans), &run_id, recovery)?;
    for planned in &planned {
        drained.interrupted |= options.cancellation.check().is_err();
        if drained.interrupted {
            break;
        }
        let target = planned.target().clone();
        let (report, error) = match pushes.after(&session, planned) {
            Ok(Some(report)) if report.has_failures() => {
                (Some(report.clone()), Some(RunError::Push { target: target.clone(), report }))
            }
            Ok(report) => (report, None),
            Err(error) => (None, Some(error)),
        };
        let is_over = error.as_ref().is_some_and(|error| error.is_fatal() || error.is_interrupt());
        let one = DrainedTarget { target, report, error };
        observe(&one);
        drained.targets.push(one);
        if is_over {
            break;
        }
    }
    drained.interrupted |= options.cancellation.check().is_err();
    Ok(drained)
}
