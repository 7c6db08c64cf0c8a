//! The state catalog: the push queue, staged rows, leases and tokens, on any of three databases.
//!
//! Boundary: knows events, claims and rows as text; not how changes are found, not how they are delivered.
//! Every verb is one short script that the database executes as a whole. It reads no environment variable and
//! prints nothing.

mod backend;
mod copy;
mod error;
mod failure;
mod heartbeat;
mod held;
mod leases;
mod look;
mod migrations;
mod open;
mod outcomes;
mod queue;
mod queue_admin;
mod rekey;
mod retry;
mod script;
mod serve;
mod shared;
mod sql_leases;
mod sql_queue;
mod sql_queue_admin;
mod sql_staging;
mod sql_store;
mod sql_tokens;
mod staging;
mod status;
mod tokens;
mod transition;
mod worker;

pub use backend::BackendKind;
pub use copy::{Copied, copy};
pub use error::StateError;
pub use heartbeat::Heartbeat;
pub use leases::{Lease, LeaseAnswer, Leases};
pub use look::{StateLook, look, open_in_memory};
pub use open::{LEASE, StateConfig, open, state_file};
pub use queue::{
    AdoptedClaim, Claim, ClaimLease, Counts, DeliveryReport, Event, Fed, Feed, Job, Outcome, OutcomeStatus, Position,
    Queue, Recovery,
};
pub use queue_admin::{
    Buried, InFlight, LastDelivery, Need, NeededSnapshot, NextRetry, QueueAdmin, QueuedEvent, QueuedState, Revived,
    TargetOverview, Which,
};
pub use rekey::{Rekeyed, finish_rekey, rekey};
pub use serve::{ServeOptions, Served, check_address, serve};
pub use shared::SharedStore;
pub use sql_store::SqlStore;
pub use staging::{FetchLease, StagedFetch, Staging};
pub use status::{Status, TableSize, WorkerStatus};
pub use tokens::{StoredToken, Token, Tokens};
pub use transition::{Action, Answer, EventState, IllegalTransition, after};
pub use worker::WorkerId;

/// Everything that a run asks of the state.
pub trait Store: Queue + QueueAdmin + Leases + Staging + Tokens + Send {}

impl<T: Queue + QueueAdmin + Leases + Staging + Tokens + Send> Store for T {}
