//! When to try again: at once and by chance after a conflict, with a new session after a lost connection.

use std::time::{Duration, Instant};

use crate::StateError;
use crate::failure::{Failure, Fence};
use crate::worker::random_hex;

/// Longest pause after a conflict.
const CONFLICT_PAUSE_MAX: Duration = Duration::from_millis(400);
/// Conflicts in a row before it is given up.
const CONFLICTS_MAX: u32 = 60;
/// Pauses before a new session.
const LOST_PAUSES_MS: [u64; 4] = [50, 200, 500, 1000];

/// The attempts at one verb.
pub(crate) struct Attempts {
    /// When the connection was lost for the first time.
    first_loss: Option<Instant>,
    patience: Duration,
    conflicts: u32,
    lost: u32,
}

/// What to do after a failure.
pub(crate) enum Next {
    /// Run the script again.
    Again,
    /// Open a new session, then run it again.
    Reopen,
}

impl Attempts {
    /// Lost connections are tried again for `patience` after the first one was, and once at least: one answer that
    /// does not come may take longer than that. With no patience at all, never.
    pub(crate) fn new(patience: Duration) -> Self {
        Self { first_loss: None, patience, conflicts: 0, lost: 0 }
    }

    /// Whether an attempt before may have done its work without telling.
    pub(crate) fn is_uncertain(&self) -> bool {
        self.lost > 0
    }

    /// Waits as the failure asks for; an error if it is not to be tried again.
    pub(crate) fn after(&mut self, failure: Failure) -> Result<Next, VerbError> {
        match failure {
            Failure::Fence(fence) => Err(VerbError::Fence(fence)),
            Failure::Refused(message) => Err(VerbError::State(StateError::Write { message })),
            Failure::Conflict(message) => {
                self.conflicts += 1;
                if self.conflicts >= CONFLICTS_MAX {
                    return Err(VerbError::State(StateError::Conflict { attempts: self.conflicts, message }));
                }
                let longest = Duration::from_millis(2 << self.conflicts.min(8)).min(CONFLICT_PAUSE_MAX);
                std::thread::sleep(longest.mul_f64(chance()));
                Ok(Next::Again)
            }
            Failure::Lost(message) => {
                let waited = self.first_loss.get_or_insert_with(Instant::now).elapsed();
                if waited >= self.patience && (self.lost > 0 || self.patience.is_zero()) {
                    return Err(VerbError::State(StateError::unreachable(waited, message)));
                }
                let at = (self.lost as usize).min(LOST_PAUSES_MS.len() - 1);
                self.lost += 1;
                std::thread::sleep(Duration::from_millis(LOST_PAUSES_MS[at]).min(self.patience.saturating_sub(waited)));
                Ok(Next::Reopen)
            }
        }
    }
}

/// Why a verb ended without doing its work.
pub(crate) enum VerbError {
    /// A condition of its script did not hold.
    Fence(Fence),
    /// An error for the user.
    State(StateError),
}

impl VerbError {
    /// The error, where there is no condition.
    pub(crate) fn unconditional(self) -> StateError {
        match self {
            Self::State(error) => error,
            Self::Fence(fence) => StateError::Write { message: format!("an unexpected answer: {fence:?}") },
        }
    }

    /// The error, where the only condition is that a lease is still held.
    pub(crate) fn lease_on(self, what: &str) -> StateError {
        match self {
            Self::State(error) => error,
            Self::Fence(_) => StateError::LeaseLost { what: what.to_owned() },
        }
    }
}

impl From<StateError> for VerbError {
    fn from(error: StateError) -> Self {
        Self::State(error)
    }
}

/// A number from 0 to 1: two that collided must not try again at the same time.
fn chance() -> f64 {
    let digits = random_hex::<2>().unwrap_or_default();
    f64::from(u16::from_str_radix(&digits, 16).unwrap_or(u16::MAX / 2)) / f64::from(u16::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Attempts, Next, VerbError};
    use crate::StateError;
    use crate::failure::Failure;

    #[test]
    fn conflicts_and_lost_connections_are_given_up_in_the_end() {
        let mut attempts = Attempts::new(Duration::ZERO);
        assert!(matches!(attempts.after(Failure::Conflict("c".into())), Ok(Next::Again)));
        assert!(!attempts.is_uncertain());
        let error = attempts.after(Failure::Lost("gone".into())).err().unwrap();
        assert!(matches!(error, VerbError::State(StateError::Unreachable { .. })));
    }
}
