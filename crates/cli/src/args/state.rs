//! Arguments of `state`.

use clap::{Args, Subcommand};

/// What to do with the state.
#[derive(Subcommand)]
pub(crate) enum StateCommand {
    /// Show where the state is, what is in it and which workers hold something
    ///
    /// Example:
    ///   ondatrasql state status
    #[command(override_usage = "ondatrasql state status [--state-wait <duration>]", verbatim_doc_comment)]
    Status(StateWait),
    /// Encrypt the state file with a new key, and write the key into .env
    ///
    /// The new file is compared with the old one row by row before it takes its place. A crash at any moment
    /// leaves a file and a key that go together. Example:
    ///   ondatrasql state rekey
    #[command(override_usage = "ondatrasql state rekey [--state-wait <duration>]", verbatim_doc_comment)]
    Rekey(StateWait),
    /// Copy the whole state into an empty one, on any database
    ///
    /// OTHER.sql attaches the other state, like config/state.sql does. The copy is compared row by row. Example:
    ///   ondatrasql state copy --to config/state.postgres.sql
    #[command(override_usage = "ondatrasql state copy --to OTHER.sql [--state-wait <duration>]", verbatim_doc_comment)]
    Copy(StateCopyArgs),
    /// Serve the state file to workers on this or other machines, until stopped
    ///
    /// The workers attach it with the line that is printed, and need the same token. Example:
    ///   ondatrasql state serve --listen localhost:9494
    #[command(
        override_usage = "ondatrasql state serve [--listen host:port] [--token-env VAR] [--state-wait <duration>]",
        verbatim_doc_comment
    )]
    Serve(StateServeArgs),
}

#[derive(Args)]
pub(crate) struct StateWait {
    /// How long to wait while another process has the state file or runs the project, like 30s or 5m
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = crate::duration::parse)]
    pub(crate) state_wait: std::time::Duration,
}

#[derive(Args)]
pub(crate) struct StateCopyArgs {
    /// The file that attaches the empty state
    #[arg(long, value_name = "OTHER.sql")]
    pub(crate) to: std::path::PathBuf,
    #[command(flatten)]
    pub(crate) wait: StateWait,
}

#[derive(Args)]
pub(crate) struct StateServeArgs {
    /// Where to listen; only this machine can reach localhost
    #[arg(long, value_name = "HOST:PORT", default_value = "localhost:9494", value_parser = listen_address)]
    pub(crate) listen: String,
    /// The variable (environment or .env) that holds the token
    #[arg(long, value_name = "VAR", default_value = "ONDATRA_QUACK_TOKEN", value_parser = variable_name)]
    pub(crate) token_env: String,
    #[command(flatten)]
    pub(crate) wait: StateWait,
}

fn listen_address(text: &str) -> Result<String, String> {
    state::check_address(text).map(|()| text.to_owned()).map_err(|error| error.to_string())
}

fn variable_name(text: &str) -> Result<String, String> {
    let is_name = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_name { Ok(text.to_owned()) } else { Err("write the name of a variable, like MY_TOKEN".into()) }
}
