//! The module `time`: clock, construction, parsing, and the constants.

use jiff::civil::DateTime;
use jiff::{Timestamp, Zoned};
use num_bigint::BigInt;
use starlark::environment::GlobalsBuilder;
use starlark::values::tuple::UnpackTuple;
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
    fn now<'v>(#[starlark(args)] args: UnpackTuple<Value<'v>>) -> starlark::Result<Time> {
        arguments::none("time.now", &args)?;
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

#[cfg(test)]
mod tests {
    use super::super::testing::{all_equal, all_fail, eval};

    #[test]
    fn times_are_made_of_parts() {
        all_equal(&[
            ("str(time.time(year=2024))", "'2024-01-01 00:00:00 +0000 UTC'"),
            (
                "str(time.time(year=2024, month=2, day=29, hour=23, minute=59, second=58, nanosecond=7))",
                "'2024-02-29 23:59:58.000000007 +0000 UTC'",
            ),
            ("str(time.time(year=2024, month=7, location='Europe/Berlin'))", "'2024-07-01 00:00:00 +0200 CEST'"),
            ("time.time(year=2024, month=3, day=31, hour=2, minute=30, location='Europe/Berlin').hour", "3"),
            ("time.time(year=0).year", "0"),
            ("time.time(year=9999, month=12, day=30).unix", "253402128000"),
        ]);
        all_fail(&[
            ("time.time(year=2023, month=2, day=29)", "time.time: "),
            ("time.time(year=10000)", "time.time: "),
            ("time.time(year=2024, month=13)", "time.time: "),
            ("time.time(year=2024, second=60)", "time.time: "),
            ("time.time(year=2024, month=300)", "time.time: `month` 300 is out of range"),
            ("time.time(year=1 << 100)", "time.time: `year` 1267650600228229401496703205376 is out of range"),
            ("time.time(year=2024.0)", "time.time: `year` must be int, not float"),
            ("time.time(year=2024, location='Nowhere/X')", "time.time: unknown time zone \"Nowhere/X\""),
            ("time.time(2024)", "time"),
            ("time.time()", "year"),
        ]);
    }

    #[test]
    fn times_are_made_of_seconds() {
        all_equal(&[
            ("str(time.from_timestamp(0))", "'1970-01-01 00:00:00 +0000 UTC'"),
            ("str(time.from_timestamp(-1, 500000000))", "'1969-12-31 23:59:59.5 +0000 UTC'"),
            ("time.from_timestamp(1, nsec=-1).unix_nano", "999999999"),
            ("time.from_timestamp(-1, 1).unix", "-1"),
            ("time.from_timestamp(0, 3000000000).unix", "3"),
        ]);
        all_fail(&[
            ("time.from_timestamp(1 << 62)", "time.from_timestamp: 4611686018427387904 seconds are out of range"),
            ("time.from_timestamp(1 << 200)", "time.from_timestamp: `sec` is out of range"),
            ("time.from_timestamp(1.5)", "time.from_timestamp: `sec` must be int, not float"),
        ]);
    }

    #[test]
    fn texts_are_read_as_rfc_3339_unless_a_layout_is_given() {
        all_equal(&[
            ("time.parse_time('2026-01-01T10:00:00+02:00').unix", "1767254400"),
            ("time.parse_time('2026-01-01T10:00:00.25Z').nanosecond", "250000000"),
            ("time.parse_time('01/02/2026', '02/01/2006').month", "2"),
            (
                "str(time.parse_time('2026-07-01', format='2006-01-02', location='America/New_York'))",
                "'2026-07-01 00:00:00 -0400 EDT'",
            ),
        ]);
        all_fail(&[
            (
                "time.parse_time('yesterday')",
                "time.parse_time: cannot parse \"yesterday\" as \"2006-01-02T15:04:05Z07:00\": cannot read \"yesterday\" as \"2006\"",
            ),
            ("time.parse_time('2026-01-01T10:00:00')", "cannot read \"\" as \"Z07:00\""),
            ("time.parse_time('2026', '2006', 'Mars')", "unknown time zone \"Mars\""),
            ("time.parse_time(5)", "time.parse_time: `s` must be str, not int"),
        ]);
    }

    #[test]
    fn zones_are_known_by_name() {
        all_equal(&[
            ("[time.is_valid_timezone(z) for z in ['UTC', 'Local', 'Europe/Stockholm', 'Etc/GMT+3']]", "[True] * 4"),
            (
                "[time.is_valid_timezone(z) for z in ['', 'Mars', '../etc/passwd', 'Europe', '\\x00', '/UTC']]",
                "[False] * 6",
            ),
        ]);
        all_fail(&[("time.is_valid_timezone(None)", "time.is_valid_timezone: `s` must be str, not NoneType")]);
    }

    #[test]
    fn now_is_later_than_this_was_written_and_goes_on() {
        assert_eq!(eval("time.now().year >= 2026 and time.now() <= time.now()").as_deref(), Ok("True"));
        all_fail(&[("time.now('UTC')", "time.now: takes no arguments")]);
    }

    #[test]
    fn the_constants_are_durations() {
        let names = "[str(d) for d in [time.nanosecond, time.microsecond, time.millisecond, time.second, time.minute, time.hour]]";
        all_equal(&[(names, "['1ns', '1\\u00b5s', '1ms', '1s', '1m0s', '1h0m0s']")]);
    }
}
