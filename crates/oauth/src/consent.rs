//! Asks a user for consent: the authorization code flow with PKCE (RFC 6749 §4.1, RFC 7636, chapter 03 §3.5).

use std::sync::mpsc::Receiver;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http_client::{Client, Stop};
use lib_functions::ProviderName;
use project::Redactor;
use sha2::{Digest, Sha256};
use state::{SharedStore, Token};

use crate::callback::{Callback, Waited};
use crate::callback_page::Called;
use crate::lease::{HeldLease, consent_lease, refresh_lease};
use crate::random::random_text;
use crate::refresh::of_grant;
use crate::token_endpoint::{Refusal, TokenEndpoint};
use crate::{OAuthError, Provider};

/// How long a user is waited for.
const LIMIT: Duration = Duration::from_mins(5);

/// What consent is asked for with.
pub struct ConsentOptions {
    /// Where the tokens will be kept. It is open by now: nobody is asked in vain.
    pub store: SharedStore,
    /// Makes the requests.
    pub client: Client,
    /// Learns the code and the tokens.
    pub redactor: Redactor,
    /// The port of the callback, in place of the provider's own.
    pub port: Option<u16>,
    /// Whose leases they are that are taken.
    pub run_id: String,
    /// Whether it is to end.
    pub stop: Stop,
}

/// A request for consent that is under way. One at a time for each provider and state.
pub struct Consent {
    provider: Provider,
    options: ConsentOptions,
    callback: Callback,
    /// What tells the answer to this request from others.
    state: String,
    /// What proves that the one who takes the code asked for it.
    verifier: String,
    _lease: HeldLease,
}

impl Consent {
    /// Begins to listen for the answer.
    ///
    /// # Errors
    /// Another one is under way, the port is taken, or the state cannot be written.
    pub fn begin(provider: Provider, options: ConsentOptions) -> Result<Self, OAuthError> {
        options.redactor.add_secret(&provider.client.secret);
        let lease = HeldLease::try_take(&options.store, &consent_lease(&provider.name), &options.run_id)?;
        let lease = lease.map_err(|worker| OAuthError::InProgress { provider: provider.name.clone(), worker })?;
        let port = options.port.or(provider.redirect_port);
        let callback = Callback::bind(port).map_err(|error| OAuthError::Listen { port, cause: error.to_string() })?;
        let verifier = random_text()?;
        options.redactor.add_secret(&verifier);
        Ok(Self { provider, options, callback, state: random_text()?, verifier, _lease: lease })
    }

    /// Where the user says yes: the provider's URL with its own query, and what this request adds.
    pub fn url(&self) -> String {
        let base = self.provider.auth_url.split('#').next().unwrap_or_default();
        let joint = match base.split_once('?') {
            None => "?",
            Some((_, query)) if query.is_empty() || query.ends_with('&') => "",
            Some(_) => "&",
        };
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&self.verifier));
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("client_id", &self.provider.client.id)
            .append_pair("redirect_uri", &self.callback.url())
            .append_pair("response_type", "code")
            .append_pair("scope", &self.provider.scope)
            .append_pair("state", &self.state)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256")
            .finish();
        format!("{base}{joint}{query}")
    }

    /// Where the provider sends the browser.
    pub fn redirect_url(&self) -> String {
        self.callback.url()
    }

    /// Waits for the answer, takes the tokens and stores them. Lines that come over `pasted` are answers, too. `notice`
    /// is told of what was ignored.
    ///
    /// # Errors
    /// There was none, or no tokens for it. Nothing is stored then.
    pub fn finish(self, pasted: Option<&Receiver<String>>, notice: &dyn Fn(&str)) -> Result<Stored, OAuthError> {
        let code = self.wait(pasted, LIMIT, notice)?;
        self.exchange(&code)
    }

    fn wait(
        &self,
        pasted: Option<&Receiver<String>>,
        limit: Duration,
        notice: &dyn Fn(&str),
    ) -> Result<String, OAuthError> {
        let provider = self.provider.name.clone();
        match self.callback.wait(&self.state, pasted, limit, &self.options.stop, notice) {
            Waited::Called(Called::Code(code)) => Ok(code),
            Waited::Called(Called::Denied(reason)) => {
                Err(OAuthError::Denied { provider, reason: self.options.redactor.redact(&reason) })
            }
            Waited::Called(Called::NoCode | Called::WrongState | Called::Unreadable) => {
                Err(OAuthError::NoCode { provider })
            }
            Waited::TimedOut => Err(OAuthError::TimedOut { provider, minutes: limit.as_secs() / 60 }),
            Waited::InputEnded => Err(OAuthError::InputEnded { provider }),
            Waited::Stopped => Err(OAuthError::Stopped),
        }
    }

    fn exchange(&self, code: &str) -> Result<Stored, OAuthError> {
        let Self { provider, options, .. } = self;
        options.redactor.add_secret(code);
        // A refresh that is under way ends first, so that it does not store what this replaces.
        let refresh = refresh_lease(&provider.name);
        let _lease = HeldLease::take(&options.store, &refresh, &options.run_id, &options.stop)?;
        let endpoint = TokenEndpoint::new(options.client.clone(), options.redactor.clone());
        let redirect = self.callback.url();
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &redirect),
            ("client_id", &provider.client.id),
            ("client_secret", &provider.client.secret),
            ("code_verifier", &self.verifier),
        ];
        let failed = |message| OAuthError::Endpoint { provider: provider.name.clone(), message };
        let grant = endpoint.ask(&provider.token_url, &form, &options.stop).map_err(|refusal| match refusal {
            Refusal::Stopped => OAuthError::Stopped,
            Refusal::InvalidGrant(answer) => OAuthError::CodeRefused { provider: provider.name.clone(), answer },
            Refusal::Failed(message) => failed(message),
        })?;
        if grant.refresh_token.is_none() {
            return Err(OAuthError::NoRefreshToken { provider: provider.name.clone() });
        }
        let token = Token {
            scope: grant.scope.clone().or_else(|| Some(provider.scope.clone())),
            token_url: provider.token_url.clone(),
            ..of_grant(&provider.name, &grant)
        };
        self.store(&token)?;
        Ok(Stored { provider: provider.name.clone(), scope: token.scope.unwrap_or_default() })
    }

    /// Stores the tokens in place of whichever are there.
    fn store(&self, token: &Token) -> Result<(), OAuthError> {
        let provider = &self.provider.name;
        let failed = |cause| OAuthError::NotStored { provider: provider.clone(), cause };
        let mut store = self.options.store.lock();
        // Between the two nobody else stores any: the lease of refreshing is held.
        let old = store.token(provider.as_str()).map_err(failed)?.map(|old| old.refresh_token);
        let is_kept = store.put_token(token, old.as_deref()).map_err(failed)?;
        if is_kept { Ok(()) } else { Err(OAuthError::Overtaken { provider: provider.clone() }) }
    }
}

/// What was authorized.
pub struct Stored {
    /// By whom.
    pub provider: ProviderName,
    /// For what.
    pub scope: String,
}
