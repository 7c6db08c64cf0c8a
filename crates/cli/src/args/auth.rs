//! The command line of `auth`.

use clap::{Args, Subcommand};

use super::StateWait;

#[derive(Args)]
pub(crate) struct AuthArgs {
    /// Name of the provider; without it, the providers that variables describe
    #[arg(value_name = "PROVIDER")]
    pub(crate) provider: Option<String>,
    /// Port of the callback, where the provider knows only one; a free one without it
    #[arg(long, value_name = "PORT", requires = "provider", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
    /// Open no browser, and take the URL or the code that is pasted, for a machine without one
    #[arg(long, requires = "provider")]
    pub(crate) no_browser: bool,
    #[command(flatten)]
    pub(crate) wait: StateWait,
    #[command(subcommand)]
    pub(crate) command: Option<AuthCommand>,
}

/// What to do with what was authorized.
#[derive(Subcommand)]
pub(crate) enum AuthCommand {
    /// Show what there is to authorize with: scopes, expiry, last refresh, source
    ///
    /// Example:
    ///   ondatrasql auth status
    #[command(override_usage = "ondatrasql auth status [--state-wait <duration>]", verbatim_doc_comment)]
    Status(StateWait),
    /// Forget the tokens of a provider
    ///
    /// They stay valid at the provider until they are revoked there. Example:
    ///   ondatrasql auth remove my-crm
    #[command(
        override_usage = "ondatrasql auth remove PROVIDER [--yes] [--state-wait <duration>]",
        verbatim_doc_comment
    )]
    Remove(AuthRemoveArgs),
}

#[derive(Args)]
pub(crate) struct AuthRemoveArgs {
    /// Name of the provider
    #[arg(value_name = "PROVIDER")]
    pub(crate) provider: String,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) wait: StateWait,
}
