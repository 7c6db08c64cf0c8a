//! What is checked of models that fetch before the first request: their SQL, and the lib files that they call.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use engine::EngineParser;
use fetch::Column;
use lib_functions::{HostValue, Lib, Registry};
use model::{Model, SyntaxTree, TreeError};
use query::{FetchQuery, LibFacts, lib_calls};
use types::Code;
use validate::{DeclaredTypes, check_calls, check_fetch, lib_facts};

use super::arguments::written_arguments;
use super::declared::declared_columns;
use super::masks::FetchMasks;
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
    /// The columns with their types, as they are fetched.
    pub columns: Vec<Column>,
    /// Which of them are masked, and what they are then.
    pub masks: FetchMasks,
    /// The values of the arguments that stand in the SQL.
    pub arguments: Vec<(String, HostValue)>,
}

/// Reads `lib/`; names of the engine's own table functions are taken.
pub(crate) fn read_registry(session: &Session, root: &std::path::Path) -> Result<Registry, RunError> {
    if !root.join("lib").is_dir() {
        return Ok(Registry::default());
    }
    // Asked for the first function that is there: the engine's list looks into the lake, which takes the longer the more
    // snapshots it has.
    let taken = OnceCell::new();
    let is_taken = |name: &str| {
        let taken = taken.get_or_init(|| validate::table_functions(&session.connection));
        taken.as_ref().is_ok_and(|names| names.contains(name))
    };
    let registry = Registry::read(root, is_taken)?;
    taken.into_inner().transpose()?;
    Ok(registry)
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
    let facts = lib_facts(registry);
    let mut trees = fetch_trees(session, planned)?.into_iter();
    let mut known = Known { session, registry, facts: &facts, types: DeclaredTypes::new(&session.connection) };
    let mut plans = FetchPlans::new();
    for planned in planned {
        if planned.model.fetch {
            let tree = trees.next().unwrap_or(Err(TreeError::NotSerializable { message: "no syntax tree".into() }));
            plans.insert(planned.target().key(), plan_fetch(&mut known, planned, &tree, cancellation)?);
        } else if let Ok(tree) = &planned.tree
            && let Some(finding) = check_calls(&planned.model, tree, &facts).first()
        {
            return Err(RunError::refused(finding));
        }
    }
    Ok(plans)
}

/// What plans are made with.
struct Known<'a> {
    session: &'a Session,
    registry: &'a Registry,
    facts: &'a [LibFacts],
    types: DeclaredTypes<'a>,
}

/// The complete trees of the models that fetch, in their order, in one request.
fn fetch_trees(session: &Session, planned: &[PlannedModel]) -> Result<Vec<Result<SyntaxTree, TreeError>>, RunError> {
    let fetching = || planned.iter().map(|planned| &planned.model).filter(|model| model.fetch);
    fetching().try_for_each(|model| load_extensions(session, model))?;
    let statements: Vec<&str> = fetching().map(Model::sql).collect();
    Ok(EngineParser(&session.connection).complete_trees(&statements))
}

fn plan_fetch(
    known: &mut Known<'_>,
    planned: &PlannedModel,
    tree: &Result<SyntaxTree, TreeError>,
    cancellation: &Cancellation,
) -> Result<FetchPlan, RunError> {
    let (Known { session, registry, facts, types }, model) = (known, &planned.model);
    let query = check_fetch(model, tree, facts).map_err(|findings| match findings.first() {
        Some(finding) => RunError::refused(finding),
        None => broken_lib(registry, tree.as_ref().ok(), planned),
    })?;
    if let Some(broken) = registry.broken(&query.function) {
        return Err(broken.error.clone().into());
    }
    let lib = registry.get(&query.function).map(|lib: &Lib| lib.name.clone()).unwrap_or_default();
    let mut columns = declared_columns(types, model, &query)?;
    let masks = FetchMasks::plan(session, model, &mut columns)?;
    let null = types.null()?;
    let evaluate = || written_arguments(&session.connection, model, &query, null);
    let arguments = cancellation.interruptible(session.connection.interrupt_handle(), evaluate);
    cancellation.check()?;
    let arguments = arguments?;
    Ok(FetchPlan { lib, query, columns, masks, arguments })
}

fn broken_lib(registry: &Registry, tree: Option<&SyntaxTree>, planned: &PlannedModel) -> RunError {
    let calls = tree.map(|tree| lib_calls(tree, |name| registry.broken(name).is_some())).unwrap_or_default();
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
