//! FLOAT and DOUBLE, and floats as text.

use std::fmt::Write as _;

use num_bigint::BigInt;

use crate::refusal::{Refusal, Written};

/// From this exponent on, DuckDB writes one.
const LARGE: i32 = 16;
/// Below this exponent, too.
const SMALL: i32 = -4;

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
    let digits = value.to_string();
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

fn out_of_range() -> Refusal {
    Refusal::new("it is out of range")
}

/// The text that DuckDB casts a DOUBLE to: `1.0`, `0.0001`, `1e+16`, `1.5e-05`.
pub(crate) fn write_text(value: f64, out: &mut String) {
    let shortest = format!("{value:e}");
    let parts = shortest.split_once('e');
    let Some((digits, exponent)) = parts.and_then(|(digits, exponent)| Some((digits, exponent.parse::<i32>().ok()?)))
    else {
        out.push_str(&shortest);
        return;
    };
    let _ = if (SMALL..LARGE).contains(&exponent) {
        write!(out, "{value}{}", if value.fract() == 0.0 { ".0" } else { "" })
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(out, "{digits}e{sign}{:02}", exponent.abs())
    };
}
