//! `ondatrasql <name>`: runs `sql/<name>.sql`, with a box for people and one document for programs
//! (chapter 05 §3.14).

use std::process::ExitCode;
use std::time::Duration;

use engine::{Rows, Value};
use project::Script;
use runtime::{Cancellation, RunError, ScriptObserver, ScriptOptions, StatementResult, run_script};
use types::{Code, Diagnose, Place};

use super::state::state_opener;
use crate::error::CliError;
use crate::invocation::Invocation;
use crate::output::{Panel, json_rows};
use crate::signals::cancel_on_signal;
use crate::ui::{Color, Ui};

/// How long to wait for another process to close the state: as long as for the project.
const STATE_WAIT: Duration = Duration::from_secs(10);
/// Lines of a result that the box shows.
const LINES_MAX: usize = 5;

pub(crate) fn sql_file(name: &str, ui: &Ui) -> Result<ExitCode, CliError> {
    let invocation = Invocation::enter(ui)?;
    let cancellation = Cancellation::default();
    cancel_on_signal(&cancellation)?;
    let failed = |error: RunError| CliError::Failed(Box::new(ScriptError { name: name.to_owned(), error }));
    let script = Script::read(&invocation.root, name).map_err(|error| failed(error.into()))?;
    let session = invocation.session_options();
    let options = ScriptOptions {
        open_state: state_opener(&invocation.root, &invocation.environment, &session, STATE_WAIT)?,
        root: invocation.root,
        environment: invocation.environment,
        script,
        session,
        cancellation,
    };
    let mut report = Report { ui, name, panel: None, statements: Vec::new(), warnings: Vec::new(), started: false };
    let result = run_script(&options, &mut report);
    report.finish(result.as_ref().err())?;
    result.map_err(failed)?;
    Ok(ExitCode::SUCCESS)
}

/// An error of a script, with the name it was called by.
#[derive(Debug, thiserror::Error)]
#[error("{name} failed: {error}")]
struct ScriptError {
    name: String,
    error: RunError,
}

impl Diagnose for ScriptError {
    fn code(&self) -> Code {
        self.error.code()
    }

    fn help(&self) -> String {
        match &self.error {
            RunError::Busy { .. } => "run it again when the other run has ended".into(),
            RunError::Interrupted => "run it again: statements that had ended stay done".into(),
            error => error.help(),
        }
    }

    fn place(&self) -> Option<&Place> {
        self.error.place()
    }
}

struct Report<'a> {
    ui: &'a Ui,
    name: &'a str,
    /// The open box; none under `--json`.
    panel: Option<Panel<'a>>,
    /// Documents of statements.
    statements: Vec<String>,
    warnings: Vec<String>,
    started: bool,
}

impl ScriptObserver for Report<'_> {
    fn started(&mut self) {
        self.started = true;
        if self.ui.json {
            return;
        }
        let panel = Panel::open(self.ui, &capitalized(self.name));
        panel.line(0, "Operations");
        self.panel = Some(panel);
    }

    fn statement_started(&mut self, sql: &str) {
        if let Some(panel) = &self.panel {
            panel.line(2, &self.ui.redact(sql));
        }
    }

    fn statement_finished(&mut self, sql: &str, result: StatementResult<'_>) {
        let sql = self.ui.redact(sql);
        match result {
            StatementResult::Done { rows, notes } => {
                let notes: Vec<String> = notes.iter().map(|note| self.ui.redact(note)).collect();
                match &self.panel {
                    Some(panel) => self.show(panel, rows, &notes),
                    None => self.statements.push(statement(&sql, rows, None)),
                }
                self.warnings.extend(notes);
            }
            StatementResult::Failed(error) => {
                let error = self.ui.redact(&error.to_string());
                match &self.panel {
                    Some(panel) => panel.paragraph(4, &format!("ERROR: {error}"), Some(Color::Red)),
                    None => self.statements.push(statement(&sql, None, Some(&error))),
                }
            }
        }
    }
}

impl Report<'_> {
    fn show(&self, panel: &Panel<'_>, rows: Option<Rows>, notes: &[String]) {
        let (mut more, nothing) = (0_usize, rows.is_none());
        let columns = rows.as_ref().map_or_else(Vec::new, |rows| rows.columns().to_vec());
        for (at, row) in rows.into_iter().flat_map(Rows::into_values).enumerate() {
            if at < LINES_MAX {
                panel.line(4, &self.ui.redact(&result_line(&columns, row)));
            } else {
                more += 1;
            }
        }
        if more > 0 {
            panel.line(4, &format!("... and {more} more lines"));
        }
        if nothing && notes.is_empty() {
            panel.line(4, "no snapshot to expire");
        }
        for note in notes {
            panel.paragraph(4, note, Some(Color::Yellow));
        }
        panel.paragraph(4, "OK", Some(Color::Green));
    }

    fn finish(&mut self, error: Option<&RunError>) -> Result<(), CliError> {
        if let Some(panel) = self.panel.take() {
            panel.close();
        }
        if !self.ui.json || !self.started {
            return Ok(());
        }
        for warning in &self.warnings {
            self.ui.warn(warning);
        }
        let document = format!(
            "{{\"schema_version\":1,\"command\":{},\"statements\":[{}],\"warnings\":{}}}",
            serde_json::Value::from(self.name),
            self.statements.join(","),
            serde_json::Value::from(self.warnings.clone())
        );
        match self.ui.result(&document) {
            // A reader that is gone does not make a failed script a success.
            Err(CliError::ClosedPipe) if error.is_some() => Ok(()),
            other => other,
        }
    }
}

/// A statement as JSON.
fn statement(sql: &str, rows: Option<Rows>, error: Option<&str>) -> String {
    let status = if error.is_some() { "error" } else { "ok" };
    let rows = rows.map_or_else(|| "[]".to_owned(), json_rows);
    let error = error.map_or_else(String::new, |error| format!(",\"error\":{}", serde_json::Value::from(error)));
    format!("{{\"sql\":{},\"status\":\"{status}\",\"rows\":{rows}{error}}}", serde_json::Value::from(sql))
}

/// A row as `name: value, …`, without what is NULL.
fn result_line(columns: &[String], row: Vec<Value>) -> String {
    let fields = columns.iter().zip(row).filter(|(_, value)| *value != Value::Null);
    fields.map(|(name, value)| format!("{name}: {}", text(value))).collect::<Vec<_>>().join(", ")
}

fn text(value: Value) -> String {
    match value {
        Value::Text(text) => text,
        other => {
            let mut text = String::new();
            other.write_json(&mut text);
            text
        }
    }
}

fn capitalized(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + chars.as_str())
}
