//! FLOAT and DOUBLE, and floats as text.

use std::fmt::Write as _;

use num_bigint::BigInt;

use crate::decimal::is_blank;
use crate::{Refusal, Written};
use lib_functions::digits;

/// From here on, DuckDB writes an exponent.
const PLAIN_LIMIT: f64 = 1e16;
/// Below, too.
const SMALLEST_PLAIN: f64 = 1e-4;

/// Writes a float for a DOUBLE, in the shortest digits that read back as the same.
pub(crate) fn write_double(value: f64, out: &mut String) {
    let _ = write!(out, "{value:?}");
}

/// Writes a float for a FLOAT, rounded once.
pub(crate) fn write_single(value: f64, out: &mut String) -> Written {
    #[allow(clippy::cast_possible_truncation)]
    let single = value as f32;
    if single.is_infinite() && value.is_finite() {
        return Err(out_of_range());
    }
    let _ = write!(out, "{single:?}");
    Ok(())
}

/// Writes a large integer for a FLOAT or a DOUBLE.
pub(crate) fn write_big(value: &BigInt, is_single: bool, out: &mut String) -> Written {
    let digits = digits(value)?;
    let is_finite = if is_single {
        digits.parse::<f32>().is_ok_and(f32::is_finite)
    } else {
        digits.parse::<f64>().is_ok_and(f64::is_finite)
    };
    if !is_finite {
        return Err(out_of_range());
    }
    out.push_str(&digits);
    Ok(())
}

/// A text, unless it is a number that is too large to be finite; the engine would make infinity of it.
pub(crate) fn finite_or_named(text: &str, is_single: bool) -> Written<&str> {
    let digits: String = text.trim_matches(is_blank).chars().filter(|&c| c != '_').collect();
    let is_infinite = if is_single {
        digits.parse::<f32>().is_ok_and(f32::is_infinite)
    } else {
        digits.parse::<f64>().is_ok_and(f64::is_infinite)
    };
    // Infinity by its name has no digits.
    if is_infinite && digits.bytes().any(|byte| byte.is_ascii_digit()) { Err(out_of_range()) } else { Ok(text) }
}

fn out_of_range() -> Refusal {
    Refusal::new("it is out of range")
}

/// The shortest decimal text that reads back as the same float, with or without an exponent. Of two that are as short
/// and as near, the one that ends in an even digit, as in DuckDB, Python and JavaScript, but not in `{:?}`.
pub(crate) fn shortest(value: f64) -> String {
    serde_json::to_string(&value).unwrap_or_default()
}

/// The text that DuckDB casts a DOUBLE to: `1.0`, `0.0001`, `1e+16`, `1.5e-05`.
pub(crate) fn write_text(value: f64, out: &mut String) {
    let shortest = shortest(value);
    let is_plain = value == 0.0 || (SMALLEST_PLAIN..PLAIN_LIMIT).contains(&value.abs());
    if is_plain && !shortest.contains('e') {
        out.push_str(&shortest);
        return;
    }
    let (digits, exponent) = scientific(&shortest);
    if is_plain {
        // Only the smallest plain numbers were written with an exponent.
        out.push_str(if value < 0.0 { "-0." } else { "0." });
        out.extend(std::iter::repeat_n('0', usize::try_from(-1 - exponent).unwrap_or(0)));
        out.push_str(&digits);
        return;
    }
    out.push_str(if value < 0.0 { "-" } else { "" });
    out.push_str(&digits[..1]);
    if digits.len() > 1 {
        out.push('.');
        out.push_str(&digits[1..]);
    }
    let _ = write!(out, "e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs());
}

/// The digits of a number, the first of which stands before the point, and the power of ten.
fn scientific(text: &str) -> (String, i32) {
    let text = text.trim_start_matches('-');
    let (number, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let all = format!("{whole}{fraction}");
    let digits = all.trim_start_matches('0');
    let shift = i32::try_from(whole.len()).unwrap_or(0) - 1 - i32::try_from(all.len() - digits.len()).unwrap_or(0);
    let digits = digits.trim_end_matches('0');
    (if digits.is_empty() { "0".into() } else { digits.into() }, shift + exponent.parse().unwrap_or(0))
}
