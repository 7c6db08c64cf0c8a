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
    cancel_on_signal(&cancellation)?;
    let Setup { invocation, config } = Setup::read(args.wait.state_wait, ui)?;
    let options = ServeOptions {
        listen: args.listen.clone(),
        token: invocation.environment.get(&args.token_env).unwrap_or_default().to_owned(),
        token_variable: args.token_env.clone(),
    };
    // A closed pipe does not stop the server.
    state::serve(&config, &options, |served| announce(served, ui), || cancellation.check().is_err())?;
    if !ui.json {
        ui.line("Stopped");
    }
    Ok(ExitCode::SUCCESS)
}

fn announce(served: &Served, ui: &Ui) {
    if ui.json {
        let document = json!({"schema_version": 1, "listen": served.listen, "attach": served.attach, "warnings": []});
        let _ = ui.result(&document.to_string());
        return;
    }
    ui.line(&format!("Serving the state on {}, stop with Ctrl-C. In the workers' config/state.sql:", served.listen));
    ui.line(&served.attach);
    if served.is_public {
        ui.error_text("warning: other machines can reach this port and what they send is not encrypted; put a TLS proxy or a tunnel before it");
    }
}
