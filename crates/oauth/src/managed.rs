//! Access tokens for lib functions, kept fresh while a run goes on.

use std::path::PathBuf;

use http_client::{Client, Stop};
use lib_functions::{AccessTokens, ProviderName, TokenError};
use project::{Environment, Redactor};

use crate::refresh::Refresh;
use crate::service_account::ServiceAccount;
use crate::single_flight::SingleFlight;
use crate::token_endpoint::TokenEndpoint;
use crate::token_store::TokenStore;

/// Where tokens come from and are kept.
pub struct TokenSources {
    /// The project's folder, where paths of key files begin.
    pub root: PathBuf,
    /// Variables of the process and of `.env`.
    pub environment: Environment,
    /// Learns every token.
    pub redactor: Redactor,
    /// Makes the requests.
    pub client: Client,
    /// Keeps the tokens of providers.
    pub store: TokenStore,
    /// Whose leases they are that are taken.
    pub run_id: String,
}

/// Access tokens of one process. Threads share it; so do its models.
pub struct ManagedTokens {
    sources: TokenSources,
    endpoint: TokenEndpoint,
    tokens: SingleFlight,
}

impl ManagedTokens {
    /// None yet.
    pub fn new(sources: TokenSources) -> Self {
        let endpoint = TokenEndpoint::new(sources.client.clone(), sources.redactor.clone());
        Self { sources, endpoint, tokens: SingleFlight::default() }
    }
}

impl AccessTokens for ManagedTokens {
    fn provider(&self, name: &ProviderName, rejected: Option<&str>, stop: &Stop) -> Result<String, TokenError> {
        let TokenSources { environment, store, run_id, .. } = &self.sources;
        let get = || {
            if let Some(access) = store.seen(name, rejected, &self.endpoint.redactor) {
                return Ok(access);
            }
            let store = &store.open()?;
            Refresh { name, environment, store, endpoint: &self.endpoint, run_id, stop }.run(rejected)
        };
        Ok(self.tokens.get(&format!("provider {name}"), rejected, stop, get)?)
    }

    fn service_account(
        &self,
        key: &str,
        scope: &str,
        rejected: Option<&str>,
        stop: &Stop,
    ) -> Result<String, TokenError> {
        let name = format!("service account {key}\0{scope}");
        let get = || {
            ServiceAccount::read(&self.sources.root, key, &self.sources.redactor)?.token(scope, &self.endpoint, stop)
        };
        Ok(self.tokens.get(&name, rejected, stop, get)?)
    }
}
