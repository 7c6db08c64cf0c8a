//! What is to be done with each model of a run: decided for all at its start, and again where that is too old.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::LakeFacts;
use plan::DependencyState;
use types::{Decision, Reason, RunType};

use crate::execute::RunContext;
use crate::planning::{PlannedModel, decide_run, dependency_state, last_commit};
use crate::run::Wish;
use crate::session::current_snapshot;
use crate::{RunError, Session};

/// How long facts are new enough to tell that another process has run a model: that only saves work.
const NEW_ENOUGH: Duration = Duration::from_millis(200);

/// The decisions of a run.
pub(crate) struct Decisions {
    /// Those made in one batch, by lower-case target.
    made: BTreeMap<String, Result<Decision, RunError>>,
    /// Models that ran, in lower case: the decisions of their readers are made again.
    ran: BTreeSet<String>,
    /// Whether a commit was made since the facts were read.
    stale: bool,
    /// When it was last asked whether others committed something.
    looked: Instant,
}

impl Decisions {
    pub fn new(planned: &[PlannedModel], facts: &LakeFacts, wish: Option<Wish>) -> Self {
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
        let made = planned.iter().map(|planned| (planned.target().key(), decide_one(planned))).collect();
        Self { made, ran: BTreeSet::new(), stale: false, looked: Instant::now() }
    }

    /// Whether a model can be decided as far as is known at the start.
    pub fn is_decided(&self, planned: &PlannedModel) -> bool {
        matches!(self.made.get(&planned.target().key()), Some(Ok(_)))
    }

    /// The decision made at the start, or a new one if a model that this one reads has run since.
    pub fn decide(
        &mut self,
        session: &Session,
        planned: &PlannedModel,
        facts: &mut Arc<LakeFacts>,
    ) -> Result<Decision, RunError> {
        let key = planned.target().key();
        let upstream_ran = planned.depends.iter().any(|name| self.ran.contains(&name.to_lowercase()));
        match self.made.get(&key) {
            Some(Ok(decision)) if !upstream_ran || is_settled(decision) => return Ok(decision.clone()),
            Some(Err(_)) => {
                if let Some(error @ Err(_)) = self.made.remove(&key) {
                    return error;
                }
            }
            _ => {}
        }
        if std::mem::take(&mut self.stale) {
            Arc::make_mut(facts).refresh(&session.connection)?;
        }
        decide_run(planned, facts)
    }

    /// The model had its turn and was not skipped.
    pub fn has_run(&mut self, planned: &PlannedModel) {
        self.ran.insert(planned.target().key());
    }

    /// The model was committed.
    pub fn has_committed(&mut self) {
        self.stale = true;
    }

    /// [`Self::look_again`], every now and then.
    pub fn look_now_and_then(&mut self, context: &RunContext<'_>, facts: &mut Arc<LakeFacts>) -> Result<(), RunError> {
        if self.looked.elapsed() < NEW_ENOUGH { Ok(()) } else { self.look_again(context, facts) }
    }

    /// Plans afresh, if another process has committed something since the facts were read.
    pub fn look_again(&mut self, context: &RunContext<'_>, facts: &mut Arc<LakeFacts>) -> Result<(), RunError> {
        self.looked = Instant::now();
        let session = context.session;
        if current_snapshot(&session.connection, &session.lake)? == context.seen.get() {
            return Ok(());
        }
        let read = LakeFacts::read(&session.connection, &session.lake, &session.metadata)?;
        context.seen.set(read.commits_at);
        *facts = Arc::new(read);
        self.stale = false;
        // What the user asked for is still to be done.
        self.made.retain(|_, decision| decision.as_ref().is_ok_and(is_wish));
        Ok(())
    }
}

/// Whether a model's last run has read everything that there is now of what it reads, and began at `snapshot` or later.
pub(crate) fn is_up_to_date(planned: &PlannedModel, facts: &LakeFacts, snapshot: i64) -> Result<bool, RunError> {
    let Some(last) = last_commit(planned, facts)? else { return Ok(false) };
    let is_changed = |name: &String| dependency_state(name, last.read_snapshot, facts) == DependencyState::Changed;
    let is_new = last.read_snapshot.is_some_and(|read| read >= snapshot);
    Ok(is_new && last.hash == planned.hash && !planned.depends.iter().any(is_changed))
}

/// Whether no facts change the decision.
fn is_settled(decision: &Decision) -> bool {
    matches!(decision.reason, Reason::FirstRun | Reason::SqlChanged | Reason::FullRefresh | Reason::Kept)
}

/// Whether it was the user who decided it.
fn is_wish(decision: &Decision) -> bool {
    matches!(decision.reason, Reason::FullRefresh | Reason::Kept)
}
