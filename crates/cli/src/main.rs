//! The command line: arguments and environment in, text and exit codes out. No SQL lives here.

mod args;
mod commands;
mod completion;
mod duration;
mod error;
mod excerpt;
mod invocation;
mod log;
mod metrics;
mod output;
mod progress;
mod signals;
mod trace;
mod ui;

use std::process::ExitCode;

use log::{Fields, Level, Log};
use ui::Ui;

/// Syntax trees of expressions are as deep as the engine allows; walking one takes a frame a level.
const STACK_BYTES: usize = 512 << 20;

fn main() -> ExitCode {
    let log = Log::default();
    let (print, of_panics) = (std::panic::take_hook(), log.clone());
    // What panics elsewhere is an error of a model: it is told there, without secrets.
    std::panic::set_hook(Box::new(move |info| match std::thread::current().name() {
        Some("main") if of_panics.is_json() => of_panics.object(Level::Error, &info.to_string(), Fields::new()),
        Some("main") => print(info),
        _ => {}
    }));
    let work = std::thread::Builder::new().name("main".into()).stack_size(STACK_BYTES).spawn(|| command(log));
    // A panic has printed its message by then; its code is that of any failure.
    work.map_or(ExitCode::FAILURE, |work| work.join().unwrap_or(ExitCode::FAILURE))
}

fn command(log: Log) -> ExitCode {
    completion::answer_shell();
    let given = invocation::given(std::env::args_os());
    let ui = Ui::from_terminal(given.json, log);
    let command = ui.choose_log_format(given.log_format.as_deref()).and_then(|()| args::read(&given.words));
    let result = command.and_then(|command| commands::dispatch(command, &ui));
    let result = result.and_then(|code| ui.check_lines().map(|()| code));
    match result {
        Ok(code) => code,
        Err(error) => error.report(&ui),
    }
}
