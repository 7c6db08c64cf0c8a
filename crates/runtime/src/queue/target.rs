//! Which target is meant: one that a model pushes, or one that is left in the queue by a model that is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use engine::LakeFacts;
use lib_functions::Registry;
use model::Model;
use project::{Models, find_model_files};
use state::{QueueAdmin, SqlStore, TargetOverview};
use types::Target;

use super::{QueueError, QueueOptions};
use crate::fetching::read_registry;
use crate::planning::{PlannedModel, plan_models};
use crate::project_models::closest;
use crate::pushing::{PushPlan, check_pushes};
use crate::{RunError, Session, named_model, select_model};

/// A target that is known to the queue or to the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownTarget {
    /// As the queue spells it.
    pub name: String,
    /// How it stands; `None` if it has no events, no dead letters and no position.
    pub queue: Option<TargetOverview>,
    /// Whether a model pushes it.
    pub has_model: bool,
}

/// The target of this name, or of the model whose file it is the path of; case does not matter where it is the only
/// difference.
///
/// # Errors
/// `QueueError::Unknown` if there is none; `models/` or the state cannot be read.
pub fn find_target(options: &QueueOptions, name: &str) -> Result<KnownTarget, RunError> {
    find(&mut options.store()?, options, name)
}

pub(super) fn find(store: &mut SqlStore, options: &QueueOptions, name: &str) -> Result<KnownTarget, RunError> {
    let name = &named_model(&options.root, &options.cwd, name)?;
    let pushing = PushingModels::read(&options.root)?;
    let mut queues = store.overview()?;
    let names: BTreeSet<String> = queues.iter().map(|queue| queue.target.clone()).chain(pushing.names).collect();
    let Some(found) = names.get(&name.to_lowercase()).cloned() else {
        return Err(QueueError::Unknown { name: name.into(), suggestion: closest(name, names.into_iter()) }.into());
    };
    let at = queues.iter().position(|queue| queue.target == found);
    let has_model = pushing.keys.contains(&found);
    Ok(KnownTarget { queue: at.map(|at| queues.swap_remove(at)), name: found, has_model })
}

/// The models that push, read without regard to what is wrong with others.
pub(super) struct PushingModels {
    names: Vec<String>,
    /// In lower case; those of files that cannot be read are taken for models that push.
    pub keys: BTreeSet<String>,
}

impl PushingModels {
    pub fn read(root: &Path) -> Result<Self, RunError> {
        let models = Models::read(root)?.models;
        let others: BTreeSet<String> =
            models.iter().filter(|model| model.push.is_none()).map(|model| model.target.key()).collect();
        let files = find_model_files(root)?.into_iter().filter_map(|source| source.target.ok());
        let keys = files.map(|target| target.key()).filter(|key| !others.contains(key)).collect();
        let names = models.iter().filter(|model| model.push.is_some()).map(|model| model.target.key()).collect();
        Ok(Self { names, keys })
    }
}

/// The model that pushes a target.
pub(super) fn pushing_model(options: &QueueOptions, name: &str) -> Result<Model, RunError> {
    let model = match select_model(&options.root, &options.cwd, name) {
        // Perhaps something is left of it; the error tells what is known.
        Err(RunError::ModelNotFound { .. }) => {
            let target = find(&mut options.store()?, options, name)?.name;
            return Err(QueueError::NoModel { target }.into());
        }
        found => found?,
    };
    match model.push {
        Some(_) => Ok(model),
        None => Err(QueueError::NoPush { target: model.target.to_string() }.into()),
    }
}

/// Models that push, with all that is to be known before something is delivered.
pub(super) struct Pushing {
    pub planned: Vec<PlannedModel>,
    pub registry: Registry,
    pub plans: BTreeMap<String, PushPlan>,
}

impl Pushing {
    pub fn of(options: &QueueOptions, session: &Session, models: Vec<Model>) -> Result<Self, RunError> {
        let facts = LakeFacts::read(&session.connection, &session.lake, &session.metadata)?;
        let targets = find_model_files(&options.root)?.into_iter().filter_map(|source| source.target.ok());
        let targets: Vec<Target> = targets.collect();
        let planned = plan_models(session, &facts, models, &targets)?.models;
        let registry = read_registry(session, &options.root)?;
        let plans = check_pushes(&registry, &planned)?;
        Ok(Self { planned, registry, plans })
    }
}
