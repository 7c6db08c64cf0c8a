//! What is checked of models that fetch before the first request: their SQL, and the lib files that they call.

use std::collections::{BTreeMap, BTreeSet};

use engine::EngineParser;
use fetch::Column;
use lib_functions::{HostValue, Lib, Registry};
use model::{SyntaxTree, TreeError};
use query::{FetchFinding, FetchQuery, LibFacts, lib_calls, read_fetch_query, unreadable};
use types::Code;

use super::arguments::written_arguments;
use super::declared::{check_declared, declared_columns};
use crate::planning::PlannedModel;
use crate::requirements::load_extensions;
use crate::{Cancellation, RunError, Session};

/// What the models that fetch ask for, by lower-case target.
pub(crate) type FetchPlans = BTreeMap<String, FetchPlan>;

/// What a model that fetches asks for.
pub(crate) struct FetchPlan {
    /// The lib function.
    pub lib: String,
    /// The query as read.
    pub query: FetchQuery,
    /// The columns with their types.
    pub columns: Vec<Column>,
    /// The values of the arguments that stand in the SQL.
    pub arguments: Vec<(String, HostValue)>,
}

/// Reads `lib/`; names of the engine's own table functions are taken.
pub(crate) fn read_registry(session: &Session, root: &std::path::Path) -> Result<Registry, RunError> {
    if !root.join("lib").is_dir() {
        return Ok(Registry::default());
    }
    let sql =
        "SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE function_type IN ('table', 'table_macro')";
    let rows = session.connection.query(sql)?.into_values();
    let builtin: BTreeSet<String> = rows.filter_map(|mut row| row.swap_remove(0).into_text()).collect();
    Ok(Registry::read(root, |name| builtin.contains(name))?)
}

/// Checks all models, and gives what those that fetch ask for. `only` is set when one model was named: then other
/// lib files may be broken.
pub(crate) fn check_models(
    session: &Session,
    registry: &Registry,
    planned: &[PlannedModel],
    only: bool,
    cancellation: &Cancellation,
) -> Result<FetchPlans, RunError> {
    if let Some(broken) = registry.all_broken().next().filter(|_| !only) {
        return Err(broken.error.clone().into());
    }
    let facts = facts(registry);
    let mut plans = FetchPlans::new();
    for planned in planned {
        if planned.model.fetch {
            plans.insert(planned.target().key(), check_fetch(session, registry, &facts, planned, cancellation)?);
        } else if let Ok(tree) = &planned.tree
            && !facts.is_empty()
            && let Some(call) = lib_calls(tree, |name| registry.get(name).is_some()).first()
        {
            return Err(refused(planned, &call.missing_directive()));
        }
    }
    Ok(plans)
}

fn facts(registry: &Registry) -> Vec<LibFacts> {
    let healthy = registry.libs().map(|lib| {
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
    });
    let broken = registry.all_broken().map(|broken| LibFacts {
        name: broken.name.clone(),
        is_broken: true,
        ..LibFacts::default()
    });
    healthy.chain(broken).collect()
}

fn check_fetch(
    session: &Session,
    registry: &Registry,
    facts: &[LibFacts],
    planned: &PlannedModel,
    cancellation: &Cancellation,
) -> Result<FetchPlan, RunError> {
    let model = &planned.model;
    load_extensions(session, model)?;
    let parser = EngineParser(&session.connection);
    let tree = parser
        .complete_tree(model.sql())
        .map_err(|error| refused(planned, &unreadable(model.sql(), tree_error(&error))))?;
    let query = match read_fetch_query(&tree, model.sql(), model.kind, facts) {
        Ok(query) => query,
        Err(findings) => {
            return Err(match findings.first() {
                Some(finding) => refused(planned, finding),
                None => broken_lib(registry, &tree, planned),
            });
        }
    };
    if let Some(broken) = registry.broken(&query.function) {
        return Err(broken.error.clone().into());
    }
    let lib = registry.get(&query.function).map(|lib: &Lib| lib.name.clone()).unwrap_or_default();
    let columns = declared_columns(&session.connection, model, &query)?;
    check_declared(model, &query, &columns)?;
    let evaluate = || written_arguments(&session.connection, model, &query);
    let arguments = cancellation.interruptible(session.connection.interrupt_handle(), evaluate);
    cancellation.check()?;
    let arguments = arguments?;
    Ok(FetchPlan { lib, query, columns, arguments })
}

fn tree_error(error: &TreeError) -> &str {
    match error {
        TreeError::Syntax { message, .. } | TreeError::NotSerializable { message } => message,
    }
}

fn broken_lib(registry: &Registry, tree: &SyntaxTree, planned: &PlannedModel) -> RunError {
    let calls = lib_calls(tree, |name| registry.broken(name).is_some());
    let broken = calls.first().and_then(|call| registry.broken(&call.name));
    broken.map_or_else(
        || RunError::Refused {
            code: Code::FetchSql,
            message: "the SQL of this @fetch model cannot be used".into(),
            help: "write `SELECT <col>::TYPE AS alias FROM api('x')`".into(),
            place: Box::new(planned.model.sql_place(0)),
        },
        |broken| broken.error.clone().into(),
    )
}

fn refused(planned: &PlannedModel, finding: &FetchFinding) -> RunError {
    RunError::Refused {
        code: if finding.rule.starts_with("read_only.") { Code::Limit } else { Code::FetchSql },
        message: finding.message.clone(),
        help: finding.help.clone(),
        place: Box::new(planned.model.sql_place(finding.offset.unwrap_or(0))),
    }
}
