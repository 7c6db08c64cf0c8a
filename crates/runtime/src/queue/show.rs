//! How targets stand, and the events of one.

use project::Models;
use push::{Images as _, sent_row};
use serde_json::Value;
use state::{Event, Queue as _, QueueAdmin, QueuedEvent, QueuedState, TargetOverview, Which};
use types::{Kind, Target};

use super::QueueOptions;
use super::target::{PushingModels, find};
use crate::masking::{first_in_clear, masked_last, not_sent};
use crate::pushing::{LakeImages, masked};
use crate::{RunError, Session};

/// How all targets stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overview {
    /// The targets.
    pub targets: Vec<TargetOverview>,
    /// Those of them that hold something and that no model pushes.
    pub without_model: Vec<String>,
}

/// How all targets stand that have events, dead letters or a position.
pub fn overview(options: &QueueOptions) -> Result<Overview, RunError> {
    let targets = options.store()?.overview()?;
    let pushing = PushingModels::read(&options.root)?;
    let is_left = |queue: &&TargetOverview| {
        let holds = queue.pending + queue.waiting + queue.dead > 0 || !queue.in_flight.is_empty();
        holds && !pushing.keys.contains(&queue.target)
    };
    let without_model = targets.iter().filter(is_left).map(|queue| queue.target.clone()).collect();
    Ok(Overview { targets, without_model })
}

/// Events of a target.
#[derive(Debug)]
pub struct ShownQueue {
    /// The target.
    pub target: String,
    /// Its first events, in order.
    pub events: Vec<ShownEvent>,
    /// How many there are.
    pub total: u64,
}

/// An event with its row.
#[derive(Debug)]
pub struct ShownEvent {
    /// The event, and where it is.
    pub queued: QueuedEvent,
    /// The row as the function gets it; `None` if it is gone, or not known.
    pub row: Option<Value>,
    /// Why the row cannot be read.
    pub row_error: Option<RunError>,
}

/// The first events of a target. Rows of dead letters are those that were sent, others are read from the lake.
pub fn show(options: &QueueOptions, name: &str, which: Which, limit: usize) -> Result<ShownQueue, RunError> {
    let mut store = options.store()?;
    let known = find(&mut store, options, name)?;
    let total = known.queue.as_ref().map_or(0, |queue| match which {
        Which::Dead => queue.dead,
        Which::Queued => {
            queue.pending + queue.waiting + queue.in_flight.iter().map(|worker| worker.events).sum::<u64>()
        }
    });
    let events = store.events(&known.name, which, limit)?;
    let table_uuid = store.position(&known.name)?.map(|position| position.table_uuid).unwrap_or_default();
    drop(store);
    let mut shown: Vec<ShownEvent> =
        events.into_iter().map(|queued| ShownEvent { row: image(&queued), queued, row_error: None }).collect();
    match which {
        Which::Queued if !shown.is_empty() => read_rows(options, &known.name, &table_uuid, &mut shown)?,
        Which::Dead => hide_clear(options, &known.name, &mut shown)?,
        Which::Queued => {}
    }
    Ok(ShownQueue { target: known.name, events: shown, total })
}

/// The row that is kept with a dead letter.
fn image(queued: &QueuedEvent) -> Option<Value> {
    match &queued.state {
        QueuedState::Dead { row_image: Some(text), .. } => serde_json::from_str(text).ok(),
        _ => None,
    }
}

/// Hides rows that were kept before a model masked them: the run that masks the table deletes them.
fn hide_clear(options: &QueueOptions, name: &str, shown: &mut [ShownEvent]) -> Result<(), RunError> {
    let models = Models::read(&options.root)?.models;
    let masking = models.iter().find(|model| model.target.key() == name && !model.masks().is_empty());
    let Some(model) = masking.filter(|_| shown.iter().any(|one| one.row.is_some())) else { return Ok(()) };
    let Some(mask) = first_in_clear(&options.lake()?, model)? else { return Ok(()) };
    for one in shown.iter_mut().filter(|one| one.row.is_some()) {
        (one.row, one.row_error) = (None, Some(not_sent(model, &mask)));
    }
    Ok(())
}

/// Reads the rows of events from the lake: at once, or one by one where one of them cannot be read.
fn read_rows(options: &QueueOptions, name: &str, table_uuid: &str, shown: &mut [ShownEvent]) -> Result<(), RunError> {
    let session: Session = options.lake()?;
    let (schema, table) = name.split_once('.').unwrap_or_default();
    let target = Target::new(schema, table);
    // Of a model that is gone the table's columns are all that is known, and what its last commit masked.
    let models = Models::read(&options.root)?.models;
    let model = models.iter().find(|model| model.target.key() == target.key());
    let (kind, masked) = match model {
        Some(model) => (model.kind, masked(model)),
        None => (Kind::Table, masked_last(&session, &target)?),
    };
    let mut shown: Vec<&mut ShownEvent> = shown.iter_mut().collect();
    if let Some(model) = model
        && let Some(mask) = first_in_clear(&session, model)?
    {
        // No delivery would send these.
        let is_now = |one: &&mut ShownEvent| !one.queued.event.change_type.is_old();
        for one in shown.extract_if(.., |one| is_now(one)) {
            one.row_error = Some(not_sent(model, &mask));
        }
    }
    let mut images = LakeImages { session: &session, target: &target, kind, masked };
    let events: Vec<Event> = shown.iter().map(|one| one.queued.event.clone()).collect();
    if let Ok(rows) = images.rows(&events) {
        for (one, row) in shown.iter_mut().zip(rows) {
            one.row = row.map(|row| sent_row(&one.queued.event, row, name, table_uuid));
        }
        return Ok(());
    }
    for one in shown {
        match images.rows(std::slice::from_ref(&one.queued.event)) {
            Ok(mut rows) => {
                one.row = rows.pop().flatten().map(|row| sent_row(&one.queued.event, row, name, table_uuid));
            }
            Err(error) => one.row_error = Some(error.into()),
        }
    }
    Ok(())
}
