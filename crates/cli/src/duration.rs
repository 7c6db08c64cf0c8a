//! Durations as text, both ways (chapter 05 §2), and moments.

use std::time::Duration;

/// `0ms`, `45ms`, `1.1s`, `1m2.5s`, `1h2m3s`.
pub(crate) fn format(duration: Duration) -> String {
    let millis = duration.as_millis();
    if millis < 1000 {
        return format!("{millis}ms");
    }
    let (minutes, rest) = (millis / 60_000, millis % 60_000);
    if minutes >= 60 {
        return format!("{}h{}m{}s", minutes / 60, minutes % 60, rest / 1000);
    }
    let fraction = format!("{:03}", rest % 1000);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    let seconds = format!("{}{point}{fraction}s", rest / 1000);
    if minutes == 0 { seconds } else { format!("{minutes}m{seconds}") }
}

/// `500ms`, `30s`, `1m30s`, `2h`.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    types::parse_duration(text).ok_or_else(|| "write a duration like 500ms, 30s, 1m30s or 2h".to_owned())
}

/// A moment in milliseconds since 1970 as RFC 3339, in UTC.
pub(crate) fn moment(millis: i64) -> String {
    jiff::Timestamp::from_millisecond(millis).map_or_else(|_| millis.to_string(), |moment| moment.to_string())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{format, parse};

    #[test]
    fn durations_are_written_as_the_contract_says() {
        for (millis, text) in [
            (0, "0ms"),
            (45, "45ms"),
            (999, "999ms"),
            (1000, "1s"),
            (1100, "1.1s"),
            (62_500, "1m2.5s"),
            (3_723_900, "1h2m3s"),
        ] {
            assert_eq!(format(Duration::from_millis(millis)), text);
        }
    }

    #[test]
    fn durations_are_read_in_concatenated_units() {
        assert_eq!(parse("1m30s"), Ok(Duration::from_secs(90)));
        assert_eq!(parse("0s"), Ok(Duration::ZERO));
        for bad in ["", "5", "s", "5 s", "1d", "99999999999999999999h", "-1s"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
