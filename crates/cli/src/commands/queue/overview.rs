//! `ondatrasql queue`: how every target stands.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use state::{InFlight, TargetOverview};

use super::{document, error_cell, options, table, warn};
use crate::args::StateWait;
use crate::duration::{format, moment};
use crate::error::CliError;
use crate::ui::Ui;

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
        ui.result(&text(ui, &overview.targets))?;
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

fn text(ui: &Ui, targets: &[TargetOverview]) -> String {
    if targets.is_empty() {
        return "Nothing was queued yet: a run feeds the changes of models with @push.".into();
    }
    let row = |target: &TargetOverview| {
        let seconds = |seconds: u64| if seconds == 0 { "0s".into() } else { format(Duration::from_secs(seconds)) };
        let in_flight: u64 = target.in_flight.iter().map(|worker| worker.events).sum();
        let last = target.last_delivery.as_ref().map(|last| {
            let at = moment(last.finished_ms);
            format!("{at}: {} delivered, {} rejected, {} to retry", last.delivered, last.rejected, last.to_retry)
        });
        vec![
            Some(target.target.clone()),
            Some(target.pending.to_string()),
            Some(target.waiting.to_string()),
            Some(target.next_retry.map_or_else(String::new, |next| format!("in {}", seconds(next.in_s)))),
            Some(in_flight.to_string()),
            Some(target.dead.to_string()),
            Some(target.oldest_s.map_or_else(String::new, seconds)),
            Some(last.unwrap_or_default()),
            Some(error_cell(ui, target.last_error.as_deref())),
        ]
    };
    let columns =
        ["target", "pending", "waiting", "next retry", "in flight", "dead", "oldest", "last delivery", "last error"];
    let mut lines = vec![table(&columns, targets.iter().map(row).collect())];
    let workers = targets.iter().flat_map(|target| target.in_flight.iter().map(move |worker| (target, worker)));
    let workers: Vec<Vec<Option<String>>> = workers
        .map(|(target, worker)| {
            let alive = if worker.is_alive { "yes" } else { "no" };
            let age = format(Duration::from_secs(worker.claim_age_s));
            let texts = [&target.target, &worker.worker, &worker.events.to_string(), &age, &alive.to_owned()];
            texts.map(|text| Some(text.clone())).to_vec()
        })
        .collect();
    if !workers.is_empty() {
        lines.push(table(&["target", "worker", "events", "claimed for", "alive"], workers));
    }
    lines.join("\n")
}
