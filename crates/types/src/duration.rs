//! Durations as users write them (chapter 03 §3.1, chapter 05 §2).

use std::time::Duration;

/// Reads numbers with units, one after the other: `500ms`, `30s`, `1m30s`, `2h`, `0.5s`. `None` for anything else.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number = &rest[..digits];
        rest = &rest[digits..];
        let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let unit_ms = match &rest[..letters] {
            "ms" => 1,
            "s" => 1000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return None,
        };
        total = total.checked_add(part(number, unit_ms)?)?;
        rest = &rest[letters..];
    }
    (!text.is_empty()).then_some(total)
}

fn part(number: &str, unit_ms: u64) -> Option<Duration> {
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(unit_ms).map(Duration::from_millis);
    }
    let (whole, fraction) = number.split_once('.')?;
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) {
        return None;
    }
    #[allow(clippy::cast_precision_loss)]
    Duration::try_from_secs_f64(number.parse::<f64>().ok()? * unit_ms as f64 / 1000.0).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::parse_duration;

    #[test]
    fn numbers_with_units_add_up() {
        for (text, millis) in
            [("500ms", 500), ("30s", 30_000), ("1m30s", 90_000), ("2h", 7_200_000), ("0.5s", 500), ("1h1ms", 3_600_001)]
        {
            assert_eq!(parse_duration(text), Some(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "5", "s", "5 s", "-1s", "1d", "1.s", ".5s", "1..2s", "1s2", "1é", "99999999999999999999h"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
        assert_eq!(parse_duration(&"18446744073709551615ms".repeat(1001)), None);
    }
}
