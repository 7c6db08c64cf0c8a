//! The wish to stop: asked for by every wait, so that none outlasts it by more than a moment.

use crate::HttpError;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often a wait asks. A stop is promised within one second.
pub(crate) const POLL: Duration = Duration::from_millis(25);

/// Answers whether the work was asked to stop. Cheap to clone, shared by threads.
#[derive(Clone)]
pub struct Stop(Arc<dyn Fn() -> bool + Send + Sync>);

impl Stop {
    /// Asks `is_requested` again and again, from any thread, while something is waited for.
    pub fn new(is_requested: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_requested))
    }

    /// Nothing ever stops.
    pub fn never() -> Self {
        Self::new(|| false)
    }

    /// Whether to stop now.
    pub fn is_requested(&self) -> bool {
        (self.0)()
    }

    /// Fails with [`HttpError::Stopped`] when it is time to stop.
    pub fn check(&self) -> Result<(), HttpError> {
        if self.is_requested() { Err(HttpError::Stopped) } else { Ok(()) }
    }

    /// Sleeps, and fails with [`HttpError::Stopped`] as soon as it is time to stop.
    pub fn sleep(&self, duration: Duration) -> Result<(), HttpError> {
        let started = Instant::now();
        loop {
            self.check()?;
            let left = duration.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(POLL));
        }
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stop")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_sleep_ends_when_it_is_asked_to() {
        let asked = AtomicUsize::new(0);
        let stop = Stop::new(move || asked.fetch_add(1, Ordering::Relaxed) >= 2);
        let started = Instant::now();
        assert!(matches!(stop.sleep(Duration::from_hours(1)), Err(HttpError::Stopped)));
        assert!(started.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn a_sleep_of_nothing_still_sees_the_wish() {
        assert!(Stop::never().sleep(Duration::ZERO).is_ok());
        assert!(Stop::new(|| true).sleep(Duration::ZERO).is_err());
    }
}
