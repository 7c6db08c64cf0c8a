//! Duration values of the module `time`: exact to the nanosecond, written as Go writes them.

use std::cmp::Ordering;
use std::fmt;
use std::hash::Hash;

use allocative::Allocative;
use jiff::SignedDuration;
use num_bigint::BigInt;
use starlark::any::ProvidesStaticType;
use starlark::collections::StarlarkHasher;
use starlark::environment::{Methods, MethodsBuilder};
use starlark::values::float::StarlarkFloat;
use starlark::values::{
    Heap, NoSerialize, StarlarkPagablePanic, StarlarkValue, UnpackValue, Value, ValueError, ValueLike, starlark_value,
};

use super::failure;
use super::time::Time;

const SECOND: i128 = 1_000_000_000;
const MINUTE: i128 = 60 * SECOND;
const HOUR: i128 = 60 * MINUTE;
/// Units with their length in nanoseconds, as `parse_duration` reads them.
const UNITS: [(&str, i128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", SECOND),
    ("m", MINUTE),
    ("h", HOUR),
];

/// A span of time, of either sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ProvidesStaticType, NoSerialize, StarlarkPagablePanic, Allocative)]
pub(crate) struct Duration {
    #[allocative(skip)]
    signed: SignedDuration,
}

starlark::starlark_simple_value!(Duration);

impl Duration {
    /// The value for a span.
    pub(crate) fn new(signed: SignedDuration) -> Self {
        Self { signed }
    }

    /// The span of the value.
    pub(crate) fn signed(self) -> SignedDuration {
        self.signed
    }

    /// The value for a number of nanoseconds, if it can be held.
    pub(super) fn from_nanos(nanos: i128) -> Option<Self> {
        let seconds = i64::try_from(nanos / SECOND).ok()?;
        let rest = i32::try_from(nanos % SECOND).ok()?;
        Some(Self::new(SignedDuration::new(seconds, rest)))
    }

    fn nanos(self) -> i128 {
        self.signed.as_nanos()
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let nanos = self.nanos().abs();
        if self.nanos() < 0 {
            out.write_str("-")?;
        }
        match nanos {
            0 => out.write_str("0s"),
            1..1_000 => write!(out, "{nanos}ns"),
            1_000..1_000_000 => write_decimal(out, nanos, 1_000, "\u{b5}s"),
            1_000_000..SECOND => write_decimal(out, nanos, 1_000_000, "ms"),
            _ => {
                if nanos >= HOUR {
                    write!(out, "{}h", nanos / HOUR)?;
                }
                if nanos >= MINUTE {
                    write!(out, "{}m", nanos % HOUR / MINUTE)?;
                }
                write_decimal(out, nanos % MINUTE, SECOND, "s")
            }
        }
    }
}

/// Writes a number of nanoseconds in a unit, without zeros at the end.
fn write_decimal(out: &mut fmt::Formatter, nanos: i128, unit: i128, name: &str) -> fmt::Result {
    let width = unit.ilog10() as usize;
    let fraction = format!("{:0width$}", nanos % unit);
    match fraction.trim_end_matches('0') {
        "" => write!(out, "{}{name}", nanos / unit),
        fraction => write!(out, "{}.{fraction}{name}", nanos / unit),
    }
}

/// Reads a text like `1h30m`, `-1.5s` or `0`.
pub(super) fn parse(text: &str) -> Result<Duration, String> {
    let invalid = || format!("invalid duration {text:?}");
    let (sign, unsigned) = match text.as_bytes().first() {
        Some(b'-') => (-1, &text[1..]),
        Some(b'+') => (1, &text[1..]),
        _ => (1, text),
    };
    if unsigned == "0" {
        return Ok(Duration::default());
    }
    if unsigned.is_empty() {
        return Err(invalid());
    }
    let mut rest = unsigned;
    let mut total = 0_i128;
    while !rest.is_empty() {
        let number = &rest[..rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len())];
        rest = &rest[number.len()..];
        let unit = &rest[..rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len())];
        rest = &rest[unit.len()..];
        if unit.is_empty() {
            return Err(format!("missing unit in duration {text:?}"));
        }
        let Some((_, length)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(if number.is_empty() {
                invalid()
            } else {
                format!("unknown unit {unit:?} in duration {text:?}")
            });
        };
        let part = nanos_of(number, *length).ok_or_else(invalid)?;
        total = total.checked_add(part).ok_or_else(invalid)?;
    }
    Duration::from_nanos(sign * total).ok_or_else(|| format!("duration {text:?} is out of range"))
}

/// The nanoseconds of a decimal number of units; what is below a nanosecond is cut off.
fn nanos_of(number: &str, unit: i128) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.len() + fraction.len() == 0 || fraction.contains('.') {
        return None;
    }
    let whole = if whole.is_empty() { 0 } else { whole.parse::<i128>().ok()? };
    let mut nanos = whole.checked_mul(unit)?;
    let mut scale = unit;
    // A fraction of an hour has at most thirteen digits that matter; the products below are exact.
    let digits = &fraction[..fraction.len().min(16)];
    if !digits.is_empty() {
        scale *= digits.parse::<i128>().ok()?;
        nanos = nanos.checked_add(scale / 10_i128.pow(u32::try_from(digits.len()).ok()?))?;
    }
    Some(nanos)
}

impl Default for Duration {
    fn default() -> Self {
        Self::new(SignedDuration::ZERO)
    }
}

fn out_of_range(operation: &str) -> starlark::Error {
    failure("time", format_args!("duration {operation} is out of range"))
}

fn checked<'v>(nanos: Option<i128>, operation: &str, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
    let duration = nanos.and_then(Duration::from_nanos).ok_or_else(|| out_of_range(operation))?;
    Ok(heap.alloc(duration))
}

fn float(value: Value) -> Option<f64> {
    value.downcast_ref::<StarlarkFloat>().map(|float| float.0)
}

/// The nearest number of nanoseconds.
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
fn nanos_from_float(nanos: f64) -> Option<i128> {
    (nanos.abs() < i64::MAX as f64 * 1e9).then(|| nanos.round() as i128)
}

/// A number of units as a float: the whole units first, so that long spans lose nothing but the last digits.
#[allow(clippy::cast_precision_loss)]
fn in_units(nanos: i128, unit: i128) -> f64 {
    (nanos / unit) as f64 + (nanos % unit) as f64 / unit as f64
}

#[starlark_value(type = "time.duration")]
impl<'v> StarlarkValue<'v> for Duration {
    fn get_methods() -> Option<&'static Methods> {
        Some(METHODS.methods())
    }

    fn to_bool(&self) -> bool {
        !self.signed.is_zero()
    }

    fn equals(&self, other: Value<'v>) -> starlark::Result<bool> {
        Ok(Self::from_value(other) == Some(self))
    }

    fn compare(&self, other: Value<'v>) -> starlark::Result<Ordering> {
        match Self::from_value(other) {
            Some(other) => Ok(self.signed.cmp(&other.signed)),
            None => ValueError::unsupported_with(self, "compare", other),
        }
    }

    fn write_hash(&self, hasher: &mut StarlarkHasher) -> starlark::Result<()> {
        self.nanos().hash(hasher);
        Ok(())
    }

    fn plus(&self, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        Ok(heap.alloc(*self))
    }

    fn minus(&self, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        checked(self.nanos().checked_neg(), "-", heap)
    }

    fn add(&self, other: Value<'v>, heap: Heap<'v>) -> Option<starlark::Result<Value<'v>>> {
        if let Some(time) = Time::from_value(other) {
            return Some(time.plus_duration(*self).map(|time| heap.alloc(time)));
        }
        Self::from_value(other).map(|other| checked(self.nanos().checked_add(other.nanos()), "+", heap))
    }

    fn sub(&self, other: Value<'v>, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        match Self::from_value(other) {
            Some(other) => checked(self.nanos().checked_sub(other.nanos()), "-", heap),
            None => ValueError::unsupported_with(self, "-", other),
        }
    }

    #[allow(clippy::cast_precision_loss)]
    fn mul(&self, other: Value<'v>, heap: Heap<'v>) -> Option<starlark::Result<Value<'v>>> {
        if let Some(factor) = float(other) {
            return Some(checked(nanos_from_float(self.nanos() as f64 * factor), "*", heap));
        }
        let factor = BigInt::unpack_value(other).ok().flatten()?;
        let factor = i128::try_from(factor).ok();
        Some(checked(factor.and_then(|factor| self.nanos().checked_mul(factor)), "*", heap))
    }

    fn rmul(&self, other: Value<'v>, heap: Heap<'v>) -> Option<starlark::Result<Value<'v>>> {
        self.mul(other, heap)
    }

    #[allow(clippy::cast_precision_loss)]
    fn div(&self, other: Value<'v>, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        let zero = || failure("time", format_args!("duration {self} divided by zero"));
        if let Some(other) = Self::from_value(other) {
            let quotient = self.nanos() as f64 / other.nanos() as f64;
            return if other.to_bool() { Ok(heap.alloc(quotient)) } else { Err(zero()) };
        }
        if let Some(divisor) = float(other) {
            return if divisor == 0.0 {
                Err(zero())
            } else {
                checked(nanos_from_float(self.nanos() as f64 / divisor), "/", heap)
            };
        }
        match BigInt::unpack_value(other) {
            Ok(Some(divisor)) if divisor == BigInt::ZERO => Err(zero()),
            Ok(Some(divisor)) => checked(i128::try_from(BigInt::from(self.nanos()) / divisor).ok(), "/", heap),
            _ => ValueError::unsupported_with(self, "/", other),
        }
    }

    fn floor_div(&self, other: Value<'v>, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        match Self::from_value(other) {
            Some(other) if !other.to_bool() => Err(failure("time", format_args!("duration {self} divided by zero"))),
            Some(other) => {
                let (nanos, divisor) = (self.nanos(), other.nanos());
                let below = i128::from(nanos % divisor != 0 && (nanos < 0) != (divisor < 0));
                Ok(heap.alloc(BigInt::from(nanos / divisor - below)))
            }
            None => ValueError::unsupported_with(self, "//", other),
        }
    }
}

starlark::methods_static!(METHODS = methods);

#[starlark::starlark_module]
fn methods(builder: &mut MethodsBuilder) {
    #[starlark(attribute)]
    fn hours(this: &Duration) -> starlark::Result<f64> {
        Ok(in_units(this.nanos(), HOUR))
    }

    #[starlark(attribute)]
    fn minutes(this: &Duration) -> starlark::Result<f64> {
        Ok(in_units(this.nanos(), MINUTE))
    }

    #[starlark(attribute)]
    fn seconds(this: &Duration) -> starlark::Result<f64> {
        Ok(in_units(this.nanos(), SECOND))
    }

    #[starlark(attribute)]
    fn milliseconds(this: &Duration) -> starlark::Result<BigInt> {
        Ok(BigInt::from(this.nanos() / 1_000_000))
    }

    #[starlark(attribute)]
    fn microseconds(this: &Duration) -> starlark::Result<BigInt> {
        Ok(BigInt::from(this.nanos() / 1_000))
    }

    #[starlark(attribute)]
    fn nanoseconds(this: &Duration) -> starlark::Result<BigInt> {
        Ok(BigInt::from(this.nanos()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all_equal, all_fail, eval};

    #[test]
    fn texts_become_durations_and_durations_texts_as_in_go() {
        let cases = [
            ("0", "0s"),
            ("+0", "0s"),
            ("0s", "0s"),
            ("5s", "5s"),
            ("1h30m", "1h30m0s"),
            ("-1h30m", "-1h30m0s"),
            ("90m", "1h30m0s"),
            ("1.5s", "1.5s"),
            (".5s", "500ms"),
            ("5.s", "5s"),
            ("2ms", "2ms"),
            ("1500us", "1.5ms"),
            ("3\u{b5}s", "3\u{b5}s"),
            ("3\u{3bc}s", "3\u{b5}s"),
            ("100ns", "100ns"),
            ("1h1m1s1ms1us1ns", "1h1m1.001001001s"),
            ("1m5s", "1m5s"),
            ("0.3333333333333333333h", "19m59.999999999s"),
            ("0.1ns", "0s"),
            ("9223372036s", "2562047h47m16s"),
        ];
        for (text, shown) in cases {
            let shown = format!("\"{}\"", shown.replace('\u{b5}', "\\xb5"));
            assert_eq!(eval(&format!("str(time.parse_duration('{text}'))")).as_ref(), Ok(&shown), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_an_error() {
        all_fail(&[
            ("time.parse_duration('')", "time.parse_duration: invalid duration \"\""),
            ("time.parse_duration('-')", "invalid duration"),
            ("time.parse_duration('5')", "missing unit in duration \"5\""),
            ("time.parse_duration('1.2.3s')", "invalid duration"),
            ("time.parse_duration('.s')", "invalid duration"),
            ("time.parse_duration('5 s')", "unknown unit \" s\""),
            ("time.parse_duration('5d')", "unknown unit \"d\""),
            ("time.parse_duration('h')", "invalid duration"),
            ("time.parse_duration('1h-5m')", "unknown unit \"h-\""),
            ("time.parse_duration('9999999999999999999h')", "out of range"),
            ("time.parse_duration('9' * 100 + 'h')", "invalid duration"),
            ("time.parse_duration('\\U0001f600')", "invalid duration"),
            ("time.parse_duration(5)", "time.parse_duration: `s` must be str, not int"),
        ]);
    }

    #[test]
    fn parts_are_floats_down_to_seconds_and_integers_below() {
        all_equal(&[
            ("(time.minute * 90).hours", "1.5"),
            ("time.second.minutes", "1.0 / 60"),
            ("time.parse_duration('-1.5s').seconds", "-1.5"),
            ("time.parse_duration('1.5ms').milliseconds", "1"),
            ("time.parse_duration('-1.5ms').milliseconds", "-1"),
            ("time.parse_duration('1.5ms').microseconds", "1500"),
            ("(time.hour * 100000000).nanoseconds", "360000000000000000000"),
            ("type(time.hour)", "'time.duration'"),
        ]);
    }

    #[test]
    fn durations_are_reckoned_with() {
        all_equal(&[
            ("time.hour + time.minute == time.parse_duration('61m')", "True"),
            ("time.hour - time.minute * 61 == time.parse_duration('-1m')", "True"),
            ("2 * time.second", "time.second * 2"),
            ("time.second * 1.5", "time.millisecond * 1500"),
            ("time.second / 4", "time.millisecond * 250"),
            ("time.second / 3", "time.nanosecond * 333333333"),
            ("time.second / 0.5", "time.second * 2"),
            ("time.minute / time.second", "60.0"),
            ("time.minute / (time.second * 8)", "7.5"),
            ("time.minute // (time.second * 8)", "7"),
            ("-time.minute // (time.second * 8)", "-8"),
            ("-time.minute // (time.second * -8)", "7"),
            ("-(-time.second) == +time.second", "True"),
            ("[bool(time.second), bool(time.second * 0)]", "[True, False]"),
            ("sorted([time.hour, -time.hour, time.second])", "[-time.hour, time.second, time.hour]"),
            ("time.hour > time.minute and time.minute * 60 >= time.hour", "True"),
            ("{time.minute * 60: 1}[time.hour]", "1"),
            ("time.second == 1", "False"),
        ]);
    }

    #[test]
    fn what_cannot_be_reckoned_is_an_error() {
        all_fail(&[
            ("time.hour * (1 << 62)", "duration * is out of range"),
            ("time.hour * (1 << 200)", "duration * is out of range"),
            ("time.hour * 1e300", "duration * is out of range"),
            ("time.hour * float('nan')", "duration * is out of range"),
            ("(time.second * ((1 << 63) - 1)) + time.second", "duration + is out of range"),
            ("time.second / 0", "duration 1s divided by zero"),
            ("time.second / 0.0", "divided by zero"),
            ("time.second / (time.second * 0)", "divided by zero"),
            ("time.second // (time.second * 0)", "divided by zero"),
            ("time.second + 1", "not supported"),
            ("1 + time.second", "not supported"),
            ("time.second - time.now()", "not supported"),
            ("time.second * time.second", "not supported"),
            ("1 / time.second", "not supported"),
            ("time.second // 2", "not supported"),
            ("time.second < 1", "not supported"),
        ]);
    }
}
