//! Calls of lib functions: in models that fetch, and in those that do not (chapter 03 §3.4, *Model rules*).

use lib_functions::{Lib, Registry};
use model::{Finding, Model, SyntaxTree, TreeError};
use query::{FetchQuery, LibFacts, check_lib_calls, read_fetch_query, unreadable};
use types::Rule;

use super::{check_limit, placed};

/// What a model's SQL is judged by, of all lib files.
pub fn lib_facts(registry: &Registry) -> Vec<LibFacts> {
    let broken = registry.all_broken().map(|broken| LibFacts {
        name: broken.name.clone(),
        is_broken: true,
        ..LibFacts::default()
    });
    registry.libs().map(healthy).chain(broken).collect()
}

fn healthy(lib: &Lib) -> LibFacts {
    let fetch = lib.api.fetch.as_ref();
    let function = lib.functions.get(if fetch.is_some_and(|fetch| fetch.is_async) { "submit" } else { "fetch" });
    let args = fetch.map_or_else(Vec::new, |fetch| fetch.args.clone());
    let is_required = |arg: &&String| {
        let parameter = function.and_then(|f| f.parameters.iter().find(|parameter| parameter.name == **arg));
        parameter.is_some_and(|parameter| !parameter.has_default)
    };
    LibFacts {
        name: lib.name.clone(),
        is_broken: false,
        can_fetch: fetch.is_some(),
        required: args.iter().filter(is_required).cloned().collect(),
        args,
        supported_columns: fetch.and_then(|fetch| fetch.supported_columns.clone()),
        supported_kinds: fetch.and_then(|fetch| fetch.supported_kinds.clone()),
    }
}

/// Reads what a model with `@fetch` asks for; `tree` is the complete one of its SQL.
///
/// # Errors
/// Everything that is wrong, by its place. Nothing is among it where the only fault is that of a broken lib file.
pub fn check_fetch(
    model: &Model,
    tree: &Result<SyntaxTree, TreeError>,
    libs: &[LibFacts],
) -> Result<FetchQuery, Vec<Finding>> {
    let complete = match tree {
        Ok(complete) => complete,
        Err(TreeError::Syntax { message, .. } | TreeError::NotSerializable { message }) => {
            return Err(vec![placed(model, unreadable(model.sql(), message))]);
        }
    };
    read_fetch_query(complete, model.sql(), model.kind, libs).map_err(|found| {
        let mut findings: Vec<Finding> = found.into_iter().map(|found| placed(model, found)).collect();
        // Those of the query itself are there; this looks into what should not be there at all. An unknown function
        // stands alone.
        let settled = [Rule::LimitDisallowed, Rule::OffsetDisallowed, Rule::UnknownLib];
        if !findings.iter().any(|finding| settled.contains(&finding.rule)) {
            findings.extend(check_limit(model, tree));
            findings.sort_by_key(|finding| finding.place.span().start);
        }
        findings
    })
}

/// What is wrong with the calls of lib functions in a model without `@fetch`; in one that pushes, [`check_push`] tells.
///
/// [`check_push`]: super::check_push
pub fn check_calls(model: &Model, tree: &SyntaxTree, libs: &[LibFacts]) -> Vec<Finding> {
    if libs.is_empty() || model.push.is_some() {
        return Vec::new();
    }
    check_lib_calls(tree, libs).into_iter().map(|found| placed(model, found)).collect()
}
