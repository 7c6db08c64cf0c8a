//! What is checked of models that push before anything runs: the lib file that they name, and what they pass to it.

use std::collections::BTreeMap;

use lib_functions::{HostValue, Lib, PushApi, Registry};
use model::{Model, PushCall};
use query::check_push_query;
use types::{Code, Kind};

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
    let mut plans = PushPlans::new();
    for planned in planned {
        if let Some(call) = &planned.model.push {
            check_query(registry, planned)?;
            plans.insert(planned.target().key(), check(registry, &planned.model, call)?);
        }
    }
    Ok(plans)
}

/// The SQL: what is sent has types and names that somebody chose.
fn check_query(registry: &Registry, planned: &PlannedModel) -> Result<(), RunError> {
    // Without a tree the run has ended already.
    let Ok(tree) = &planned.tree else { return Ok(()) };
    let Some(finding) = check_push_query(tree, |name| registry.get(name).is_some()).into_iter().next() else {
        return Ok(());
    };
    Err(RunError::Refused {
        code: Code::PushModel,
        message: finding.message,
        help: finding.help,
        place: Box::new(planned.model.sql_place(finding.offset.unwrap_or(0))),
    })
}

fn check(registry: &Registry, model: &Model, call: &PushCall) -> Result<PushPlan, RunError> {
    if let Some(broken) = registry.broken(&call.function) {
        return Err(broken.error.clone().into());
    }
    let name = &call.function;
    let Some(lib) = registry.get(name) else {
        let help = format!("write lib/{name}.star with API[\"push\"] and push(), or correct the name");
        return Err(refused(model, format!("@push: there is no lib function {name}"), help));
    };
    let Some(api) = &lib.api.push else {
        let help = "add the section \"push\" to its API, and the function push()".into();
        return Err(refused(model, format!("@push: lib/{name}.star cannot push"), help));
    };
    check_kind(model, api, name)?;
    Ok(PushPlan { lib: lib.name.clone(), arguments: arguments(model, lib, api, call)? })
}

fn check_kind(model: &Model, api: &PushApi, name: &str) -> Result<(), RunError> {
    let Some(kinds) = api.supported_kinds.as_ref().filter(|kinds| !kinds.contains(&model.kind)) else {
        return Ok(());
    };
    let kinds: Vec<&str> = kinds.iter().map(|kind: &Kind| kind.as_str()).collect();
    let message = format!("@push: {name} does not support @kind {}", model.kind);
    Err(refused(model, message, format!("its API supports: {}", kinds.join(", "))))
}

/// The arguments by their names; those with a default may be left out.
fn arguments(model: &Model, lib: &Lib, api: &PushApi, call: &PushCall) -> Result<Vec<(String, HostValue)>, RunError> {
    let push = lib.functions.get("push");
    let has_default = |name: &str| {
        let parameter = push.and_then(|push| push.parameters.iter().find(|parameter| parameter.name == name));
        parameter.is_some_and(|parameter| parameter.has_default)
    };
    let missing: Vec<&str> =
        api.args.iter().skip(call.args.len()).map(String::as_str).filter(|name| !has_default(name)).collect();
    let (name, given) = (&call.function, call.args.len());
    let declared = if api.args.is_empty() { "none".to_owned() } else { api.args.join(", ") };
    let help = format!("its arguments, in order: {declared}");
    if given > api.args.len() {
        let message = format!("@push passes {given} argument(s) to {name}, which takes {}", api.args.len());
        return Err(refused(model, message, help));
    }
    if !missing.is_empty() {
        return Err(refused(model, format!("@push lacks argument(s) of {name}: {}", missing.join(", ")), help));
    }
    let value = |(name, text): (&String, &String)| (name.clone(), HostValue::Text(text.clone()));
    Ok(api.args.iter().zip(&call.args).map(value).collect())
}

fn refused(model: &Model, message: String, help: String) -> RunError {
    // The function's name stands first in the directive's value.
    let name = model.push.as_ref().map_or("", |call| call.function.as_str());
    let place = model.directive_place("push", name).unwrap_or_else(|| model.place(0..0));
    RunError::Refused { code: Code::PushModel, message, help, place: Box::new(place) }
}
