//! Findings on their way to the report: by path, and only of the paths that were asked for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lib_functions::{LibError, LibErrorKind, Registry};
use model::{Finding, Model};
use types::{Diagnose, Place, Rule, Severity};

use crate::report::{Check, FileReport, Report};
use crate::scope::Scope;

/// What was found so far.
pub(crate) struct Collected {
    scope: Scope,
    /// Of models and lib files.
    findings: BTreeMap<PathBuf, Vec<Finding>>,
    /// The checks that were made of them; of a model that does not parse there is only that one.
    checks: BTreeMap<PathBuf, Vec<Check>>,
    /// Of other parts of the project: told whatever was asked for, for they say what could not be checked.
    others: BTreeMap<PathBuf, Vec<Finding>>,
}

impl Collected {
    pub(crate) fn new(scope: Scope, findings: BTreeMap<PathBuf, Vec<Finding>>) -> Self {
        Self { scope, findings, checks: BTreeMap::new(), others: BTreeMap::new() }
    }

    pub(crate) fn is_asked_for(&self, path: &Path) -> bool {
        self.scope.covers(path)
    }

    /// A finding about another part of the project.
    pub(crate) fn other(&mut self, path: PathBuf, finding: Finding) {
        self.others.entry(path).or_default().push(finding);
    }

    pub(crate) fn model(&mut self, model: &Model, checks: Vec<Check>, findings: Vec<Finding>) {
        self.checks.insert(model.path.clone(), checks);
        self.findings(model, findings);
    }

    pub(crate) fn findings(&mut self, model: &Model, findings: impl IntoIterator<Item = Finding>) {
        self.findings.entry(model.path.clone()).or_default().extend(findings);
    }

    /// What lib files say wrong. A broken one that was not asked for is still told: models could not be checked
    /// against it.
    pub(crate) fn libs(&mut self, paths: &[PathBuf], registry: &Registry) {
        for path in paths {
            self.checks.insert(path.clone(), vec![Check::Blueprint]);
        }
        for broken in registry.all_broken() {
            let finding = lib_finding(&broken.path, &broken.error);
            if finding.rule.severity() == Severity::Warn {
                self.other(broken.path.clone(), finding);
            } else if self.scope.covers(&broken.path) {
                self.findings.entry(broken.path.clone()).or_default().push(finding);
            } else {
                let rule = Rule::BlueprintLoadFailed;
                let help = finding.help();
                let finding = Finding::new(rule, finding.place.clone(), finding.message(), help);
                self.other(broken.path.clone(), finding);
            }
        }
        for lib in registry.libs() {
            let found = lib.remarks.iter().map(|remark| {
                let help = "correct the key, or leave it out: it has no effect";
                Finding::new(remark.rule, remark.place.clone(), remark.message.clone(), help)
            });
            let unchecked = lib.unchecked_status.iter().map(|unchecked| {
                let message = format!("{}() makes requests without checking resp.ok", unchecked.function);
                let help = "look at resp.ok or resp.status_code and fail(), or write the comment \
                            `# ondatracheck:allow-unchecked-status <reason>`";
                Finding::new(Rule::UncheckedStatus, unchecked.place.clone(), message, help)
            });
            self.findings.entry(lib.path.clone()).or_default().extend(found.chain(unchecked));
        }
        for path in registry.helpers.iter().filter(|path| !is_private(path)) {
            let message = "no API, so this is no lib function: only other files can load it";
            let help = "begin its name with `_` if that is meant, or write `API = {…}`";
            let place = Place::new(path, "".into(), 0..0);
            self.findings.entry(path.clone()).or_default().push(Finding::new(
                Rule::HelperWithoutApi,
                place,
                message,
                help,
            ));
        }
    }

    /// The report: parts of the project, then models, then lib files.
    pub(crate) fn report(mut self, models: &[PathBuf], libs: &[PathBuf]) -> Report {
        let in_folder = |folder: &'static str| move |path: &&PathBuf| path.starts_with(folder);
        let extra: Vec<PathBuf> = self.others.keys().cloned().collect();
        let mut entries = Vec::new();
        entries.extend(extra.iter().filter(|path| !in_folder("models")(path) && !in_folder("lib")(path)).cloned());
        for (folder, files) in [("models", models), ("lib", libs)] {
            let asked = files.iter().filter(|path| self.scope.covers(path));
            let mut paths: Vec<PathBuf> = asked.chain(extra.iter().filter(in_folder(folder))).cloned().collect();
            paths.sort();
            paths.dedup();
            entries.append(&mut paths);
        }
        Report { files: entries.iter().map(|path| self.file(path)).collect() }
    }

    fn file(&mut self, path: &Path) -> FileReport {
        // What could not be looked into was not checked.
        let (mut findings, is_checked) = match self.others.remove(path) {
            Some(findings) => (findings, false),
            None => (Vec::new(), true),
        };
        let mut checks = self.checks.remove(path).unwrap_or_else(|| vec![Check::Parser]);
        checks.retain(|_| is_checked);
        if self.scope.covers(path) {
            findings.extend(self.findings.remove(path).unwrap_or_default());
        }
        FileReport::new(path.display().to_string(), &checks, findings)
    }
}

/// What is wrong with a lib file, at its place: that may be in a file that it loads.
pub(crate) fn lib_finding(path: &Path, error: &LibError) -> Finding {
    let rule = match error.kind {
        LibErrorKind::File(rule) => rule,
        LibErrorKind::Failed | LibErrorKind::Stopped => Rule::InvalidApiDict,
    };
    let place = error.place().cloned().unwrap_or_else(|| Place::new(path, "".into(), 0..0));
    Finding::new(rule, place, error.to_string(), error.help())
}

fn is_private(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"_"))
}
