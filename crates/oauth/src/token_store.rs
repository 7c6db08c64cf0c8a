//! Where the tokens of providers are kept: in a state that is open, or in one that is opened when a token has to be asked
//! for, and closed again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lib_functions::ProviderName;
use project::Redactor;
use state::{SharedStore, StateError, StoredToken};

use crate::refresh::usable;
use crate::single_flight::Access;

/// Where the tokens of providers are kept.
pub struct TokenStore {
    seen: Vec<StoredToken>,
    read_at: Instant,
    open: Arc<dyn Fn() -> Result<SharedStore, StateError> + Send + Sync>,
}

impl TokenStore {
    /// A state that is looked at once, and opened by `open` only when its tokens do not do: `seen` are the tokens that it
    /// had at `read_at`.
    pub fn on_demand(
        seen: Vec<StoredToken>,
        read_at: Instant,
        open: Arc<dyn Fn() -> Result<SharedStore, StateError> + Send + Sync>,
    ) -> Self {
        Self { seen, read_at, open }
    }

    /// The access token of a provider that was seen, if it is still good and not the one that was rejected.
    pub(crate) fn seen(&self, name: &ProviderName, rejected: Option<&str>, redactor: &Redactor) -> Option<Access> {
        let mut stored = self.seen.iter().find(|stored| stored.token.provider == name.as_str())?.clone();
        for secret in std::iter::once(&stored.token.refresh_token).chain(&stored.token.access_token) {
            redactor.add_secret(secret);
        }
        let passed = milliseconds(self.read_at.elapsed());
        stored.stored_ms_ago = stored.stored_ms_ago.saturating_add(passed);
        stored.token.expires_in_ms = stored.token.expires_in_ms.map(|left| left.saturating_sub(passed));
        usable(&stored, rejected)
    }

    /// The state itself.
    pub(crate) fn open(&self) -> Result<SharedStore, StateError> {
        (self.open)()
    }
}

impl From<SharedStore> for TokenStore {
    fn from(store: SharedStore) -> Self {
        Self { seen: Vec::new(), read_at: Instant::now(), open: Arc::new(move || Ok(store.clone())) }
    }
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
