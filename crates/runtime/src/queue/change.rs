//! Changes the queue of one target: all under the project's lock, as a run does.

use feed::table_at;
use state::{Queue as _, QueueAdmin, Revived, SqlStore};
use types::Target;

use super::target::{Pushing, find, pushing_model};
use super::{QueueError, QueueOptions};
use crate::RunError;

/// What a target is set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reset {
    /// Only later changes are sent.
    FromNow,
    /// The whole table is sent again.
    Resend,
}

/// Makes waiting events due now: of which target, and how many.
pub fn retry(options: &QueueOptions, name: &str, id: Option<i64>) -> Result<(String, u64), RunError> {
    change(options, name, |store, target| Ok(store.retry(target, id)?))
}

/// Puts dead letters back into the queue: of which target, and what became of them.
pub fn retry_dead(options: &QueueOptions, name: &str, id: Option<i64>) -> Result<(String, Revived), RunError> {
    change(options, name, |store, target| {
        if is_dropped(options, store, target)? {
            // In the queue they would only become dead letters again, without the rows that are kept with them.
            let of_gone_tables = store.overview()?.into_iter().find(|queue| queue.target == target);
            return Ok(Revived { events: 0, of_gone_tables: of_gone_tables.map_or(0, |queue| queue.dead) });
        }
        Ok(store.retry_dead(target, id)?)
    })
}

/// Whether the table that a target was fed from is not the one that is there.
fn is_dropped(options: &QueueOptions, store: &mut SqlStore, target: &str) -> Result<bool, RunError> {
    let Some(position) = store.position(target)? else { return Ok(false) };
    let session = options.lake()?;
    let (schema, name) = target.split_once('.').unwrap_or_default();
    let table = table_at(&session.connection, &session.lake, &session.metadata, &Target::new(schema, name))?;
    Ok(table.is_none_or(|table| table.uuid != position.table_uuid))
}

/// Removes dead letters for good: of which target, and how many.
pub fn drop_dead(options: &QueueOptions, name: &str, id: Option<i64>) -> Result<(String, u64), RunError> {
    change(options, name, |store, target| Ok(store.drop_dead(target, id)?))
}

/// Removes all of a target for good, its position included: of which, and how many events and dead letters.
pub fn drop_all(options: &QueueOptions, name: &str) -> Result<(String, u64), RunError> {
    change(options, name, |store, target| Ok(store.drop_all(target)?))
}

/// Sets the position of a target that a model pushes; the target, and how many events were dropped.
pub fn reset(options: &QueueOptions, name: &str, to: Reset) -> Result<(String, u64), RunError> {
    let model = pushing_model(options, name)?;
    let _lock = options.lock()?;
    let target = model.target.key();
    if to == Reset::Resend {
        let dropped = options.store()?.forget_position(&target)?;
        return Ok((target, dropped));
    }
    let session = options.lake()?;
    let pushing = Pushing::of(options, &session, vec![model])?;
    let Some(planned) = pushing.planned.first() else { return Err(QueueError::NoPush { target }.into()) };
    let table = table_at(&session.connection, &session.lake, &session.metadata, planned.target())?;
    let Some(table) = table else { return Err(QueueError::NoTable { target }.into()) };
    let mut store = options.store()?;
    let dropped = store.set_position(&target, table.newest_snapshot, &table.uuid, &planned.hash)?;
    Ok((target, dropped))
}

fn change<T>(
    options: &QueueOptions,
    name: &str,
    work: impl FnOnce(&mut SqlStore, &str) -> Result<T, RunError>,
) -> Result<(String, T), RunError> {
    let _lock = options.lock()?;
    let mut store = options.store()?;
    let target = find(&mut store, options, name)?.name;
    let changed = work(&mut store, &target)?;
    Ok((target, changed))
}
