//! A refresh that is under way is waited for a moment longer than other requests: a provider that has taken a refresh
//! token out of use gives the next one in this answer and in no other.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use http_client::Stop;

/// How long the answer is waited for after the wish to stop.
const GRACE: Duration = Duration::from_secs(5);

/// Wishes to stop a while after `stop` does.
pub(crate) fn later(stop: &Stop) -> Stop {
    after(stop, GRACE)
}

fn after(stop: &Stop, grace: Duration) -> Stop {
    let (stop, since) = (stop.clone(), Mutex::new(None));
    Stop::new(move || {
        let mut since = since.lock().unwrap_or_else(PoisonError::into_inner);
        stop.is_requested() && since.get_or_insert_with(Instant::now).elapsed() >= grace
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use super::after;
    use http_client::Stop;

    #[test]
    fn the_wish_comes_after_a_while_and_not_without_a_wish() {
        let wish = Arc::new(AtomicBool::new(false));
        let shared = Arc::clone(&wish);
        let stop = Stop::new(move || shared.load(Ordering::SeqCst));
        let (at_once, never) = (after(&stop, Duration::ZERO), after(&stop, Duration::from_hours(1)));
        assert!(!at_once.is_requested() && !never.is_requested());
        wish.store(true, Ordering::SeqCst);
        assert!(at_once.is_requested() && !never.is_requested());
    }
}
