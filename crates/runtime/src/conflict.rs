//! What is done when another writer got in the way of a transaction: it is run again.

use std::time::{Duration, Instant};

use crate::{Cancellation, RunError};

/// How long the same transaction is tried again. Writers that keep at it each have a short transaction, and one of them
/// always wins, so that this is not reached by a handful of workers.
const PATIENCE: Duration = Duration::from_mins(1);
/// Tried so often at least, however long each attempt takes.
const ATTEMPTS_MIN: u32 = 6;
/// The first pause is at most this long, …
const PAUSE: Duration = Duration::from_millis(40);
/// … and all are at most this long: the one that lost does not wait while others go on winning.
const PAUSE_MAX: Duration = Duration::from_millis(320);

/// The attempts at one transaction.
pub(crate) struct Attempts {
    began: Instant,
    count: u32,
}

impl Attempts {
    /// Before the first one.
    pub fn begin() -> Self {
        Self { began: Instant::now(), count: 1 }
    }

    /// Waits before the next attempt; an error, with the engine's text for it, once there is none any more.
    pub fn again(&mut self, cancellation: &Cancellation, message: String) -> Result<(), RunError> {
        cancellation.check()?;
        if self.count >= ATTEMPTS_MIN && self.began.elapsed() >= PATIENCE {
            return Err(RunError::Conflict { attempts: self.count, message });
        }
        std::thread::sleep(pause(self.count));
        self.count += 1;
        Ok(())
    }
}

/// Random, so that those who got in each other's way do not do so again.
fn pause(attempt: u32) -> Duration {
    let longest = PAUSE.saturating_mul(2_u32.saturating_pow(attempt - 1)).min(PAUSE_MAX);
    let mut random = [255];
    // Without random bytes the longest pause is as good.
    let _ = getrandom::fill(&mut random);
    longest.mul_f64(f64::from(random[0]) / 255.0)
}

#[cfg(test)]
mod tests {
    use super::{Attempts, PATIENCE, PAUSE_MAX, pause};
    use crate::{Cancellation, RunError};

    #[test]
    fn pauses_differ_and_stay_short() {
        let pauses: Vec<_> = (1..200).map(pause).collect();
        assert!(pauses.iter().all(|pause| *pause <= PAUSE_MAX));
        assert!(pauses.iter().any(|pause| *pause != pauses[0]));
    }

    #[test]
    fn a_transaction_is_given_up_after_a_while_and_not_after_a_few_attempts() {
        let cancellation = Cancellation::default();
        let mut attempts = Attempts::begin();
        for _ in 0..8 {
            attempts.again(&cancellation, "conflict".into()).unwrap();
        }
        attempts.began -= PATIENCE;
        let given_up = attempts.again(&cancellation, "conflict".into());
        assert!(matches!(given_up, Err(RunError::Conflict { attempts: 9, .. })));
        let mut slow = Attempts::begin();
        slow.began -= PATIENCE;
        slow.again(&cancellation, "conflict".into()).unwrap();
        cancellation.cancel();
        assert!(matches!(slow.again(&cancellation, "conflict".into()), Err(RunError::Interrupted)));
    }
}
