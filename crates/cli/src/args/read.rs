//! From the words of the command line to a command.

use clap::{CommandFactory, Parser};

use super::ask::prepare_sql;
use super::mistakes::explain;
use super::scripts::read_script;
use super::{Command, CommandLine};
use crate::error::CliError;
use crate::invocation::current_folder;

/// Reads the words of the command line.
pub(crate) fn read(words: &[String]) -> Result<Command, CliError> {
    let Some(name) = words.first() else { return Ok(Command::Help { command: None }) };
    if name == "-h" || name == "--help" {
        return Ok(Command::Help { command: None });
    }
    if name == "--version" || name == "-V" {
        return Ok(Command::Version);
    }
    if let Some(command) = read_script(name, &words[1..])? {
        return Ok(command);
    }
    let asks_for_help = words.iter().skip(1).any(|word| word == "-h" || word == "--help");
    let known = CommandLine::command().find_subcommand(name).is_some();
    // `auth` alone lists what variables describe, and they may be the process's.
    let is_list = name == "auth" && words.len() == 1;
    let needs_project =
        known && !is_list && !matches!(name.as_str(), "help" | "init" | "version" | "completions" | "man");
    if needs_project && !asks_for_help {
        // Outside a project this comes before anything that may be wrong with the arguments.
        project::find_root(&current_folder()?)?;
    }
    let mut full = vec!["ondatrasql".to_owned()];
    full.extend(if name == "sql" { prepare_sql(words) } else { words.to_vec() });
    let path = command_path(words);
    CommandLine::try_parse_from(full).map(|line| line.command).map_err(|error| explain(&error, &path))
}

/// Whether a command has commands of its own.
pub(super) fn is_parent(name: &str) -> bool {
    matches!(name, "state" | "queue" | "auth" | "describe")
}

/// The words that name the command: one, or two for the commands of `state` and `queue`.
fn command_path(words: &[String]) -> String {
    match words {
        [name, second, ..] if is_parent(name) && find(&mut CommandLine::command(), &[name, second]).is_some() => {
            format!("{name} {second}")
        }
        [name, ..] => name.clone(),
        [] => String::new(),
    }
}

/// The command at a path of names.
pub(super) fn find<'a>(line: &'a mut clap::Command, path: &[&str]) -> Option<&'a mut clap::Command> {
    path.iter().try_fold(line, |command, name| command.find_subcommand_mut(name))
}
