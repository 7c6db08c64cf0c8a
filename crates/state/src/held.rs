//! The terms that a worker was given and has not ended: only these are renewed.
//!
//! A request may be executed after its worker stopped waiting for the answer. Nobody knows what it took, so nobody
//! renews it, and it can be taken over as soon as its time has run out. What another worker took over goes with the
//! next sign of life.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use types::literal;

use crate::WorkerId;

/// Terms by worker, shared by the sessions of a process.
#[derive(Clone, Default)]
pub(crate) struct Held(Arc<Mutex<BTreeSet<(WorkerId, String)>>>);

impl Held {
    pub(crate) fn add(&self, worker: &WorkerId, term: &str) {
        self.terms().insert((worker.clone(), term.to_owned()));
    }

    pub(crate) fn remove(&self, worker: &WorkerId, term: &str) {
        self.terms().remove(&(worker.clone(), term.to_owned()));
    }

    /// A worker's terms.
    pub(crate) fn of(&self, worker: &WorkerId) -> Vec<String> {
        self.terms().iter().filter(|(holder, _)| holder == worker).map(|(_, term)| term.clone()).collect()
    }

    /// A worker's terms as a list in SQL, which is never empty.
    pub(crate) fn list(&self, worker: &WorkerId) -> String {
        let terms: Vec<String> = self.of(worker).iter().map(|term| literal(term)).collect();
        if terms.is_empty() { "('')".to_owned() } else { format!("({})", terms.join(", ")) }
    }

    fn terms(&self) -> MutexGuard<'_, BTreeSet<(WorkerId, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
