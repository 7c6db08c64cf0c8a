//! Completion of the command line: what a shell asks for while somebody types.
//!
//! The shell calls the program with the words so far, so that names of models are those of the project.

use clap::{Arg, Command};
use clap_complete::env::Shells;
use clap_complete::{ArgValueCandidates, CompleteEnv, CompletionCandidate};
use project::{Environment, find_model_files, find_root};

use crate::args::described;
use crate::invocation::{current_folder, process_environment};

/// Set by the lines that a shell reads at its start.
const VARIABLE: &str = "ONDATRASQL_COMPLETE";
const NAME: &str = "ondatrasql";

/// Operands that are models, by their names in the definition of the command line.
const MODELS: [&str; 4] = ["model", "models", "table", "target"];

/// Answers a shell that asks, and ends the process then.
pub(crate) fn answer_shell() {
    CompleteEnv::with_factory(command_line).var(VARIABLE).bin(NAME).complete();
}

/// The lines that a shell reads at its start; `None` for a shell that is not known.
pub(crate) fn registration(shell: &str, program: &str) -> Option<std::io::Result<Vec<u8>>> {
    let shells = Shells::builtins();
    let completer = shells.completer(shell)?;
    let mut lines = Vec::new();
    Some(completer.write_registration(VARIABLE, NAME, NAME, program, &mut lines).map(|()| lines))
}

fn command_line() -> Command {
    let json = Arg::new("json").long("json").global(true).num_args(0).help("Print results as JSON");
    let log_format = Arg::new("log_format").long("log-format").global(true).value_parser(["text", "json"]);
    with_candidates(described()).arg(json).arg(log_format.help("How to write what goes to standard error"))
}

/// The same command, whose operands know what they may be.
fn with_candidates(command: Command) -> Command {
    let arguments: Vec<String> = command.get_arguments().map(|argument| argument.get_id().to_string()).collect();
    let command = arguments.iter().fold(command, |command, name| match name.as_str() {
        name if MODELS.contains(&name) => command.mut_arg(name, |arg| arg.add(ArgValueCandidates::new(models))),
        "lineage_of" => command.mut_arg(name, |arg| arg.add(ArgValueCandidates::new(lineages))),
        "provider" => command.mut_arg(name, |arg| arg.add(ArgValueCandidates::new(providers))),
        _ => command,
    });
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    names.iter().fold(command, |command, name| command.mut_subcommand(name, with_candidates))
}

/// The models of the project around the current folder.
fn models() -> Vec<CompletionCandidate> {
    let files = current_folder().and_then(|folder| find_model_files(&find_root(&folder)?)).unwrap_or_default();
    files
        .into_iter()
        .filter_map(|file| file.target.ok())
        .map(|target| CompletionCandidate::new(target.to_string()))
        .collect()
}

/// What there may be lineage of, without the columns: those only the lake knows.
fn lineages() -> Vec<CompletionCandidate> {
    std::iter::once(CompletionCandidate::new("overview")).chain(models()).collect()
}

/// The OAuth providers that variables describe.
fn providers() -> Vec<CompletionCandidate> {
    let environment = current_folder().and_then(|folder| {
        let root = find_root(&folder).unwrap_or(folder);
        Environment::load(&root, process_environment())
    });
    let names = environment.map(|environment| oauth::configured_providers(&environment)).unwrap_or_default();
    names.into_iter().map(|name| CompletionCandidate::new(name.to_string())).collect()
}
