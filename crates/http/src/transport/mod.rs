//! Connections: which parts of `ureq` make them, and one agent for each way and each set of certificates.

mod resolve;
mod tls;
mod trust;
mod watch;

pub(crate) use watch::{forget_reuse, was_reused};

use crate::proxy::{Route, place};
use crate::{ClientOptions, ClientTls, HttpError, Origin};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use ureq::Agent;
use ureq::unversioned::transport::{ConnectProxyConnector, Connector, SocksConnector, TcpConnector};

/// Shorter than the five seconds after which common servers close a quiet connection: a request that crosses with the
/// closing is lost.
const LONGEST_IDLE: Duration = Duration::from_secs(4);
const MOST_IDLE: usize = 64;
const MOST_IDLE_PER_HOST: usize = 16;
/// A project has few certificates and proxies. With more, connections are made anew.
const MOST_AGENTS: usize = 32;

type Key = (Route, Option<Arc<ClientTls>>);

/// All agents of a client. Each keeps its connections.
#[derive(Debug)]
pub(crate) struct Agents {
    options: ClientOptions,
    made: Mutex<HashMap<Key, Agent>>,
}

impl Agents {
    pub(crate) fn new(options: ClientOptions) -> Self {
        Self { options, made: Mutex::default() }
    }

    pub(crate) fn user_agent(&self) -> &str {
        &self.options.user_agent
    }

    /// The way to an origin, and the agent that goes it.
    pub(crate) fn to(&self, origin: &Origin, tls: Option<&Arc<ClientTls>>) -> Result<(Route, Agent), HttpError> {
        let route = Route::to(origin, &self.options)?;
        let key = (route.clone(), tls.cloned());
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(agent) = made.get(&key) {
            return Ok((route, agent.clone()));
        }
        let agent = agent(&route, tls.map(AsRef::as_ref))?;
        if made.len() >= MOST_AGENTS {
            made.clear();
        }
        made.insert(key, agent.clone());
        Ok((route, agent))
    }
}

fn agent(route: &Route, tls: Option<&ClientTls>) -> Result<Agent, HttpError> {
    let (tunnel, forward) = match route {
        Route::Direct => (None, None),
        Route::Tunnel(proxy) => (Some(proxy.clone()), None),
        Route::Forward(proxy) => (None, place(proxy)),
    };
    let config = Agent::config_builder()
        // Not the one of the environment, which is the default.
        .proxy(tunnel)
        .http_status_as_error(false)
        .max_redirects(0)
        // Headers come from the request alone.
        .user_agent("")
        .accept_encoding("")
        .max_idle_age(LONGEST_IDLE)
        .max_idle_connections(MOST_IDLE)
        .max_idle_connections_per_host(MOST_IDLE_PER_HOST)
        .build();
    let connector =
        ().chain(SocksConnector::default())
            .chain(ConnectProxyConnector::default())
            .chain(TcpConnector::default())
            .chain(tls::TlsConnector::new(tls)?)
            .chain(watch::WatchConnector { forwards: forward.is_some() });
    Ok(Agent::with_parts(config, connector, resolve::Resolve { instead: forward }))
}
