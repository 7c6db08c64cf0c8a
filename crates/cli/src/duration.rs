//! Durations as text, both ways (chapter 05 §2).

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
    let invalid = || "write a duration like 500ms, 30s, 1m30s or 2h".to_owned();
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(invalid)?;
        let number: u64 = rest[..digits].parse().map_err(|_| invalid())?;
        rest = &rest[digits..];
        let letters = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let unit_ms = match &rest[..letters] {
            "ms" => 1,
            "s" => 1000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return Err(invalid()),
        };
        let part = Duration::from_millis(number.checked_mul(unit_ms).ok_or_else(invalid)?);
        total = total.checked_add(part).ok_or_else(invalid)?;
        rest = &rest[letters..];
    }
    if text.is_empty() { Err(invalid()) } else { Ok(total) }
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
