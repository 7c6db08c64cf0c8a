//! `ondatrasql auth remove <provider>`.

use std::process::ExitCode;

use super::{OpenState, provider_name};
use crate::args::AuthRemoveArgs;
use crate::error::CliError;
use crate::invocation::Invocation;
use crate::ui::Ui;

pub(crate) fn remove(args: &AuthRemoveArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    let invocation = Invocation::enter(ui)?;
    let provider = provider_name(&args.provider)?;
    let state = OpenState::open(&invocation, args.wait.state_wait)?;
    let stored = state.store.lock().token(provider.as_str())?;
    let Some(stored) = stored else {
        return Err(CliError::Summary(format!("there are no tokens of {provider}: nothing was removed")));
    };
    if !args.yes {
        let question =
            format!("Remove the tokens of {provider}? Models that use them fail until it is authorized again.");
        match ui.ask(&question) {
            Some(true) => {}
            Some(false) => return Err(CliError::Summary("nothing was removed".into())),
            None => {
                let help = "add --yes if no model needs it any more";
                return Err(CliError::usage("auth remove needs --yes without a terminal", help));
            }
        }
    }
    // A refresh may have replaced them meanwhile.
    let mut refresh_token = Some(stored.refresh_token);
    while let Some(token) = refresh_token {
        state.store.lock().remove_token(provider.as_str(), &token)?;
        refresh_token = state.store.lock().token(provider.as_str())?.map(|stored| stored.refresh_token);
    }
    ui.line(&format!("Removed the tokens of {provider}. They stay valid there until they are revoked on its page."));
    Ok(ExitCode::SUCCESS)
}
