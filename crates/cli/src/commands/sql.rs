//! `ondatrasql sql`: one read-only statement.

use std::process::ExitCode;

use runtime::{Answer, Session, answer};

use crate::args::{Format, SqlArgs};
use crate::error::CliError;
use crate::invocation::Invocation;
use crate::output::{TextTable, csv, json_rows, markdown};
use crate::ui::Ui;

pub(crate) fn sql(args: &SqlArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    let usage = "usage: ondatrasql sql \"<statement>\" [--format|-f csv|json|markdown|md]";
    let statement = args.statement.as_deref().filter(|sql| !sql.trim().is_empty());
    let statement = statement.ok_or_else(|| CliError::usage(usage, "give one SELECT in quotes"))?;
    let envelope = format!("\"query\":{}", serde_json::Value::from(statement));
    print_rows(&Invocation::enter(ui)?.open_lake()?, statement, args.format, &envelope, ui)
}

/// Runs `statement` in the lake and prints its rows; under `--json` in a document that also holds `envelope`.
pub(super) fn print_rows(
    session: &Session,
    statement: &str,
    format: Format,
    envelope: &str,
    ui: &Ui,
) -> Result<ExitCode, CliError> {
    let format = if ui.json { Format::Json } else { format };
    let form = if format == Format::Json { Answer::Typed } else { Answer::Text };
    let rows = answer(session, statement, form)?;
    let text = match format {
        Format::Csv => csv(&TextTable::read(rows)),
        Format::Markdown => markdown(&TextTable::read(rows)),
        Format::Json if ui.json => {
            format!("{{\"schema_version\":1,{envelope},\"rows\":{},\"warnings\":[]}}", json_rows(rows))
        }
        Format::Json => json_rows(rows),
    };
    ui.result(&text)?;
    Ok(ExitCode::SUCCESS)
}
