//! `ondatrasql queue`: how every target stands.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use state::{InFlight, TargetOverview};

use super::{document, error_text, options, warn};
use crate::args::StateWait;
use crate::duration::{format, moment};
use crate::error::CliError;
use crate::output::{Column, Grid, Sheet};
use crate::ui::{Color, Ui};

pub(crate) fn overview(wait: &StateWait, ui: &Ui) -> Result<ExitCode, CliError> {
    let overview = runtime::overview(&options(wait.state_wait, ui)?)?;
    let advice = |target: &String| {
        format!(
            "{target} has no model that pushes it any more; `ondatrasql queue drop {target} --all` removes its queue"
        )
    };
    let warnings: Vec<String> = overview.without_model.iter().map(advice).collect();
    if ui.json {
        let targets: Vec<Value> = overview.targets.iter().map(|target| record(ui, target)).collect();
        ui.result(&document(json!({"targets": targets}), &warnings))?;
    } else {
        match &overview.targets[..] {
            [] => ui.result("Nothing was queued yet: a run feeds the changes of models with @push.")?,
            targets => sheet(ui, targets).print(ui)?,
        }
    }
    warn(ui, &warnings);
    Ok(ExitCode::SUCCESS)
}

fn record(ui: &Ui, target: &TargetOverview) -> Value {
    let redacted = |text: &Option<String>| text.as_ref().map(|text| ui.redact(text));
    let in_flight = |worker: &InFlight| {
        json!({"worker": worker.worker, "events": worker.events, "claim_age_s": worker.claim_age_s,
               "alive": worker.is_alive})
    };
    let last_delivery = target.last_delivery.as_ref().map(|last| {
        json!({"run_id": last.run_id, "delivered": last.delivered, "rejected": last.rejected, "retry": last.to_retry,
               "first_error": redacted(&last.first_error), "finished_at": moment(last.finished_ms)})
    });
    json!({
        "target": target.target,
        "pending": target.pending,
        "waiting": target.waiting,
        "next_retry": target.next_retry.map(|next| moment(next.at_ms)),
        "next_retry_in_s": target.next_retry.map(|next| next.in_s),
        "in_flight": target.in_flight.iter().map(in_flight).collect::<Vec<_>>(),
        "dead": target.dead,
        "oldest_s": target.oldest_s,
        "last_delivery": last_delivery,
        "last_error": redacted(&target.last_error),
    })
}

fn sheet(ui: &Ui, targets: &[TargetOverview]) -> Sheet {
    let mut sheet = Sheet::new("Queue");
    sheet.grid(counts(targets));
    let delivered = deliveries(targets);
    if !delivered.is_empty() {
        sheet.section("Last Delivery");
        sheet.grid(delivered);
    }
    let failed: Vec<(&str, &str)> =
        targets.iter().filter_map(|target| Some((target.target.as_str(), target.last_error.as_deref()?))).collect();
    if !failed.is_empty() {
        sheet.section("Last Error");
        for (target, error) in failed {
            sheet.paragraph(&format!("{target}: {}", error_text(ui, error)), Some(Color::Yellow));
        }
    }
    let workers = workers(targets);
    if !workers.is_empty() {
        sheet.section("In Flight");
        sheet.grid(workers);
    }
    sheet
}

fn target_column() -> Column {
    Column::text("Target").between(8, 48)
}

fn counts(targets: &[TargetOverview]) -> Grid {
    let mut grid = Grid::new(vec![
        target_column(),
        Column::number("Pending"),
        Column::number("Waiting"),
        Column::text("Next retry").spare(2),
        Column::number("In flight").spare(3),
        Column::number("Dead"),
        Column::text("Oldest").spare(1),
    ]);
    for target in targets {
        let in_flight: u64 = target.in_flight.iter().map(|worker| worker.events).sum();
        grid.push(vec![
            target.target.as_str().into(),
            target.pending.to_string().into(),
            target.waiting.to_string().into(),
            target.next_retry.map_or_else(String::new, |next| format!("in {}", seconds(next.in_s))).into(),
            in_flight.to_string().into(),
            target.dead.to_string().into(),
            target.oldest_s.map_or_else(String::new, seconds).into(),
        ]);
    }
    grid
}

fn deliveries(targets: &[TargetOverview]) -> Grid {
    let mut grid = Grid::new(vec![
        target_column(),
        Column::text("At").spare(1),
        Column::number("Delivered"),
        Column::number("Rejected"),
        Column::number("To retry"),
    ]);
    for target in targets {
        let Some(last) = &target.last_delivery else { continue };
        grid.push(vec![
            target.target.as_str().into(),
            moment(last.finished_ms).into(),
            last.delivered.to_string().into(),
            last.rejected.to_string().into(),
            last.to_retry.to_string().into(),
        ]);
    }
    grid
}

fn workers(targets: &[TargetOverview]) -> Grid {
    let mut grid = Grid::new(vec![
        target_column(),
        Column::text("Worker").between(8, 48),
        Column::number("Events"),
        Column::text("Claimed for").spare(1),
        Column::text("Alive"),
    ]);
    for target in targets {
        for worker in &target.in_flight {
            grid.push(vec![
                target.target.as_str().into(),
                worker.worker.as_str().into(),
                worker.events.to_string().into(),
                seconds(worker.claim_age_s).into(),
                if worker.is_alive { "yes" } else { "no" }.into(),
            ]);
        }
    }
    grid
}

fn seconds(seconds: u64) -> String {
    if seconds == 0 { "0s".into() } else { format(Duration::from_secs(seconds)) }
}
