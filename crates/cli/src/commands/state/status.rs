//! `ondatrasql state status`.

use std::process::ExitCode;

use serde_json::{Value, json};
use state::Status;

use super::Setup;
use crate::args::StateWait;
use crate::error::CliError;
use crate::output::{TextTable, markdown};
use crate::ui::Ui;

pub(crate) fn status(args: &StateWait, ui: &Ui) -> Result<ExitCode, CliError> {
    let status = Setup::with(args.state_wait, ui, |setup| setup.open()?.status())?;
    ui.result(&if ui.json { document(&status).to_string() } else { text(&status) })?;
    Ok(ExitCode::SUCCESS)
}

fn document(status: &Status) -> Value {
    let tables: Vec<Value> =
        status.tables.iter().map(|table| json!({"table": table.table, "rows": table.rows})).collect();
    let targets: Vec<Value> = status
        .targets
        .iter()
        .map(|target| {
            json!({"target": target.target, "pending": target.pending, "waiting": target.waiting,
                   "in_flight": target.in_flight, "dead": target.dead, "oldest_s": target.oldest_s})
        })
        .collect();
    let workers: Vec<Value> = status
        .workers
        .iter()
        .map(|worker| {
            json!({"worker": worker.worker, "alive": worker.is_alive, "claims": worker.claims,
                   "leases": worker.leases, "fetches": worker.fetches})
        })
        .collect();
    json!({
        "schema_version": 1,
        "backend": status.backend.name(),
        "path": status.path,
        "encryption": status.cipher,
        "bytes": status.bytes,
        "state_schema_version": status.schema_version,
        "tables": tables,
        "targets": targets,
        "workers": workers,
        "warnings": [],
    })
}

fn text(status: &Status) -> String {
    let encryption = match (&status.path, &status.cipher) {
        (None, _) => "the server's own".to_owned(),
        (Some(_), None) => "none".to_owned(),
        (Some(_), Some(cipher)) => format!("AES-256 ({cipher})"),
    };
    let mut lines = vec![format!("Backend     {}", status.backend.name())];
    lines.extend(status.path.iter().map(|path| format!("File        {path}")));
    lines.extend(status.bytes.map(|bytes| format!("Size        {bytes} bytes")));
    lines.push(format!("Encryption  {encryption}"));
    lines.push(format!("Schema      version {}", status.schema_version));
    lines.push(String::new());
    let number = |number: u64| Some(number.to_string());
    let tables = status.tables.iter().map(|table| vec![Some(table.table.clone()), number(table.rows)]);
    lines.push(table(&["table", "rows"], tables.collect()));
    if !status.targets.is_empty() {
        let rows = status.targets.iter().map(|target| {
            let counts = [target.pending, target.waiting, target.in_flight, target.dead, target.oldest_s];
            std::iter::once(Some(target.target.clone())).chain(counts.map(number)).collect()
        });
        lines.push(table(&["target", "pending", "waiting", "in flight", "dead", "oldest (s)"], rows.collect()));
    }
    if status.workers.is_empty() {
        lines.push("No worker holds anything.".into());
    } else {
        let rows = status.workers.iter().map(|worker| {
            let alive = if worker.is_alive { "yes" } else { "no" };
            let counts = [worker.claims, worker.leases, worker.fetches].map(number);
            [Some(worker.worker.clone()), Some(alive.to_owned())].into_iter().chain(counts).collect()
        });
        lines.push(table(&["worker", "alive", "claims", "leases", "fetches"], rows.collect()));
    }
    lines.join("\n")
}

fn table(columns: &[&str], rows: Vec<Vec<Option<String>>>) -> String {
    markdown(&TextTable { columns: columns.iter().map(|&name| name.to_owned()).collect(), rows })
}
