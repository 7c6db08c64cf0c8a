//! What models say of each other: circles, and tables that no model makes.

use std::collections::{BTreeMap, BTreeSet};

use model::{Finding, Model, Reference, SqlParser, SyntaxTree, TreeError, references};
use plan::{Cycle, Names, Resolved, cycles, depends_on};
use project::ConfigTexts;
use types::{Diagnose, Rule, Target};

use crate::checks::check_statement;

/// What a run would plan with, as far as the project's files tell: models, but no tables that others made.
pub(crate) fn known_names(config: &ConfigTexts, targets: &[Target]) -> Names {
    let mut macros: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for written in &config.macros {
        macros.entry(written.name.clone()).or_default().extend(written.bodies.iter().cloned());
    }
    Names {
        lake: config.lake.clone(),
        tables: targets.iter().map(|target| (target.key(), target.to_string())).collect(),
        views: BTreeMap::new(),
        catalogs: config.catalogs.iter().map(|name| name.to_lowercase()).collect(),
        macros,
    }
}

/// A model with the tree of its SQL.
pub(crate) struct Parsed {
    pub model: Model,
    pub tree: Result<SyntaxTree, TreeError>,
}

/// What each model depends on, in lower case; a model of which that cannot be told has a finding.
pub(crate) fn dependencies(
    models: &[Parsed],
    names: &Names,
    parser: &dyn SqlParser,
) -> Vec<(Vec<String>, Option<Finding>)> {
    models
        .iter()
        .map(|Parsed { model, tree }| {
            // What is no SELECT has its own finding.
            if check_statement(model, tree).is_some() {
                return (Vec::new(), None);
            }
            let (depends, _) = depends_on(model.sql(), tree, names, parser);
            let is_unknown = depends.iter().any(|name| name == "unparsed()");
            (depends.iter().map(|name| name.to_lowercase()).collect(), is_unknown.then(|| unknown(model)))
        })
        .collect()
}

fn unknown(model: &Model) -> Finding {
    let message = "what this model reads cannot be told, so no circle through it is seen";
    let help = "write a SELECT that the engine gives a syntax tree for";
    Finding::new(Rule::LineageExtractFailed, model.sql_place(0), message, help)
}

/// The circle through each model that is in one, where it reads the next.
pub(crate) fn circles<'a>(
    models: &'a [Parsed],
    depends: &BTreeMap<String, Vec<String>>,
    names: &Names,
) -> Vec<(&'a Parsed, Finding)> {
    let by_target: BTreeMap<&Target, &Parsed> = models.iter().map(|parsed| (&parsed.model.target, parsed)).collect();
    let targets: Vec<Target> = by_target.keys().copied().cloned().collect();
    let finding = |(target, cycle): (Target, Cycle)| {
        let parsed = *by_target.get(&target)?;
        let at = cycle.0.iter().position(|member| *member == target)?;
        let next = &cycle.0[(at + 1) % cycle.0.len()];
        let offset = parsed.tree.as_ref().ok().and_then(|tree| offset_of(next, tree, names));
        let place = offset.map_or_else(|| parsed.model.place(0..0), |offset| parsed.model.sql_place(offset));
        Some((parsed, Finding::new(Rule::Cycle, place, cycle.to_string(), cycle.help())))
    };
    cycles(&targets, depends).into_iter().filter_map(finding).collect()
}

fn offset_of(target: &Target, tree: &SyntaxTree, names: &Names) -> Option<usize> {
    references(tree).into_iter().find_map(|reference| match reference {
        Reference::Table { catalog, schema, name, offset } => {
            match names.resolve(catalog.as_deref(), schema.as_deref(), &name)? {
                Resolved::Lake(name) if name.to_lowercase() == target.key() => offset,
                _ => None,
            }
        }
        Reference::Function { .. } => None,
    })
}

/// Qualified names that are no models: what they name must be there when a run needs it.
pub(crate) fn external_references(model: &Model, tree: &SyntaxTree, names: &Names) -> Vec<Finding> {
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    for reference in references(tree) {
        let Reference::Table { catalog, schema, name, offset } = reference else { continue };
        if catalog.is_none() && schema.is_none() {
            continue;
        }
        let external = match names.resolve(catalog.as_deref(), schema.as_deref(), &name) {
            Some(Resolved::Lake(name)) if !names.tables.contains_key(&name.to_lowercase()) => name,
            Some(Resolved::External(name)) => name,
            _ => continue,
        };
        if seen.insert(external.to_lowercase()) {
            let message = format!("{external} is no model of this project: it must be there when this one runs");
            let help = "nothing to do if another tool makes it; otherwise correct the name";
            findings.push(Finding::new(Rule::ExternalReference, model.sql_place(offset.unwrap_or(0)), message, help));
        }
    }
    findings
}
