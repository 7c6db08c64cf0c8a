//! `ondatrasql auth …`: a file per command.

mod authorize;
mod browser;
mod list;
mod remove;
mod status;

use std::process::ExitCode;
use std::time::Duration;

use lib_functions::ProviderName;
use oauth::OAuthError;
use state::{BackendKind, Heartbeat, SharedStore, StateError};

use super::state::state_opener;
use crate::args::{AuthArgs, AuthCommand};
use crate::error::CliError;
use crate::invocation::Invocation;
use crate::ui::Ui;

pub(crate) fn auth(args: &AuthArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    match (&args.command, &args.provider) {
        (Some(_), Some(provider)) => {
            let help = "usage: ondatrasql auth <provider>, auth status, or auth remove <provider>";
            Err(CliError::usage(format!("extra args: {provider}"), help))
        }
        (Some(AuthCommand::Status(wait)), None) => status::status(wait, ui),
        (Some(AuthCommand::Remove(args)), None) => remove::remove(args, ui),
        (None, Some(name)) => authorize::authorize(&provider_name(name)?, args, ui),
        (None, None) => list::list(ui),
    }
}

fn provider_name(name: &str) -> Result<ProviderName, CliError> {
    let help = "2 to 64 lower-case letters, digits and inner dashes, like my-crm for the variables MY_CRM_…; not status, not remove";
    ProviderName::parse(name)
        .ok_or_else(|| CliError::usage(format!("invalid provider name: {}", name.escape_debug()), help))
}

/// The project's state, open, with signs of life for what is leased.
struct OpenState {
    store: SharedStore,
    /// Whether whoever can read its file can read what is in it.
    is_plain: bool,
    _heartbeat: Heartbeat,
}

impl OpenState {
    fn open(invocation: &Invocation, wait: Duration) -> Result<Self, CliError> {
        let session = invocation.session_options();
        let store = state_opener(&invocation.root, &invocation.environment, &session, wait)?()?;
        let heartbeat = Heartbeat::start(&store)
            .map_err(|error| StateError::Write { message: format!("start a thread: {error}") })?;
        let is_plain = store.backend_kind() == BackendKind::File && store.config().file.encryption_key().is_none();
        Ok(Self { is_plain, store: SharedStore::new(Box::new(store)), _heartbeat: heartbeat })
    }
}

impl From<OAuthError> for CliError {
    fn from(error: OAuthError) -> Self {
        Self::Failed(Box::new(error))
    }
}
