//! Which functions a lib file must have, with which parameters (chapter 03 §3.1 *Signatures*).

use std::collections::BTreeMap;

use starlark_syntax::codemap::Span;

use crate::api::{Api, FetchApi, INJECTED};
use crate::literal::Problem;
use crate::signature::Signature;

type Functions = BTreeMap<String, Signature>;

/// An error unless every function that the API needs is there and can be called.
pub(crate) fn check_signatures(api: &Api, functions: &Functions) -> Result<(), Problem> {
    let Some(fetch) = &api.fetch else { return Ok(()) };
    if !fetch.is_async {
        let needed =
            functions.get("fetch").ok_or_else(|| Problem::new("there is no fetch() for API[\"fetch\"]", start()))?;
        return check_call(needed, &fetch.args, &INJECTED);
    }
    if let Some(fetch) = functions.get("fetch") {
        return Err(Problem::new("async fetch uses submit/check/fetch_result, not fetch", fetch.span));
    }
    check_async(fetch, functions)
}

fn check_async(fetch: &FetchApi, functions: &Functions) -> Result<(), Problem> {
    let needed =
        |name: &str| functions.get(name).ok_or_else(|| Problem::new(format!("async fetch requires {name}()"), start()));
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
        return Err(Problem::new(
            format!("{name}() has the missing parameter \"{missing}\", which \"args\" names"),
            function.span,
        ));
    }
    let is_known = |name: &str| args.iter().any(|arg| arg == name) || injected.contains(&name);
    match function.parameters.iter().find(|parameter| !is_known(&parameter.name)) {
        Some(unknown) => Err(Problem::new(
            format!("{name}() has the undeclared parameter \"{}\": add it to \"args\"", unknown.name),
            unknown.span,
        )),
        None => Ok(()),
    }
}

/// A function that gets exactly these.
fn check_accepts(function: &Signature, passed: &[&str]) -> Result<(), Problem> {
    let name = &function.name;
    if let Some(missing) = passed.iter().find(|passed| !function.accepts(passed)) {
        return Err(Problem::new(format!("{name}() must accept \"{missing}\""), function.span));
    }
    let unknown = function.parameters.iter().find(|parameter| !passed.contains(&parameter.name.as_str()));
    match unknown.filter(|parameter| !parameter.has_default) {
        Some(unknown) => {
            let message = format!("{name}() has the undeclared parameter \"{}\", which nobody passes", unknown.name);
            Err(Problem::new(message, unknown.span))
        }
        None => Ok(()),
    }
}

fn start() -> Span {
    Span::default()
}
