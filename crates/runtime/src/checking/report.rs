//! What a stage found.

use checks::Stage;
use types::{Code, Place};

/// A finding of a check.
#[derive(Debug, Clone)]
pub struct CheckFinding {
    /// When the check ran.
    pub stage: Stage,
    /// The directive's value.
    pub check: String,
    /// What it says.
    pub message: String,
    /// The directive.
    pub place: Place,
    /// The rows at fault, where they can be told.
    pub rows: Option<FailingRows>,
}

/// Rows at fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailingRows {
    /// How many there are.
    pub count: i64,
    /// The columns that are shown: keys, and those that the check names.
    pub columns: Vec<String>,
    /// The first few, as text; `None` is NULL.
    pub sample: Vec<Vec<Option<String>>>,
}

impl FailingRows {
    /// `2 rows, for example id = 1, name = NULL; id = 2, name = x`.
    pub fn summary(&self) -> String {
        let value =
            |(column, value): (&String, &Option<String>)| format!("{column} = {}", value.as_deref().unwrap_or("NULL"));
        let row = |row: &Vec<Option<String>>| self.columns.iter().zip(row).map(value).collect::<Vec<_>>().join(", ");
        let rows: Vec<String> = self.sample.iter().map(row).collect();
        let (number, noun) = (self.count, if self.count == 1 { "row" } else { "rows" });
        let introduction = if self.count == 1 { ": " } else { ", for example " };
        format!("{number} {noun}{introduction}{}", rows.join("; "))
    }
}

/// A check that could not be run.
#[derive(Debug, Clone)]
pub struct CheckProblem {
    /// The directive's value.
    pub check: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
    /// The directive.
    pub place: Place,
}

/// What a stage found.
#[derive(Debug, Clone)]
pub struct StageReport {
    /// Which.
    pub stage: Stage,
    /// How many directives there are.
    pub checked: usize,
    /// What they found.
    pub findings: Vec<CheckFinding>,
    /// Those that could not be run.
    pub problems: Vec<CheckProblem>,
}

impl StageReport {
    /// Whether everything was run and nothing found.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty() && self.problems.is_empty()
    }

    /// The texts of a run's output (chapter 01 §4.1): those of an audit are one.
    pub fn texts(&self) -> Vec<String> {
        let found = self.findings.iter().map(|finding| finding.message.clone());
        let found: Vec<String> = match self.stage {
            Stage::Audit if self.findings.is_empty() => Vec::new(),
            Stage::Audit => vec![format!("audit failed: {}", found.collect::<Vec<_>>().join("; "))],
            Stage::Constraint | Stage::Warning => found.collect(),
        };
        found.into_iter().chain(self.problems.iter().map(|problem| problem.message.clone())).collect()
    }

    /// All of it as one text.
    pub(crate) fn message(&self) -> String {
        let found: Vec<&str> = self.findings.iter().map(|finding| finding.message.as_str()).collect();
        let failed = if self.stage == Stage::Audit { "audit failed" } else { "constraint validation failed" };
        let found = (!found.is_empty()).then(|| format!("{failed}: {}", found.join("; ")));
        let problems = self.problems.iter().map(|problem| problem.message.clone());
        found.into_iter().chain(problems).collect::<Vec<_>>().join("\n")
    }

    /// The code of what it says.
    pub(crate) fn code(&self) -> Code {
        match self.stage {
            _ if self.findings.is_empty() => Code::CheckProblem,
            Stage::Audit => Code::AuditFailed,
            Stage::Constraint | Stage::Warning => Code::ConstraintFailed,
        }
    }

    /// What to do next.
    pub(crate) fn help(&self) -> String {
        match self.problems.first() {
            Some(problem) if self.findings.is_empty() => problem.help.clone(),
            _ => {
                "nothing was written: correct the rows where they come from, or the check; `sql` and `query` show the \
                  sources"
                    .into()
            }
        }
    }

    /// The directive that it is about first.
    pub(crate) fn place(&self) -> Option<&Place> {
        let finding = self.findings.first().map(|finding| &finding.place);
        finding.or_else(|| self.problems.first().map(|problem| &problem.place))
    }
}
