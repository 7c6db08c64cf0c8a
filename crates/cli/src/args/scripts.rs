//! The scripts of `sql/` as commands: their words, and what the help says of them (chapter 05 §3.14).

use clap::CommandFactory;
use project::{Script, script_names};

use super::help::help;
use super::mistakes::unknown_command;
use super::{Command, CommandLine};
use crate::error::CliError;
use crate::invocation::current_folder;

/// The scripts that `init` writes, for the help: what they do is up to their files.
const SCRIPTS: [(&str, &str); 7] = [
    ("flush", "Write rows that are inlined in the lake's catalog to files (sql/flush.sql)"),
    ("merge", "Join small data files to larger ones (sql/merge.sql)"),
    ("expire", "Forget old snapshots, except those that runs need (sql/expire.sql)"),
    ("rewrite", "Rewrite data files of which many rows are deleted (sql/rewrite.sql)"),
    ("cleanup", "Delete data files that no snapshot needs any more (sql/cleanup.sql)"),
    ("orphaned", "Delete files that the lake does not know (sql/orphaned.sql)"),
    ("checkpoint", "All of these, for a nightly job (sql/checkpoint.sql)"),
];

/// `<name>` of `sql/<name>.sql` without more words; `None` if it is a command, or not for this to judge.
pub(super) fn read_script(name: &str, rest: &[String]) -> Result<Option<Command>, CliError> {
    if name.starts_with('-') || CommandLine::command().find_subcommand(name).is_some() {
        return Ok(None);
    }
    if !Script::is_name(name) {
        let help = "a command is written with letters, digits, `_` and `-`; `ondatrasql help` lists them";
        return Err(CliError::usage(format!("invalid command: {name}"), help));
    }
    let asks_for_help = rest.iter().any(|word| word == "-h" || word == "--help");
    if asks_for_help {
        return Err(CliError::Help(help(Some(name))?));
    }
    let root = match project::find_root(&current_folder()?) {
        Ok(root) => root,
        Err(error) if is_init_script(name) => return Err(error.into()),
        Err(_) => return Err(unknown_command(name)),
    };
    if !Script::exists(&root, name) {
        return Err(unknown_command(name));
    }
    let usage = format!("usage: ondatrasql {name}");
    match rest.first() {
        None => Ok(Some(Command::Script(name.to_owned()))),
        Some(word) if word == "sandbox" => Err(CliError::usage(
            format!("\"{name}\" cannot run in sandbox mode: sql/ scripts execute real catalog operations"),
            format!(
                "run it on the lake itself with `ondatrasql {name}`, or in a copy of the project with a lake of its own"
            ),
        )),
        Some(word) if word.starts_with('-') => {
            let flag = word.split('=').next().unwrap_or_default();
            Err(CliError::usage(format!("unknown flag: {flag}"), usage))
        }
        Some(word) => Err(CliError::usage(format!("extra args: {word}"), usage)),
    }
}

fn is_init_script(name: &str) -> bool {
    SCRIPTS.iter().any(|(known, _)| *known == name)
}

/// A command for each script: those of `init`, then the project's own.
pub(super) fn described() -> Vec<clap::Command> {
    let own = script_root().map(|root| script_names(&root)).unwrap_or_default();
    let own = own.into_iter().filter(|name| !is_init_script(name) && name != "help");
    let own = own.filter(|name| CommandLine::command().find_subcommand(name).is_none());
    let own = own.map(|name| (format!("Run sql/{name}.sql"), name)).map(|(about, name)| (name, about));
    let scripts = SCRIPTS.iter().map(|(name, about)| ((*name).to_owned(), (*about).to_owned())).chain(own);
    scripts.zip(20..).map(|((name, about), order)| described_script(name, &about).display_order(order)).collect()
}

fn described_script(name: String, about: &str) -> clap::Command {
    let long = format!(
        "{about}\n\n\
         The statements of the file run one by one; the first error stops, and earlier ones stay. Examples:\n  \
         ondatrasql {name}\n  \
         ondatrasql {name} --json"
    );
    let usage = format!("ondatrasql {name}");
    clap::Command::new(name).about(about.to_owned()).long_about(long).override_usage(usage)
}

fn script_root() -> Option<std::path::PathBuf> {
    project::find_root(&current_folder().ok()?).ok()
}
