//! Access tokens that somebody keeps fresh: of providers and of service accounts (chapter 03 §3.5).

use http_client::Stop;

use crate::ProviderName;

/// Gives access tokens that are good for a while yet, and keeps them out of what is printed.
pub trait AccessTokens: Send + Sync {
    /// The token of a provider. One that a server has `rejected` is given again only if there is no better one.
    ///
    /// # Errors
    /// There is none and none can be got, or `stop` said so.
    fn provider(&self, name: &ProviderName, rejected: Option<&str>, stop: &Stop) -> Result<String, TokenError>;

    /// The token of a service account. `key` is the path of its key file, or the text of one.
    ///
    /// # Errors
    /// As above.
    fn service_account(
        &self,
        key: &str,
        scope: &str,
        rejected: Option<&str>,
        stop: &Stop,
    ) -> Result<String, TokenError>;
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The run was stopped.
    #[error("stopped before there was a token")]
    Stopped,
    /// It cannot be got.
    #[error("{message}")]
    Failed {
        /// Why.
        message: String,
        /// What to do.
        help: String,
    },
}
