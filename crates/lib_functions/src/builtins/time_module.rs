//! The module `time`: clock, construction, parsing, and the constants.

use jiff::civil::DateTime;
use jiff::{Timestamp, Zoned};
use num_bigint::BigInt;
use starlark::environment::GlobalsBuilder;
use starlark::values::{UnpackValue, Value};

use super::duration::{self, Duration};
use super::time::Time;
use super::time_zone::zone;
use super::{arguments, failure, go_parse};

const RFC3339: &str = "2006-01-02T15:04:05Z07:00";
/// The constants, in nanoseconds.
const CONSTANTS: [(&str, i128); 6] = [
    ("nanosecond", 1),
    ("microsecond", 1_000),
    ("millisecond", 1_000_000),
    ("second", 1_000_000_000),
    ("minute", 60_000_000_000),
    ("hour", 3_600_000_000_000),
];

/// Adds the namespace `time`.
pub(super) fn register(builder: &mut GlobalsBuilder) {
    builder.namespace("time", |builder| {
        members(builder);
        for (name, nanos) in CONSTANTS {
            builder.set(name, Duration::from_nanos(nanos).unwrap_or_default());
        }
    });
}

#[starlark::starlark_module]
fn members(builder: &mut GlobalsBuilder) {
    /// The present time in the zone of the machine.
    fn now() -> starlark::Result<Time> {
        Ok(Time::new(Zoned::now()))
    }

    /// A time from its parts.
    fn time<'v>(
        #[starlark(require = named)] year: Value<'v>,
        #[starlark(require = named)] month: Option<Value<'v>>,
        #[starlark(require = named)] day: Option<Value<'v>>,
        #[starlark(require = named)] hour: Option<Value<'v>>,
        #[starlark(require = named)] minute: Option<Value<'v>>,
        #[starlark(require = named)] second: Option<Value<'v>>,
        #[starlark(require = named)] nanosecond: Option<Value<'v>>,
        #[starlark(require = named)] location: Option<Value<'v>>,
    ) -> starlark::Result<Time> {
        let civil = DateTime::new(
            part("year", Some(year), 0)?,
            part("month", month, 1)?,
            part("day", day, 1)?,
            part("hour", hour, 0)?,
            part("minute", minute, 0)?,
            part("second", second, 0)?,
            part("nanosecond", nanosecond, 0)?,
        );
        let civil = civil.map_err(|error| failure("time.time", error))?;
        let zone = zone(location_name("time.time", location)?).map_err(|error| failure("time.time", error))?;
        civil.to_zoned(zone).map(Time::new).map_err(|error| failure("time.time", error))
    }

    /// A time in UTC, from seconds and nanoseconds since 1970.
    fn from_timestamp<'v>(sec: Value<'v>, nsec: Option<Value<'v>>) -> starlark::Result<Time> {
        let seconds = integer("time.from_timestamp", "sec", sec)?;
        let nanoseconds = nsec.map_or(Ok(0), |nsec| integer("time.from_timestamp", "nsec", nsec))?;
        let total = seconds.checked_mul(1_000_000_000).and_then(|nanos| nanos.checked_add(nanoseconds));
        let instant = total.and_then(|nanos| Timestamp::from_nanosecond(nanos).ok());
        match instant {
            Some(instant) => Ok(Time::new(instant.to_zoned(jiff::tz::TimeZone::UTC))),
            None => Err(failure("time.from_timestamp", format_args!("{sec} seconds are out of range"))),
        }
    }

    /// A time from a text in a layout of Go.
    fn parse_time<'v>(s: Value<'v>, format: Option<Value<'v>>, location: Option<Value<'v>>) -> starlark::Result<Time> {
        const NAME: &str = "time.parse_time";
        let text = arguments::text(NAME, "s", s)?;
        let layout = format.map_or(Ok(RFC3339), |format| arguments::text(NAME, "format", format))?;
        let zone = zone(location_name(NAME, location)?).map_err(|error| failure(NAME, error))?;
        go_parse::parse(text, layout, &zone).map(Time::new).map_err(|error| failure(NAME, error))
    }

    /// A duration from a text like `1h30m`.
    fn parse_duration<'v>(s: Value<'v>) -> starlark::Result<Duration> {
        let text = arguments::text("time.parse_duration", "s", s)?;
        duration::parse(text).map_err(|error| failure("time.parse_duration", error))
    }

    /// Whether a zone of that name is known.
    fn is_valid_timezone<'v>(s: Value<'v>) -> starlark::Result<bool> {
        Ok(zone(arguments::text("time.is_valid_timezone", "s", s)?).is_ok())
    }
}

/// A part of a time, or its default.
fn part<T: TryFrom<BigInt>>(name: &str, value: Option<Value>, default: i8) -> starlark::Result<T> {
    let number = match value {
        None => BigInt::from(default),
        Some(value) => match BigInt::unpack_value(value) {
            Ok(Some(number)) => number,
            _ => return Err(arguments::wrong_type("time.time", name, "int", value)),
        },
    };
    let shown = number.to_string();
    T::try_from(number).map_err(|_| failure("time.time", format_args!("`{name}` {shown} is out of range")))
}

fn integer(function: &str, name: &str, value: Value) -> starlark::Result<i128> {
    match BigInt::unpack_value(value) {
        Ok(Some(number)) => {
            i128::try_from(number).map_err(|_| failure(function, format_args!("`{name}` is out of range")))
        }
        _ => Err(arguments::wrong_type(function, name, "int", value)),
    }
}

fn location_name<'v>(function: &str, location: Option<Value<'v>>) -> starlark::Result<&'v str> {
    location.map_or(Ok("UTC"), |location| arguments::text(function, "location", location))
}
