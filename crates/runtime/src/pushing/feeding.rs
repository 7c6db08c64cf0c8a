//! Carries the changes of a target's table into the queue (chapter 04 §4).

use feed::{EventSource, Events, FeedError, TableNow, table_at};
use model::Model;
use state::{Fed, Feed, Position, SharedStore};
use types::Kind;

use crate::{RunError, Session};

/// What feeding a target came to.
pub(crate) struct FedTarget {
    /// Its table.
    pub table_uuid: String,
    /// Texts for the user.
    pub warnings: Vec<String>,
}

/// Adds what changed since the position; `None` if there is no table yet. Once more adds nothing.
///
/// The first time, every row of the table is an `insert`: what happened to it before is nobody's business.
pub(crate) fn feed_target(
    session: &Session,
    store: &SharedStore,
    model: &Model,
    definition_hash: &str,
    is_net: bool,
) -> Result<Option<FedTarget>, RunError> {
    let target = &model.target;
    let name = target.key();
    let mut warnings = Vec::new();
    loop {
        let Some(now) = table_at(&session.connection, &session.lake, &session.metadata, target)? else {
            return Ok(None);
        };
        let position = store.lock().position(&name)?;
        if let Some(other) = position.as_ref().filter(|position| position.table_uuid != now.uuid) {
            warnings.extend(bury(store, &name, other)?);
        }
        let known = known(position.as_ref(), &now);
        if let Some(snapshot) = known.filter(|&known| known > now.lake_snapshot) {
            // The lake is older than what was read from it: it was restored.
            return Err(FeedError::Lost { target: target.clone(), snapshot }.into());
        }
        if known >= Some(now.newest_snapshot) {
            return Ok(Some(FedTarget { table_uuid: now.uuid, warnings }));
        }
        let events = changes(session, model, is_net && is_drained(store, &name)?, (known, now.newest_snapshot))?;
        let step = Feed {
            target: &name,
            from: position.as_ref(),
            snapshot: now.newest_snapshot,
            table_uuid: &now.uuid,
            definition_hash,
        };
        match store.lock().feed(&step, &mut || events.rows(&session.connection))? {
            Fed::Moved(_) => return Ok(Some(FedTarget { table_uuid: now.uuid, warnings })),
            // Another worker did it: is there anything left?
            Fed::Elsewhere => {}
        }
    }
}

/// Whether nothing of a target waits. What waits names rows by their ids: a row that was written anew with the same
/// values is no change of the table, but its id is gone, and with it what waits.
fn is_drained(store: &SharedStore, target: &str) -> Result<bool, RunError> {
    let counts = store.lock().counts()?.into_iter().find(|counts| counts.target == target);
    Ok(counts.is_none_or(|counts| counts.pending + counts.waiting + counts.in_flight == 0))
}

/// The changes of a model's table after the snapshot that is known, up to another one.
pub(crate) fn changes(
    session: &Session,
    model: &Model,
    is_net: bool,
    (known, until): (Option<i64>, i64),
) -> Result<Events, RunError> {
    let keys = key_columns(model);
    let (target, hidden) = (model.target.clone(), model.kind.own_columns());
    let source = EventSource { target, keys, are_groups: has_groups(model), hidden, from: known, until };
    let Session { connection, lake, metadata, .. } = session;
    let is_net = is_net || known.is_none();
    Ok(if is_net { source.net(connection, lake, metadata)? } else { source.raw(connection, lake, metadata)? })
}

/// The snapshot up to which this very table is fed.
pub(crate) fn known(position: Option<&Position>, now: &TableNow) -> Option<i64> {
    let position = position.filter(|position| position.table_uuid == now.uuid && !position.is_at_beginning())?;
    Some(position.snapshot)
}

/// What a table that is gone left in the queue is not thrown away.
fn bury(store: &SharedStore, target: &str, position: &Position) -> Result<Option<String>, RunError> {
    let buried = store.lock().bury(target, position.last_seq)?;
    let told = format!("{} event(s) of a table that was dropped are dead letters now", buried.events);
    Ok((buried.events > 0).then_some(told))
}

/// Whether a key of a model's table stands for several rows.
fn has_groups(model: &Model) -> bool {
    model.kind == Kind::Tracked
}

/// The columns by which rows of a model's table are the same.
pub(crate) fn key_columns(model: &Model) -> Vec<String> {
    match model.kind {
        Kind::Merge => model.unique_key.iter().map(|key| key.value.clone()).collect(),
        Kind::Tracked => model.group_key.clone(),
        Kind::Table | Kind::Append | Kind::Scd2 => Vec::new(),
    }
}
