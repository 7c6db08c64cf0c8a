//! The texts of the command line.

use clap::CommandFactory;

use super::mistakes::unknown_command;
use super::read::find;
use super::{CommandLine, scripts};
use crate::error::CliError;

/// The whole command line, with the scripts as commands: for texts, not for parsing.
pub(crate) fn described() -> clap::Command {
    CommandLine::command().subcommands(scripts::described())
}

/// The help of a command, or of the program.
pub(crate) fn help(command: Option<&str>) -> Result<String, CliError> {
    let mut line = described();
    line.build();
    let Some(name) = command else { return Ok(line.render_help().to_string()) };
    match find(&mut line, &name.split(' ').collect::<Vec<_>>()) {
        Some(command) => Ok(command.render_long_help().to_string()),
        None => Err(unknown_command(name)),
    }
}
