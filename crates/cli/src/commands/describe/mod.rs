//! `ondatrasql describe`: all that is known of a model, or of a lib function.

mod document;
mod sheet;

use std::process::ExitCode;

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
    let session = invocation.open_lake()?;
    let mut description = runtime::describe(&session, &invocation.root, &name)?;
    let texts = [&mut description.definition, &mut description.description].into_iter().flatten();
    let of_columns = description.columns.iter_mut().filter_map(|column| column.description.as_mut());
    // What the file says may be a secret of the environment.
    texts.chain(of_columns).for_each(|text| *text = ui.redact(text));
    let problems = description.gather_warnings.iter_mut().chain(&mut description.blueprint_error);
    problems.for_each(|text| *text = ui.message(text));
    if ui.json {
        ui.result(&document::document(&description).to_string())?;
    } else {
        sheet::sheet(&description).print(ui)?;
    }
    Ok(ExitCode::SUCCESS)
}
