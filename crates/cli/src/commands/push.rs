//! `ondatrasql push TARGET --dry-run`: the next batches as the sink would get them.

use std::process::ExitCode;

use runtime::PushPreview;
use serde_json::{Map, Value, json};

use super::queue::{counted, document, options, table, warn};
use crate::args::PushArgs;
use crate::error::CliError;
use crate::ui::Ui;

pub(crate) fn push(args: &PushArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    if !args.dry_run {
        return Err(CliError::usage(
            "push needs --dry-run: it shows what would be sent, and sends nothing",
            format!("`ondatrasql queue drain {}` delivers what is pending", args.target),
        ));
    }
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let preview = runtime::preview(&options(args.wait.state_wait, ui)?, &args.target, limit)?;
    let buried = preview.to_bury;
    let buried = (buried > 0)
        .then(|| format!("{} would become dead letters: their table was dropped", counted(buried, "event", "events")));
    let warnings: Vec<String> =
        buried.into_iter().chain(preview.batches.iter().filter_map(|batch| batch.warning.clone())).collect();
    ui.result(&if ui.json { document(record(ui, &preview), &warnings) } else { text(ui, &preview) })?;
    warn(ui, &warnings);
    Ok(ExitCode::SUCCESS)
}

fn record(ui: &Ui, preview: &PushPreview) -> Value {
    let batch = |batch: &runtime::SentBatch| json!({"batch_number": batch.number, "rows": batch.rows});
    json!({
        "target": preview.target,
        "function": preview.function,
        "arguments": arguments(ui, preview),
        "pending": preview.pending,
        "waiting": preview.waiting,
        "in_flight": preview.in_flight,
        "to_feed": preview.to_feed,
        "batches": preview.batches.iter().map(batch).collect::<Vec<_>>(),
    })
}

fn arguments(ui: &Ui, preview: &PushPreview) -> Map<String, Value> {
    let shown = |value: &Value| value.as_str().map_or_else(|| value.clone(), |text| ui.redact(text).into());
    preview.arguments.iter().map(|(name, value)| (name.clone(), shown(value))).collect()
}

fn text(ui: &Ui, preview: &PushPreview) -> String {
    let PushPreview { target, function, pending, waiting, in_flight, to_feed, batches, .. } = preview;
    let mut lines = vec![
        format!("{target} → {function}"),
        format!(
            "{pending} pending, {waiting} waiting, {in_flight} in flight; {} would be fed",
            counted(*to_feed, "change", "changes")
        ),
    ];
    let arguments = arguments(ui, preview);
    if !arguments.is_empty() {
        let texts = arguments.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>();
        lines.push(format!("Arguments: {}", texts.join(", ")));
    }
    if batches.is_empty() {
        lines.push("Nothing would be sent.".into());
    }
    for batch in batches {
        lines.push(format!("\nBatch {} ({})", batch.number, counted(batch.rows.len() as u64, "row", "rows")));
        lines.push(rows(&batch.rows));
    }
    lines.join("\n")
}

/// Rows as a table: the columns in the order in which rows name them, those about the change first.
fn rows(rows: &[Value]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in rows.iter().filter_map(Value::as_object).flat_map(Map::keys) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names.sort_by_key(|name| !name.starts_with("__ondatra_"));
    let cell = |value: &Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    let row = |row: &Value| names.iter().map(|&name| row.get(name).and_then(cell)).collect();
    table(&names, rows.iter().map(row).collect())
}
