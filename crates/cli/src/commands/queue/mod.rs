//! `ondatrasql queue …`: a file per kind of command.

mod change;
mod drain;
mod overview;
mod show;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use runtime::{Cancellation, QueueOptions};
use serde_json::{Map, Value, json};

use super::run::one_line;
use super::state::state_opener;
use crate::args::{QueueArgs, QueueCommand};
use crate::error::CliError;
use crate::invocation::Invocation;
use crate::output::{TextTable, markdown};
use crate::ui::Ui;

pub(crate) fn queue(args: QueueArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    match args.command {
        None => overview::overview(&args.wait, ui),
        Some(QueueCommand::Show(args)) => show::show(&args, ui),
        Some(QueueCommand::Retry(args)) => change::retry(&args, ui),
        Some(QueueCommand::Drop(args)) => change::remove(&args, ui),
        Some(QueueCommand::Drain(args)) => drain::drain(&args, ui),
        Some(QueueCommand::Reset(args)) => change::reset(&args, ui),
    }
}

/// What a command of the queue works with, in the project around the current folder. A signal ends the process at once:
/// what is changed is changed in one transaction.
pub(super) fn options(wait: Duration, ui: &Ui) -> Result<QueueOptions, CliError> {
    options_in(Invocation::enter(ui)?, wait, ui)
}

/// The same, in this project.
fn options_in(invocation: Invocation, wait: Duration, ui: &Ui) -> Result<QueueOptions, CliError> {
    let session = invocation.session_options();
    Ok(QueueOptions {
        state_wait: wait,
        open_state: state_opener(&invocation.root, &invocation.environment, &session, wait)?,
        redactor: ui.redactor(),
        output: Arc::new({
            let log = ui.log();
            move |line| log.printed(line)
        }),
        root: invocation.root,
        cwd: invocation.cwd,
        environment: invocation.environment,
        session,
        cancellation: Cancellation::default(),
    })
}

/// The one document of a command: version, its own keys, warnings.
pub(super) fn document(keys: Value, warnings: &[String]) -> String {
    let mut document = Map::from_iter([("schema_version".to_owned(), json!(1))]);
    if let Value::Object(keys) = keys {
        document.extend(keys);
    }
    document.insert("warnings".into(), json!(warnings));
    Value::Object(document).to_string()
}

/// Prints warnings for people; with `--json` they are in the document as well.
pub(super) fn warn(ui: &Ui, warnings: &[String]) {
    for warning in warnings {
        ui.warn(warning);
    }
}

/// A table for people.
pub(super) fn table(columns: &[&str], rows: Vec<Vec<Option<String>>>) -> String {
    markdown(&TextTable { columns: columns.iter().map(|&name| name.to_owned()).collect(), rows })
}

/// A count with its word.
pub(super) fn counted(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

/// Longest error that is shown, in characters: `--json` has it whole.
const ERROR_CHARS: usize = 240;

/// An error for people.
fn error_text(ui: &Ui, error: &str) -> String {
    let text = one_line(&ui.redact(error));
    match text.char_indices().nth(ERROR_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
