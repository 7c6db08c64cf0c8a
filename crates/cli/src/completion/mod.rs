//! Completion of the command line: what a shell asks for while somebody types.
//!
//! The shell calls the program with the words so far, so that names of models are those of the project.

mod bash;
mod candidates;

use clap::{Arg, Command};
use clap_complete::env::{EnvCompleter, Fish, Shells, Zsh};
use clap_complete::{ArgValueCandidates, ArgValueCompleter, CompleteEnv};

use crate::args::described;
use bash::Bash;
use candidates::{blueprints, commands, edited, lineages, models, paths, providers};

/// Set by the lines that a shell reads at its start.
const VARIABLE: &str = "ONDATRASQL_COMPLETE";
const NAME: &str = "ondatrasql";

/// The shells that can be taught.
const SHELLS: Shells<'static> = Shells(&[&Bash, &Fish, &Zsh]);

/// Answers a shell that asks, and ends the process then.
pub(crate) fn answer_shell() {
    CompleteEnv::with_factory(command_line).var(VARIABLE).bin(NAME).shells(SHELLS).complete();
}

/// The lines that a shell reads at its start; `None` for a shell that is not known.
pub(crate) fn registration(shell: &str, program: &str) -> Option<std::io::Result<Vec<u8>>> {
    let completer: &dyn EnvCompleter = SHELLS.completer(shell)?;
    let mut lines = Vec::new();
    Some(completer.write_registration(VARIABLE, NAME, NAME, program, &mut lines).map(|()| lines))
}

fn command_line() -> Command {
    let json = Arg::new("json").long("json").global(true).num_args(0).help("Print results as JSON");
    let log_format = Arg::new("log_format").long("log-format").global(true).value_parser(["text", "json"]);
    with_candidates(described()).arg(json).arg(log_format.help("How to write what goes to standard error"))
}

/// The same command, whose operands know what they may be: by their names in the definition of the command line.
fn with_candidates(command: Command) -> Command {
    let command = command.mut_args(|argument| match argument.get_id().as_str() {
        "model" | "models" | "table" | "target" => argument.add(ArgValueCompleter::new(models)),
        "lineage_of" => argument.add(ArgValueCompleter::new(lineages)),
        "paths" => argument.add(ArgValueCompleter::new(paths)),
        "edited" => argument.add(ArgValueCandidates::new(edited)),
        "blueprint" => argument.add(ArgValueCandidates::new(blueprints)),
        "provider" => argument.add(ArgValueCandidates::new(providers)),
        "command" => argument.add(ArgValueCandidates::new(commands)),
        _ => argument,
    });
    command.mut_subcommands(with_candidates)
}
