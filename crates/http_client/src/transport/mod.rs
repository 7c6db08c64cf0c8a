//! Connections: which parts of `ureq` make them, and one agent for each way and each set of certificates.

mod resolve;
mod roots;
mod tls;
mod trust;
mod watch;

pub(crate) use watch::{forget_reuse, was_reused};

use self::tls::TlsConnector;
use crate::proxy::{Route, place};
use crate::{ClientOptions, ClientTls, HttpError, Origin};
use rustls::RootCertStore;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
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

type Key = (Route, Option<Arc<ClientTls>>, Encryption);

/// Whether connections may be encrypted. Where they cannot, no roots are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Encryption {
    Possible,
    Never,
}

/// All agents of a client. Each keeps its connections.
#[derive(Debug)]
pub(crate) struct Agents {
    options: ClientOptions,
    made: Mutex<HashMap<Key, Agent>>,
    /// Read once, when they are needed.
    roots: OnceLock<Arc<RootCertStore>>,
}

impl Agents {
    pub(crate) fn new(options: ClientOptions) -> Self {
        Self { options, made: Mutex::default(), roots: OnceLock::new() }
    }

    pub(crate) fn user_agent(&self) -> &str {
        &self.options.user_agent
    }

    /// The way to an origin, and the agent that goes it.
    pub(crate) fn to(&self, origin: &Origin, tls: Option<&Arc<ClientTls>>) -> Result<(Route, Agent), HttpError> {
        let route = Route::to(origin, &self.options)?;
        let is_plain = !origin.secure && tls.is_none() && !matches!(route, Route::Tunnel(_));
        let encryption = if is_plain { Encryption::Never } else { Encryption::Possible };
        let key = (route.clone(), tls.cloned(), encryption);
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(agent) = made.get(&key) {
            return Ok((route, agent.clone()));
        }
        let connector = match encryption {
            Encryption::Never => TlsConnector::none(),
            Encryption::Possible => TlsConnector::new(tls.map(AsRef::as_ref), || self.roots())?,
        };
        let agent = agent(&route, connector);
        if made.len() >= MOST_AGENTS {
            made.clear();
        }
        made.insert(key, agent.clone());
        Ok((route, agent))
    }

    fn roots(&self) -> Result<Arc<RootCertStore>, HttpError> {
        if let Some(roots) = self.roots.get() {
            return Ok(Arc::clone(roots));
        }
        let read = Arc::new(roots::roots(&self.options)?);
        Ok(Arc::clone(self.roots.get_or_init(|| read)))
    }
}

fn agent(route: &Route, tls: TlsConnector) -> Agent {
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
            .chain(tls)
            .chain(watch::WatchConnector { forwards: forward.is_some() });
    Agent::with_parts(config, connector, resolve::Resolve { instead: forward })
}
