//! What lib functions have around them in a run.

use std::path::Path;
use std::sync::Arc;

use http_client::{Client, ClientOptions, Stop};
use lib_functions::{Host, HostOptions, Limits};
use project::{Environment, Redactor};

use crate::fetching::LakeLookup;
use crate::{RunError, Session};

/// What hosts are made of.
pub(crate) struct HostContext<'a> {
    pub session: &'a Session,
    pub root: &'a Path,
    pub environment: &'a Environment,
    pub redactor: &'a Redactor,
    pub output: Arc<dyn Fn(&str) + Send + Sync>,
}

impl HostContext<'_> {
    /// A host whose calls end when `stop` says so.
    pub(crate) fn host(&self, stop: Stop) -> Result<Host, RunError> {
        let variable = |name: &str| self.environment.get(name).map(str::to_owned);
        let lookup = LakeLookup::new(self.session.connection.beside()?, &self.session.lake);
        Ok(Host::new(HostOptions {
            root: self.root.to_owned(),
            client: Client::new(ClientOptions::from_environment("OndatraSQL/1.0", variable)),
            environment: self.environment.clone(),
            redactor: self.redactor.clone(),
            stop,
            output: Arc::clone(&self.output),
            lookup: Some(Arc::new(lookup)),
            limits: Limits::default(),
        }))
    }
}
