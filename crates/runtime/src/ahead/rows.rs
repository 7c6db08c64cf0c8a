//! The query of a model, run in a transaction that only reads the lake.

use std::time::{Duration, Instant};

use materialize::{MaterializeError, ResultRows, build_shared};
use types::quote;

use super::{Job, SCHEMA, Surroundings};
use crate::Session;
use crate::execute::set_variables;
use crate::known::Known;
use crate::reading::{Reader, Source};
use crate::session::current_snapshot;

/// What a model's query came to, before the model's own transaction.
pub(crate) struct AheadRows {
    /// The table that holds the rows, in the place of the query; or the query, if it failed.
    pub source: Source,
    /// The snapshot that was read.
    pub snapshot: i64,
    /// Why it failed, by its own fault.
    pub error: Option<MaterializeError>,
    /// How long it took.
    pub duration: Duration,
}

/// The table in which the rows of a model are, by its place in the run's order.
pub(super) fn table(at: usize) -> String {
    format!("{SCHEMA}.{}", quote(&format!("rows_{at}")))
}

/// Runs the query of a model. `None` if that has to be done in its own transaction: when memory was short, or something
/// was in the way.
pub(super) fn run(session: &Session, job: &Job<'_>, around: &Surroundings<'_>) -> Option<AheadRows> {
    let connection = &session.connection;
    let clock = Instant::now();
    connection.execute("BEGIN").ok()?;
    let handle = connection.interrupt_handle();
    let built = around.cancellation.interruptible(handle, || build(session, job, around));
    let is_whole = built.as_ref().is_some_and(|rows| rows.error.is_none());
    let ended = connection.execute(if is_whole { "COMMIT" } else { "ROLLBACK" });
    let rows = built.filter(|_| ended.is_ok())?;
    Some(AheadRows { duration: clock.elapsed(), ..rows })
}

fn build(session: &Session, job: &Job<'_>, around: &Surroundings<'_>) -> Option<AheadRows> {
    let (connection, planned, task) = (&session.connection, job.planned, &job.task);
    let snapshot = current_snapshot(connection, &session.lake).ok()?;
    let known = Known { session, names: around.names, functions: &job.functions, facts: &job.facts };
    let source = Reader { known: &known, planned, until: snapshot }.source(task.read).ok()?;
    set_variables(&known, planned, task, source.partial, None).ok()?;
    let masks = session.masks(&planned.model);
    let duration = Duration::ZERO;
    match build_shared(connection, &table(job.at), &source.sql, source.rows, &masks) {
        Ok(()) => {
            source.temp.iter().try_for_each(|names| names.drop(connection)).ok()?;
            let source = Source { sql: table(job.at), rows: ResultRows::Ready, temp: Vec::new(), ..source };
            Some(AheadRows { source, snapshot, error: None, duration })
        }
        Err(error) => {
            let source = Source { temp: Vec::new(), ..source };
            is_its_own(&error).then_some(AheadRows { source, snapshot, error: Some(error), duration })
        }
    }
}

/// Whether the query would fail again, whatever runs beside it.
fn is_its_own(error: &MaterializeError) -> bool {
    match error {
        MaterializeError::Query(error) => error.is_statement_fault(),
        MaterializeError::Write(_) => false,
        _ => true,
    }
}
