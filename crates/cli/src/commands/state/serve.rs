//! `ondatrasql state serve`.

use std::process::ExitCode;

use runtime::Cancellation;
use serde_json::json;
use state::{ServeOptions, Served};

use super::Setup;
use crate::args::StateServeArgs;
use crate::error::CliError;
use crate::signals::cancel_on_signal;
use crate::ui::Ui;

pub(crate) fn serve(args: &StateServeArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    let cancellation = Cancellation::default();
    let mut announced = Ok(());
    Setup::with(args.wait.state_wait, ui, |setup| {
        let options = ServeOptions {
            listen: args.listen.clone(),
            token: setup.invocation.environment.get(&args.token_env).unwrap_or_default().to_owned(),
            token_variable: args.token_env.clone(),
        };
        let started = |served: &Served| {
            // Until here a signal ends the process at once: nothing is held but the file.
            announced = cancel_on_signal(&cancellation).map_err(CliError::from).and_then(|()| announce(served, ui));
            if !matches!(announced, Ok(()) | Err(CliError::ClosedPipe)) {
                cancellation.cancel();
            }
        };
        state::serve(&setup.config, &options, started, || cancellation.check().is_err())
    })?;
    // A closed pipe does not stop the server.
    match announced {
        Ok(()) | Err(CliError::ClosedPipe) => {}
        Err(error) => return Err(error),
    }
    if !ui.json {
        ui.line("Stopped");
    }
    Ok(ExitCode::SUCCESS)
}

fn announce(served: &Served, ui: &Ui) -> Result<(), CliError> {
    let warning = "other machines can reach this port and what they send is not encrypted; put a TLS proxy or a tunnel \
                   before it";
    let warnings: Vec<&str> = served.is_public.then_some(warning).into_iter().collect();
    for warning in &warnings {
        ui.warn(warning);
    }
    if ui.json {
        let document =
            json!({"schema_version": 1, "listen": served.listen, "attach": served.attach, "warnings": warnings});
        return ui.result(&document.to_string());
    }
    ui.line(&format!("Serving the state on {}, stop with Ctrl-C. In the workers' config/state.sql:", served.listen));
    ui.line(&served.attach);
    ui.check_lines()
}
