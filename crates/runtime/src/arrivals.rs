//! What other threads of a run bring to the one that commits.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use fetch::Fetched;

use crate::RunError;
use crate::ahead::AheadRows;

/// What a model waited for.
pub(crate) enum Landed {
    /// Nothing: its query runs in its own transaction.
    Direct,
    /// Its fetch.
    Fetched(Result<Fetched, RunError>),
    /// The rows of its query; `None` if that has to run in the model's own transaction.
    Ahead(Option<AheadRows>),
}

impl Landed {
    /// What lands if the model's transaction is to come once more; `None` if it cannot.
    pub fn again(&self) -> Option<Self> {
        match self {
            Self::Direct => Some(Self::Direct),
            Self::Ahead(_) => Some(Self::Ahead(None)),
            Self::Fetched(Ok(Fetched::Rows(staged))) => Some(Self::Fetched(Ok(Fetched::Rows(staged.clone())))),
            Self::Fetched(_) => None,
        }
    }
}

/// What landed, for the model at this place in the run's order.
pub(crate) struct Arrival {
    pub at: usize,
    pub landed: Landed,
    /// How long it took.
    pub took: Duration,
}

/// Both ends of the way.
pub(crate) struct Arrivals {
    sender: Sender<Arrival>,
    receiver: Receiver<Arrival>,
}

/// Something lands for sure: if not what was promised, because its thread ended, then an error.
pub(crate) struct Promise {
    at: usize,
    sender: Sender<Arrival>,
    is_kept: bool,
}

impl Default for Arrivals {
    fn default() -> Self {
        let (sender, receiver) = channel();
        Self { sender, receiver }
    }
}

impl Arrivals {
    pub fn promise(&self, at: usize) -> Promise {
        Promise { at, sender: self.sender.clone(), is_kept: false }
    }

    /// What has landed.
    pub fn take(&self) -> Option<Arrival> {
        self.receiver.try_recv().ok()
    }

    /// What lands next, if it does so in time.
    pub fn wait(&self, longest: Duration) -> Option<Arrival> {
        self.receiver.recv_timeout(longest).ok()
    }
}

impl Promise {
    pub fn keep(mut self, landed: Landed, took: Duration) {
        self.send(landed, took);
    }

    /// Nothing was promised.
    pub fn forget(mut self) {
        self.is_kept = true;
    }

    fn send(&mut self, landed: Landed, took: Duration) {
        self.is_kept = true;
        // Nobody waits any more if the run was ended.
        let _ = self.sender.send(Arrival { at: self.at, landed, took });
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        if !self.is_kept {
            self.send(Landed::Fetched(Err(RunError::Interrupted)), Duration::ZERO);
        }
    }
}
