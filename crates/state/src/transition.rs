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
    use EventState::{Answered, Dead, Done, InFlight, Pending, Waiting};
    Ok(match (state, action) {
        (Waiting, Action::Due) | (InFlight, Action::Release) => Pending,
        // Applying touches only what has an answer.
        (Pending, Action::Claim) | (InFlight, Action::Apply) => InFlight,
        (InFlight, Action::Record(answer)) => Answered(answer),
        // The first answer stands: the second comes from a request that was sent twice.
        (Answered(first), Action::Record(_)) => Answered(first),
        (Answered(Answer::Ok), Action::Apply) => Done,
        (Answered(Answer::Error), Action::Apply) => Waiting,
        (Answered(Answer::Reject), Action::Apply) => Dead,
        (state, action) => return Err(IllegalTransition { state, action }),
    })
}

#[cfg(test)]
mod tests {
    use super::{Action, Answer, EventState, after};

    #[test]
    fn only_an_answer_leads_out_of_the_queue() {
        let states = [EventState::Pending, EventState::Waiting, EventState::InFlight];
        let actions = [Action::Due, Action::Claim, Action::Apply, Action::Release];
        for state in states {
            for action in actions {
                let reached = after(state, action);
                assert!(!matches!(reached, Ok(EventState::Done | EventState::Dead)), "{state:?} {action:?}");
            }
        }
        assert_eq!(after(EventState::Answered(Answer::Ok), Action::Apply), Ok(EventState::Done));
    }

    #[test]
    fn what_is_over_stays_over() {
        for state in [EventState::Done, EventState::Dead] {
            for action in [Action::Due, Action::Claim, Action::Record(Answer::Ok), Action::Apply, Action::Release] {
                assert!(after(state, action).is_err());
            }
        }
    }

    #[test]
    fn an_answer_is_applied_before_a_claim_ends() {
        assert!(after(EventState::Answered(Answer::Ok), Action::Release).is_err());
    }
}
