//! `ondatrasql state copy`.

use std::process::ExitCode;

use project::read_state_file;
use serde_json::{Value, json};

use super::{Setup, config, worker};
use crate::args::StateCopyArgs;
use crate::error::CliError;
use crate::ui::Ui;

pub(crate) fn copy(args: &StateCopyArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    let copied = Setup::with(args.wait.state_wait, ui, |setup| {
        let invocation = &setup.invocation;
        let from_here = invocation.cwd.join(&args.to);
        let path = if from_here.exists() { from_here } else { invocation.root.join(&args.to) };
        if let Ok(sql) = std::fs::read_to_string(&path) {
            ui.redactor().add_sql(&sql, &invocation.environment);
        }
        let file = read_state_file(&invocation.root, &path, &invocation.environment)?;
        let target = config(invocation, file, setup.config.lock_wait, setup.config.lease);
        state::copy(&mut setup.open()?, target, worker()?)
    })?;
    let rows: u64 = copied.tables.iter().map(|table| table.rows).sum();
    if ui.json {
        let tables: Vec<Value> =
            copied.tables.iter().map(|table| json!({"table": table.table, "rows": table.rows})).collect();
        let document = json!({"schema_version": 1, "from": copied.from.name(), "to": copied.to.name(), "rows": rows,
                              "tables": tables, "warnings": []});
        ui.result(&document.to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    for table in copied.tables.iter().filter(|table| table.rows > 0) {
        ui.line(&format!("{}: {} rows, compared", table.table, table.rows));
    }
    ui.line(&format!("Copied {rows} rows: {} → {}", copied.from.name(), copied.to.name()));
    ui.line(&format!("To use it, put the ATTACH of {} into config/state.sql", args.to.display()));
    Ok(ExitCode::SUCCESS)
}
