//! The law of the queue: which change of an event's state is allowed.
//!
//! The databases' scripts guard on the same states; the conformance suite holds them to this table.

/// Where an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventState {
    /// In `sync_evt`, to be delivered as soon as a worker has time.
    Pending,
    /// In `sync_evt`, not to be delivered before some time: a delivery failed.
    Waiting,
    /// In `sync_inflight`, without an outcome.
    InFlight,
    /// In `sync_inflight`, with an outcome in `sync_apply_log`.
    Answered(Answer),
    /// In `sync_dead`.
    Dead,
    /// Delivered, and gone.
    Done,
    /// Gone without being delivered: a person said so.
    Dropped,
}

/// What a sink answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It took the event.
    Ok,
    /// It did not; try again.
    Error,
    /// It never will.
    Reject,
}

/// What is done to an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Time passes its `not_before`.
    Due,
    /// A worker claims it.
    Claim,
    /// A worker notes the sink's answer.
    Record(Answer),
    /// Noted answers are applied, by the worker or by who takes its claim over.
    Apply,
    /// The claim ends without an answer for it, by the worker or by who takes its claim over.
    Release,
    /// A person wants it to be tried again: now, or at all. A dead letter comes back under a new number.
    Retry,
    /// A person takes it out of the queue; out of a claim only once its worker is gone.
    Drop,
    /// Its table is gone.
    Bury,
}

/// An action that the event's state does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{action:?} is not allowed for an event that is {state:?}")]
pub struct IllegalTransition {
    /// The state.
    pub state: EventState,
    /// The action.
    pub action: Action,
}

/// The state after `action`. Every pair that is not listed is an error.
pub fn after(state: EventState, action: Action) -> Result<EventState, IllegalTransition> {
    use EventState::{Answered, Dead, Done, Dropped, InFlight, Pending, Waiting};
    Ok(match (state, action) {
        (Waiting, Action::Due | Action::Retry) | (InFlight, Action::Release) | (Dead, Action::Retry) => Pending,
        // Applying touches only what has an answer.
        (Pending, Action::Claim) | (InFlight, Action::Apply) => InFlight,
        (InFlight, Action::Record(answer)) => Answered(answer),
        // The first answer stands: the second comes from a request that was sent twice.
        (Answered(first), Action::Record(_)) => Answered(first),
        (Answered(Answer::Ok), Action::Apply) => Done,
        (Answered(Answer::Error), Action::Apply) => Waiting,
        (Answered(Answer::Reject), Action::Apply) | (Pending | Waiting, Action::Bury) => Dead,
        (Pending | Waiting | InFlight | Dead, Action::Drop) => Dropped,
        (state, action) => return Err(IllegalTransition { state, action }),
    })
}

#[cfg(test)]
mod tests {
    use super::{Action, Answer, EventState, after};

    const BY_WORKERS: [Action; 5] =
        [Action::Due, Action::Claim, Action::Record(Answer::Ok), Action::Apply, Action::Release];
    const BY_PERSONS: [Action; 3] = [Action::Retry, Action::Drop, Action::Bury];

    #[test]
    fn only_an_answer_or_a_person_leads_out_of_the_queue() {
        let is_out = |reached| matches!(reached, Ok(EventState::Done | EventState::Dead | EventState::Dropped));
        for state in [EventState::Pending, EventState::Waiting, EventState::InFlight] {
            for action in BY_WORKERS {
                assert!(!is_out(after(state, action)), "{state:?} {action:?}");
            }
        }
        assert_eq!(after(EventState::Answered(Answer::Ok), Action::Apply), Ok(EventState::Done));
        // No person says that something was delivered.
        let states = [EventState::Pending, EventState::Waiting, EventState::InFlight, EventState::Dead];
        for (state, action) in states.into_iter().flat_map(|state| BY_PERSONS.map(|action| (state, action))) {
            assert_ne!(after(state, action), Ok(EventState::Done), "{state:?} {action:?}");
        }
    }

    #[test]
    fn what_is_over_stays_over() {
        for state in [EventState::Done, EventState::Dropped] {
            assert!(BY_WORKERS.into_iter().chain(BY_PERSONS).all(|action| after(state, action).is_err()));
        }
    }

    #[test]
    fn only_a_person_touches_a_dead_letter() {
        assert!(BY_WORKERS.into_iter().all(|action| after(EventState::Dead, action).is_err()));
        assert_eq!(after(EventState::Dead, Action::Retry), Ok(EventState::Pending));
        assert_eq!(after(EventState::Dead, Action::Drop), Ok(EventState::Dropped));
    }

    #[test]
    fn an_answer_is_applied_before_anything_else() {
        let ends = [Action::Release, Action::Retry, Action::Drop, Action::Bury];
        assert!(ends.into_iter().all(|action| after(EventState::Answered(Answer::Ok), action).is_err()));
    }

    #[test]
    fn what_a_worker_holds_is_not_buried() {
        assert!(after(EventState::InFlight, Action::Bury).is_err());
    }
}
