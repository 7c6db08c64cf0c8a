//! Which functions a lib file must have, with which parameters (chapter 03 §3.1 *Signatures*).

use std::collections::BTreeMap;

use crate::api::{Api, BatchMode, FetchApi, INJECTED, PUSH_INJECTED, PushApi};
use crate::literal::Problem;
use crate::signature::{ParameterInfo, Signature};

type Functions = BTreeMap<String, Signature>;

/// An error unless every function that the API needs is there and can be called.
pub(crate) fn check_signatures(api: &Api, functions: &Functions) -> Result<(), Problem> {
    api.fetch.as_ref().map_or(Ok(()), |fetch| check_fetch(fetch, functions))?;
    api.push.as_ref().map_or(Ok(()), |push| check_push(push, functions))
}

fn check_fetch(fetch: &FetchApi, functions: &Functions) -> Result<(), Problem> {
    if fetch.is_async {
        return check_async(fetch, functions);
    }
    let message = "there is no function fetch(), which API[\"fetch\"] needs";
    let function = functions.get("fetch").ok_or_else(|| Problem::new(message, fetch.span))?;
    check_args(function, &fetch.args)?;
    check_declared(function, &fetch.args, &INJECTED)
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
    check_args(submit, &fetch.args)?;
    check_declared(submit, &fetch.args, &injected)?;
    check_accepts(check, &["job_ref"])?;
    check_accepts(result, &["result_ref", "page"])
}

/// The functions that push (chapter 04 §6.1, §6.3): all that `push` is passed but `rows` may be left out.
fn check_push(push: &PushApi, functions: &Functions) -> Result<(), Problem> {
    let message = "there is no function push(), which API[\"push\"] needs";
    let function = functions.get("push").ok_or_else(|| Problem::new(message, push.span))?;
    if !function.accepts("rows") {
        return Err(Problem::new("push() must accept \"rows\"", function.span));
    }
    check_declared(function, &push.args, &PUSH_INJECTED)?;
    if push.batch_mode == BatchMode::Async {
        let poll = functions.get("poll").ok_or_else(|| Problem::new("async push requires poll()", push.span))?;
        check_accepts(poll, &["job_ref"])?;
    }
    functions.get("finalize").map_or(Ok(()), |finalize| check_accepts(finalize, &["succeeded", "failed"]))
}

/// A function that must take all arguments of SQL.
fn check_args(function: &Signature, args: &[String]) -> Result<(), Problem> {
    let Some(missing) = args.iter().find(|arg| !function.accepts(arg)) else { return Ok(()) };
    let message = format!("{}(): missing parameter \"{missing}\", which \"args\" of API names", function.name);
    Err(Problem::new(message, function.span))
}

/// A function that may take these arguments, and what the runtime passes.
fn check_declared(function: &Signature, args: &[String], injected: &[&str]) -> Result<(), Problem> {
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
