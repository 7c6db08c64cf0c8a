//! Models that push: their SQL, the lib file that they name, and what they pass to it (chapter 04).

use lib_functions::{Lib, PushApi, Registry};
use model::{Finding, Model, PushCall, SyntaxTree};
use query::check_push_query;
use types::{Kind, Rule};

use super::placed;

/// Where a model pushes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushTarget {
    /// The lib function.
    pub lib: String,
    /// What it is called with, by name.
    pub arguments: Vec<(String, String)>,
}

/// Where a model pushes to; `call` is its `@push`. Without a tree its SQL is not judged.
///
/// # Errors
/// Everything that is wrong. Nothing is among it where the only fault is that of a broken lib file.
pub fn check_push(
    model: &Model,
    call: &PushCall,
    tree: Option<&SyntaxTree>,
    registry: &Registry,
) -> Result<PushTarget, Vec<Finding>> {
    let is_lib = |name: &str| registry.get(name).is_some();
    let mut findings: Vec<Finding> =
        tree.into_iter().flat_map(|tree| check_push_query(tree, is_lib)).map(|found| placed(model, found)).collect();
    findings.extend(missing_key(model));
    if registry.broken(&call.function).is_some() {
        return Err(findings);
    }
    match target(model, call, registry) {
        Ok(target) if findings.is_empty() => Ok(target),
        Ok(_) => Err(findings),
        Err(found) => {
            findings.push(found);
            Err(findings)
        }
    }
}

fn target(model: &Model, call: &PushCall, registry: &Registry) -> Result<PushTarget, Finding> {
    let name = &call.function;
    let Some(lib) = registry.get(name) else {
        let help = format!("write lib/{name}.star with API[\"push\"] and push(), or correct the name");
        return Err(refused(model, Rule::PushCall, format!("@push: there is no lib function {name}"), help));
    };
    let Some(api) = &lib.api.push else {
        let help = "add the section \"push\" to its API, and the function push()".into();
        return Err(refused(model, Rule::PushCall, format!("@push: lib/{name}.star cannot push"), help));
    };
    check_kind(model, api, name)?;
    Ok(PushTarget { lib: lib.name.clone(), arguments: arguments(model, lib, api, call)? })
}

/// By its key a change finds its row. Header and parser see to it; a model made otherwise must have it too.
fn missing_key(model: &Model) -> Option<Finding> {
    let (rule, directive) = match model.kind {
        Kind::Merge if model.unique_key.is_none() => (Rule::PushUniqueKey, "unique_key"),
        Kind::Tracked if model.group_key.is_empty() => (Rule::PushGroupKey, "group_key"),
        _ => return None,
    };
    let message = format!("@push of kind {} needs `@{directive}`", model.kind);
    Some(refused(model, rule, message, format!("add `-- @{directive}: column`")))
}

fn check_kind(model: &Model, api: &PushApi, name: &str) -> Result<(), Finding> {
    let Some(kinds) = api.supported_kinds.as_ref().filter(|kinds| !kinds.contains(&model.kind)) else {
        return Ok(());
    };
    let kinds: Vec<&str> = kinds.iter().map(|kind: &Kind| kind.as_str()).collect();
    let message = format!("@push: {name} does not support @kind {}", model.kind);
    Err(refused(model, Rule::PushKindRefused, message, format!("its API supports: {}", kinds.join(", "))))
}

/// The arguments by their names; those with a default may be left out.
fn arguments(model: &Model, lib: &Lib, api: &PushApi, call: &PushCall) -> Result<Vec<(String, String)>, Finding> {
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
        return Err(refused(model, Rule::PushCall, message, help));
    }
    if !missing.is_empty() {
        let message = format!("@push lacks argument(s) of {name}: {}", missing.join(", "));
        return Err(refused(model, Rule::PushCall, message, help));
    }
    Ok(api.args.iter().cloned().zip(call.args.iter().cloned()).collect())
}

fn refused(model: &Model, rule: Rule, message: String, help: String) -> Finding {
    // The function's name stands first in the directive's value.
    let name = model.push.as_ref().map_or("", |call| call.function.as_str());
    let place = model.directive_place("push", name).unwrap_or_else(|| model.place(0..0));
    Finding::new(rule, place, message, help)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use lib_functions::Registry;
    use model::{Model, parse_model};
    use types::{Rule, Target};

    use super::check_push;

    fn rules(model: &Model) -> Vec<Rule> {
        let call = model.push.as_ref().unwrap();
        check_push(model, call, None, &Registry::default()).unwrap_err().iter().map(|found| found.rule).collect()
    }

    #[test]
    fn a_key_that_is_missing_is_told_whoever_let_it_pass() {
        for (header, rule) in [
            ("-- @kind: merge\n-- @unique_key: id", Rule::PushUniqueKey),
            ("-- @kind: tracked\n-- @group_key: id", Rule::PushGroupKey),
        ] {
            let source = format!("{header}\n-- @push: crm\nSELECT 1::INT AS id");
            let mut model = parse_model(Path::new("models/a/b.sql"), source.into(), Target::new("a", "b")).unwrap();
            assert_eq!(rules(&model), [Rule::PushCall], "only the lib file is missing");
            model.unique_key = None;
            model.group_key.clear();
            assert_eq!(rules(&model), [rule, Rule::PushCall]);
        }
    }
}
