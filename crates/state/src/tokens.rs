//! OAuth tokens (chapter 03 §5).

use std::fmt;

use crate::StateError;

/// A provider's tokens.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    /// The provider.
    pub provider: String,
    /// The refresh token.
    pub refresh_token: String,
    /// The access token, if one was got.
    pub access_token: Option<String>,
    /// How long the access token is good for, in milliseconds from now by the database's clock; below zero once it has
    /// expired. Clocks of workers differ: none of them is asked.
    pub expires_in_ms: Option<i64>,
    /// What it allows.
    pub scope: Option<String>,
    /// Where it is refreshed.
    pub token_url: String,
}

// Tokens are secrets: they are never printed, not even for debugging.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("provider", &self.provider).finish_non_exhaustive()
    }
}

/// A provider's tokens as they are listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredToken {
    /// The tokens.
    pub token: Token,
    /// How long ago they were stored, in milliseconds by the database's clock.
    pub stored_ms_ago: i64,
}

/// Tokens.
pub trait Tokens {
    /// Stores a provider's tokens in place of those with the refresh token that they were made from, or where there
    /// are none. False if others are there: the provider gave them to somebody else meanwhile.
    fn put_token(&mut self, token: &Token, replaces: Option<&str>) -> Result<bool, StateError>;

    /// A provider's tokens.
    fn token(&mut self, provider: &str) -> Result<Option<Token>, StateError>;

    /// All tokens, by provider.
    fn tokens(&mut self) -> Result<Vec<StoredToken>, StateError>;

    /// Forgets a provider's tokens, if they are still these.
    fn remove_token(&mut self, provider: &str, refresh_token: &str) -> Result<(), StateError>;
}
