//! Which answers are asked for again, and after how long (chapter 03 §3.3 *Transport*).

use std::time::{Duration, SystemTime};

/// No wait of our own is longer.
const LONGEST_WAIT: Duration = Duration::from_mins(1);
/// A server that asks for more than this is not waited for.
pub(crate) const LONGEST_RETRY_AFTER: Duration = Duration::from_mins(5);

/// Whether a request that got this status is tried again.
pub(crate) fn is_retried(status: u16) -> bool {
    status == 429 || (500..600).contains(&status)
}

/// The wait before retry `number` (from 1): doubled each time, with up to half of it added by chance, which is given
/// as `chance` in `0.0..=1.0`.
pub(crate) fn backoff(base: Duration, number: u32, chance: f64) -> Duration {
    let doublings = i32::try_from(number.saturating_sub(1)).unwrap_or(i32::MAX);
    let seconds = base.as_secs_f64() * 2f64.powi(doublings) * (1.0 + chance.clamp(0.0, 1.0) / 2.0);
    Duration::try_from_secs_f64(seconds).map_or(LONGEST_WAIT, |wait| wait.min(LONGEST_WAIT))
}

/// What `Retry-After` asks for: seconds or one of the three forms of a date (RFC 9110 §10.2.3, §5.6.7).
///
/// Nothing for a date that is over and for what is neither.
pub(crate) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim_matches([' ', '\t']);
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    date.duration_since(now).ok().filter(|wait| !wait.is_zero())
}

/// A number in `0.0..=1.0`. Where the system has no randomness, the middle.
pub(crate) fn chance() -> f64 {
    getrandom::u32().map_or(0.5, |number| f64::from(number) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_429_and_errors_of_the_server_are_tried_again() {
        for status in [429, 500, 501, 502, 503, 504, 599] {
            assert!(is_retried(status), "{status}");
        }
        for status in [200, 204, 301, 304, 400, 401, 403, 404, 408, 409, 425, 428, 430, 499, 600] {
            assert!(!is_retried(status), "{status}");
        }
    }

    #[test]
    fn waits_double_vary_and_are_capped() {
        for (base, number, chance, wait) in [
            (1.0, 1, 0.0, 1.0),
            (1.0, 2, 0.0, 2.0),
            (1.0, 3, 0.0, 4.0),
            (1.0, 1, 1.0, 1.5),
            (2.0, 2, 0.5, 5.0),
            (0.0, 9, 1.0, 0.0),
            (1.0, 7, 0.0, 60.0),
            (50.0, 1, 1.0, 60.0),
            (1.0, u32::MAX, 1.0, 60.0),
            (1e15, 4000, 1.0, 60.0),
        ] {
            let got = backoff(Duration::from_secs_f64(base), number, chance);
            assert_eq!(got, Duration::from_secs_f64(wait), "{base} {number} {chance}");
        }
        assert_eq!(backoff(Duration::MAX, 1, 0.0), LONGEST_WAIT);
    }

    #[test]
    fn retry_after_is_seconds_or_a_date_ahead() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:30 GMT").unwrap();
        for (value, seconds) in [
            ("0", Some(0)),
            ("7", Some(7)),
            (" 120\t", Some(120)),
            ("86400", Some(86400)),
            ("99999999999999999999999", Some(u64::MAX)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(7)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(7)),
            ("Sun Nov  6 08:49:37 1994", Some(7)),
            ("Sun, 06 Nov 1994 08:49:30 GMT", None),
            ("Sun, 06 Nov 1994 08:49:29 GMT", None),
            ("-5", None),
            ("+5", None),
            ("1.5", None),
            ("", None),
            ("soon", None),
            ("2026-01-01T00:00:00Z", None),
        ] {
            assert_eq!(retry_after(value, now), seconds.map(Duration::from_secs), "{value}");
        }
    }
}
