//! Tokens of this process: however many threads ask for one, one of them gets it (chapter 03 §3.5).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use http_client::Stop;

use crate::OAuthError;

/// Pause between two questions whether it is one's turn.
const PAUSE: Duration = Duration::from_millis(25);
/// A token is due for renewal this long before it expires.
const MARGIN: Duration = Duration::from_mins(1);

/// How long before it expires a token is due that lives for so long: of a short life at most the second half is given up.
pub(crate) fn margin(life: Duration) -> Duration {
    MARGIN.min(life / 2)
}

/// So long no other token is asked for in place of one that was got after a rejection and is rejected as well.
const FRUITLESS: Duration = Duration::from_mins(1);

/// An access token.
#[derive(Clone)]
pub(crate) struct Access {
    pub token: String,
    /// When it is due for renewal.
    pub due: Instant,
}

impl Access {
    /// A token of which so much is left of its life.
    pub(crate) fn new(token: String, left: Duration, life: Duration) -> Self {
        Self { token, due: Instant::now() + left.saturating_sub(margin(life)) }
    }
}

/// Access tokens by what they are for.
#[derive(Default)]
pub(crate) struct SingleFlight(Mutex<BTreeMap<String, Arc<Slot>>>);

#[derive(Default)]
struct Slot {
    /// Whose turn it is to get a new one.
    turn: Mutex<()>,
    last: Mutex<Option<Last>>,
}

/// The token that was got last.
struct Last {
    access: Access,
    /// Whether one was rejected before it.
    after_rejection: bool,
    got: Instant,
}

impl SingleFlight {
    /// The token for `key` that is not due yet and was not rejected, or the one that `get` gives. The one that was rejected
    /// if there is none that would be better.
    pub(crate) fn get(
        &self,
        key: &str,
        rejected: Option<&str>,
        stop: &Stop,
        get: impl FnOnce() -> Result<Access, OAuthError>,
    ) -> Result<String, OAuthError> {
        let slot = Arc::clone(lock(&self.0).entry(key.to_owned()).or_default());
        if let Some(token) = slot.known(rejected) {
            return Ok(token);
        }
        let _turn = slot.turn(stop)?;
        // Whoever had the turn before may have got one.
        if let Some(token) = slot.known(rejected) {
            return Ok(token);
        }
        let access = get()?;
        *lock(&slot.last) =
            Some(Last { access: access.clone(), after_rejection: rejected.is_some(), got: Instant::now() });
        Ok(access.token)
    }
}

impl Slot {
    /// The last token, if it is not due yet and was not rejected; or if a rejection is what it was got for a moment ago:
    /// a third one would be rejected, too, and each may cost the provider's patience.
    fn known(&self, rejected: Option<&str>) -> Option<String> {
        let last = lock(&self.last);
        let Last { access, after_rejection, got } = last.as_ref()?;
        let is_rejected = Some(access.token.as_str()) == rejected;
        let is_fruitless = *after_rejection && got.elapsed() < FRUITLESS;
        let is_known = access.due > Instant::now() && (!is_rejected || is_fruitless);
        is_known.then(|| access.token.clone())
    }

    fn turn(&self, stop: &Stop) -> Result<MutexGuard<'_, ()>, OAuthError> {
        loop {
            match self.turn.try_lock() {
                Ok(turn) => return Ok(turn),
                Err(TryLockError::Poisoned(turn)) => return Ok(turn.into_inner()),
                Err(TryLockError::WouldBlock) => stop.sleep(PAUSE).map_err(|_| OAuthError::Stopped)?,
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::{Access, MARGIN, SingleFlight};
    use crate::OAuthError;
    use http_client::Stop;

    fn get(tokens: &SingleFlight, key: &str, rejected: Option<&str>, got: &AtomicUsize, life: Duration) -> String {
        let get = || {
            // The others are at it meanwhile.
            thread::sleep(Duration::from_millis(20));
            let number = got.fetch_add(1, Ordering::SeqCst);
            Ok(Access::new(format!("{key}-{number}"), life, life))
        };
        tokens.get(key, rejected, &Stop::never(), get).unwrap()
    }

    #[test]
    fn sixteen_threads_get_one_token_and_one_in_place_of_a_rejected_one() {
        let (tokens, got, hour) = (SingleFlight::default(), AtomicUsize::new(0), Duration::from_hours(1));
        // The last one is rejected again and again, by an API that takes none.
        for (rejected, expected) in
            [(None, "a-0"), (Some("a-0"), "a-1"), (Some("a-0"), "a-1"), (None, "a-1"), (Some("a-1"), "a-1")]
        {
            thread::scope(|scope| {
                let threads: Vec<_> =
                    (0..16).map(|_| scope.spawn(|| get(&tokens, "a", rejected, &got, hour))).collect();
                assert!(threads.into_iter().all(|thread| thread.join().unwrap() == expected));
            });
        }
        assert_eq!(get(&tokens, "b", None, &got, hour), "b-2");
    }

    #[test]
    fn a_token_that_is_due_is_not_given_again() {
        let (tokens, got) = (SingleFlight::default(), AtomicUsize::new(0));
        assert_eq!(get(&tokens, "a", None, &got, Duration::ZERO), "a-0");
        assert_eq!(get(&tokens, "a", None, &got, MARGIN * 2), "a-1");
        assert_eq!(get(&tokens, "a", None, &got, MARGIN), "a-1");
        // One of a short life serves more than one request.
        assert_eq!(get(&tokens, "b", None, &got, MARGIN / 2), "b-2");
        assert_eq!(get(&tokens, "b", None, &got, MARGIN / 2), "b-2");
    }

    #[test]
    fn a_failure_is_of_those_who_met_it() {
        let tokens = SingleFlight::default();
        let failed = tokens.get("a", None, &Stop::never(), || Err(OAuthError::Random { cause: "none".into() }));
        assert!(failed.is_err());
        assert_eq!(get(&tokens, "a", None, &AtomicUsize::new(0), Duration::from_hours(1)), "a-0");
    }

    #[test]
    fn who_waits_for_a_turn_can_be_stopped() {
        let tokens = SingleFlight::default();
        let nested = tokens.get("a", None, &Stop::never(), || {
            let waited = tokens.get("a", None, &Stop::new(|| true), || panic!("it is not its turn"));
            assert!(matches!(waited, Err(OAuthError::Stopped)));
            Err(OAuthError::Stopped)
        });
        assert!(nested.is_err());
    }
}
