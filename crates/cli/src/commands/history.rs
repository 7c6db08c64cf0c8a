//! `ondatrasql history`: past runs.

use std::process::ExitCode;

use runtime::{History, RunRecord};
use serde_json::{Value, json};

use super::query::limit;
use super::queue::{document, warn};
use crate::args::HistoryArgs;
use crate::error::CliError;
use crate::invocation::Invocation;
use crate::output::{Cell, Column, Grid, Sheet, count};
use crate::ui::Ui;

/// Runs that are shown without `--limit`.
const LIMIT: u64 = 50;

pub(crate) fn history(args: &HistoryArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    let limit = args.limit.as_deref().map_or(Ok(LIMIT), |text| limit(Some(text)))?;
    let invocation = Invocation::enter(ui)?;
    let model = args.model.as_deref().map(|model| invocation.model(model)).transpose()?;
    let history = runtime::history(&invocation.look_at_lake(ui)?, model.as_deref(), limit)?;
    let warnings: Vec<String> = history.warnings.iter().map(|warning| ui.message(warning)).collect();
    if ui.json {
        let runs: Vec<Value> = history.runs.iter().map(record).collect();
        let keys = json!({"model": model.as_deref().unwrap_or_default(), "limit": limit, "runs": runs});
        ui.result(&document(keys, &warnings))?;
    } else {
        sheet(model.as_deref(), &history).print(ui)?;
        if u64::try_from(history.runs.len()).is_ok_and(|shown| shown == limit) {
            ui.result(&format!("Showing {limit} rows (use --limit N to show more)"))?;
        }
    }
    warn(ui, &warnings);
    Ok(ExitCode::SUCCESS)
}

fn record(run: &RunRecord) -> Value {
    json!({
        "id": run.snapshot,
        "time": run.time.rfc3339(),
        "model": run.model,
        "kind": run.kind.as_deref().unwrap_or_default(),
        "run_type": run.run_type.as_deref().unwrap_or_default(),
        "rows": run.rows.unwrap_or(0),
        "duration_ms": run.duration_ms.unwrap_or(0),
        "run_id": run.run_id.as_deref().unwrap_or_default(),
    })
}

fn sheet(model: Option<&str>, history: &History) -> Sheet {
    let title = model.map_or_else(|| "Run History".to_owned(), |model| format!("History: {model}"));
    let mut sheet = Sheet::new(&title);
    if history.runs.is_empty() {
        sheet.line("No runs found");
        return sheet;
    }
    let mut grid = Grid::new(vec![
        Column::number("ID"),
        Column::text("Time").spare(1),
        Column::text("Model").between(12, 48),
        Column::text("Kind").spare(3),
        Column::text("Type").spare(2),
        Column::number("Rows"),
        Column::number("ms"),
        Column::text("Run ID").spare(4),
    ]);
    for run in &history.runs {
        grid.push(row(run));
    }
    sheet.grid(grid);
    sheet
}

fn row(run: &RunRecord) -> Vec<Cell> {
    let text = |text: &Option<String>| Cell::from(text.as_deref().unwrap_or("-"));
    let or_dash = |number: Option<String>| Cell::from(number.unwrap_or_else(|| "-".into()));
    vec![
        run.snapshot.to_string().into(),
        run.time.local.as_str().into(),
        run.model.as_str().into(),
        text(&run.kind),
        text(&run.run_type),
        or_dash(run.rows.map(count)),
        or_dash(run.duration_ms.map(|ms| ms.to_string())),
        text(&run.run_id),
    ]
}
