//! OAuth: consent, and tokens of providers and of service accounts that are kept fresh (chapter 03 §3.5).
//!
//! Boundary: the protocol and where tokens are kept; no terminal, no models, and no look at the process environment.

mod callback;
mod callback_page;
mod consent;
mod error;
mod grace;
mod lease;
mod managed;
mod provider;
mod random;
mod refresh;
mod service_account;
mod single_flight;
mod status;
mod token_endpoint;
mod token_store;

pub use consent::{Consent, ConsentOptions, Stored};
pub use error::OAuthError;
pub use managed::{ManagedTokens, TokenSources};
pub use provider::{Provider, configured_providers};
pub use status::{AuthStatus, TokenSource, status};
pub use token_store::TokenStore;
