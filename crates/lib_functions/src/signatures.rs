//! Which functions a lib file must have, with which parameters (chapter 03 §3.1 *Signatures*).

use std::collections::BTreeMap;

use crate::api::{Api, FetchApi, INJECTED};
use crate::literal::Problem;
use crate::signature::{ParameterInfo, Signature};

type Functions = BTreeMap<String, Signature>;

/// An error unless every function that the API needs is there and can be called.
pub(crate) fn check_signatures(api: &Api, functions: &Functions) -> Result<(), Problem> {
    let Some(fetch) = &api.fetch else { return Ok(()) };
    if fetch.is_async {
        return check_async(fetch, functions);
    }
    let message = "there is no function fetch(), which API[\"fetch\"] needs";
    let function = functions.get("fetch").ok_or_else(|| Problem::new(message, fetch.span))?;
    check_call(function, &fetch.args, &INJECTED)
}

fn check_async(fetch: &FetchApi, functions: &Functions) -> Result<(), Problem> {
    if let Some(function) = functions.get("fetch") {
        return Err(Problem::new("async fetch uses submit/check/fetch_result, not fetch", function.span));
    }
    let needed = |name: &str| {
        functions.get(name).ok_or_else(|| Problem::new(format!("async fetch requires {name}()"), fetch.span))
    };
    let (submit, check, result) = (needed("submit")?, needed("check")?, needed("fetch_result")?);
    let injected: Vec<&str> = INJECTED.into_iter().filter(|name| *name != "page").collect();
    check_call(submit, &fetch.args, &injected)?;
    check_accepts(check, &["job_ref"])?;
    check_accepts(result, &["result_ref", "page"])
}

/// A function that gets the arguments of SQL and what the runtime passes.
fn check_call(function: &Signature, args: &[String], injected: &[&str]) -> Result<(), Problem> {
    let name = &function.name;
    if let Some(missing) = args.iter().find(|arg| !function.accepts(arg)) {
        let message = format!("{name}(): missing parameter \"{missing}\", which \"args\" of API names");
        return Err(Problem::new(message, function.span));
    }
    let is_known = |name: &str| args.iter().any(|arg| arg == name) || injected.contains(&name);
    match function.parameters.iter().find(|parameter| !is_known(&parameter.name)) {
        Some(unknown) => Err(undeclared(function, unknown, "add it to \"args\" of API")),
        None => Ok(()),
    }
}

/// A function that gets exactly these.
fn check_accepts(function: &Signature, passed: &[&str]) -> Result<(), Problem> {
    if let Some(missing) = passed.iter().find(|passed| !function.accepts(passed)) {
        return Err(Problem::new(format!("{}() must accept \"{missing}\"", function.name), function.span));
    }
    let is_unknown = |parameter: &&ParameterInfo| !parameter.has_default && !passed.contains(&parameter.name.as_str());
    match function.parameters.iter().find(is_unknown) {
        Some(unknown) => Err(undeclared(function, unknown, "nothing passes it")),
        None => Ok(()),
    }
}

fn undeclared(function: &Signature, parameter: &ParameterInfo, why: &str) -> Problem {
    Problem::new(format!("{}(): undeclared parameter \"{}\": {why}", function.name, parameter.name), parameter.span)
}
