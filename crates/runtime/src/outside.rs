//! What a run has to do with the world outside of the lake: what is fetched before a model runs, and what is delivered
//! after it.

use engine::LakeFacts;
use fetch::{Fetched, Staged};
use materialize::MaterializeError;
use project::Redactor;
use state::SharedStore;
use types::{Kind, Reason, RunType};

use crate::arrivals::Landed;
use crate::execute::{Before, Executed, FetchedRows, RunContext, execute};
use crate::fetching::{FetchPlans, Fetches, Loading};
use crate::leases::Leases;
use crate::masking::masks_anew;
use crate::planning::PlannedModel;
use crate::pushing::{Forecasts, PushPlans, Pushes};
use crate::task::Task;
use crate::{ModelOutcome, RunError};

/// What becomes of the changes of models that push.
pub(crate) enum Deliveries<'a> {
    /// They are delivered.
    Push(Pushes<'a>),
    /// They are counted.
    Forecast(Forecasts<'a>),
}

/// What a run has to do with the world outside of the lake: fetches and deliveries.
pub(crate) struct Outside<'a> {
    pub plans: &'a FetchPlans,
    pub redactor: &'a Redactor,
    pub store: Option<&'a SharedStore>,
    pub fetches: Option<Fetches<'a>>,
    /// The facts with which the run began.
    pub planned_with: &'a LakeFacts,
    /// The models that push.
    pub pushed: &'a PushPlans,
    pub deliveries: Option<Deliveries<'a>>,
    /// Where other workers may run the same models.
    pub leases: Option<Leases<'a>>,
}

impl Outside<'_> {
    /// Runs a model, with what landed for it; `None` if there is nothing to commit.
    pub fn execute(
        &mut self,
        context: &RunContext<'_>,
        (planned, task): (&PlannedModel, &Task),
        landed: Landed,
        facts: &LakeFacts,
        outcome: &mut ModelOutcome,
    ) -> Result<Option<Executed>, RunError> {
        let fetched = match landed {
            Landed::Fetched(fetched) => fetched?,
            Landed::Direct => return execute(context, planned, task, facts, &Before::default()).map(Some),
            Landed::Ahead(rows) => {
                let before = Before { fetched: None, ahead: rows };
                return execute(context, planned, task, facts, &before).map(Some);
            }
        };
        match fetched {
            Fetched::Rows(staged) => self.execute_fetched(context, (planned, task), &staged, facts, outcome),
            Fetched::Aborted { warnings } => {
                outcome.warnings = [planned.warnings.clone(), warnings].concat();
                Ok(None)
            }
        }
    }

    fn execute_fetched(
        &mut self,
        context: &RunContext<'_>,
        (planned, task): (&PlannedModel, &Task),
        staged: &Staged,
        facts: &LakeFacts,
        outcome: &mut ModelOutcome,
    ) -> Result<Option<Executed>, RunError> {
        let key = planned.target().key();
        let Some((plan, fetches)) = self.plans.get(&key).zip(self.fetches.as_mut()) else {
            return Err(RunError::Interrupted);
        };
        let keeps = keeps_all(planned, staged, facts.tables.contains_key(&key));
        if keeps && !may_change_columns(task) {
            outcome.warnings = [&planned.warnings[..], &staged.warnings].concat();
            fetches.store.lock().drop_fetch(&staged.lease)?;
            return Ok(None);
        }
        let executed = fetches.present(planned.target()).and_then(|present| {
            let loading = Loading {
                session: context.session,
                store: &fetches.store,
                cancellation: context.cancellation,
                redactor: self.redactor,
            };
            let loaded = loading.load(planned.target(), plan, staged)?;
            let rows = FetchedRows { plan, staged, loaded: &loaded, present, keeps };
            let before = Before { fetched: Some(&rows), ..Before::default() };
            let executed = execute(context, planned, task, facts, &before);
            let dropped = loaded.drop(&context.session.connection);
            let mut executed = executed?;
            executed.warnings.extend(dropped.err().map(|error| error.cleaned()));
            Ok(executed)
        });
        match executed {
            Ok(mut executed) => {
                executed.warnings.extend(staged.warnings.iter().cloned());
                fetches.finished(staged);
                Ok(Some(executed))
            }
            Err(error) if is_of_rows(&error) => {
                // These rows fail every time. The first error is the one that tells.
                let _ = fetches.store.lock().drop_fetch(&staged.lease);
                Err(error)
            }
            // The rows are committed by the next run, if nothing changes till then.
            Err(error) => Err(error),
        }
    }

    /// The end of the run; gives what could not be cleaned up.
    pub fn end(self) -> Vec<String> {
        self.fetches.map(Fetches::end).unwrap_or_default()
    }

    /// Whether another process has committed a model since this run began.
    pub fn is_overtaken(&self, planned: &PlannedModel, facts: &LakeFacts) -> bool {
        last_recorded(planned, self.planned_with) != last_recorded(planned, facts)
    }

    /// Drops what was fetched for a model.
    pub fn drop_fetched(&mut self, landed: Landed) -> Result<(), RunError> {
        match (&mut self.fetches, landed) {
            (Some(fetches), Landed::Fetched(Ok(Fetched::Rows(staged)))) => {
                Ok(fetches.store.lock().drop_fetch(&staged.lease)?)
            }
            _ => Ok(()),
        }
    }

    /// What there is time for while the run waits.
    pub fn idle(&mut self) {
        if let Some(fetches) = &mut self.fetches {
            fetches.forget_done();
        }
    }

    /// Whether changes of the model are delivered.
    pub fn delivers(&self, planned: &PlannedModel) -> bool {
        self.pushed.contains_key(&planned.target().key())
    }

    /// Has the state forget the rows that it keeps of a model which masks another column from now on. That comes before
    /// the commit: after it, nobody would know any more if it failed.
    pub fn forget_clear(&self, planned: &PlannedModel, task: &Task) -> Result<(), RunError> {
        match self.store {
            Some(store) if masks_anew(&planned.model, task.last.as_ref()) => {
                Ok(store.lock().forget_images(&planned.target().key())?)
            }
            _ => Ok(()),
        }
    }

    /// Delivers what a model changed, and what is left from before: the data is committed, whatever comes of it.
    pub fn push(&mut self, context: &RunContext<'_>, planned: &PlannedModel, outcome: &mut ModelOutcome) {
        let is_over = outcome.error.as_ref().is_some_and(|error| error.is_fatal() || error.is_interrupt());
        let delivered = match self.deliveries.as_mut().filter(|_| !is_over) {
            None => return,
            Some(Deliveries::Push(pushes)) => pushes.after(context.session, planned),
            Some(Deliveries::Forecast(forecasts)) => forecasts.after(context.session, planned).map(|forecast| {
                outcome.forecast = forecast;
                None
            }),
        };
        match delivered {
            Ok(None) => {}
            Ok(Some(report)) => {
                outcome.warnings.extend(report.texts());
                if report.has_failures() && outcome.error.is_none() {
                    outcome.error = Some(RunError::Push { target: planned.target().clone(), report: report.clone() });
                }
                outcome.push = Some(report);
            }
            Err(error) if outcome.error.is_none() => outcome.error = Some(error),
            Err(error) => outcome.warnings.push(format!("push: {error}")),
        }
    }
}

/// What the registry told of a model's last commit when the facts were read.
fn last_recorded<'f>(planned: &PlannedModel, facts: &'f LakeFacts) -> Option<&'f str> {
    facts.commits.get(&planned.target().key()).map(|row| row.commit_info.as_str())
}

/// Whether an empty fetch leaves a table as it is: `tracked` and `scd2` would take it for "everything is gone".
fn keeps_all(planned: &PlannedModel, staged: &Staged, table_exists: bool) -> bool {
    let by_presence = matches!(planned.model.kind, Kind::Tracked | Kind::Scd2);
    by_presence && table_exists && staged.rows == 0 && staged.empty_result.as_deref() != Some("delete_missing")
}

/// Whether the model may have other columns than its table. A rebuild that was asked for is none without rows.
fn may_change_columns(task: &Task) -> bool {
    task.decision.run_type == RunType::Backfill && task.decision.reason != Reason::FullRefresh
}

/// Whether the fault is in the rows or in the model, so that the same rows fail again; not in the disk, the memory or
/// another writer, nor was it the user who ended it.
fn is_of_rows(error: &RunError) -> bool {
    match error {
        RunError::Statement { error: MaterializeError::Query(error) | MaterializeError::Write(error), .. } => {
            error.is_statement_fault()
        }
        // Without findings it is the directive that has to be corrected.
        RunError::Checks(report) => !report.findings.is_empty(),
        // In the last case they were fetched behind rows that are not the newest any more.
        RunError::Fetch(_)
        | RunError::Refused { .. }
        | RunError::Statement { .. }
        | RunError::CommittedElsewhere { .. } => true,
        _ => false,
    }
}
