//! The turns of a run's models. What takes time before a model's transaction, its fetch or its query, goes on beside
//! others; the transactions come one after the other, each as soon as what it needs is there.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use engine::LakeFacts;
use model::Model;
use state::LeaseAnswer;
use types::{Decision, Reason, RunType};

use crate::ahead::{Ahead, Job};
use crate::arrivals::Landed;
use crate::decisions::{Decisions, is_up_to_date};
use crate::execute::{RunContext, prepare_session};
use crate::leases::PAUSE;
use crate::masking::masks_anew;
use crate::outside::Outside;
use crate::planning::{PlannedModel, last_commit};
use crate::progress::{Ended, Flight, Progress};
use crate::requirements::{check_limit, check_runs};
use crate::schedule::Schedule;
use crate::task::Task;
use crate::{ModelOutcome, Observer, RunError, Status};

/// Plans of a model that others overtake, until it is given up.
const PLANS_MAX: u32 = 6;
/// Why a model is skipped that another process has run.
const OVERTAKEN: &str = "run by another worker meanwhile";

/// The state of a run between models, which are known by their place in its order.
pub(crate) struct Turns<'t, 'scope, 'env> {
    pub context: &'t RunContext<'t>,
    pub models: &'env [PlannedModel],
    pub facts: Arc<LakeFacts>,
    pub decisions: Decisions,
    pub ahead: Ahead<'scope, 'env>,
    pub outside: Outside<'env>,
    pub observer: &'t mut dyn Observer,
    /// How many models may fetch or wait for it.
    pub fetches_max: usize,
    /// Whether models that have something to validate run although nothing changed.
    pub validates: bool,
    pub schedule: Schedule,
    pub progress: Progress,
}

/// What is to become of a model.
enum Verdict {
    Run(Decision),
    /// Nothing, and why.
    Skip(String),
    /// Nothing, as a model that it reads failed.
    Lost,
    /// Another worker has it.
    Held(String),
}

impl Turns<'_, '_, '_> {
    /// Runs all models; gives what became of those that had their turn, in the run's order, and whether the run was
    /// interrupted.
    pub fn take_all(mut self) -> (Vec<ModelOutcome>, Vec<String>, bool) {
        while self.progress.ended.is_none() {
            let is_cancelled = self.context.cancellation.check().is_err();
            if is_cancelled && self.progress.flights.is_empty() {
                self.progress.ended = Some(Ended::Interrupted);
                break;
            }
            let finished = self.progress.outcomes.len();
            if !is_cancelled {
                self.begin_models();
            }
            self.progress.receive(None);
            if let Some(at) = self.progress.next_landed() {
                self.land(at);
            } else if self.progress.outcomes.len() == finished {
                if self.progress.flights.is_empty() && self.progress.held.is_empty() {
                    break;
                }
                self.wait();
            }
        }
        if self.progress.ended.is_some() {
            // What still goes on is of no use any more.
            self.context.cancellation.cancel();
        }
        for at in self.progress.leases.keys().copied().collect::<Vec<_>>() {
            // What is not given back runs out.
            let _ = self.release(at);
        }
        let outcomes = self.progress.outcomes.into_values().collect();
        (outcomes, self.outside.end(), self.progress.ended == Some(Ended::Interrupted))
    }

    /// Begins as many models as may go on at a time, in their order.
    fn begin_models(&mut self) {
        for fetches in [true, false] {
            let mut from = 0;
            while self.progress.ended.is_none()
                && self.may_begin(fetches)
                && let Some(at) = self.schedule.next(fetches, from)
            {
                from = at + 1;
                self.begin(at);
            }
        }
    }

    fn may_begin(&self, fetches: bool) -> bool {
        let flights = self.progress.flights.values();
        if fetches {
            return flights.filter(|flight| flight.fetches).count() < self.fetches_max;
        }
        let has_direct = flights.into_iter().any(|flight| matches!(flight.landed, Some((Landed::Direct, _))));
        !has_direct && !self.progress.wants_alone() && (self.ahead.has_room() || !self.ahead.is_possible())
    }

    fn begin(&mut self, at: usize) {
        let planned = &self.models[at];
        self.observer.model_started(planned.target());
        let clock = Instant::now();
        let is_alone = self.schedule.is_alone(at) && self.progress.flights.is_empty();
        self.schedule.begin(at);
        let mut outcome = ModelOutcome::new(planned, Duration::ZERO);
        let verdict = self.verdict(at).and_then(|verdict| match verdict {
            Verdict::Run(decision) => self.fly(at, decision, is_alone).map(|()| None),
            other => Ok(Some(other)),
        });
        match verdict {
            Ok(None | Some(Verdict::Run(_))) => return,
            Ok(Some(Verdict::Held(_))) if self.outside.leases.is_some_and(|leases| leases.waits) => {
                if self.progress.told.insert(at) {
                    self.observer.model_waits(planned.target());
                }
                self.progress.held.insert(at, clock + PAUSE);
                return;
            }
            Ok(Some(Verdict::Held(worker))) => skip(&mut outcome, format!("held by {worker}")),
            Ok(Some(Verdict::Skip(reason))) => skip(&mut outcome, reason),
            Ok(Some(Verdict::Lost)) => {
                skip(&mut outcome, String::new());
                outcome.warnings.push("skipped: upstream model failed".into());
                self.progress.failed.insert(planned.target().key());
            }
            Err(error) => fail(&mut outcome, error),
        }
        self.finish(at, outcome, clock, Duration::ZERO);
    }

    /// What is to become of a model, while no other worker has it.
    fn verdict(&mut self, at: usize) -> Result<Verdict, RunError> {
        let planned = &self.models[at];
        let Some(leases) = self.outside.leases else { return self.judge(planned) };
        self.decisions.look_now_and_then(self.context, &mut self.facts)?;
        let verdict = self.judge(planned)?;
        if !matches!(verdict, Verdict::Run(_)) && !self.outside.delivers(planned) {
            return Ok(verdict);
        }
        match leases.take(planned.target())? {
            LeaseAnswer::Taken(lease) => drop(self.progress.leases.insert(at, lease)),
            LeaseAnswer::Held(worker) => return Ok(Verdict::Held(worker.as_str().to_owned())),
        }
        // Who had it before may have committed.
        self.decisions.look_again(self.context, &mut self.facts)?;
        self.judge(planned)
    }

    fn judge(&mut self, planned: &PlannedModel) -> Result<Verdict, RunError> {
        if planned.depends.iter().any(|name| self.progress.failed.contains(&name.to_lowercase())) {
            return Ok(Verdict::Lost);
        }
        let is_overtaken = self.outside.is_overtaken(planned, &self.facts);
        if planned.model.fetch && self.outside.fetches.is_some() && is_overtaken {
            return Ok(Verdict::Skip(OVERTAKEN.into()));
        }
        check_runs(self.context.session, planned, &self.facts)?;
        let mut decision = self.decisions.decide(self.context.session, planned, &mut self.facts)?;
        let began_at = self.outside.planned_with.commits_at;
        if self.outside.leases.is_some() && is_overtaken && is_up_to_date(planned, &self.facts, began_at)? {
            return Ok(Verdict::Skip(OVERTAKEN.into()));
        }
        if self.validates && decision.run_type == RunType::Skip && has_directives(&planned.model) {
            decision = Decision::new(RunType::Full, Reason::SandboxValidation);
        }
        Ok(match decision.run_type {
            RunType::Skip => Verdict::Skip(decision.reason.to_string()),
            _ => Verdict::Run(decision),
        })
    }

    /// Has a model's rows fetched, or its query run, or neither.
    fn fly(&mut self, at: usize, decision: Decision, is_alone: bool) -> Result<(), RunError> {
        let planned = &self.models[at];
        let task = self.task(planned, decision)?;
        self.outside.forget_clear(planned, &task)?;
        let fetches = self.outside.plans.contains_key(&planned.target().key());
        let promise = self.progress.arrivals.promise(at);
        let mut flight = Flight { task: Arc::clone(&task), fetches, landed: None, alone: false };
        if let (true, Some(fetching)) = (fetches, self.outside.fetches.as_mut()) {
            fetching.begin(planned, &task, &self.facts, promise);
        } else if let Some(functions) = self.goes_ahead(planned, &task, is_alone) {
            let facts = Arc::clone(&self.facts);
            self.ahead.begin(Job { at, planned, task, facts, functions, promise });
        } else {
            promise.forget();
            flight.landed = Some((Landed::Direct, Duration::ZERO));
        }
        self.progress.flights.insert(at, flight);
        Ok(())
    }

    /// What is to be done with a model, as the facts are now.
    fn task(&self, planned: &PlannedModel, decision: Decision) -> Result<Arc<Task>, RunError> {
        let row = self.facts.commits.get(&planned.target().key());
        let recorded = row.map(|row| row.commit_info.clone());
        Ok(Arc::new(Task::new(decision, &planned.model, (last_commit(planned, &self.facts)?, recorded))))
    }

    /// The functions that a model's query can call, if it can run ahead and there is a use in that.
    fn goes_ahead(&mut self, planned: &PlannedModel, task: &Task, is_alone: bool) -> Option<Arc<query::Functions>> {
        // Rows of the table that are still in clear are masked before anything is read.
        let is_own = task.decision.reason == Reason::Kept || masks_anew(&planned.model, task.last.as_ref());
        // Where others write to the lake as well, a transaction is short, though nothing runs beside the query.
        let has_no_use = is_alone && self.outside.leases.is_none();
        if has_no_use || is_own || !self.ahead.is_ready(self.context.session) {
            return None;
        }
        // What fails here fails again in the model's own transaction, where it is told.
        check_limit(planned).ok()?;
        prepare_session(self.context, planned).ok()
    }

    fn wait(&mut self) {
        self.outside.idle();
        // There is time now. What fails fails again where it is needed.
        let _ = self.context.functions.get(&self.context.session.connection);
        self.progress.receive(Some(if self.progress.held.is_empty() { Duration::MAX } else { PAUSE }));
        let now = Instant::now();
        for (at, again) in std::mem::take(&mut self.progress.held) {
            if again <= now {
                self.schedule.give_back(at);
            } else {
                self.progress.held.insert(at, again);
            }
        }
    }

    /// The transaction of a model, and what comes after it.
    fn land(&mut self, at: usize) {
        let Some(flight) = self.progress.flights.remove(&at) else { return };
        let Flight { task, fetches, landed: Some((landed, took)), .. } = flight else { return };
        let clock = Instant::now();
        let mut outcome = ModelOutcome::new(&self.models[at], Duration::ZERO);
        // Rows of queries take memory as well, until their models had their turns.
        let has_company = self.progress.has_queries() || self.ahead.has_rows_beside(at);
        let has_rows = matches!(landed, Landed::Ahead(Some(_)));
        let again = landed.again().filter(|_| has_company || has_rows);
        let executed = self.execute(at, &task, landed, &mut outcome);
        let forgotten = self.ahead.forget(self.context.session, at);
        outcome.warnings.extend(forgotten.err().map(|error| error.cleaned()));
        match (executed, again) {
            (Err(error), Some(again)) if error.is_out_of_memory() => {
                let landed = Some((again, took + clock.elapsed()));
                self.progress.flights.insert(at, Flight { task, fetches, landed, alone: true });
                return;
            }
            (Err(error), _) => fail(&mut outcome, error),
            (Ok(()), _) if outcome.status() == Status::Ok => self.decisions.has_run(&self.models[at]),
            (Ok(()), _) => {}
        }
        self.finish(at, outcome, clock, took);
    }

    fn execute(
        &mut self,
        at: usize,
        task: &Arc<Task>,
        landed: Landed,
        outcome: &mut ModelOutcome,
    ) -> Result<(), RunError> {
        let planned = &self.models[at];
        if planned.model.fetch && self.outside.is_overtaken(planned, &self.facts) {
            // It follows rows that are not the newest any more.
            skip(outcome, OVERTAKEN.into());
            return self.outside.drop_fetched(landed);
        }
        let (mut task, mut landed) = (Arc::clone(task), landed);
        let mut attempt = 1;
        let executed = loop {
            outcome.run_type = Some(task.decision.run_type);
            outcome.reason = task.decision.reason.to_string();
            let done = self.outside.execute(self.context, (planned, &task), landed, &self.facts, outcome);
            match done {
                Err(RunError::CommittedElsewhere { .. }) if !planned.model.fetch && attempt < PLANS_MAX => {}
                done => break done?,
            }
            attempt += 1;
            self.decisions.look_again(self.context, &mut self.facts)?;
            task = match self.judge(planned)? {
                Verdict::Run(decision) => self.task(planned, decision)?,
                Verdict::Skip(reason) => {
                    skip(outcome, reason);
                    return Ok(());
                }
                Verdict::Lost | Verdict::Held(_) => return Ok(()),
            };
            landed = Landed::Direct;
        };
        let Some(executed) = executed else { return Ok(()) };
        self.decisions.has_committed();
        outcome.run_type = Some(executed.decision.run_type);
        outcome.reason = executed.decision.reason.to_string();
        outcome.rows = executed.rows;
        outcome.warnings = executed.warnings;
        outcome.findings = executed.findings;
        Ok(())
    }

    /// The end of a model's turn: its changes are delivered, and its readers may begin.
    fn finish(&mut self, at: usize, mut outcome: ModelOutcome, clock: Instant, took: Duration) {
        let planned = &self.models[at];
        if outcome.error.is_some() {
            self.progress.failed.insert(planned.target().key());
        }
        // What another worker has is its to deliver.
        if self.outside.leases.is_none() || self.progress.leases.contains_key(&at) {
            self.outside.push(self.context, planned, &mut outcome);
        }
        (outcome.duration, outcome.ended) = (took + clock.elapsed(), SystemTime::now());
        outcome.warnings.extend(self.release(at).err().map(|error| error.to_string()));
        self.observer.model_finished(&outcome);
        let error = outcome.error.as_ref();
        // What a push leaves when it is stopped is no error of its model.
        let is_cut_off = outcome.push.as_ref().is_some_and(|push| push.pending > 0);
        let is_cancelled = is_cut_off && self.context.cancellation.check().is_err();
        if error.is_some_and(RunError::is_interrupt) || is_cancelled {
            self.progress.ended = Some(Ended::Interrupted);
        } else if error.is_some_and(RunError::is_fatal) {
            self.progress.ended = Some(Ended::Fatal);
        }
        self.progress.outcomes.insert(at, outcome);
        self.schedule.finish(at);
    }

    fn release(&mut self, at: usize) -> Result<(), RunError> {
        match self.outside.leases.zip(self.progress.leases.remove(&at)) {
            Some((leases, lease)) => Ok(leases.store.lock().release_lease(&lease)?),
            None => Ok(()),
        }
    }
}

fn skip(outcome: &mut ModelOutcome, reason: String) {
    (outcome.run_type, outcome.reason) = (Some(RunType::Skip), reason);
}

fn fail(outcome: &mut ModelOutcome, error: RunError) {
    if let RunError::Checks(report) = &error {
        outcome.findings.clone_from(&report.findings);
    }
    outcome.error = Some(error);
}

/// Whether a run of the model shows more than its rows: checks, and what becomes of columns by their tags.
fn has_directives(model: &Model) -> bool {
    let has_checks = [&model.constraints, &model.audits, &model.warnings].iter().any(|checks| !checks.is_empty());
    has_checks || model.columns.iter().any(|column| !column.tags.is_empty())
}
