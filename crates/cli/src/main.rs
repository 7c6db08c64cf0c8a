//! The command line: arguments and environment in, text and exit codes out. No SQL lives here.

mod args;
mod commands;
mod completion;
mod duration;
mod error;
mod excerpt;
mod invocation;
mod output;
mod progress;
mod signals;
mod ui;

use std::process::ExitCode;

use ui::Ui;

/// Syntax trees of expressions are as deep as the engine allows; walking one takes a frame a level.
const STACK_BYTES: usize = 512 << 20;

fn main() -> ExitCode {
    let print = std::panic::take_hook();
    // What panics elsewhere is an error of a model: it is told there, without secrets.
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().name() == Some("main") {
            print(info);
        }
    }));
    let work = std::thread::Builder::new().name("main".into()).stack_size(STACK_BYTES).spawn(command);
    // A panic has printed its message by then; its code is that of any failure.
    work.map_or(ExitCode::FAILURE, |work| work.join().unwrap_or(ExitCode::FAILURE))
}

fn command() -> ExitCode {
    completion::answer_shell();
    let (json, words) = invocation::words(std::env::args_os());
    let ui = Ui::from_terminal(json);
    let result = args::read(&words).and_then(|command| commands::dispatch(command, &ui));
    let result = result.and_then(|code| ui.check_lines().map(|()| code));
    match result {
        Ok(code) => code,
        Err(error) => error.report(&ui),
    }
}
