//! At most so many starts in any window of time.

use crate::{HttpError, Stop};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bounds how many requests start in any window of `per` (chapter 03 §3.3 *Transport*, `rate_limit`), and can be paused.
///
/// It remembers the last starts. A bucket that refills steadily would need less memory, and would let twice the number
/// pass in some window.
#[derive(Debug)]
pub struct RateLimiter {
    limit: Option<Limit>,
    starts: Mutex<Starts>,
}

#[derive(Debug)]
struct Limit {
    requests: usize,
    window: Duration,
}

/// Pauses and starts under one lock: none that was asked for before a pause begins within it.
#[derive(Debug, Default)]
struct Starts {
    last: VecDeque<Instant>,
    /// Until when there is a pause.
    paused: Option<Instant>,
}

impl RateLimiter {
    /// At most `requests` (at least one) starts in any window of `per`.
    pub fn new(requests: u32, per: Duration) -> Self {
        let requests = usize::try_from(requests.max(1)).unwrap_or(usize::MAX);
        let limit = Limit { requests, window: per.saturating_add(margin(per)) };
        Self { limit: Some(limit), starts: Mutex::default() }
    }

    /// Any number of starts, but none in a pause.
    pub fn unlimited() -> Self {
        Self { limit: None, starts: Mutex::default() }
    }

    /// Waits until a request may start, and counts it as started.
    ///
    /// # Errors
    /// [`HttpError::Stopped`] when the wait was asked to end. Nothing is counted then.
    pub fn wait(&self, stop: &Stop) -> Result<(), HttpError> {
        while let Some(wait) = self.start(Instant::now()) {
            stop.sleep(wait)?;
        }
        stop.check()
    }

    /// Nothing starts for this time from now on. A longer pause that has begun stays.
    pub fn pause(&self, time: Duration) {
        self.pause_from(Instant::now(), time);
    }

    fn pause_from(&self, now: Instant, time: Duration) {
        let mut starts = self.starts.lock().unwrap_or_else(PoisonError::into_inner);
        starts.paused = starts.paused.max(now.checked_add(time));
    }

    /// Counts a start at `now` and gives nothing, or says how long to wait before asking again.
    fn start(&self, now: Instant) -> Option<Duration> {
        let mut starts = self.starts.lock().unwrap_or_else(PoisonError::into_inner);
        let pause = starts.paused.map(|end| end.saturating_duration_since(now));
        if pause.is_some_and(|left| !left.is_zero()) {
            return pause;
        }
        let Limit { requests, window } = self.limit.as_ref()?;
        if starts.last.len() < *requests {
            starts.last.push_back(now);
            return None;
        }
        let age = starts.last.front().map_or(*window, |oldest| now.saturating_duration_since(*oldest));
        if age < *window {
            return Some(window.saturating_sub(age));
        }
        starts.last.pop_front();
        starts.last.push_back(now);
        None
    }
}

/// What a window is longer than promised. The server counts arrivals, and of two requests the first may take longer to
/// arrive: it has to connect.
fn margin(per: Duration) -> Duration {
    (per / 20).min(Duration::from_millis(20))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// The times at which requests start when each is asked for as soon as the limiter allows it.
    fn schedule(limiter: &RateLimiter, count: usize) -> Vec<Duration> {
        let begin = Instant::now();
        let mut now = begin;
        let mut starts = Vec::new();
        while starts.len() < count {
            match limiter.start(now) {
                None => starts.push(now - begin),
                Some(wait) => now += wait,
            }
        }
        starts
    }

    #[test]
    fn no_window_holds_more_starts_than_allowed_and_nine_tenths_of_them_are_used() {
        for (requests, per) in [(1, 100), (2, 1000), (3, 50), (7, 60_000)] {
            let per = Duration::from_millis(per);
            let starts = schedule(&RateLimiter::new(requests, per), 40);
            let requests = requests as usize;
            for (first, last) in starts.iter().zip(starts.iter().skip(requests)) {
                assert!(last.saturating_sub(*first) >= per, "{requests} per {per:?}: {first:?} {last:?}");
            }
            let windows = u32::try_from(39 / requests).unwrap();
            assert!(starts[39] * 9 / 10 <= per * windows, "{requests} per {per:?}: {:?}", starts[39]);
        }
    }

    #[test]
    fn six_requests_at_two_a_second_take_two_seconds() {
        let starts = schedule(&RateLimiter::new(2, Duration::from_secs(1)), 6);
        assert!(starts[5] >= Duration::from_secs(2) && starts[5] < Duration::from_millis(2100), "{starts:?}");
    }

    #[test]
    fn a_quiet_time_does_not_allow_a_burst_later() {
        let limiter = RateLimiter::new(2, Duration::from_secs(1));
        let begin = Instant::now();
        assert_eq!(limiter.start(begin), None);
        let later = begin + Duration::from_millis(900);
        assert_eq!(limiter.start(later), None);
        assert_eq!(limiter.start(begin + Duration::from_millis(1100)), None);
        assert!(limiter.start(begin + Duration::from_millis(1200)).is_some());
    }

    #[test]
    fn nothing_starts_in_a_pause_and_the_longer_of_two_counts() {
        let seconds = Duration::from_secs;
        for limiter in [RateLimiter::unlimited(), RateLimiter::new(9, seconds(1))] {
            let begin = Instant::now();
            assert_eq!(limiter.start(begin), None);
            limiter.pause_from(begin, seconds(5));
            limiter.pause_from(begin, seconds(3));
            assert_eq!(limiter.start(begin), Some(seconds(5)));
            assert_eq!(limiter.start(begin + seconds(4)), Some(seconds(1)));
            assert_eq!(limiter.start(begin + seconds(5)), None);
        }
    }

    #[test]
    fn a_pause_takes_nothing_off_the_limit() {
        let limiter = RateLimiter::new(1, Duration::from_secs(1));
        let begin = Instant::now();
        limiter.pause_from(begin, Duration::from_secs(2));
        assert_eq!(limiter.start(begin), Some(Duration::from_secs(2)));
        assert_eq!(limiter.start(begin + Duration::from_secs(2)), None);
        assert!(limiter.start(begin + Duration::from_secs(2)).is_some());
    }

    #[test]
    fn without_a_limit_nothing_waits_nor_is_remembered() {
        let limiter = RateLimiter::unlimited();
        for _ in 0..100 {
            assert_eq!(limiter.start(Instant::now()), None);
        }
        assert!(limiter.starts.lock().unwrap().last.is_empty());
    }

    #[test]
    fn threads_share_one_limit() {
        let limiter = Arc::new(RateLimiter::new(3, Duration::from_millis(100)));
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let limiter = Arc::clone(&limiter);
                std::thread::spawn(move || {
                    (0..3)
                        .map(|_| {
                            limiter.wait(&Stop::never()).unwrap();
                            Instant::now()
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        let mut starts: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        starts.sort();
        assert!(starts[8] - starts[0] >= Duration::from_millis(150));
    }

    #[test]
    fn a_wait_ends_when_it_is_asked_to() {
        let limiter = RateLimiter::new(1, Duration::from_hours(1));
        limiter.wait(&Stop::never()).unwrap();
        let flag = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&flag);
        let asked = std::thread::spawn(move || limiter.wait(&Stop::new(move || seen.load(Ordering::Relaxed))));
        flag.store(true, Ordering::Relaxed);
        assert!(matches!(asked.join().unwrap(), Err(HttpError::Stopped)));
    }
}
