//! `ondatrasql queue show`: the events of a target.

use std::process::ExitCode;

use runtime::{ShownEvent, ShownQueue};
use serde_json::{Value, json};
use state::{QueuedState, Which};

use super::{counted, document, error_cell, options, table, warn};
use crate::args::QueueShowArgs;
use crate::duration::moment;
use crate::error::CliError;
use crate::ui::Ui;

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
        ui.result(&text(ui, &shown, args.dead))?;
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

fn text(ui: &Ui, shown: &ShownQueue, dead: bool) -> String {
    let (one, many) = if dead { ("dead letter", "dead letters") } else { ("event", "events") };
    if shown.events.is_empty() {
        return format!("{} has no {many}.", shown.target);
    }
    let row = |shown: &ShownEvent| {
        let event = &shown.queued.event;
        let state = match &shown.queued.state {
            QueuedState::Pending => "pending".to_owned(),
            QueuedState::Waiting { due_in_s } => format!("due in {due_in_s}s"),
            QueuedState::InFlight { worker } => format!("in flight: {worker}"),
            QueuedState::Dead { last_ms, .. } => format!("dead since {}", moment(*last_ms)),
        };
        let error = error_cell(ui, event.last_error.as_deref());
        let texts = [
            event.seq.to_string(),
            event.change_type.as_str().to_owned(),
            event.rowid.to_string(),
            event.snapshot.to_string(),
            state,
            event.attempts.to_string(),
            error,
        ];
        texts.map(Some).into_iter().chain([Some(columns_of(shown))]).collect()
    };
    let columns = ["id", "change", "rowid", "snapshot", "state", "attempts", "error", "row"];
    let mut text = table(&columns, shown.events.iter().map(row).collect());
    let more = shown.total.saturating_sub(shown.events.len() as u64);
    if more > 0 {
        text.push_str(&format!(
            "\nand {}: --limit shows more\n",
            counted(more, &format!("more {one}"), &format!("more {many}"))
        ));
    }
    text
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
