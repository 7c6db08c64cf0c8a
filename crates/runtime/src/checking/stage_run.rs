//! Running the checks of a stage on a table: all in one query, one by one if that fails.

use checks::{Call, query};
use engine::{Connection, EngineError};
use model::Model;

use crate::checking::directives::StageCalls;
use crate::checking::rows::{cut, failing_rows};
use crate::checking::{CheckFinding, CheckProblem, StageReport};

/// Characters of an error of the engine that are shown.
const ERROR_CHARACTERS_MAX: usize = 1_000;

/// The table that is looked at.
pub(crate) struct Checked<'a> {
    pub connection: &'a Connection,
    pub model: &'a Model,
    /// The table as SQL names it, in the form of chapter 01 §4.2.
    pub table: &'a str,
}

impl Checked<'_> {
    /// Runs the calls of a stage in one query, without those that need rows if an incremental run found none. `None` if one of several cannot be run: then
    /// [`Checked::one_by_one`] tells which.
    pub fn together(&self, stage: &StageCalls, has_nothing_new: bool) -> Result<Option<StageReport>, EngineError> {
        let (calls, mut told) = begin(stage, has_nothing_new);
        if calls.is_empty() {
            return Ok(Some(told));
        }
        match self.query(&calls) {
            Ok(found) => told.findings = self.findings(found),
            Err(error) if !is_of_check(&error) => return Err(error),
            Err(error) if calls.len() == 1 => told.problems.push(self.problem(stage, calls[0], &error)),
            Err(_) => return Ok(None),
        }
        Ok(Some(told))
    }

    /// Runs one call after the other. In a transaction that one of them ends, those behind it are told not to have run; in
    /// one that has ended before, the error says so ([`is_aborted`]).
    pub fn one_by_one(&self, stage: &StageCalls, has_nothing_new: bool) -> Result<StageReport, EngineError> {
        let (calls, mut told) = begin(stage, has_nothing_new);
        let mut all = Vec::new();
        for (at, call) in calls.iter().enumerate() {
            match self.query(&[call]) {
                Ok(found) => all.extend(found),
                Err(error) if is_aborted(&error) => {
                    let ended = told.problems.get_mut(stage.problems.len()..).and_then(<[_]>::last_mut);
                    let Some(problem) = ended else { return Err(error) };
                    let left = calls.len() - at;
                    let noun = if left == 1 { "check" } else { "checks" };
                    problem.message.push_str(&format!(" ({left} {noun} behind it could not be run any more)"));
                    break;
                }
                Err(error) if is_of_check(&error) => told.problems.push(self.problem(stage, call, &error)),
                Err(error) => return Err(error),
            }
        }
        told.findings = self.findings(all);
        Ok(told)
    }

    /// Calls with the texts that they found.
    fn query<'c>(&self, calls: &[&'c Call]) -> Result<Vec<(&'c Call, String)>, EngineError> {
        let sql = query(calls.iter().copied().enumerate(), self.table);
        let rows = self.connection.query(&sql)?.into_values();
        let found = rows.filter_map(|mut row| {
            let text = row.pop()?.into_text()?;
            Some((usize::try_from(row.pop()?.as_i64()?).ok()?, text))
        });
        let mut found: Vec<(usize, String)> = found.collect();
        // In the order of the directives, whatever the engine did side by side.
        found.sort_by_key(|(at, _)| *at);
        Ok(found.into_iter().map(|(at, text)| (calls[at], text)).collect())
    }

    /// The findings with their rows, once no check has to be run any more: looking for rows may end the transaction.
    fn findings(&self, found: Vec<(&Call, String)>) -> Vec<CheckFinding> {
        let finding = |(call, text): (&Call, String)| CheckFinding {
            stage: call.stage,
            check: call.written.value.clone(),
            message: call.message(text),
            place: self.model.place(call.written.span.clone()),
            rows: failing_rows(self.connection, self.model, call, self.table),
        };
        found.into_iter().map(finding).collect()
    }

    fn problem(&self, stage: &StageCalls, call: &Call, error: &EngineError) -> CheckProblem {
        let fault = call.fault(Some(stage.own.iter().map(String::as_str)));
        let error = error.clone();
        let masks = !self.model.masks().is_empty();
        let error = if masks { error.without_names(&self.model.source) } else { error };
        // The engine suggests from all functions that there are.
        let text = if fault.is_some() { error.unsuggested() } else { error.cleaned() };
        // It may quote a value, of any size.
        let text = cut(text, ERROR_CHARACTERS_MAX);
        let place = self.model.place(call.written.span.clone());
        let which = format!("in `{}`, line {}", call.written.value, place.line());
        CheckProblem {
            check: call.written.value.clone(),
            message: match call.stage {
                checks::Stage::Audit => format!("{text} ({which})"),
                stage => format!("{stage} check error: {text} ({which})"),
            },
            help: fault.map_or_else(|| call.usage(), |fault| fault.help),
            place,
        }
    }
}

/// The calls to run, and a report in which nothing was found yet.
fn begin(stage: &StageCalls, has_nothing_new: bool) -> (Vec<&Call>, StageReport) {
    // What a check of the project's own asks for is not known here.
    let is_run = |call: &&Call| !(has_nothing_new && call.shipped.is_some_and(checks::Check::needs_rows));
    let calls: Vec<&Call> = stage.calls.iter().filter(is_run).collect();
    let problems = stage.problems.clone();
    let checked = calls.len() + problems.len();
    let told = StageReport { stage: stage.stage, checked, findings: Vec::new(), problems };
    (calls, told)
}

/// Whether the check is at fault, also if it names a file that is not there; not the memory, another writer or the user.
fn is_of_check(error: &EngineError) -> bool {
    error.is_statement_fault() || matches!(error, EngineError::Sql { class, .. } if class.starts_with("IO "))
}

/// Whether an earlier error has ended the transaction.
pub(crate) fn is_aborted(error: &EngineError) -> bool {
    matches!(error, EngineError::Sql { class, message, .. }
        if class.starts_with("Transaction") && message.contains("transaction is aborted"))
}
