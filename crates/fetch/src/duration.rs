//! Durations, which come as Go writes them: `1h30m0.5s`. They count as what DuckDB calls an INTERVAL.

use std::fmt::Write as _;

use crate::{Refusal, Written};

const SECOND: i128 = 1_000_000_000;
/// Units with their length in nanoseconds; one that ends like another stands before it.
const UNITS: [(&str, i128); 6] =
    [("h", 3600 * SECOND), ("ms", 1_000_000), ("\u{b5}s", 1_000), ("ns", 1), ("m", 60 * SECOND), ("s", SECOND)];

/// Writes what DuckDB reads as an INTERVAL, which is exact to the microsecond: what is finer is dropped.
pub(crate) fn write_interval(text: &str, out: &mut String) -> Written {
    match i64::try_from(nanos(text)? / 1_000) {
        Ok(micros) => {
            let _ = write!(out, "{micros} microseconds");
            Ok(())
        }
        Err(_) => Err(Refusal::new("it is out of range")),
    }
}

/// Writes the text that DuckDB casts an INTERVAL to: `01:30:00.5`.
pub(crate) fn write_text(text: &str, out: &mut String) -> Written {
    let nanos = nanos(text)?;
    let sign = if nanos < 0 { "-" } else { "" };
    let (seconds, nanos) = (nanos.abs() / SECOND, nanos.abs() % SECOND);
    let _ = write!(out, "{sign}{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    let fraction = format!("{nanos:09}");
    match fraction.trim_end_matches('0') {
        "" => {}
        fraction => {
            let _ = write!(out, ".{fraction}");
        }
    }
    Ok(())
}

fn nanos(text: &str) -> Written<i128> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let total = read(unsigned).ok_or_else(|| Refusal::new("it is no duration"))?;
    Ok(if unsigned.len() < text.len() { -total } else { total })
}

fn read(mut text: &str) -> Option<i128> {
    let mut total = 0_i128;
    while !text.is_empty() {
        let number = &text[..text.find(|c: char| !c.is_ascii_digit() && c != '.')?];
        text = &text[number.len()..];
        let (behind, unit) = UNITS.iter().find_map(|(name, unit)| Some((text.strip_prefix(name)?, *unit)))?;
        text = behind;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let scale = 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
        let fraction = if fraction.is_empty() { 0 } else { fraction.parse::<i128>().ok()? };
        total += whole.parse::<i128>().ok()? * unit + fraction * unit / scale;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_intervals() {
        for (text, interval, shown) in [
            ("0s", "0 microseconds", "00:00:00"),
            ("1h30m0.5s", "5400500000 microseconds", "01:30:00.5"),
            ("-1h30m0s", "-5400000000 microseconds", "-01:30:00"),
            ("1.5ms", "1500 microseconds", "00:00:00.0015"),
            ("1.5\u{b5}s", "1 microseconds", "00:00:00.0000015"),
            ("-100ns", "0 microseconds", "-00:00:00.0000001"),
            ("2562047h47m16.854775807s", "9223372036854775 microseconds", "2562047:47:16.854775807"),
        ] {
            let (mut as_interval, mut as_text) = (String::new(), String::new());
            write_interval(text, &mut as_interval).unwrap();
            write_text(text, &mut as_text).unwrap();
            assert_eq!((as_interval.as_str(), as_text.as_str()), (interval, shown), "{text}");
        }
        assert!(write_interval("99999999999999h0m0s", &mut String::new()).is_err());
    }
}
