//! `ondatrasql completions <shell>`: the lines that make a shell complete commands, flags and names of models.

use std::process::ExitCode;

use crate::args::CompletionsArgs;
use crate::completion::registration;
use crate::error::CliError;
use crate::ui::Ui;

pub(crate) fn completions(args: &CompletionsArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    // The program that is asked later is the one that was asked now.
    let program = std::env::current_exe().ok().and_then(|path| path.to_str().map(str::to_owned));
    let program = program.unwrap_or_else(|| "ondatrasql".to_owned());
    if let Some(lines) = registration(args.shell.name(), &program) {
        ui.result(&String::from_utf8_lossy(&lines?))?;
    }
    Ok(ExitCode::SUCCESS)
}
