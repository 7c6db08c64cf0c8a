//! Addresses of hosts. Each request has a thread of its own that may be left behind, so that no second one is needed to
//! bound the time of a lookup.

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{NextTimeout, time};

#[derive(Debug)]
pub(super) struct Resolve {
    /// The proxy that all requests go to. The hosts of their URLs may be unknown here.
    pub instead: Option<Uri>,
}

impl Resolver for Resolve {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let unbounded = NextTimeout { after: time::Duration::NotHappening, ..timeout };
        DefaultResolver::default().resolve(self.instead.as_ref().unwrap_or(uri), config, unbounded)
    }
}
