//! `ondatrasql describe`: all that is known of a model.

mod document;
mod sheet;

use std::process::ExitCode;

use project::read_config;
use runtime::Session;

use crate::args::DescribeArgs;
use crate::error::CliError;
use crate::invocation::Invocation;
use crate::ui::Ui;

pub(crate) fn describe(args: &DescribeArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    let invocation = Invocation::enter(ui)?;
    let config = read_config(&invocation.root, &invocation.environment)?;
    let session = Session::open(&config, &invocation.session_options())?;
    let mut description = runtime::describe(&session, &invocation.root, &args.model)?;
    let problems = description.gather_warnings.iter_mut().chain(&mut description.blueprint_error);
    problems.for_each(|text| *text = ui.message(text));
    if ui.json {
        ui.result(&document::document(&description).to_string())?;
    } else {
        sheet::sheet(&description).print(ui)?;
    }
    Ok(ExitCode::SUCCESS)
}
