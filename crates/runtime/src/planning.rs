//! From models and the lake's facts to planned models: dependencies, order, run types.

use std::collections::BTreeMap;

use engine::{EngineError, EngineParser, LakeFacts, Value};
use model::{Model, SqlParser, SyntaxTree, TreeError, called_functions, definition_hash};
use plan::{DependencyState, LastCommit, ModelFacts, Names, decide, depends_on, order};
use types::{Decision, Target, dotted, literal};
use validate::{check_schema, check_statement, key_in_clear};

use crate::macros::macro_names;
use crate::{RunError, Session};

/// A model with what planning found out about it.
pub(crate) struct PlannedModel {
    pub model: Model,
    pub tree: Result<SyntaxTree, TreeError>,
    /// Names it depends on, as they spell themselves.
    pub depends: Vec<String>,
    pub hash: String,
    /// Texts for the user.
    pub warnings: Vec<String>,
}

impl PlannedModel {
    pub fn target(&self) -> &Target {
        &self.model.target
    }

    /// Whether it reads the table with this lower-case name.
    pub fn reads(&self, key: &str) -> bool {
        self.depends.iter().any(|name| name.to_lowercase() == key)
    }
}

/// Planned models, and the names that they were planned with.
pub(crate) struct Planned {
    pub models: Vec<PlannedModel>,
    pub names: Names,
}

/// Plans `models`; the order is that of `models`.
pub(crate) fn plan_models(
    session: &Session,
    facts: &LakeFacts,
    models: Vec<Model>,
    all_targets: &[Target],
) -> Result<Planned, RunError> {
    let databases = || session.catalogs.iter().chain([&session.lake]);
    if let Some(finding) = models.iter().find_map(|model| check_schema(model, databases())) {
        return Err(finding.into());
    }
    let parser = EngineParser(&session.connection);
    let statements: Vec<&str> = models.iter().map(Model::sql).collect();
    let trees = parser.trees(&statements);
    if let Some(finding) = models.iter().zip(&trees).find_map(|(model, tree)| check_statement(model, tree)) {
        return Err(finding.into());
    }
    let mut names = known_names(session, facts, all_targets);
    // Views and statements without a tree may call macros as well.
    let calls_macro = |tree: &Result<SyntaxTree, TreeError>| {
        tree.as_ref().map_or(true, |tree| !called_functions(tree).is_disjoint(session.definitions.macros()))
    };
    let may_call = !facts.views.is_empty() || trees.iter().any(calls_macro);
    if facts.has_macros || (may_call && !session.definitions.macros().is_empty()) {
        names.macros = macro_definitions(session)?;
    }
    let planned = models.into_iter().zip(trees).map(|(model, tree)| {
        let (depends, warning) = depends_on(model.sql(), &tree, &names, &parser);
        let hash = definition_hash(&model, &session.definitions);
        let warnings = warning.into_iter().chain(key_in_clear(&model)).collect();
        PlannedModel { model, tree, depends, hash, warnings }
    });
    let models = planned.collect();
    Ok(Planned { models, names })
}

/// Sorts into run order; an error names a cycle.
pub(crate) fn sort(mut planned: Vec<PlannedModel>) -> Result<Vec<PlannedModel>, RunError> {
    let targets: Vec<Target> = planned.iter().map(|planned| planned.target().clone()).collect();
    let edges = planned.iter().map(|planned| {
        let on = planned.depends.iter().map(|name| name.to_lowercase()).collect();
        (planned.target().key(), on)
    });
    let edges: BTreeMap<String, Vec<String>> = edges.collect();
    let rank: BTreeMap<String, usize> =
        order(&targets, &edges)?.iter().enumerate().map(|(at, target)| (target.key(), at)).collect();
    planned.sort_by_key(|planned| rank.get(&planned.target().key()).copied());
    Ok(planned)
}

/// The model's last commit.
pub(crate) fn last_commit(planned: &PlannedModel, facts: &LakeFacts) -> Result<Option<LastCommit>, RunError> {
    let row = facts.commits.get(&planned.target().key());
    Ok(row.map(|row| LastCommit::read(&row.target, &row.commit_info)).transpose()?)
}

/// What a run does with the model, from the facts as they are.
pub(crate) fn decide_run(planned: &PlannedModel, facts: &LakeFacts) -> Result<Decision, RunError> {
    let key = planned.target().key();
    let last_commit = last_commit(planned, facts)?;
    let since = last_commit.as_ref().and_then(|commit| commit.read_snapshot);
    let model_facts = ModelFacts {
        kind: planned.model.kind,
        fetch: planned.model.fetch,
        hash: &planned.hash,
        table_exists: facts.tables.contains_key(&key),
        last_commit: last_commit.as_ref(),
    };
    Ok(decide(&model_facts, |name| dependency_state(name, since, facts)))
}

/// What became of a dependency after snapshot `since`.
pub(crate) fn dependency_state(name: &str, since: Option<i64>, facts: &LakeFacts) -> DependencyState {
    let key = name.to_lowercase();
    let Some(since) = since.filter(|&snapshot| facts.is_retained_since(snapshot)) else {
        return DependencyState::Unverifiable;
    };
    let changed = match (facts.views.get(&key), facts.tables.get(&key)) {
        // What a view reads is recorded as dependencies of their own.
        (Some(view), _) => view.since > since,
        (None, Some(table)) => facts.changed_since(table, since),
        (None, None) => return DependencyState::Unverifiable,
    };
    if changed { DependencyState::Changed } else { DependencyState::Unchanged }
}

fn known_names(session: &Session, facts: &LakeFacts, targets: &[Target]) -> Names {
    let tables = facts.tables.iter().map(|(key, table)| (key.clone(), dotted(&table.schema, &table.name)));
    let models = targets.iter().map(|target| (target.key(), target.to_string()));
    Names {
        lake: session.lake.clone(),
        tables: tables.chain(models).collect(),
        views: facts.views.iter().map(|(key, view)| (key.clone(), (view.schema.clone(), view.sql.clone()))).collect(),
        catalogs: session.catalogs.iter().map(|name| name.to_lowercase()).collect(),
        macros: BTreeMap::new(),
    }
}

/// What stands behind the macros of the configuration, and behind those that others keep in the lake.
fn macro_definitions(session: &Session) -> Result<BTreeMap<String, Vec<String>>, EngineError> {
    let sql = format!(
        "SELECT lower(function_name), macro_definition FROM duckdb_functions() \
         WHERE database_name IN ('memory', {}) AND macro_definition IS NOT NULL",
        literal(&session.lake)
    );
    let rows = match session.connection.query(&sql) {
        Ok(rows) => rows,
        // A source cannot be opened. Nothing is known of what macros read then, so it cannot be verified: a
        // lone bracket is no SQL.
        Err(error @ EngineError::Sql { .. }) if !error.is_fatal() => {
            return Ok(macro_names(session)?.into_iter().map(|name| (name, vec!["(".to_owned()])).collect());
        }
        Err(error) => return Err(error),
    };
    let mut definitions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rows.into_values() {
        if let [Value::Text(name), Value::Text(definition)] = &row[..] {
            definitions.entry(name.clone()).or_default().push(definition.clone());
        }
    }
    Ok(definitions)
}
