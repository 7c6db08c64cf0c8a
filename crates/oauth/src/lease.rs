//! Leases of the state by which one worker at a time asks a provider for tokens.

use std::time::Duration;

use http_client::Stop;
use lib_functions::ProviderName;
use state::{Lease, LeaseAnswer, SharedStore, WorkerId};

use crate::OAuthError;

/// Pause between two questions whether a lease is free.
pub(crate) const PAUSE: Duration = Duration::from_millis(100);

/// A lease that is given back when this is dropped.
pub(crate) struct HeldLease {
    store: SharedStore,
    lease: Lease,
}

/// Who refreshes the tokens of a provider.
pub(crate) fn refresh_lease(provider: &ProviderName) -> String {
    format!("oauth:{provider}")
}

/// Who asks a user for consent. It is not the lease above: a user takes minutes, and others go on with what there is.
pub(crate) fn consent_lease(provider: &ProviderName) -> String {
    format!("oauth:{provider}:consent")
}

impl HeldLease {
    /// Takes a lease if it is free; else tells who has it.
    pub(crate) fn try_take(
        store: &SharedStore,
        name: &str,
        run_id: &str,
    ) -> Result<Result<Self, WorkerId>, OAuthError> {
        match store.lock().take_lease(name, run_id)? {
            LeaseAnswer::Taken(lease) => Ok(Ok(Self { store: store.clone(), lease })),
            LeaseAnswer::Held(worker) => Ok(Err(worker)),
        }
    }

    /// Takes a lease once it is free.
    pub(crate) fn take(store: &SharedStore, name: &str, run_id: &str, stop: &Stop) -> Result<Self, OAuthError> {
        loop {
            if let Ok(held) = Self::try_take(store, name, run_id)? {
                return Ok(held);
            }
            stop.sleep(PAUSE).map_err(|_| OAuthError::Stopped)?;
        }
    }
}

impl Drop for HeldLease {
    fn drop(&mut self) {
        // What is not given back runs out.
        let _ = self.store.lock().release_lease(&self.lease);
    }
}
