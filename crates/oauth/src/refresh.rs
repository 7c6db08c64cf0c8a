//! Refreshes a provider's access token, once for all workers of a state (chapter 03 §3.5).
//!
//! A provider may take a refresh token out of use with its first use, and revoke everything when it comes twice. So one
//! worker at a time asks, under a lease; who waited for it finds the new tokens in the state and asks nothing.

use std::time::Duration;

use http_client::Stop;
use lib_functions::ProviderName;
use project::Environment;
use state::{SharedStore, StoredToken, Token};

use crate::OAuthError;
use crate::grace::later;
use crate::lease::{HeldLease, PAUSE, refresh_lease};
use crate::provider::{ClientCredentials, token_url};
use crate::single_flight::{Access, margin};
use crate::token_endpoint::{Grant, Refusal, TokenEndpoint};

/// Rounds in which others store tokens in between, until it is given up. Each takes somebody an `auth`.
const ROUNDS: u32 = 5;

/// What a refresh works with.
pub(crate) struct Refresh<'a> {
    pub name: &'a ProviderName,
    pub environment: &'a Environment,
    pub store: &'a SharedStore,
    pub endpoint: &'a TokenEndpoint,
    pub run_id: &'a str,
    pub stop: &'a Stop,
}

impl Refresh<'_> {
    /// The access token of the state, or a new one if that is due or was rejected.
    pub(crate) fn run(&self, rejected: Option<&str>) -> Result<Access, OAuthError> {
        // The store is free for others while the lease is waited for and while the provider is asked.
        let _lease = loop {
            // Who had the lease may have got a token for all.
            if let Some(access) = usable(&self.stored()?, rejected) {
                return Ok(access);
            }
            match HeldLease::try_take(self.store, &refresh_lease(self.name), self.run_id)? {
                Ok(lease) => break lease,
                Err(_) => self.stop.sleep(PAUSE).map_err(|_| OAuthError::Stopped)?,
            }
        };
        for _ in 0..ROUNDS {
            let stored = self.stored()?;
            if let Some(access) = usable(&stored, rejected) {
                return Ok(access);
            }
            let grant = self.ask(&stored.token).inspect_err(|error| self.note_refusal(&stored.token, error))?;
            if self.keep(&stored.token, &grant)? {
                let life = grant.left();
                return Ok(Access::new(grant.access_token, life, life));
            }
        }
        Err(OAuthError::Overtaken { provider: self.name.clone() })
    }

    fn stored(&self) -> Result<StoredToken, OAuthError> {
        let tokens = self.store.lock().tokens()?;
        let stored = tokens.into_iter().find(|stored| stored.token.provider == self.name.as_str());
        let stored = stored.ok_or_else(|| OAuthError::NoToken { provider: self.name.clone() })?;
        for secret in std::iter::once(&stored.token.refresh_token).chain(&stored.token.access_token) {
            self.endpoint.redactor.add_secret(secret);
        }
        Ok(stored)
    }

    fn ask(&self, stored: &Token) -> Result<Grant, OAuthError> {
        let client = ClientCredentials::read(self.name, self.environment)?;
        self.endpoint.redactor.add_secret(&client.secret);
        let url = self.token_url(stored)?;
        let form = [
            ("grant_type", "refresh_token"),
            ("refresh_token", &stored.refresh_token),
            ("client_id", &client.id),
            ("client_secret", &client.secret),
        ];
        let provider = self.name.clone();
        self.stop.check().map_err(|_| OAuthError::Stopped)?;
        self.endpoint.ask(&url, &form, &later(self.stop)).map_err(|refusal| match refusal {
            Refusal::Stopped => OAuthError::Stopped,
            Refusal::InvalidGrant(answer) => OAuthError::Revoked { provider, answer },
            Refusal::Failed(message) => OAuthError::Endpoint { provider, message },
        })
    }

    /// What a provider refused to go on with is not shown as good any more. The refresh token stays: some providers
    /// refuse for a while what they take later.
    fn note_refusal(&self, stored: &Token, error: &OAuthError) {
        if matches!(error, OAuthError::Revoked { .. }) {
            let refused = Token { access_token: None, expires_in_ms: None, ..stored.clone() };
            // The refusal itself is what is told.
            let _ = self.store.lock().put_token(&refused, Some(&stored.refresh_token));
        }
    }

    /// Where the variables say, else where the tokens came from.
    fn token_url(&self, stored: &Token) -> Result<String, OAuthError> {
        Ok(token_url(self.name, self.environment)?.unwrap_or_else(|| stored.token_url.clone()))
    }

    /// Stores what was given before anybody uses it. False if the state has other tokens by now.
    fn keep(&self, stored: &Token, grant: &Grant) -> Result<bool, OAuthError> {
        let token = Token {
            refresh_token: grant.refresh_token.clone().unwrap_or_else(|| stored.refresh_token.clone()),
            scope: grant.scope.clone().or_else(|| stored.scope.clone()),
            token_url: self.token_url(stored)?,
            ..of_grant(self.name, grant)
        };
        let kept = self.store.lock().put_token(&token, Some(&stored.refresh_token));
        kept.map_err(|cause| OAuthError::NotStored { provider: self.name.clone(), cause })
    }
}

/// What of a grant is stored in any case.
pub(crate) fn of_grant(name: &ProviderName, grant: &Grant) -> Token {
    let left = grant.left();
    Token {
        provider: name.to_string(),
        refresh_token: grant.refresh_token.clone().unwrap_or_default(),
        access_token: Some(grant.access_token.clone()),
        expires_in_ms: Some(i64::try_from(left.as_millis()).unwrap_or(i64::MAX)),
        scope: grant.scope.clone(),
        token_url: String::new(),
    }
}

/// The stored access token, if it is good for a while yet and not the one that was rejected.
pub(crate) fn usable(stored: &StoredToken, rejected: Option<&str>) -> Option<Access> {
    let StoredToken { token, stored_ms_ago } = stored;
    let access = token.access_token.clone().filter(|access| Some(access.as_str()) != rejected)?;
    let left = Duration::from_millis(u64::try_from(token.expires_in_ms?).ok()?);
    let life = left + Duration::from_millis(u64::try_from(*stored_ms_ago).unwrap_or(0));
    (left > margin(life)).then(|| Access::new(access, left, life))
}
