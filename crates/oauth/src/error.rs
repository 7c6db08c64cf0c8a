//! What can go wrong on the way to a token.

use lib_functions::{ProviderName, TokenError};
use project::ProjectError;
use state::{StateError, WorkerId};
use types::{Code, Diagnose, Place};

/// Why there is no token. No message holds a secret.
#[derive(Debug, thiserror::Error)]
pub enum OAuthError {
    /// Variables of a provider are not set.
    #[error("missing .env variables for {provider}: {}", variables.join(", "))]
    MissingVariables {
        /// The provider.
        provider: ProviderName,
        /// Their names.
        variables: Vec<String>,
    },
    /// A variable stands for a file that cannot be read.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// A variable says nothing that can be used.
    #[error("{variable} is not {expected}")]
    Variable {
        /// Its name.
        variable: String,
        /// What it must be.
        expected: &'static str,
    },
    /// Nobody has authorized this client yet.
    #[error("no auth token for {provider}")]
    NoToken {
        /// The provider.
        provider: ProviderName,
    },
    /// The provider does not take the refresh token any more.
    #[error("{provider} does not accept the stored authorization any more: {answer}")]
    Revoked {
        /// The provider.
        provider: ProviderName,
        /// What it answered, redacted.
        answer: String,
    },
    /// The provider did not take the code that it gave.
    #[error("{provider}: the code was not accepted: {answer}")]
    CodeRefused {
        /// The provider.
        provider: ProviderName,
        /// What it answered, redacted.
        answer: String,
    },
    /// The provider gave an access token and nothing to refresh it with.
    #[error("{provider}: it did not return a refresh token; ask for offline access, by its scope or its URL")]
    NoRefreshToken {
        /// The provider.
        provider: ProviderName,
    },
    /// The provider gave no tokens.
    #[error("{provider}: {message}")]
    Endpoint {
        /// The provider.
        provider: ProviderName,
        /// What happened, redacted.
        message: String,
    },
    /// The provider gave tokens that could not be stored.
    #[error("{provider} gave new tokens, which could not be stored: {cause}")]
    NotStored {
        /// The provider.
        provider: ProviderName,
        /// Why not.
        cause: StateError,
    },
    /// Others stored tokens again and again while new ones were asked for.
    #[error("the tokens of {provider} were replaced by others while they were being refreshed")]
    Overtaken {
        /// The provider.
        provider: ProviderName,
    },
    /// Another process is asking for consent.
    #[error("another `auth {provider}` is going on, in {}", worker.as_str())]
    InProgress {
        /// The provider.
        provider: ProviderName,
        /// Who.
        worker: WorkerId,
    },
    /// Nobody can be called back.
    #[error("listen on 127.0.0.1{}: {cause}", port.map_or_else(String::new, |port| format!(":{port}")))]
    Listen {
        /// The port that was asked for.
        port: Option<u16>,
        /// The system's reason.
        cause: String,
    },
    /// The user said no, or the provider could not ask.
    #[error("{provider} did not authorize: {reason}")]
    Denied {
        /// The provider.
        provider: ProviderName,
        /// What it said, redacted.
        reason: String,
    },
    /// The provider called back without a code.
    #[error("{provider} called back with no code")]
    NoCode {
        /// The provider.
        provider: ProviderName,
    },
    /// Nobody called back in time.
    #[error("nobody answered for {provider} within {minutes} minutes")]
    TimedOut {
        /// The provider.
        provider: ProviderName,
        /// How long it was waited for.
        minutes: u64,
    },
    /// Nobody pasted the answer, and nobody can.
    #[error("standard input ended before the answer of {provider} was pasted")]
    InputEnded {
        /// The provider.
        provider: ProviderName,
    },
    /// A service account cannot be used.
    #[error("{message}")]
    ServiceAccount {
        /// Why, beginning with what was tried.
        message: String,
        /// What to do.
        help: String,
    },
    /// The system gives no random bytes.
    #[error("no random bytes: {cause}")]
    Random {
        /// Why not.
        cause: String,
    },
    /// The state.
    #[error(transparent)]
    State(#[from] StateError),
    /// It was stopped.
    #[error("interrupted")]
    Stopped,
}

impl Diagnose for OAuthError {
    fn code(&self) -> Code {
        match self {
            Self::MissingVariables { .. } | Self::Variable { .. } => Code::AuthVariables,
            Self::NoToken { .. } | Self::Revoked { .. } => Code::AuthNoToken,
            Self::Endpoint { .. } | Self::CodeRefused { .. } | Self::NoRefreshToken { .. } | Self::Overtaken { .. } => {
                Code::AuthEndpoint
            }
            Self::NotStored { cause, .. } => cause.code(),
            Self::InProgress { .. } | Self::Listen { .. } | Self::Random { .. } => Code::AuthBusy,
            Self::Denied { .. } | Self::NoCode { .. } | Self::TimedOut { .. } | Self::InputEnded { .. } => {
                Code::AuthConsent
            }
            Self::ServiceAccount { .. } => Code::AuthServiceAccount,
            Self::Project(error) => error.code(),
            Self::State(error) => error.code(),
            Self::Stopped => Code::Interrupted,
        }
    }

    fn help(&self) -> String {
        match self {
            Self::MissingVariables { .. } => {
                "put them into .env, as the provider's page of your app shows them; docs/auth.md has an example".into()
            }
            Self::Variable { .. } => "correct it in .env or in the environment".into(),
            Self::NoToken { provider } | Self::Revoked { provider, .. } => {
                format!("run `ondatrasql auth {provider}` and say yes in the browser")
            }
            Self::Endpoint { provider, .. } => {
                let prefix = provider.prefix();
                format!(
                    "check {prefix}_TOKEN_URL, {prefix}_CLIENT_ID and {prefix}_CLIENT_SECRET, and that the provider \
                     can be reached; then run again"
                )
            }
            Self::CodeRefused { provider, .. } => format!(
                "run `ondatrasql auth {provider}` again: a code counts once, for the run that asked for it, and for a few \
                 minutes; when pasting, paste all of the URL"
            ),
            Self::NoRefreshToken { provider } => format!(
                "add what the provider's documentation says, like offline_access, to {prefix}_SCOPE, or like \
                 ?access_type=offline&prompt=consent to {prefix}_AUTH_URL; then run `ondatrasql auth {provider}` again",
                prefix = provider.prefix()
            ),
            Self::NotStored { provider, cause } => {
                format!("{}; if the next run is refused, run `ondatrasql auth {provider}`", cause.help())
            }
            Self::Overtaken { .. } => "run again".into(),
            Self::InProgress { .. } => {
                "end it there, or wait: one that was killed is forgotten after a minute, and the longest lasts five"
                    .into()
            }
            Self::Listen { port: Some(_), .. } => "end what uses the port, or name another one with --port".into(),
            Self::Listen { port: None, .. } | Self::Random { .. } => "see what the system says".into(),
            Self::Denied { provider, .. } | Self::NoCode { provider } => {
                let prefix = provider.prefix();
                format!(
                    "run `ondatrasql auth {provider}` again and say yes; if nobody said no, check {prefix}_SCOPE and the \
                     redirect URL of your app"
                )
            }
            Self::TimedOut { provider, .. } => format!(
                "run `ondatrasql auth {provider}` again; if the browser is on another machine, with --no-browser, and \
                 paste the URL that it ends up at"
            ),
            Self::InputEnded { provider } => format!(
                "run `ondatrasql auth {provider} --no-browser` in a terminal, and paste the URL that the browser ends up at"
            ),
            Self::ServiceAccount { help, .. } => help.clone(),
            Self::Project(error) => error.help(),
            Self::State(error) => error.help(),
            Self::Stopped => "nothing was stored; run it again".into(),
        }
    }

    fn place(&self) -> Option<&Place> {
        match self {
            Self::State(error) | Self::NotStored { cause: error, .. } => error.place(),
            _ => None,
        }
    }
}

impl From<OAuthError> for TokenError {
    fn from(error: OAuthError) -> Self {
        match error {
            OAuthError::Stopped => Self::Stopped,
            error => Self::Failed { message: error.to_string(), help: error.help() },
        }
    }
}
