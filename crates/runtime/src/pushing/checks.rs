//! What is checked of models that push before anything runs: the lib file that they name, and what they pass to it.

use std::collections::BTreeMap;

use lib_functions::{HostValue, Registry};
use model::{Finding, PushCall};
use types::Rule;
use validate::{PushTarget, check_push};

use crate::RunError;
use crate::planning::PlannedModel;

/// Where models push to, by lower-case target.
pub(crate) type PushPlans = BTreeMap<String, PushPlan>;

/// Where a model pushes to.
pub(crate) struct PushPlan {
    /// The lib function.
    pub lib: String,
    /// What it is called with, by name.
    pub arguments: Vec<(String, HostValue)>,
}

/// Checks all models that push.
pub(crate) fn check_pushes(registry: &Registry, planned: &[PlannedModel]) -> Result<PushPlans, RunError> {
    let pushing = planned.iter().filter_map(|planned| Some((planned, planned.model.push.as_ref()?)));
    pushing.map(|(planned, call)| Ok((planned.target().key(), plan(registry, planned, call)?))).collect()
}

fn plan(registry: &Registry, planned: &PlannedModel, call: &PushCall) -> Result<PushPlan, RunError> {
    let PlannedModel { model, tree, .. } = planned;
    match (check_push(model, call, tree.as_ref().ok(), registry), registry.broken(&call.function)) {
        (Ok(PushTarget { lib, arguments }), _) => {
            let arguments = arguments.into_iter().map(|(name, text)| (name, HostValue::Text(text)));
            Ok(PushPlan { lib, arguments: arguments.collect() })
        }
        (Err(findings), broken) => Err(match (findings.first(), broken) {
            (None, Some(broken)) => broken.error.clone().into(),
            (Some(finding), _) => RunError::refused(finding),
            (None, None) => RunError::refused(&Finding::new(
                Rule::PushCall,
                model.place(0..0),
                format!("@push: {} cannot be used", call.function),
                "see what `ondatrasql validate` says of the model and of the lib file",
            )),
        }),
    }
}
