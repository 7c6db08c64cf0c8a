//! A file per command.

mod auth;
mod blueprint;
mod check;
mod completions;
mod describe;
mod doctor;
mod edit;
mod findings;
mod history;
mod init;
mod lineage;
mod man;
mod model_log;
mod new;
mod push;
mod query;
mod queue;
mod run;
mod sandbox;
mod sql;
mod sql_file;
mod state;
mod stats;
mod validate;
mod version;

use std::process::ExitCode;

pub(crate) use run::{one_line, status_word};

use crate::args::{Command, help};
use crate::error::CliError;
use crate::ui::Ui;

/// Runs a command.
pub(crate) fn dispatch(command: Command, ui: &Ui) -> Result<ExitCode, CliError> {
    match command {
        Command::Init(args) => init::init(&args, ui),
        Command::New(args) => new::new(&args, ui),
        Command::Edit(args) => edit::edit(&args, ui),
        Command::Run(args) => run::run(args, ui),
        Command::Check(args) => check::check(args, ui),
        Command::Sandbox(args) => sandbox::sandbox(args, ui),
        Command::Sql(args) => sql::sql(&args, ui),
        Command::Query(args) => query::query(&args, ui),
        Command::History(args) => history::history(&args, ui),
        Command::Describe(args) => describe::describe(&args, ui),
        Command::Lineage(args) => lineage::lineage(&args, ui),
        Command::Stats => stats::stats(ui),
        Command::Doctor => doctor::doctor(ui),
        Command::Script(name) => sql_file::sql_file(&name, ui),
        Command::Queue(args) => queue::queue(args, ui),
        Command::Push(args) => push::push(&args, ui),
        Command::Auth(args) => auth::auth(&args, ui),
        Command::State { command } => state::state(command, ui),
        Command::Validate(args) => validate::validate(args, ui),
        Command::Completions(args) => completions::completions(&args, ui),
        Command::Man(args) => man::man(&args, ui),
        Command::Version => version::version(ui),
        Command::Help { command } => {
            ui.result(&help(command.as_deref())?)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}
