//! Before snapshots go or files are rewritten: what changed is queued, and what deliveries still need is known (chapter
//! 04 §9).

use std::path::Path;

use feed::Events;
use model::Model;
use project::Models;
use state::{Counts, Feed, NeededSnapshot, Position, SharedStore, SqlStore, StateError};

use super::feeding::feed_target;
use crate::fetching::read_registry;
use crate::{RunError, Session};

/// What deliveries need of the lake.
#[derive(Default)]
pub(crate) struct Deliveries {
    /// Snapshots.
    pub needed: Vec<NeededSnapshot>,
    /// Targets with changes that wait, or are being delivered.
    pub queued: Vec<String>,
}

/// Feeds the targets of all models that push, and gives what deliveries need. Without such a model the
/// state is not opened.
pub(crate) fn before_maintenance(
    session: &Session,
    root: &Path,
    open_state: &dyn Fn() -> Result<SqlStore, StateError>,
) -> Result<Deliveries, RunError> {
    let models: Vec<Model> = Models::read(root)?.models.into_iter().filter(|model| model.push.is_some()).collect();
    if models.is_empty() {
        return Ok(Deliveries::default());
    }
    let registry = read_registry(session, root)?;
    let store = SharedStore::new(Box::new(open_state()?));
    let sql = format!("SELECT max(snapshot_id) FROM {}.ducklake_snapshot", session.metadata);
    // Asked for before the targets are fed: what comes later is not skipped.
    let newest = session.connection.query_value(&sql)?.as_i64().unwrap_or(0);
    for model in &models {
        let push = model.push.as_ref().and_then(|call| registry.get(&call.function)?.api.push.as_ref());
        let is_net = push.is_some_and(|api| api.is_net);
        if feed_target(session, &store, model, "", is_net)?.is_some() {
            catch_up(session, &store, &model.target.key(), newest)?;
        }
    }
    let mut store = store.lock();
    let is_queued = |counts: &Counts| counts.pending + counts.waiting + counts.in_flight > 0;
    let queued = store.counts()?.into_iter().filter(is_queued).map(|counts| counts.target).collect();
    Ok(Deliveries { needed: store.needed_snapshots()?, queued })
}

/// Moves the position of a target whose changes up to `newest` are queued to that snapshot: it would hold an old one.
fn catch_up(session: &Session, store: &SharedStore, target: &str, newest: i64) -> Result<(), RunError> {
    let mut store = store.lock();
    // One that was set to the beginning meanwhile stays there: everything is to be sent again.
    let lags = |position: &Position| position.snapshot < newest && !position.is_at_beginning();
    let Some(position) = store.position(target)?.filter(lags) else { return Ok(()) };
    let step = Feed {
        target,
        from: Some(&position),
        snapshot: newest,
        table_uuid: &position.table_uuid,
        definition_hash: &position.definition_hash,
    };
    // Of two workers one moves it, which is enough.
    store.feed(&step, &mut || Events::none().rows(&session.connection))?;
    Ok(())
}
