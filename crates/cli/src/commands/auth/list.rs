//! `ondatrasql auth`: the providers that variables describe.

use std::process::ExitCode;

use oauth::configured_providers;
use project::Environment;

use crate::error::CliError;
use crate::invocation::{current_folder, process_environment};
use crate::ui::Ui;

/// What a provider's variables look like.
const EXAMPLE: &str = "\
Describe one in .env, as the provider's page of your app shows it:
  MY_CRM_CLIENT_ID=…
  MY_CRM_CLIENT_SECRET=…
  MY_CRM_AUTH_URL=https://crm.example.com/oauth/authorize
  MY_CRM_TOKEN_URL=https://crm.example.com/oauth/token
  MY_CRM_SCOPE=contacts.read
Then `ondatrasql auth my-crm` asks for consent in the browser.";

pub(crate) fn list(ui: &Ui) -> Result<ExitCode, CliError> {
    // There may be no project yet: the variables of the process describe providers as well.
    let folder = current_folder()?;
    let root = project::find_root(&folder).unwrap_or(folder);
    let names = configured_providers(&Environment::load(&root, process_environment())?);
    if names.is_empty() {
        ui.line("No providers configured.");
        ui.line(EXAMPLE);
    }
    for name in &names {
        ui.line(name.as_str());
    }
    Ok(ExitCode::SUCCESS)
}
