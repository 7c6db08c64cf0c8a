//! `ondatrasql queue show`: the events of a target.

use std::process::ExitCode;

use runtime::{ShownEvent, ShownQueue};
use serde_json::{Value, json};
use state::{QueuedState, Which};

use super::{counted, document, error_text, options, warn};
use crate::args::QueueShowArgs;
use crate::duration::moment;
use crate::error::CliError;
use crate::output::{Column, Grid, Sheet};
use crate::ui::{Color, Ui};

/// What the fields about a change begin with; the table has columns for them.
const ABOUT: &str = "__ondatra_";

pub(crate) fn show(args: &QueueShowArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    let which = if args.dead { Which::Dead } else { Which::Queued };
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let shown = runtime::show(&options(args.wait.state_wait, ui)?, &args.target, which, limit)?;
    let unread = |event: &ShownEvent| {
        let error = event.row_error.as_ref()?;
        Some(format!("event {}: its row cannot be read: {}", event.queued.event.seq, ui.redact(&error.to_string())))
    };
    let warnings: Vec<String> = shown.events.iter().filter_map(unread).collect();
    if ui.json {
        let events: Vec<Value> = shown.events.iter().map(|event| record(ui, event)).collect();
        let keys = json!({"target": shown.target, "dead": args.dead, "total": shown.total, "events": events});
        ui.result(&document(keys, &warnings))?;
    } else {
        print(ui, &shown, args.dead)?;
    }
    warn(ui, &warnings);
    Ok(ExitCode::SUCCESS)
}

fn record(ui: &Ui, shown: &ShownEvent) -> Value {
    let event = &shown.queued.event;
    let mut record = json!({
        "id": event.seq,
        "change_type": event.change_type.as_str(),
        "rowid": event.rowid,
        "snapshot": event.snapshot,
        "state": word(&shown.queued.state),
        "attempts": event.attempts,
        "error": event.last_error.as_ref().map(|error| ui.redact(error)),
    });
    let own = match &shown.queued.state {
        QueuedState::Pending => json!({}),
        QueuedState::Waiting { due_in_s } => json!({"due_in_s": due_in_s}),
        QueuedState::InFlight { worker } => json!({"worker": worker}),
        QueuedState::Dead { first_ms, last_ms, .. } => {
            json!({"queued_at": moment(*first_ms), "dead_at": moment(*last_ms)})
        }
    };
    if let (Some(record), Value::Object(own)) = (record.as_object_mut(), own) {
        record.extend(own);
        record.insert("row".into(), shown.row.clone().unwrap_or_default());
    }
    record
}

fn word(state: &QueuedState) -> &'static str {
    match state {
        QueuedState::Pending => "pending",
        QueuedState::Waiting { .. } => "waiting",
        QueuedState::InFlight { .. } => "in_flight",
        QueuedState::Dead { .. } => "dead",
    }
}

fn print(ui: &Ui, shown: &ShownQueue, dead: bool) -> Result<(), CliError> {
    let (one, many) = if dead { ("dead letter", "dead letters") } else { ("event", "events") };
    if shown.events.is_empty() {
        return ui.result(&format!("{} has no {many}.", shown.target));
    }
    sheet(ui, shown, &format!("{}: {many}", shown.target)).print(ui)?;
    let more = shown.total.saturating_sub(shown.events.len() as u64);
    if more == 0 {
        return Ok(());
    }
    ui.result(&format!("and {}: --limit shows more", counted(more, &format!("more {one}"), &format!("more {many}"))))
}

/// Rows and errors stand below the events: they have as many lines as they need.
fn sheet(ui: &Ui, shown: &ShownQueue, title: &str) -> Sheet {
    let mut sheet = Sheet::new(title);
    sheet.grid(events(shown));
    sheet.section("Rows");
    for event in &shown.events {
        sheet.value(&format!("{}: {}", event.queued.event.seq, columns_of(event)));
    }
    let error = |event: &ShownEvent| Some((event.queued.event.seq, event.queued.event.last_error.clone()?));
    let failed: Vec<(i64, String)> = shown.events.iter().filter_map(error).collect();
    if !failed.is_empty() {
        sheet.section("Errors");
        for (id, error) in failed {
            sheet.paragraph(&format!("{id}: {}", error_text(ui, &error)), Some(Color::Yellow));
        }
    }
    sheet
}

fn events(shown: &ShownQueue) -> Grid {
    let mut grid = Grid::new(vec![
        Column::number("ID"),
        Column::text("Change"),
        Column::number("Rowid").spare(2),
        Column::number("Snapshot").spare(1),
        Column::text("State").between(8, 60),
        Column::number("Attempts").spare(3),
    ]);
    for shown in &shown.events {
        let event = &shown.queued.event;
        let state = match &shown.queued.state {
            QueuedState::Pending => "pending".to_owned(),
            QueuedState::Waiting { due_in_s } => format!("due in {due_in_s}s"),
            QueuedState::InFlight { worker } => format!("in flight: {worker}"),
            QueuedState::Dead { last_ms, .. } => format!("dead since {}", moment(*last_ms)),
        };
        grid.push(vec![
            event.seq.to_string().into(),
            event.change_type.as_str().into(),
            event.rowid.to_string().into(),
            event.snapshot.to_string().into(),
            state.into(),
            event.attempts.to_string().into(),
        ]);
    }
    grid
}

/// The columns of a row, without what the table tells beside them.
fn columns_of(shown: &ShownEvent) -> String {
    match &shown.row {
        Some(Value::Object(row)) => {
            let mut row = row.clone();
            row.retain(|name, _| !name.starts_with(ABOUT));
            Value::Object(row).to_string()
        }
        Some(other) => other.to_string(),
        None if shown.row_error.is_some() => "(cannot be read)".into(),
        None if matches!(shown.queued.state, QueuedState::Dead { .. }) => "(not kept)".into(),
        None => "(gone)".into(),
    }
}
