//! Numbers for boxes (chapter 05 §5); `--json` has them whole.

/// `999`, `1.5K`, `2.5M`; what rounds up to a thousand carries: `1.0M`.
pub(crate) fn count(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", scaled(number.unsigned_abs(), 1000, &["", "K", "M", "B", "T", "Q"]))
}

/// Bytes as `512 B`, `1.2 MiB`.
pub(crate) fn bytes(number: u64) -> String {
    scaled(number, 1024, &[" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"])
}

/// The number in the smallest unit in which it is below `base`; with a tenth, but in the first unit.
fn scaled(number: u64, base: u64, units: &[&str]) -> String {
    let (number, base) = (u128::from(number), u128::from(base));
    let mut unit = 1;
    let mut last = String::new();
    for (at, name) in units.iter().enumerate() {
        let tenths = (number * 10 + unit / 2) / unit;
        last = if at == 0 { format!("{number}{name}") } else { format!("{}.{}{name}", tenths / 10, tenths % 10) };
        if tenths < base * 10 {
            break;
        }
        unit *= base;
    }
    last
}

#[cfg(test)]
mod tests {
    use super::{bytes, count};

    #[test]
    fn counts_are_short_and_rounding_carries() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1.0K"),
            (1500, "1.5K"),
            (999_949, "999.9K"),
            (999_950, "1.0M"),
            (2_500_000, "2.5M"),
            (-1500, "-1.5K"),
            (7_000_000_000, "7.0B"),
        ] {
            assert_eq!(count(number), text);
        }
        assert!(count(i64::MAX).ends_with('Q'));
    }

    #[test]
    fn bytes_are_written_with_their_unit() {
        for (number, text) in
            [(0, "0 B"), (1023, "1023 B"), (1_258_291, "1.2 MiB"), (1_048_575, "1.0 MiB"), (1 << 50, "1.0 PiB")]
        {
            assert_eq!(bytes(number), text);
        }
    }
}
