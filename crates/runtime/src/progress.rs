//! How far the models of a run are, each by its place in the order of the run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use state::Lease;

use crate::ModelOutcome;
use crate::arrivals::{Arrivals, Landed};
use crate::task::Task;

/// How far the models are.
#[derive(Default)]
pub(crate) struct Progress {
    pub arrivals: Arrivals,
    /// Those that have begun.
    pub flights: BTreeMap<usize, Flight>,
    /// Those that another worker has, with when to ask again.
    pub held: BTreeMap<usize, Instant>,
    /// Those of which it was told that they are waited for.
    pub told: BTreeSet<usize>,
    pub leases: BTreeMap<usize, Lease>,
    /// Those that failed, or whose upstream did, in lower case.
    pub failed: BTreeSet<String>,
    /// What became of those that had their turn.
    pub outcomes: BTreeMap<usize, ModelOutcome>,
    /// Whether the run ends before its time, and whether it was the user who ended it.
    pub ended: Option<Ended>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Interrupted,
    Fatal,
}

/// A model that has begun.
pub(crate) struct Flight {
    pub task: Arc<Task>,
    pub fetches: bool,
    /// What it waited for, and for how long.
    pub landed: Option<(Landed, Duration)>,
    /// Whether its transaction has to go on beside no query: there was too little memory for both.
    pub alone: bool,
}

impl Progress {
    /// Notes what has landed; with a wait, at least one thing, if it comes within it.
    pub fn receive(&mut self, wait: Option<Duration>) {
        let first = wait.and_then(|longest| self.arrivals.wait(longest));
        let arrived: Vec<_> = first.into_iter().chain(std::iter::from_fn(|| self.arrivals.take())).collect();
        for arrival in arrived {
            if let Some(flight) = self.flights.get_mut(&arrival.at) {
                flight.alone = matches!(arrival.landed, Landed::Ahead(None));
                flight.landed = Some((arrival.landed, arrival.took));
            }
        }
    }

    /// The first model whose transaction may come; one that has to be alone comes last.
    pub fn next_landed(&self) -> Option<usize> {
        let first = |alone: bool| {
            let landed = |flight: &Flight| flight.landed.is_some() && flight.alone == alone;
            self.flights.iter().find(|(_, flight)| landed(flight)).map(|(at, _)| *at)
        };
        first(false).or_else(|| first(true).filter(|_| !self.has_queries()))
    }

    /// Whether a model waits for being alone.
    pub fn wants_alone(&self) -> bool {
        self.flights.values().any(|flight| flight.alone)
    }

    /// Whether queries go on.
    pub fn has_queries(&self) -> bool {
        self.flights.values().any(|flight| flight.landed.is_none() && !flight.fetches)
    }
}
