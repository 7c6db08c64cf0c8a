//! `ondatrasql stats`: the project in numbers, and how its deliveries stand.

use std::process::ExitCode;
use std::time::Duration;

use runtime::{ModelStats, Moment, Stats};
use serde_json::{Value, json};
use state::{QueueAdmin, StateError, TargetOverview};
use types::Diagnose;

use super::queue::warn;
use super::state::open_at_once;
use crate::duration::format;
use crate::error::CliError;
use crate::invocation::Invocation;
use crate::output::{Cell, Column, Grid, Keys, Sheet, count};
use crate::ui::{Color, Ui};

const ORPHANED: &str = "[orphaned]";

pub(crate) fn stats(ui: &Ui) -> Result<ExitCode, CliError> {
    let invocation = Invocation::enter(ui)?;
    let session = invocation.look_at_lake(ui)?;
    let mut stats = runtime::stats(&session, &invocation.root);
    drop(session);
    // Before the first run there is nothing to deliver, and perhaps no state yet.
    let queue = if stats.models.is_empty() { Vec::new() } else { queue(&invocation, &mut stats.warnings) };
    stats.warnings.iter_mut().for_each(|warning| *warning = ui.message(warning));
    if ui.json {
        ui.result(&document(&stats, &queue).to_string())?;
        warn(ui, &stats.warnings);
    } else {
        sheet(&stats, &queue).print(ui)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// How the targets stand, if that can be told at once.
fn queue(invocation: &Invocation, warnings: &mut Vec<String>) -> Vec<TargetOverview> {
    let read = || -> Result<Vec<TargetOverview>, StateError> { open_at_once(invocation)?.overview() };
    read().unwrap_or_else(|error| {
        warnings.push(format!("the queue is not shown: {error} [{}]", error.code()));
        Vec::new()
    })
}

fn document(stats: &Stats, queue: &[TargetOverview]) -> Value {
    let mut keys = Keys::document();
    keys.put("model_count", stats.models.len());
    keys.put("snapshots", stats.snapshots);
    keys.put("total_runs", stats.total_runs);
    keys.put("total_rows", stats.total_rows);
    keys.put("avg_duration_ms", stats.avg_duration_ms);
    keys.put_some("last_run", stats.last_run.as_ref().map(Moment::rfc3339));
    let kinds = stats.kinds.iter().map(|(kind, count)| json!({"kind": kind, "count": count}));
    keys.put("kind_breakdown", kinds.collect::<Vec<_>>());
    keys.put("all_models", stats.models.iter().map(model).collect::<Vec<_>>());
    keys.put_some("catalog_type", stats.catalog_type.clone());
    keys.put_some("data_path", stats.data_path.clone());
    keys.put_some("ducklake_version", stats.ducklake_version.clone());
    keys.put_some("queue", queue.iter().map(target).collect::<Vec<_>>());
    keys.put("warnings", stats.warnings.clone());
    keys.into()
}

fn model(model: &ModelStats) -> Value {
    let mut keys = Keys::new();
    keys.put("name", model.name.as_str());
    keys.put("kind", model.kind.as_str());
    keys.put_some("run_type", model.run_type.clone());
    keys.put("rows", model.rows);
    keys.put("duration_ms", model.duration_ms);
    keys.put_some("last_run", model.last_run.as_ref().map(Moment::rfc3339));
    keys.put_some("orphaned", model.is_orphaned);
    keys.into()
}

fn target(target: &TargetOverview) -> Value {
    json!({
        "target": target.target,
        "pending": target.pending,
        "waiting": target.waiting,
        "in_flight": in_flight(target),
        "dead": target.dead,
        "oldest_s": target.oldest_s,
    })
}

fn in_flight(target: &TargetOverview) -> u64 {
    target.in_flight.iter().map(|worker| worker.events).sum()
}

fn sheet(stats: &Stats, queue: &[TargetOverview]) -> Sheet {
    let mut sheet = Sheet::new("Project Statistics");
    totals(&mut sheet, stats);
    sheet.section("Models by Kind");
    if stats.kinds.is_empty() {
        sheet.line("No model has run yet");
    } else {
        let mut grid = Grid::new(vec![Column::text("Kind"), Column::number("Models")]);
        stats.kinds.iter().for_each(|(kind, count)| grid.push(vec![kind.as_str().into(), count.to_string().into()]));
        sheet.grid(grid);
        sheet.section("All Models");
        sheet.grid(models(stats));
    }
    if !queue.is_empty() {
        sheet.section("Queue");
        sheet.grid(targets(queue));
    }
    if !stats.warnings.is_empty() {
        sheet.section("Warnings");
        stats.warnings.iter().for_each(|warning| sheet.paragraph(warning, Some(Color::Yellow)));
    }
    sheet
}

fn totals(sheet: &mut Sheet, stats: &Stats) {
    let mut line = |name: &str, value: &str| sheet.field(name, value);
    line("Models", &stats.models.len().to_string());
    line("Snapshots", &count(stats.snapshots));
    line("Runs", &count(stats.total_runs));
    line("Rows", &count(stats.total_rows));
    line("Avg duration", &format!("{:.0} ms", stats.avg_duration_ms));
    line("Last run", stats.last_run.as_ref().map_or("-", |time| &time.local));
    let lake =
        [("Catalog", &stats.catalog_type), ("Data path", &stats.data_path), ("DuckLake", &stats.ducklake_version)];
    lake.into_iter()
        .filter_map(|(name, value)| Some((name, value.as_ref()?)))
        .for_each(|(name, value)| line(name, value));
}

fn models(stats: &Stats) -> Grid {
    let mut grid = Grid::new(vec![
        Column::text("Name").between(12, 48),
        Column::text("Kind").spare(2),
        Column::number("Rows"),
        Column::number("ms").spare(1),
        Column::text("Last").spare(3),
    ]);
    for model in &stats.models {
        grid.push(vec![
            Cell::tagged(&model.name, if model.is_orphaned { ORPHANED } else { "" }),
            model.kind.as_str().into(),
            count(model.rows).into(),
            model.duration_ms.to_string().into(),
            model.last_run.as_ref().map_or("-", |time| short(&time.local, &stats.today)).into(),
        ]);
    }
    grid
}

/// `HH:MM` of a time today, else the date.
fn short<'a>(local: &'a str, today: &str) -> &'a str {
    match local.split_once(' ') {
        Some((date, clock)) if date == today => clock.get(..5).unwrap_or(clock),
        Some((date, _)) => date,
        None => local,
    }
}

fn targets(queue: &[TargetOverview]) -> Grid {
    let mut grid = Grid::new(vec![
        Column::text("Target").between(12, 48),
        Column::number("Pending"),
        Column::number("Waiting"),
        Column::number("In flight").spare(1),
        Column::number("Dead"),
        Column::number("Oldest").spare(2),
    ]);
    for target in queue {
        let counts = [target.pending, target.waiting, in_flight(target), target.dead];
        let counts = counts.map(|number| Cell::from(count(i64::try_from(number).unwrap_or(i64::MAX))));
        let oldest = target.oldest_s.map_or_else(|| "-".into(), |seconds| format(Duration::from_secs(seconds)));
        grid.push([Cell::from(target.target.as_str())].into_iter().chain(counts).chain([oldest.into()]).collect());
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn today_has_a_clock_and_another_day_its_date() {
        assert_eq!(short("2026-11-29 22:24:07", "2026-11-29"), "22:24");
        assert_eq!(short("2026-11-29 22:24:07", "2026-11-30"), "2026-11-29");
    }
}
