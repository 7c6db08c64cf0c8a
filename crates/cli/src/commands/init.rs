//! `ondatrasql init`.

use std::process::ExitCode;

use crate::args::InitArgs;
use crate::error::CliError;
use crate::invocation::current_folder;
use crate::ui::Ui;

pub(crate) fn init(args: &InitArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    let name = project::init(&current_folder()?, args.catalog())?;
    ui.line(&format!("Initialized project \"{name}\""));
    ui.line("Next: put a SELECT into models/raw/, then `ondatrasql run`");
    Ok(ExitCode::SUCCESS)
}
