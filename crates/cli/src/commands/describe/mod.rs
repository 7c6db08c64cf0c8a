//! `ondatrasql describe`: all that is known of a model, or of a lib function.

mod document;
mod sheet;

use std::process::ExitCode;

use runtime::Description;

use crate::args::{DescribeArgs, DescribeCommand};
use crate::error::CliError;
use crate::invocation::Invocation;
use crate::ui::Ui;

pub(crate) fn describe(args: &DescribeArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    match (&args.command, &args.model) {
        (Some(DescribeCommand::Blueprint(args)), None) => super::blueprint::blueprint(args, ui),
        (None, Some(model)) => describe_model(model, ui),
        (command, _) => {
            let message =
                if command.is_some() { "extra args: blueprint" } else { "usage: ondatrasql describe <model>" };
            Err(CliError::usage(message, "name a model as schema.table, or write `describe blueprint`"))
        }
    }
}

fn describe_model(model: &str, ui: &Ui) -> Result<ExitCode, CliError> {
    let invocation = Invocation::enter(ui)?;
    let name = invocation.model(model)?;
    let session = invocation.look_at_lake(ui)?;
    let mut description = runtime::describe(&session, &invocation.root, &name)?;
    redact(&mut description, ui);
    if ui.json {
        ui.result(&document::document(&description).to_string())?;
    } else {
        sheet::sheet(&description).print(ui)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What a file says may be a secret of the environment: a text, a file that is read, the name of a column.
fn redact(description: &mut Description, ui: &Ui) {
    let Description { columns, dependencies, downstream, constraints, audits, warnings, .. } = description;
    let of_columns =
        columns.iter_mut().flat_map(|column| std::iter::once(&mut column.name).chain(&mut column.description));
    let lists = [dependencies, downstream, constraints, audits, warnings].into_iter().flatten();
    let texts = [&mut description.definition, &mut description.description].into_iter().flatten();
    of_columns.chain(lists).chain(texts).for_each(|text| *text = ui.redact(text));
    let problems = description.gather_warnings.iter_mut().chain(&mut description.blueprint_error);
    problems.for_each(|text| *text = ui.message(text));
}
