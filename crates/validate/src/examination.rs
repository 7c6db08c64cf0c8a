//! All checks of one model.

use std::collections::BTreeSet;

use lib_functions::Registry;
use model::{Finding, Model, SyntaxTree, TreeError};
use project::ConfigTexts;
use query::LibFacts;
use types::Rule;

use crate::checks::{
    DeclaredFault, check_calls, check_fetch, check_limit, check_push, check_schema, check_statement, declared_types,
    extension, lib_facts, malformed_checks, null_tree, tags_without_effect, without_tree,
};
use crate::functions::{TableFunctions, not_loaded};
use crate::graph::Parsed;
use crate::report::Check;

/// What models are examined with.
pub(crate) struct Examination<'a> {
    registry: &'a Registry,
    facts: Vec<LibFacts>,
    macros: BTreeSet<String>,
    databases: Vec<String>,
    /// Whether `lib/` could be read: without it, nothing is said of functions that are not there.
    has_libs: bool,
    functions: TableFunctions<'a>,
}

impl<'a> Examination<'a> {
    pub(crate) fn new(
        registry: &'a Registry,
        config: &ConfigTexts,
        has_libs: bool,
        functions: TableFunctions<'a>,
    ) -> Self {
        let databases = config.catalogs.iter().chain([&config.lake]).cloned().collect();
        let macros = config.macros.iter().map(|written| written.name.to_lowercase()).collect();
        Self { registry, facts: lib_facts(registry), macros, databases, has_libs, functions }
    }

    /// The checks that were made, and what they found.
    pub(crate) fn examine(&mut self, Parsed { model, tree }: &Parsed) -> (Vec<Check>, Vec<Finding>) {
        let mut checks = vec![Check::Parser];
        let mut findings: Vec<Finding> = check_schema(model, &self.databases).into_iter().collect();
        findings.extend(model.extensions.iter().filter_map(|written| extension(model, written).err()));
        findings.extend(malformed_checks(model, |name| self.macros.contains(name)));
        findings.extend(tags_without_effect(model, |name| self.macros.contains(name)));
        if let Some(finding) = check_statement(model, tree) {
            findings.push(finding);
            return (checks, findings);
        }
        if model.fetch {
            checks.push(Check::StrictFetch);
            findings.extend(self.fetch(model, tree));
        } else {
            findings.extend(check_limit(model, tree));
            match tree {
                Ok(tree) => {
                    findings.extend(check_calls(model, tree, &self.facts));
                    findings.extend(self.functions.unknown(model, tree));
                }
                Err(TreeError::Syntax { message, .. } | TreeError::NotSerializable { message }) => {
                    findings.push(without_tree(model, message));
                }
            }
        }
        if let Some(found) = self.push(model, tree.as_ref().ok()) {
            checks.push(Check::StrictPush);
            findings.extend(found);
        }
        checks.push(Check::ReadOnly);
        if !self.has_libs {
            findings.retain(|finding| ![Rule::NoLibCall, Rule::UnknownLib, Rule::PushCall].contains(&finding.rule));
        }
        (checks, findings)
    }

    /// What is wrong with a fetch: with its SQL, else with what it declares.
    fn fetch(&mut self, model: &Model, tree: &Result<SyntaxTree, TreeError>) -> Vec<Finding> {
        let query = match check_fetch(model, tree, &self.facts) {
            Ok(query) => query,
            Err(findings) => return findings,
        };
        let null = match null_tree(self.functions.connection) {
            Ok(null) => null,
            Err(error) => return vec![DeclaredFault::from(error).finding(model)],
        };
        let connection = self.functions.connection;
        let declared = || declared_types(connection, model, &query, &null);
        match declared() {
            Ok(_) => Vec::new(),
            // An extension may bring the type.
            Err(DeclaredFault::Type(finding)) => match (self.functions.load_more(model), declared()) {
                (_, Ok(_)) => Vec::new(),
                (Some(missing), Err(DeclaredFault::Type(_))) => vec![not_loaded(&finding, &missing)],
                (_, Err(fault)) => vec![fault.finding(model)],
            },
            Err(fault) => vec![fault.finding(model)],
        }
    }

    /// What is wrong with a push; `None` if the model does not.
    fn push(&self, model: &Model, tree: Option<&SyntaxTree>) -> Option<Vec<Finding>> {
        let call = model.push.as_ref()?;
        Some(check_push(model, call, tree, self.registry).err().unwrap_or_default())
    }
}
