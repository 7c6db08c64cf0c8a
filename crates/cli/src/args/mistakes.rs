//! What is wrong with a command line, in the words of the contract (chapter 05 §1.1).

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::read::{find, is_parent};
use super::{CommandLine, described, help};
use crate::error::CliError;

/// The message of the contract for each of clap's.
pub(super) fn explain(error: &clap::Error, name: &str) -> CliError {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(" "),
        _ => String::new(),
    };
    let argument = context(ContextKind::InvalidArg);
    let flag = argument.split([' ', '=']).next().unwrap_or_default().to_owned();
    let usage = || CliError::usage(format!("usage: {}", usage_of(name)), "see the command's --help");
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => match help(Some(name)) {
            Ok(text) => CliError::Help(text),
            Err(error) => error,
        },
        // Whatever word comes first is a provider, a model or a command.
        ErrorKind::InvalidSubcommand if matches!(name, "auth" | "describe") => CliError::usage(
            format!("extra args: {}", context(ContextKind::InvalidSubcommand)),
            format!("usage: {}", usage_of(name)),
        ),
        ErrorKind::InvalidSubcommand if is_parent(name) => CliError::usage(
            format!("unknown command: {name} {}", context(ContextKind::InvalidSubcommand)),
            format!("usage: {}", usage_of(name)),
        ),
        ErrorKind::InvalidSubcommand => unknown_command(name),
        ErrorKind::UnknownArgument if name.starts_with('-') || argument.starts_with('-') => {
            CliError::usage(format!("unknown flag: {flag}"), format!("usage: {}", usage_of(name)))
        }
        ErrorKind::UnknownArgument => {
            let what = match name {
                "version" | "init" | "stats" => "unexpected args",
                "sql" | "query" | "history" => "unexpected argument",
                _ => "extra args",
            };
            CliError::usage(format!("{what}: {argument}"), format!("usage: {}", usage_of(name)))
        }
        ErrorKind::InvalidValue if context(ContextKind::InvalidValue).is_empty() => {
            CliError::usage(format!("{flag} requires a value"), format!("usage: {}", usage_of(name)))
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let value = context(ContextKind::InvalidValue);
            let unit = if flag == "--state-wait" { "write a number with a unit, like 30s or 5m; " } else { "" };
            CliError::usage(format!("invalid {flag} value: {value}"), format!("{unit}usage: {}", usage_of(name)))
        }
        ErrorKind::MissingRequiredArgument if name == "state copy" => {
            CliError::usage("state copy needs --to OTHER.sql", format!("usage: {}", usage_of(name)))
        }
        ErrorKind::MissingRequiredArgument if name == "run" => CliError::usage(
            "--keep and --full-refresh need a model, --yes needs --full-refresh",
            format!("usage: {}", usage_of(name)),
        ),
        ErrorKind::ArgumentConflict => CliError::usage(
            format!("{flag} cannot be used with {}", context(ContextKind::PriorArg)),
            format!("usage: {}", usage_of(name)),
        ),
        _ => usage(),
    }
}

pub(super) fn unknown_command(name: &str) -> CliError {
    if name.starts_with('-') {
        return CliError::usage(format!("unknown flag: {name}"), "`ondatrasql help` lists the commands");
    }
    let line = described();
    let known = line.get_subcommands().map(|command| command.get_name().to_owned());
    let close =
        known.map(|known| (strsim::damerau_levenshtein(&known, name), known)).min().filter(|(far, _)| *far <= 2);
    let help = match close {
        Some((0, _)) => format!("there is no sql/{name}.sql; `ondatrasql init` in an empty folder writes one"),
        Some((_, known)) => format!("did you mean `{known}`?"),
        None => "`ondatrasql help` lists the commands".to_owned(),
    };
    CliError::usage(format!("unknown command: {name}"), help)
}

fn usage_of(name: &str) -> String {
    let mut line = CommandLine::command();
    let usage = match find(&mut line, &name.split(' ').collect::<Vec<_>>()) {
        Some(command) => command.render_usage(),
        None => line.render_usage(),
    };
    usage.to_string().trim_start_matches("Usage: ").to_owned()
}
