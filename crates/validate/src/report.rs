//! What was found, file by file.

use model::Finding;
use types::{Rule, Severity};

/// A check as a whole: what a file is told of when nothing is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// Header and SQL of a model.
    Parser,
    /// The SQL of a model that fetches.
    StrictFetch,
    /// The SQL of a model that pushes.
    StrictPush,
    /// LIMIT and OFFSET.
    ReadOnly,
    /// A lib file.
    Blueprint,
}

impl Check {
    /// As users see it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Parser => "parser",
            Self::StrictFetch => "strict-fetch",
            Self::StrictPush => "strict-push",
            Self::ReadOnly => "read-only",
            Self::Blueprint => "blueprint",
        }
    }

    /// Whether breaking the rule fails this check: it is the first word of the rule's id. What a lib file says wrong of
    /// pushing is a fault of the file as well.
    fn covers(self, rule: Rule) -> bool {
        let group = rule.id().split('.').next().unwrap_or_default();
        match self {
            Self::Blueprint => matches!(group, "blueprint" | "push"),
            _ => group.replace('_', "-") == self.as_str(),
        }
    }
}

/// A file, or another part of the project that could not be looked into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileReport {
    /// Relative to the project.
    pub path: String,
    /// The checks that were made, in their order, and whether they passed.
    pub checks: Vec<(Check, bool)>,
    /// By line, then severity.
    pub findings: Vec<Finding>,
}

impl FileReport {
    pub(crate) fn new(path: String, checks: &[Check], mut findings: Vec<Finding>) -> Self {
        findings.sort_by_cached_key(|found| {
            let place = (line(found), found.rule.severity(), found.place.span().start);
            (place, found.rule.id(), found.message().to_owned())
        });
        findings.dedup();
        let fails = |check: Check| findings.iter().any(|found| is_blocker(found) && check.covers(found.rule));
        let checks = checks.iter().map(|&check| (check, !fails(check))).collect();
        Self { path, checks, findings }
    }
}

/// The line of a finding; `None` where the whole file is meant.
pub fn line(finding: &Finding) -> Option<usize> {
    (!finding.place.span().is_empty()).then(|| finding.place.line())
}

fn is_blocker(finding: &Finding) -> bool {
    finding.rule.severity() == Severity::Blocker
}

/// How many there are of what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Files.
    pub files: usize,
    /// Findings with which `run` would fail.
    pub blockers: usize,
    /// Findings that something was not checked, or that a tag has no effect.
    pub warns: usize,
    /// Other findings.
    pub infos: usize,
    /// Files without a finding.
    pub clean: usize,
}

/// Everything that was looked at: parts of the project, models, lib files, each by path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// One entry a path.
    pub files: Vec<FileReport>,
}

impl Report {
    /// The counts.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary { files: self.files.len(), ..Summary::default() };
        for file in &self.files {
            summary.clean += usize::from(file.findings.is_empty());
            for finding in &file.findings {
                match finding.rule.severity() {
                    Severity::Blocker => summary.blockers += 1,
                    Severity::Warn => summary.warns += 1,
                    Severity::Info => summary.infos += 1,
                }
            }
        }
        summary
    }

    /// Whether the project passes: nothing keeps it from running and everything could be checked; if it `is_strict`,
    /// nothing is warned of either.
    pub fn passes(&self, is_strict: bool) -> bool {
        let fails = |finding: &Finding| match finding.rule.severity() {
            Severity::Blocker => true,
            Severity::Warn => is_strict || finding.rule.is_of_validation(),
            Severity::Info => false,
        };
        !self.files.iter().flat_map(|file| &file.findings).any(fails)
    }
}
