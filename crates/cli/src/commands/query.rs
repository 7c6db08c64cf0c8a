//! `ondatrasql query`: the rows of a table.

use std::process::ExitCode;

use types::Target;

use super::sql::print_rows;
use crate::args::QueryArgs;
use crate::error::CliError;
use crate::invocation::Invocation;
use crate::ui::Ui;

pub(crate) fn query(args: &QueryArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    let limit = limit(args.limit.as_deref())?;
    let invocation = Invocation::enter(ui)?;
    let table = invocation.model(&args.table)?;
    let target = target(&table).ok_or_else(|| {
        CliError::usage(format!("`{table}` is no schema.table"), "write schema.table, like staging.orders")
    })?;
    let clause = if limit == 0 { String::new() } else { format!(" LIMIT {limit}") };
    let statement = format!("SELECT * FROM {}{clause}", target.quoted());
    let envelope = format!("\"table\":{},\"limit\":{limit}", serde_json::Value::from(table.as_str()));
    print_rows(&invocation.look_at_lake(ui)?, &statement, args.format, &envelope, ui)
}

/// The table of `schema.table`, parted at the first point; neither may be empty.
fn target(table: &str) -> Option<Target> {
    let (schema, name) = table.split_once('.')?;
    (!schema.is_empty() && !name.is_empty()).then(|| Target::new(schema, name))
}

/// The limit; 0 for none.
pub(super) fn limit(text: Option<&str>) -> Result<u64, CliError> {
    let Some(text) = text else { return Ok(0) };
    let help = "write a positive number, like --limit 10";
    match text.parse::<i128>() {
        Ok(number) if number < 1 => {
            Err(CliError::usage(format!("--limit must be a positive integer (got {number})"), help))
        }
        Ok(number) => Ok(u64::try_from(number).unwrap_or(u64::MAX >> 1)),
        Err(_) => Err(CliError::usage(format!("invalid limit: {text}"), help)),
    }
}
