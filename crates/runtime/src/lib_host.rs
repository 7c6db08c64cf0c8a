//! What lib functions have around them in a run.

use std::path::Path;
use std::sync::Arc;

use http_client::{Client, ClientOptions, Stop};
use lib_functions::{AccessTokens, Host, HostOptions, Limits};
use oauth::{ManagedTokens, TokenSources, TokenStore};
use project::{Environment, Redactor};

use crate::fetching::LakeLookup;
use crate::step::StepSink;
use crate::{RunError, Session};

/// What hosts are made of.
pub(crate) struct HostContext<'a> {
    pub session: &'a Session,
    pub root: &'a Path,
    pub environment: &'a Environment,
    pub redactor: &'a Redactor,
    pub output: Arc<dyn Fn(&str) + Send + Sync>,
    /// Is told how long what took.
    pub steps: StepSink,
    /// Access tokens, one set for all hosts of a run.
    pub tokens: Option<Arc<dyn AccessTokens>>,
}

impl HostContext<'_> {
    /// A host whose calls end when `stop` says so.
    pub(crate) fn host(&self, stop: Stop) -> Result<Host, RunError> {
        let lookup = LakeLookup::new(self.session.connection.beside()?, &self.session.lake);
        Ok(Host::new(HostOptions {
            root: self.root.to_owned(),
            client: client(self.environment),
            environment: self.environment.clone(),
            redactor: self.redactor.clone(),
            stop,
            output: Arc::clone(&self.output),
            lookup: Some(Arc::new(lookup)),
            tokens: self.tokens.clone(),
            limits: Limits::default(),
        }))
    }
}

/// The access tokens of a run.
pub(crate) fn managed_tokens(
    root: &Path,
    environment: &Environment,
    redactor: &Redactor,
    store: TokenStore,
    run_id: &str,
) -> Arc<dyn AccessTokens> {
    Arc::new(ManagedTokens::new(TokenSources {
        root: root.to_owned(),
        environment: environment.clone(),
        redactor: redactor.clone(),
        client: client(environment),
        store,
        run_id: run_id.to_owned(),
    }))
}

/// What makes requests, as the environment says.
pub fn client(environment: &Environment) -> Client {
    let variable = |name: &str| environment.get(name).map(str::to_owned);
    Client::new(ClientOptions::from_environment("OndatraSQL/1.0", variable))
}
