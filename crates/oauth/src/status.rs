//! What there is to authorize with, source by source.

use std::collections::BTreeMap;

use lib_functions::{AuthForm, Lib, ProviderName, Secret};
use project::Environment;
use state::StoredToken;

use crate::configured_providers;

/// Where an access token comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenSource {
    /// A variable holds it.
    Injected,
    /// The state keeps a refresh token.
    Stored,
    /// A key file signs for it.
    ServiceAccount,
    /// Nobody has authorized it yet.
    Missing,
}

impl TokenSource {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Injected => "injected",
            Self::Stored => "stored",
            Self::ServiceAccount => "service account",
            Self::Missing => "none",
        }
    }
}

/// How one of them stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthStatus {
    /// The provider, or the service account's key file.
    pub name: String,
    /// Where tokens come from.
    pub source: TokenSource,
    /// What they allow.
    pub scope: Option<String>,
    /// Whether the provider did not go on with what is stored when it was last asked.
    pub is_refused: bool,
    /// How long the access token is good for, in milliseconds; below zero once it has expired.
    pub expires_in_ms: Option<i64>,
    /// How long ago tokens were got, in milliseconds.
    pub refreshed_ms_ago: Option<i64>,
}

/// All providers that variables, the state and lib files name, then the service accounts of lib files.
pub fn status<'a>(
    environment: &Environment,
    libs: impl Iterator<Item = &'a Lib>,
    stored: &[StoredToken],
) -> Vec<AuthStatus> {
    let mut providers: BTreeMap<String, AuthStatus> = BTreeMap::new();
    let mut accounts: BTreeMap<(String, String), AuthStatus> = BTreeMap::new();
    let missing = |name: &ProviderName| {
        let status = empty(name.to_string(), TokenSource::Missing);
        (name.to_string(), status)
    };
    providers.extend(configured_providers(environment).iter().map(missing));
    for auth in libs.filter_map(|lib| lib.api.auth.as_ref()) {
        match &auth.form {
            AuthForm::Provider(name) => drop(providers.entry(name.to_string()).or_insert(missing(name).1)),
            AuthForm::ServiceAccount { file, scope } => {
                let file = match file {
                    Secret::Literal(file) if !file.trim_start().starts_with('{') => file.clone(),
                    Secret::Literal(_) => "key".to_owned(),
                    Secret::Variable(name) => format!("${{{name}}}"),
                };
                let status = empty(file.clone(), TokenSource::ServiceAccount);
                accounts.insert((file, scope.clone()), AuthStatus { scope: Some(scope.clone()), ..status });
            }
            AuthForm::Basic { .. } | AuthForm::Key { .. } => {}
        }
    }
    for StoredToken { token, stored_ms_ago } in stored {
        // Every grant has an access token; a refusal takes it away.
        let is_refused = token.access_token.is_none();
        let status = AuthStatus {
            scope: token.scope.clone(),
            is_refused,
            expires_in_ms: token.expires_in_ms,
            refreshed_ms_ago: (!is_refused).then_some(*stored_ms_ago),
            ..empty(token.provider.clone(), TokenSource::Stored)
        };
        providers.insert(token.provider.clone(), status);
    }
    // One that stands for a file which cannot be read is there, too: the run that needs it says so.
    let is_set = |name: &&str| environment.get(name).is_none_or(|value| !value.trim().is_empty());
    let injected = environment.names().filter(is_set);
    for name in injected.filter_map(ProviderName::of_injected) {
        // It wins over what is stored.
        providers.insert(name.to_string(), empty(name.to_string(), TokenSource::Injected));
    }
    providers.into_values().chain(accounts.into_values()).collect()
}

fn empty(name: String, source: TokenSource) -> AuthStatus {
    AuthStatus { name, source, scope: None, is_refused: false, expires_in_ms: None, refreshed_ms_ago: None }
}
