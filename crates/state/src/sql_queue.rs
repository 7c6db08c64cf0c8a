//! The queue in SQL.

use std::collections::BTreeSet;

use engine::{EngineError, Rows, Value};
use types::{ChangeType, literal};

use crate::backend::Load;
use crate::failure::{Failure, Fence};
use crate::outcomes::table_of;
use crate::queue::{
    AdoptedClaim, Claim, ClaimLease, Counts, DeliveryReport, Event, Fed, Feed, Job, Outcome, Position, Queue, Recovery,
};
use crate::retry::VerbError;
use crate::script::{Arg, Dialect};
use crate::sql_store::{SqlStore, count, number, optional_text, text};
use crate::worker::new_term;
use crate::{StateError, WorkerId};

/// How many events a claim looks at first, as a multiple of those it takes.
const WINDOW: i64 = 4;
/// The end of each script that gives events back.
const BURY_RETURNED: &str = include_str!("../sql/bury_returned.sql");
/// The local table of changes on their way into the queue.
const FED: &str = "fed_changes";

impl Queue for SqlStore {
    fn worker(&self) -> &WorkerId {
        &self.worker
    }

    fn position(&mut self, target: &str) -> Result<Option<Position>, StateError> {
        Ok(self.position_now(target)?.0)
    }

    fn feed(
        &mut self,
        feed: &Feed<'_>,
        changes: &mut dyn FnMut() -> Result<Rows, EngineError>,
    ) -> Result<Fed, StateError> {
        let mut attempts = self.attempts()?;
        loop {
            let (position, now_us) = self.position_now(feed.target)?;
            if position.as_ref() != feed.from {
                // A lost answer may have been that of this very step.
                let is_this = |position: &Position| {
                    position.snapshot == feed.snapshot
                        && position.table_uuid == feed.table_uuid
                        && position.definition_hash == feed.definition_hash
                };
                return Ok(match position {
                    Some(position) if attempts.is_uncertain() && is_this(&position) => Fed::Moved(position),
                    _ => Fed::Elsewhere,
                });
            }
            let rows = changes().map_err(StateError::Changes)?;
            let base = position.map_or(0, |position| position.last_seq);
            let moved = Position {
                snapshot: feed.snapshot,
                table_uuid: feed.table_uuid.to_owned(),
                definition_hash: feed.definition_hash.to_owned(),
                last_seq: base + i64::try_from(rows.len()).unwrap_or(i64::MAX),
            };
            let script = self.position_script(feed, base, moved.last_seq);
            let inserts = if rows.is_empty() { vec![] } else { vec![insert_fed(feed.target, base, now_us)] };
            let columns = "row_key BIGINT, rowid BIGINT, change_type VARCHAR, snapshot_id BIGINT".to_owned();
            let loaded = self.backend.load(Load { table: FED.into(), columns, rows });
            let Err(error) = loaded.and_then(|()| self.backend.transfer(&inserts, &script)) else {
                return Ok(Fed::Moved(moved));
            };
            match self.again(&mut attempts, Failure::of(&error, &script)) {
                Ok(()) => {}
                Err(VerbError::Fence(_)) => return Ok(Fed::Elsewhere),
                Err(VerbError::State(error)) => return Err(error),
            }
        }
    }

    fn claim(&mut self, target: &str, run_id: &str, limit: usize) -> Result<Option<Claim>, StateError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let first = Takes::Fresh { window: limit.saturating_mul(WINDOW) };
        if let Some(claim) = self.claim_of(first, target, run_id, limit)? {
            return Ok(Some(claim));
        }
        let due = self.due(target)?;
        // All that was looked at may be held back.
        let fresh = due.fresh.then_some(Takes::Fresh { window: i64::MAX });
        for takes in fresh.into_iter().chain(due.failed.then_some(Takes::Failed)) {
            if let Some(claim) = self.claim_of(takes, target, run_id, limit)? {
                return Ok(Some(claim));
            }
        }
        Ok(None)
    }

    fn record(&mut self, claim: &ClaimLease, outcomes: &[Outcome]) -> Result<(), StateError> {
        if outcomes.is_empty() {
            return Ok(());
        }
        let fresh = self.recorded.fresh(&claim.claim_id, outcomes);
        // That the claim is lost is told all the same.
        let Some(first) = fresh.first() else { return self.fenced("", claim, &[], None) };
        let source = table_of(self.dialect(), &fresh);
        let args = [
            ("target", Arg::Text(&claim.target)),
            ("outcomes", Arg::Sql(&source)),
            ("first_seq", Arg::Number(first.seq)),
        ];
        self.fenced(include_str!("../sql/record.sql"), claim, &args, None)?;
        self.recorded.add(&claim.claim_id, &fresh);
        Ok(())
    }

    fn apply(&mut self, claim: &ClaimLease) -> Result<(), StateError> {
        let script = [include_str!("../sql/apply.sql"), BURY_RETURNED].concat();
        self.fenced(&script, claim, &[("target", Arg::Text(&claim.target))], None)
    }

    fn release(&mut self, claim: &ClaimLease) -> Result<(), StateError> {
        let script = [include_str!("../sql/apply.sql"), include_str!("../sql/release.sql"), BURY_RETURNED].concat();
        self.fenced(&script, claim, &[("target", Arg::Text(&claim.target))], Some(Fence::LeaseLost))?;
        self.held.remove(&self.worker, &claim.claim_id);
        self.recorded.forget(&claim.claim_id);
        self.backend.trim();
        Ok(())
    }

    fn heartbeat(&mut self) -> Result<BTreeSet<String>, StateError> {
        let known = self.held.of(&self.worker);
        let script = self.fill(include_str!("../sql/heartbeat.sql"), &[]);
        self.execute(&script, None).map_err(VerbError::unconditional)?;
        let sql = self.fill(include_str!("../sql/held.sql"), &[]);
        let held: BTreeSet<String> = self.values(&sql)?.into_iter().map(|mut row| text(&mut row[0])).collect();
        for lost in known.iter().filter(|term| !held.contains(*term)) {
            self.held.remove(&self.worker, lost);
        }
        Ok(held)
    }

    fn recover(&mut self) -> Result<Recovery, StateError> {
        let mut recovery = Recovery::default();
        for dead in self.dead_claims()? {
            if !self.take_over(&dead)? {
                continue;
            }
            let lease = dead.lease;
            if dead.has_job {
                let claim = Claim { events: self.claimed(&lease, i64::from(u32::MAX))?, lease };
                recovery.adopted.push(AdoptedClaim { jobs: self.jobs(&claim.lease)?, claim });
            } else {
                recovery.released += 1;
            }
        }
        // What an error keeps from the caller is not held, and found again when its time has run out.
        for adopted in &recovery.adopted {
            self.held.add(&self.worker, &adopted.claim.lease.claim_id);
        }
        Ok(recovery)
    }

    fn put_job(&mut self, claim: &ClaimLease, job: &Job) -> Result<(), StateError> {
        let args = [
            ("batch", Arg::Number(i64::from(job.batch))),
            ("target", Arg::Text(&claim.target)),
            ("job_ref", Arg::Text(&job.job_ref)),
            ("fingerprint", Arg::Text(&job.fingerprint)),
            ("first_seq", Arg::Number(job.first_seq)),
            ("last_seq", Arg::Number(job.last_seq)),
        ];
        self.fenced(include_str!("../sql/put_job.sql"), claim, &args, None)
    }

    fn end_job(&mut self, claim: &ClaimLease, batch: u32) -> Result<(), StateError> {
        let args = [("batch", Arg::Number(i64::from(batch)))];
        self.fenced(include_str!("../sql/end_job.sql"), claim, &args, None)
    }

    fn counts(&mut self) -> Result<Vec<Counts>, StateError> {
        let rows = self.values(include_str!("../sql/counts.sql"))?;
        let read = |mut row: Vec<Value>| Counts {
            target: text(&mut row[0]),
            pending: count(&row[1]),
            waiting: count(&row[2]),
            in_flight: count(&row[3]),
            dead: count(&row[4]),
            oldest_s: count(&row[5]),
        };
        Ok(rows.into_iter().map(read).collect())
    }

    fn log_delivery(&mut self, report: &DeliveryReport<'_>) -> Result<(), StateError> {
        let whole = |number: u64| Arg::Number(i64::try_from(number).unwrap_or(i64::MAX));
        let script = self.fill(
            include_str!("../sql/log_delivery.sql"),
            &[
                ("run_id", Arg::Text(report.run_id)),
                ("target", Arg::Text(report.target)),
                ("delivered", whole(report.delivered)),
                ("rejected", whole(report.rejected)),
                ("to_retry", whole(report.to_retry)),
                ("first_error", Arg::Maybe(report.first_error)),
                ("duration_ms", Arg::Number(i64::try_from(report.duration.as_millis()).unwrap_or(i64::MAX))),
            ],
        );
        self.execute(&script, None).map_err(VerbError::unconditional)
    }
}

/// A claim whose worker seemed dead when it was looked at.
#[derive(Debug)]
pub struct DeadClaim {
    lease: ClaimLease,
    worker: String,
    has_job: bool,
}

/// The two steps of recovery.
impl SqlStore {
    /// Claims of workers that seem dead. One may come back to life before it is taken over.
    pub fn dead_claims(&mut self) -> Result<Vec<DeadClaim>, StateError> {
        let sql = self.fill(include_str!("../sql/dead_claims.sql"), &[]);
        let read = |mut row: Vec<Value>| DeadClaim {
            lease: ClaimLease { claim_id: text(&mut row[0]), target: text(&mut row[1]) },
            worker: text(&mut row[2]),
            has_job: row[3].as_bool() == Some(true),
        };
        Ok(self.values(&sql)?.into_iter().map(read).collect())
    }

    /// Takes a dead worker's claim over and ends it, but for its jobs; false if it lives, or if somebody else was
    /// faster.
    pub fn take_over(&mut self, dead: &DeadClaim) -> Result<bool, StateError> {
        let keep_jobs = include_str!("../sql/release_outside_jobs.sql");
        let rest = if dead.has_job { keep_jobs } else { include_str!("../sql/release.sql") };
        let template = [include_str!("../sql/take_over.sql"), include_str!("../sql/apply.sql"), rest, BURY_RETURNED];
        let template = template.concat();
        let args = [
            ("claim", Arg::Text(&dead.lease.claim_id)),
            ("dead_worker", Arg::Text(&dead.worker)),
            ("target", Arg::Text(&dead.lease.target)),
        ];
        let script = self.fill(&template, &args);
        let ends_itself = (!dead.has_job).then_some(Fence::LeaseLost);
        match self.execute(&script, ends_itself) {
            Ok(()) => Ok(true),
            Err(VerbError::Fence(_)) => Ok(false),
            Err(VerbError::State(error)) => Err(error),
        }
    }
}

/// Which rows' events a claim takes.
#[derive(Clone, Copy)]
enum Takes {
    /// Those of which nothing that is queued has failed, among the first `window` events.
    Fresh { window: i64 },
    /// The others: those that failed least often.
    Failed,
}

/// Whether there is anything to claim.
struct Due {
    fresh: bool,
    failed: bool,
}

impl SqlStore {
    /// Takes about `limit` events, of the rows in question the oldest.
    fn claim_of(&mut self, takes: Takes, target: &str, run_id: &str, limit: i64) -> Result<Option<Claim>, StateError> {
        let lease = ClaimLease { claim_id: new_term()?, target: target.to_owned() };
        let template = match self.dialect() {
            Dialect::DuckDb => include_str!("../sql/duckdb/claim.sql"),
            Dialect::Postgres => include_str!("../sql/postgres/claim.sql"),
        };
        let (with, condition, window) = match takes {
            Takes::Fresh { window } => {
                (include_str!("../sql/claim/fresh_with.sql"), include_str!("../sql/claim/fresh_where.sql"), window)
            }
            Takes::Failed => {
                (include_str!("../sql/claim/failed_with.sql"), include_str!("../sql/claim/failed_where.sql"), 0)
            }
        };
        let template = template.replace("{with}", with).replace("{where}", condition);
        let template = [include_str!("../sql/fence_new_claim.sql"), &template].concat();
        let script = self.fill(
            &template,
            &[
                ("claim", Arg::Text(&lease.claim_id)),
                ("target", Arg::Text(target)),
                ("run_id", Arg::Text(run_id)),
                ("limit", Arg::Number(limit)),
                ("window", Arg::Number(window)),
            ],
        );
        self.execute(&script, Some(Fence::AlreadyDone)).map_err(|error| error.lease_on(target))?;
        let events = self.claimed(&lease, limit)?;
        if events.is_empty() {
            return Ok(None);
        }
        self.held.add(&self.worker, &lease.claim_id);
        Ok(Some(Claim { lease, events }))
    }

    /// Whether anything of the target is due, held back or not.
    fn due(&mut self, target: &str) -> Result<Due, StateError> {
        let sql = self.fill(include_str!("../sql/has_due.sql"), &[("target", Arg::Text(target))]);
        let row = self.values(&sql)?.pop().unwrap_or_default();
        let is_there = |at: usize| row.get(at).is_some_and(|value| value.as_bool() == Some(true));
        Ok(Due { fresh: is_there(0), failed: is_there(1) })
    }

    /// A target's position, and the database's time in microseconds since 1970.
    fn position_now(&mut self, target: &str) -> Result<(Option<Position>, i64), StateError> {
        let sql = self.fill(include_str!("../sql/position.sql"), &[("target", Arg::Text(target))]);
        let mut rows = self.values(&sql)?;
        let Some(row) = rows.first_mut() else { return Ok((None, 0)) };
        let now_us = number(&row[4]);
        if row[0] == Value::Null {
            return Ok((None, now_us));
        }
        let position = Position {
            snapshot: number(&row[0]),
            table_uuid: text(&mut row[1]),
            definition_hash: text(&mut row[2]),
            last_seq: number(&row[3]),
        };
        Ok((Some(position), now_us))
    }

    fn position_script(&self, feed: &Feed<'_>, from_seq: i64, last_seq: i64) -> String {
        let template = match feed.from {
            None => include_str!("../sql/feed_first.sql"),
            Some(_) => include_str!("../sql/feed_next.sql"),
        };
        self.fill(
            template,
            &[
                ("target", Arg::Text(feed.target)),
                ("snapshot", Arg::Number(feed.snapshot)),
                ("table_uuid", Arg::Text(feed.table_uuid)),
                ("definition_hash", Arg::Text(feed.definition_hash)),
                ("last_seq", Arg::Number(last_seq)),
                ("from_snapshot", Arg::Number(feed.from.map_or(0, |position| position.snapshot))),
                ("from_seq", Arg::Number(from_seq)),
            ],
        )
    }

    fn claimed(&mut self, lease: &ClaimLease, limit: i64) -> Result<Vec<Event>, StateError> {
        let sql = self.fill(include_str!("../sql/claimed.sql"), &[("claim", Arg::Text(&lease.claim_id))]);
        let rows = self.query(&sql, u64::try_from(limit).unwrap_or(0))?;
        rows.into_values().map(event).collect()
    }

    /// Runs a template under the fence of a claim.
    fn fenced(
        &mut self,
        template: &str,
        claim: &ClaimLease,
        args: &[(&str, Arg<'_>)],
        ends_itself: Option<Fence>,
    ) -> Result<(), StateError> {
        let template = [include_str!("../sql/fence_claim.sql"), template].concat();
        let mut all = vec![("claim", Arg::Text(&claim.claim_id))];
        all.extend(args);
        let script = self.fill(&template, &all);
        let what = format!("a claim of {}", claim.target);
        self.execute(&script, ends_itself).map_err(|error| error.lease_on(&what))
    }

    fn jobs(&mut self, lease: &ClaimLease) -> Result<Vec<Job>, StateError> {
        let sql = self.fill(include_str!("../sql/jobs.sql"), &[("claim", Arg::Text(&lease.claim_id))]);
        let read = |mut row: Vec<Value>| Job {
            batch: u32::try_from(number(&row[0])).unwrap_or(0),
            job_ref: text(&mut row[1]),
            fingerprint: text(&mut row[2]),
            first_seq: number(&row[3]),
            last_seq: number(&row[4]),
        };
        Ok(self.values(&sql)?.into_iter().map(read).collect())
    }
}

/// Numbers the loaded changes and adds them to the queue. Their time is the database's, not this machine's.
fn insert_fed(target: &str, base: i64, now_us: i64) -> String {
    format!(
        "INSERT INTO state.sync_evt (target, seq, row_key, rowid, change_type, snapshot_id, attempts, created_at) \
         SELECT {}, {base} + 1 + f.__position, f.row_key, f.rowid, f.change_type, f.snapshot_id, 0, \
         make_timestamptz({now_us}) FROM (SELECT row_number() OVER () - 1 AS __position, * FROM temp.main.{FED}) AS f",
        literal(target)
    )
}

pub(crate) fn event(mut row: Vec<Value>) -> Result<Event, StateError> {
    let word = text(&mut row[3]);
    let change_type = ChangeType::parse(&word)
        .ok_or_else(|| StateError::Write { message: format!("the queue holds a change of unknown type `{word}`") })?;
    Ok(Event {
        seq: number(&row[0]),
        row_key: number(&row[1]),
        rowid: number(&row[2]),
        change_type,
        snapshot: number(&row[4]),
        attempts: u32::try_from(number(&row[5])).unwrap_or(0),
        last_error: optional_text(&mut row[6]),
    })
}
