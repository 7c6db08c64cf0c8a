//! Carries the changes of a target's table into the queue (chapter 04 §4).

use feed::{EventSource, TableNow, table_at};
use model::Model;
use state::{Fed, Feed, Position, SharedStore};
use types::Kind;

use crate::planning::PlannedModel;
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
    planned: &PlannedModel,
    is_net: bool,
) -> Result<Option<FedTarget>, RunError> {
    let target = planned.target();
    let name = target.to_string();
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
        if known == Some(now.newest_snapshot) {
            return Ok(Some(FedTarget { table_uuid: now.uuid, warnings }));
        }
        let source = EventSource {
            target: target.clone(),
            keys: key_columns(&planned.model),
            hidden: planned.model.kind.own_columns(),
            from: known,
            until: now.newest_snapshot,
        };
        let connection = &session.connection;
        let events = if is_net || known.is_none() {
            source.net(connection, &session.lake, &session.metadata)?
        } else {
            source.raw(connection, &session.lake, &session.metadata)?
        };
        let step = Feed {
            target: &name,
            from: position.as_ref(),
            snapshot: now.newest_snapshot,
            table_uuid: &now.uuid,
            definition_hash: &planned.hash,
        };
        match store.lock().feed(&step, &mut || events.rows(connection))? {
            Fed::Moved(_) => return Ok(Some(FedTarget { table_uuid: now.uuid, warnings })),
            // Another worker did it: is there anything left?
            Fed::Elsewhere => {}
        }
    }
}

/// The snapshot up to which this very table is fed.
fn known(position: Option<&Position>, now: &TableNow) -> Option<i64> {
    let position = position.filter(|position| position.table_uuid == now.uuid && !position.is_at_beginning())?;
    Some(position.snapshot)
}

/// What a table that is gone left in the queue is not thrown away.
fn bury(store: &SharedStore, target: &str, position: &Position) -> Result<Option<String>, RunError> {
    let reason = "the table was dropped and made again before this was delivered";
    let buried = store.lock().bury(target, position.last_seq, reason)?;
    let told = format!("{} event(s) of a table that was dropped are dead letters now", buried.events);
    Ok((buried.events > 0).then_some(told))
}

/// The columns by which rows of a model's table are the same.
pub(crate) fn key_columns(model: &Model) -> Vec<String> {
    match model.kind {
        Kind::Merge => model.unique_key.iter().map(|key| key.value.clone()).collect(),
        Kind::Tracked => model.group_key.clone(),
        Kind::Table | Kind::Append | Kind::Scd2 => Vec::new(),
    }
}
