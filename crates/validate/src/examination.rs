//! All checks of one model.

use ::checks::FUNCTIONS;
use lib_functions::Registry;
use model::{Finding, Model, SyntaxTree, TreeError, WrittenMacro};
use project::ConfigTexts;
use query::LibFacts;
use types::Rule;

use crate::arguments::Arguments;
use crate::checks::{
    DeclaredFault, DeclaredTypes, changed_texts, check_calls, check_fetch, check_limit, check_push, check_schema,
    check_statement, extension, lib_facts, not_simple, read_checks, tags_without_effect, undeclared, unknown_functions,
    unknown_masks, unusable, without_tree,
};
use crate::functions::{OF_SESSION, TableFunctions, not_loaded};
use crate::graph::Parsed;
use crate::own_macros::OwnMacros;
use crate::report::Check;

/// What models are examined with.
pub(crate) struct Examination<'a> {
    registry: &'a Registry,
    facts: Vec<LibFacts>,
    macros: &'a OwnMacros,
    written: &'a [WrittenMacro],
    arguments: Arguments,
    databases: Vec<String>,
    /// Whether `lib/` could be read: without it, nothing is said of functions that are not there.
    has_libs: bool,
    functions: TableFunctions<'a>,
    types: DeclaredTypes<'a>,
}

impl<'a> Examination<'a> {
    pub(crate) fn new(
        registry: &'a Registry,
        config: &'a ConfigTexts,
        macros: &'a OwnMacros,
        arguments: Arguments,
        has_libs: bool,
        functions: TableFunctions<'a>,
    ) -> Self {
        let databases = config.catalogs.iter().chain([&config.lake]).cloned().collect();
        Self {
            registry,
            facts: lib_facts(registry),
            macros,
            written: &config.macros,
            arguments,
            databases,
            has_libs,
            types: DeclaredTypes::new(functions.connection),
            functions,
        }
    }

    /// The checks that were made, and what they found.
    pub(crate) fn examine(&mut self, Parsed { model, tree }: &Parsed) -> (Vec<Check>, Vec<Finding>) {
        let mut checks = vec![Check::Parser];
        let mut findings: Vec<Finding> = check_schema(model, &self.databases).into_iter().collect();
        findings.extend(model.extensions.iter().filter_map(|written| extension(model, written).err()));
        let (calls, malformed) = read_checks(model, self.macros);
        findings.extend(malformed);
        findings.extend(calls.iter().filter_map(|call| unusable(model, call, self.macros, &self.arguments)));
        findings.extend(calls.iter().flat_map(|call| changed_texts(model, call)));
        findings.extend(unknown_masks(model, self.macros, |name| !self.functions.is_no_scalar(model, name)));
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
        let mut found = undeclared(model, &query.columns);
        let (macros, functions) = (self.macros, &mut self.functions);
        found.extend(unknown_functions(model, &query, |name| {
            let is_ours =
                macros.contains(name) || OF_SESSION.contains(&name) || FUNCTIONS.iter().any(|one| one.name == name);
            !is_ours && macros.known().is_some() && functions.is_no_scalar(model, name)
        }));
        if !found.is_empty() {
            return found;
        }
        let connection = self.functions.connection;
        let mut declared = || self.types.of(model, &query);
        let masked = |types: &[String]| {
            let aliases = query.columns.iter().map(|column| column.alias.as_str());
            let columns: Vec<(&str, &str)> = aliases.zip(types.iter().map(String::as_str)).collect();
            not_simple(model, connection, self.written, &columns)
        };
        match declared() {
            Ok(types) => masked(&types),
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
