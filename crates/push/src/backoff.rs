//! How long a failed event waits (chapter 04 §6.4).

use std::time::Duration;

/// Longest wait.
const LONGEST: Duration = Duration::from_hours(1);

/// The wait after so many failures, the one at hand included: doubled each time, up to an hour, and spread by chance so
/// that not all that failed when the sink was down comes back at once.
pub(crate) fn wait(first: Duration, failures: u32, chance: f64) -> Duration {
    if first.is_zero() {
        return first;
    }
    let doubled = 1_u32.checked_shl(failures.saturating_sub(1)).and_then(|factor| first.checked_mul(factor));
    doubled.unwrap_or(LONGEST).min(LONGEST).mul_f64(0.75 + chance / 2.0)
}

/// A number from 0 to 1.
pub(crate) fn chance() -> f64 {
    let mut random = [0; 4];
    // Without chance the wait is only not spread.
    let _ = getrandom::fill(&mut random);
    f64::from(u32::from_le_bytes(random)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::wait;

    #[test]
    fn a_wait_doubles_up_to_an_hour() {
        let waits =
            [1, 2, 3, 12, 13, 40, u32::MAX].map(|failures| wait(Duration::from_secs(1), failures, 0.5).as_secs());
        assert_eq!(waits, [1, 2, 4, 2048, 3600, 3600, 3600]);
        assert_eq!([9, 33, u32::MAX].map(|failures| wait(Duration::ZERO, failures, 0.5)), [Duration::ZERO; 3]);
        assert_eq!(wait(Duration::MAX, 2, 0.5), Duration::from_hours(1));
    }

    #[test]
    fn chance_spreads_it_by_a_quarter() {
        assert_eq!(wait(Duration::from_secs(4), 1, 0.0), Duration::from_secs(3));
        assert_eq!(wait(Duration::from_secs(4), 1, 1.0), Duration::from_secs(5));
    }
}
