//! The command line: arguments and environment in, text and exit codes out. No SQL lives here.

mod args;
mod commands;
mod duration;
mod error;
mod invocation;
mod output;
mod progress;
mod signals;
mod ui;

use std::process::ExitCode;

use ui::Ui;

fn main() -> ExitCode {
    let (json, words) = invocation::words(std::env::args_os());
    let ui = Ui::from_terminal(json);
    let result = args::read(&words).and_then(|command| commands::dispatch(command, &ui));
    match result {
        Ok(code) => code,
        Err(error) => error.report(&ui),
    }
}
