//! The turns of a run's models: one after the other, each decided with what is known when it comes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use engine::LakeFacts;
use model::Model;
use types::{Decision, Reason, RunType};

use crate::execute::RunContext;
use crate::leases::ModelLease;
use crate::outside::Outside;
use crate::planning::{PlannedModel, decide_run, last_commit};
use crate::requirements::check_runs;
use crate::run::Wish;
use crate::session::current_snapshot;
use crate::task::Task;
use crate::{ModelOutcome, Observer, RunError, Session, Status};

/// Plans of a model that others overtake, until it is given up.
const PLANS_MAX: u32 = 6;

/// The state of a run between models.
pub(crate) struct Turns {
    /// Decisions made in one batch at the start, by lower-case target; each is used once.
    decisions: BTreeMap<String, Result<Decision, RunError>>,
    /// Models that ran, in lower case: the decisions of their readers are made again.
    ran: BTreeSet<String>,
    /// Models that failed, or whose upstream did.
    failed: BTreeSet<String>,
    /// Whether a commit was made since the facts were read.
    stale: bool,
    /// Whether models that have something to validate run although nothing changed.
    validates: bool,
    pub outcomes: Vec<ModelOutcome>,
}

impl Turns {
    pub fn new(planned: &[PlannedModel], facts: &LakeFacts, wish: Option<Wish>, validates: bool) -> Self {
        let decide_one = |planned: &PlannedModel| {
            let decision = decide_run(planned, facts)?;
            let has_table = facts.tables.contains_key(&planned.target().key());
            Ok(match wish {
                Some(Wish::FullRefresh) if decision.reason != Reason::FirstRun => {
                    Decision::new(RunType::Backfill, Reason::FullRefresh)
                }
                // Also where a table stands that no commit tells about.
                Some(Wish::Keep) if has_table => Decision::new(RunType::Incremental, Reason::Kept),
                _ => decision,
            })
        };
        let decide = |planned: &PlannedModel| (planned.target().key(), decide_one(planned));
        let decisions = planned.iter().map(decide).collect();
        Self { decisions, ran: BTreeSet::new(), failed: BTreeSet::new(), stale: false, validates, outcomes: Vec::new() }
    }

    /// The models that will fetch, with what is to be done with them: nothing that they read is made by this run.
    pub fn fetches<'a>(
        &self,
        session: &Session,
        models: &'a [PlannedModel],
        facts: &LakeFacts,
    ) -> Vec<(&'a PlannedModel, Task)> {
        let fetching =
            models.iter().filter(|planned| planned.model.fetch && check_runs(session, planned, facts).is_ok());
        let task = |planned: &'a PlannedModel| {
            let Some(Ok(decision)) = self.decisions.get(&planned.target().key()) else { return None };
            let last = last_commit(planned, facts).ok()?;
            Some((planned, Task::new(decision.clone(), &planned.model, last)))
        };
        fetching.filter_map(task).collect()
    }

    /// Runs the models in their order; gives whether the run was interrupted.
    pub fn take_all(
        &mut self,
        context: &RunContext<'_>,
        models: &[PlannedModel],
        facts: &mut LakeFacts,
        outside: &mut Outside<'_>,
        observer: &mut dyn Observer,
    ) -> bool {
        for planned in models {
            if context.cancellation.check().is_err() {
                return true;
            }
            observer.model_started(planned.target());
            let outcome = self.take_leased(context, planned, facts, outside, observer);
            observer.model_finished(&outcome);
            let error = outcome.error.as_ref();
            let fatal = error.is_some_and(RunError::is_fatal);
            // What a push leaves when it is stopped is no error of its model.
            let is_cut_off = outcome.push.as_ref().is_some_and(|push| push.pending > 0);
            let interrupted =
                error.is_some_and(RunError::is_interrupt) || is_cut_off && context.cancellation.check().is_err();
            self.outcomes.push(outcome);
            if fatal || interrupted {
                // Fetches that still run are of no use any more.
                context.cancellation.cancel();
                return interrupted;
            }
        }
        false
    }

    /// A model's turn, while no other worker has it.
    fn take_leased(
        &mut self,
        context: &RunContext<'_>,
        planned: &PlannedModel,
        facts: &mut LakeFacts,
        outside: &mut Outside<'_>,
        observer: &mut dyn Observer,
    ) -> ModelOutcome {
        let Some(leases) = outside.leases else { return self.take(context, planned, facts, outside) };
        let clock = Instant::now();
        let failed = |error| ModelOutcome { error: Some(error), ..ModelOutcome::new(planned, clock.elapsed()) };
        let lease = match leases.take(planned.target(), context.cancellation, observer) {
            Ok(ModelLease::Taken(lease)) => lease,
            Ok(ModelLease::Held(worker)) => {
                let reason = format!("held by {}", worker.as_str());
                let outcome = ModelOutcome::new(planned, clock.elapsed());
                return ModelOutcome { run_type: Some(RunType::Skip), reason, ..outcome };
            }
            Err(error) => {
                self.failed.insert(planned.target().key());
                return failed(error);
            }
        };
        let mut outcome = match self.look_again(context, facts) {
            Ok(()) => self.take(context, planned, facts, outside),
            Err(error) => {
                self.failed.insert(planned.target().key());
                failed(error)
            }
        };
        // What is not given back runs out.
        let released = leases.store.lock().release_lease(&lease);
        outcome.warnings.extend(released.err().map(|error| error.to_string()));
        outcome
    }

    /// Plans afresh, if another process has committed something since the facts were read.
    fn look_again(&mut self, context: &RunContext<'_>, facts: &mut LakeFacts) -> Result<(), RunError> {
        let session = context.session;
        if current_snapshot(&session.connection, &session.lake)? == context.seen.get() {
            return Ok(());
        }
        *facts = LakeFacts::read(&session.connection, &session.lake, &session.metadata)?;
        context.seen.set(facts.commits_at);
        self.stale = false;
        self.decisions.retain(|_, decision| decision.as_ref().is_ok_and(is_wish));
        Ok(())
    }

    fn take(
        &mut self,
        context: &RunContext<'_>,
        planned: &PlannedModel,
        facts: &mut LakeFacts,
        outside: &mut Outside<'_>,
    ) -> ModelOutcome {
        let clock = Instant::now();
        let key = planned.target().key();
        let mut outcome = ModelOutcome::new(planned, Duration::ZERO);
        if planned.depends.iter().any(|name| self.failed.contains(&name.to_lowercase())) {
            outcome.run_type = Some(RunType::Skip);
            outcome.warnings.push("skipped: upstream model failed".into());
            self.failed.insert(key);
        } else if outside.is_overtaken(planned, facts) {
            outcome.run_type = Some(RunType::Skip);
            outcome.reason = "run by another worker meanwhile".into();
            outcome.warnings.extend(outside.drop_fetched(planned).err().map(|error| error.to_string()));
        } else if let Err(error) = self.decide_and_execute(context, planned, facts, outside, &mut outcome) {
            if let RunError::Checks(report) = &error {
                outcome.findings.clone_from(&report.findings);
            }
            outcome.error = Some(error);
            self.failed.insert(key);
        } else if outcome.status() == Status::Ok {
            self.ran.insert(key);
        }
        outside.push(context, planned, &mut outcome);
        outcome.duration = clock.elapsed();
        outcome
    }

    fn decide_and_execute(
        &mut self,
        context: &RunContext<'_>,
        planned: &PlannedModel,
        facts: &mut LakeFacts,
        outside: &mut Outside<'_>,
        outcome: &mut ModelOutcome,
    ) -> Result<(), RunError> {
        check_runs(context.session, planned, facts)?;
        let key = planned.target().key();
        let wished =
            self.decisions.get(&key).and_then(|decision| decision.as_ref().ok().filter(|d| is_wish(d)).cloned());
        let mut attempt = 1;
        loop {
            match self.execute_once(context, planned, facts, outside, outcome) {
                Err(RunError::CommittedElsewhere { .. }) if !planned.model.fetch && attempt < PLANS_MAX => {
                    self.look_again(context, facts)?;
                    // What the user asked for is still to be done.
                    self.decisions.extend(wished.clone().map(|decision| (key.clone(), Ok(decision))));
                    attempt += 1;
                }
                done => return done,
            }
        }
    }

    fn execute_once(
        &mut self,
        context: &RunContext<'_>,
        planned: &PlannedModel,
        facts: &mut LakeFacts,
        outside: &mut Outside<'_>,
        outcome: &mut ModelOutcome,
    ) -> Result<(), RunError> {
        let mut decision = self.decide(context, planned, facts)?;
        if self.validates && decision.run_type == RunType::Skip && has_directives(&planned.model) {
            decision = Decision::new(RunType::Full, Reason::SandboxValidation);
        }
        outcome.run_type = Some(decision.run_type);
        outcome.reason = decision.reason.to_string();
        if decision.run_type == RunType::Skip {
            return Ok(());
        }
        let task = Task::new(decision, &planned.model, last_commit(planned, facts)?);
        outside.forget_clear(planned, &task)?;
        let Some(executed) = outside.execute(context, planned, &task, facts, outcome)? else { return Ok(()) };
        self.stale = true;
        outcome.run_type = Some(executed.decision.run_type);
        outcome.reason = executed.decision.reason.to_string();
        outcome.rows = executed.rows;
        outcome.warnings = executed.warnings;
        outcome.findings = executed.findings;
        Ok(())
    }

    /// The decision made at the start, or a new one if a model that this one reads has run since.
    fn decide(
        &mut self,
        context: &RunContext<'_>,
        planned: &PlannedModel,
        facts: &mut LakeFacts,
    ) -> Result<Decision, RunError> {
        let upstream_ran = planned.depends.iter().any(|name| self.ran.contains(&name.to_lowercase()));
        let settled = |decision: &Decision| {
            matches!(decision.reason, Reason::FirstRun | Reason::SqlChanged | Reason::FullRefresh | Reason::Kept)
        };
        match self.decisions.remove(&planned.target().key()) {
            Some(Ok(decision)) if upstream_ran && !settled(&decision) => {}
            Some(first) => return first,
            None => {}
        }
        if std::mem::take(&mut self.stale) {
            facts.refresh(&context.session.connection)?;
        }
        decide_run(planned, facts)
    }
}

/// Whether a run of the model shows more than its rows: checks, and what becomes of columns by their tags.
fn has_directives(model: &Model) -> bool {
    let has_checks = [&model.constraints, &model.audits, &model.warnings].iter().any(|checks| !checks.is_empty());
    has_checks || model.columns.iter().any(|column| !column.tags.is_empty())
}

/// Whether it was the user who decided it: no facts change that.
fn is_wish(decision: &Decision) -> bool {
    matches!(decision.reason, Reason::FullRefresh | Reason::Kept)
}
