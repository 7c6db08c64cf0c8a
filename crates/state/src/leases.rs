//! Leases by name: what only one worker may do at a time (chapter 04 §7).

use crate::{StateError, WorkerId};

/// A lease that this worker holds: renewing and giving it back match the exact term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// What is leased.
    pub name: String,
    /// Drawn anew each time it is taken.
    pub term: String,
}

/// The answer to a request for a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseAnswer {
    /// It is this worker's until it is given back or runs out.
    Taken(Lease),
    /// Somebody else's.
    Held(WorkerId),
}

/// Leases; they are renewed by the heartbeat.
pub trait Leases {
    /// Takes a lease if it is free, given back, or its holder is gone.
    fn take_lease(&mut self, name: &str, run_id: &str) -> Result<LeaseAnswer, StateError>;

    /// Gives a lease back.
    fn release_lease(&mut self, lease: &Lease) -> Result<(), StateError>;
}
