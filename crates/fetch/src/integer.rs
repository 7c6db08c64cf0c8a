//! Integer types: integers in range, whole floats, texts of integers. A fraction is never rounded.

use std::fmt::Write as _;

use num_bigint::{BigInt, Sign};

use crate::decimal::{Decimal, is_blank};
use crate::{Refusal, Written};

/// A range from `-below` to `above`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Integers {
    below: u128,
    above: u128,
}

impl Integers {
    /// The range of a type by its name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let (is_signed, bits) = match name {
            "TINYINT" => (true, 8),
            "SMALLINT" => (true, 16),
            "INTEGER" => (true, 32),
            "BIGINT" => (true, 64),
            "HUGEINT" => (true, 128),
            "UTINYINT" => (false, 8),
            "USMALLINT" => (false, 16),
            "UINTEGER" => (false, 32),
            "UBIGINT" => (false, 64),
            "UHUGEINT" => (false, 128),
            _ => return None,
        };
        let all = u128::MAX >> (128 - bits);
        Some(if is_signed { Self { below: all / 2 + 1, above: all / 2 } } else { Self { below: 0, above: all } })
    }

    pub(crate) fn write_int(self, value: i64, out: &mut String) -> Written {
        self.write(value < 0, Some(u128::from(value.unsigned_abs())), out)
    }

    pub(crate) fn write_big(self, value: &BigInt, out: &mut String) -> Written {
        self.write(value.sign() == Sign::Minus, u128::try_from(value.magnitude()).ok(), out)
    }

    pub(crate) fn write_float(self, value: f64, out: &mut String) -> Written {
        if !value.is_finite() {
            return Err(Refusal::new("it is not finite"));
        }
        if value.fract() != 0.0 {
            return Err(Refusal::new("it has a fraction, which is never rounded"));
        }
        // 2 to the power of 128: what is below, and whole, is exact in an integer.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let magnitude =
            (value.abs() < 340_282_366_920_938_463_463_374_607_431_768_211_456.0).then(|| value.abs() as u128);
        self.write(value < 0.0, magnitude, out)
    }

    pub(crate) fn write_text(self, text: &str, out: &mut String) -> Written {
        let (is_negative, magnitude) = match other_base(text) {
            Some(Based(magnitude)) => (false, magnitude),
            None => Decimal::parse(text).ok_or_else(|| Refusal::new("it is no integer"))?.integer()?,
        };
        self.write(is_negative, magnitude, out)
    }

    fn write(self, is_negative: bool, magnitude: Option<u128>, out: &mut String) -> Written {
        let limit = if is_negative { self.below } else { self.above };
        let Some(magnitude) = magnitude.filter(|&magnitude| magnitude <= limit) else {
            return Err(Refusal::new(self.range()));
        };
        let sign = if is_negative && magnitude > 0 { "-" } else { "" };
        // Most are of 64 bits, whose digits are found faster.
        let _ = match u64::try_from(magnitude) {
            Ok(magnitude) => write!(out, "{sign}{magnitude}"),
            Err(_) => write!(out, "{sign}{magnitude}"),
        };
        Ok(())
    }

    fn range(self) -> String {
        let below = if self.below == 0 { "0".to_owned() } else { format!("-{}", self.below) };
        format!("it is out of range: {below} to {}", self.above)
    }
}

/// A magnitude; `None` beyond 128 bits.
struct Based(Option<u128>);

/// `0x1F`, `0b11`: texts in other bases, as DuckDB reads them.
fn other_base(text: &str) -> Option<Based> {
    let (zero, digits) = text.trim_matches(is_blank).split_at_checked(2)?;
    let radix = match zero {
        "0x" | "0X" => 16,
        "0b" | "0B" => 2,
        _ => return None,
    };
    let well_placed = !digits.starts_with('_') && !digits.ends_with('_') && !digits.contains("__");
    let is_digit = |c: char| c == '_' || c.is_digit(radix);
    if digits.is_empty() || !well_placed || !digits.chars().all(is_digit) {
        return None;
    }
    Some(Based(u128::from_str_radix(&digits.replace('_', ""), radix).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &str, value: &str) -> Result<String, String> {
        let mut out = String::new();
        Integers::named(name).unwrap().write_text(value, &mut out).map(|()| out).map_err(|refusal| refusal.to_string())
    }

    fn float(name: &str, value: f64) -> Result<String, String> {
        let mut out = String::new();
        Integers::named(name).unwrap().write_float(value, &mut out).map(|()| out).map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn every_width_holds_its_range_and_no_more() {
        for (name, least, most) in [
            ("TINYINT", i128::from(i8::MIN), i8::MAX as u128),
            ("SMALLINT", i128::from(i16::MIN), i16::MAX as u128),
            ("INTEGER", i128::from(i32::MIN), i32::MAX as u128),
            ("BIGINT", i128::from(i64::MIN), i64::MAX as u128),
            ("HUGEINT", i128::MIN, i128::MAX as u128),
            ("UTINYINT", 0, u128::from(u8::MAX)),
            ("USMALLINT", 0, u128::from(u16::MAX)),
            ("UINTEGER", 0, u128::from(u32::MAX)),
            ("UBIGINT", 0, u128::from(u64::MAX)),
            ("UHUGEINT", 0, u128::MAX),
        ] {
            let integers = Integers::named(name).unwrap();
            let write = |value: BigInt| {
                let mut out = String::new();
                integers.write_big(&value, &mut out).map(|()| out).map_err(|refusal| refusal.to_string())
            };
            assert_eq!(write(least.into()), Ok(least.to_string()), "{name}");
            assert_eq!(write(most.into()), Ok(most.to_string()), "{name}");
            let range = Err(format!("it is out of range: {least} to {most}"));
            assert_eq!(write(BigInt::from(least) - 1), range, "{name}");
            assert_eq!(write(BigInt::from(most) + 1), range, "{name}");
        }
    }

    #[test]
    fn texts_of_integers_are_read() {
        for (value, expected) in [
            ("12", Ok("12")),
            (" -12\n", Ok("-12")),
            ("+007", Ok("7")),
            ("-0", Ok("0")),
            ("1.0", Ok("1")),
            ("1e3", Ok("1000")),
            ("1_000", Ok("1000")),
            ("0x1F", Ok("31")),
            ("0B1_1", Ok("3")),
            ("1.5", Err("it has a fraction, which is never rounded")),
            ("1e-1", Err("it has a fraction, which is never rounded")),
            ("", Err("it is no integer")),
            ("0x", Err("it is no integer")),
            ("0x_1", Err("it is no integer")),
            ("-0x1", Err("it is no integer")),
            ("é1", Err("it is no integer")),
            ("true", Err("it is no integer")),
            ("3000000000", Err("it is out of range: -2147483648 to 2147483647")),
            ("0xffffffffffffffffffffffffffffffffff", Err("it is out of range: -2147483648 to 2147483647")),
        ] {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(text("INTEGER", value), expected, "{value}");
        }
        assert_eq!(text("UTINYINT", "-0.0").as_deref(), Ok("0"));
    }

    #[test]
    fn whole_floats_are_integers() {
        for (name, value, expected) in [
            ("TINYINT", -128.0, Ok("-128")),
            ("UBIGINT", -0.0, Ok("0")),
            ("BIGINT", 9_007_199_254_740_992.0, Ok("9007199254740992")),
            ("BIGINT", -9_223_372_036_854_775_808.0, Ok("-9223372036854775808")),
            ("HUGEINT", 1e20, Ok("100000000000000000000")),
            ("UHUGEINT", 2_f64.powi(127), Ok("170141183460469231731687303715884105728")),
            ("TINYINT", 128.0, Err("it is out of range: -128 to 127")),
            ("UHUGEINT", 1e300, Err("it is out of range: 0 to 340282366920938463463374607431768211455")),
            ("BIGINT", 1.5, Err("it has a fraction, which is never rounded")),
            ("BIGINT", 5e-324, Err("it has a fraction, which is never rounded")),
            ("BIGINT", f64::NAN, Err("it is not finite")),
            ("BIGINT", f64::NEG_INFINITY, Err("it is not finite")),
        ] {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(float(name, value), expected, "{name} {value}");
        }
    }
}
