//! Time values of the module `time`: an instant, exact to the nanosecond, seen in a zone.

use std::cmp::Ordering;
use std::fmt;
use std::hash::Hash;

use allocative::Allocative;
use jiff::Zoned;
use num_bigint::BigInt;
use starlark::any::ProvidesStaticType;
use starlark::collections::StarlarkHasher;
use starlark::environment::{Methods, MethodsBuilder};
use starlark::values::{Heap, NoSerialize, StarlarkPagablePanic, StarlarkValue, Value, ValueError, starlark_value};

use super::duration::Duration;
use super::time_zone::zone;
use super::{arguments, failure, go_format};

/// The layout of `str`, which is Go's.
const TEXT_LAYOUT: &str = "2006-01-02 15:04:05.999999999 -0700 MST";

/// An instant with the zone that tells its date and its time of day. Two are equal if the instants are.
#[derive(Debug, Clone, ProvidesStaticType, NoSerialize, StarlarkPagablePanic, Allocative)]
pub(crate) struct Time {
    #[allocative(skip)]
    zoned: Zoned,
}

starlark::starlark_simple_value!(Time);

impl Time {
    /// The value for an instant in a zone.
    pub(crate) fn new(zoned: Zoned) -> Self {
        Self { zoned }
    }

    /// The instant in its zone.
    pub(crate) fn zoned(&self) -> &Zoned {
        &self.zoned
    }

    /// A time later by a duration.
    pub(super) fn plus_duration(&self, duration: Duration) -> starlark::Result<Self> {
        self.zoned
            .checked_add(duration.signed())
            .map(Self::new)
            .map_err(|_| failure("time", format_args!("{self} + {duration} is out of range")))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(&go_format::format(&self.zoned, TEXT_LAYOUT))
    }
}

#[starlark_value(type = "time.time")]
impl<'v> StarlarkValue<'v> for Time {
    fn get_methods() -> Option<&'static Methods> {
        Some(METHODS.methods())
    }

    fn equals(&self, other: Value<'v>) -> starlark::Result<bool> {
        Ok(Self::from_value(other).is_some_and(|other| self.zoned.timestamp() == other.zoned.timestamp()))
    }

    fn compare(&self, other: Value<'v>) -> starlark::Result<Ordering> {
        match Self::from_value(other) {
            Some(other) => Ok(self.zoned.timestamp().cmp(&other.zoned.timestamp())),
            None => ValueError::unsupported_with(self, "compare", other),
        }
    }

    fn write_hash(&self, hasher: &mut StarlarkHasher) -> starlark::Result<()> {
        self.zoned.timestamp().hash(hasher);
        Ok(())
    }

    fn add(&self, other: Value<'v>, heap: Heap<'v>) -> Option<starlark::Result<Value<'v>>> {
        Duration::from_value(other).map(|duration| Ok(heap.alloc(self.plus_duration(*duration)?)))
    }

    fn sub(&self, other: Value<'v>, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        if let Some(other) = Self::from_value(other) {
            let passed = self.zoned.timestamp().duration_since(other.zoned.timestamp());
            return Ok(heap.alloc(Duration::new(passed)));
        }
        let Some(duration) = Duration::from_value(other) else {
            return ValueError::unsupported_with(self, "-", other);
        };
        match self.zoned.checked_sub(duration.signed()) {
            Ok(earlier) => Ok(heap.alloc(Self::new(earlier))),
            Err(_) => Err(failure("time", format_args!("{self} - {duration} is out of range"))),
        }
    }
}

starlark::methods_static!(METHODS = methods);

#[starlark::starlark_module]
fn methods(builder: &mut MethodsBuilder) {
    #[starlark(attribute)]
    fn year(this: &Time) -> starlark::Result<i32> {
        Ok(i32::from(this.zoned.year()))
    }

    #[starlark(attribute)]
    fn month(this: &Time) -> starlark::Result<i32> {
        Ok(i32::from(this.zoned.month()))
    }

    #[starlark(attribute)]
    fn day(this: &Time) -> starlark::Result<i32> {
        Ok(i32::from(this.zoned.day()))
    }

    #[starlark(attribute)]
    fn hour(this: &Time) -> starlark::Result<i32> {
        Ok(i32::from(this.zoned.hour()))
    }

    #[starlark(attribute)]
    fn minute(this: &Time) -> starlark::Result<i32> {
        Ok(i32::from(this.zoned.minute()))
    }

    #[starlark(attribute)]
    fn second(this: &Time) -> starlark::Result<i32> {
        Ok(i32::from(this.zoned.second()))
    }

    #[starlark(attribute)]
    fn nanosecond(this: &Time) -> starlark::Result<i32> {
        Ok(this.zoned.subsec_nanosecond())
    }

    #[starlark(attribute)]
    fn unix(this: &Time) -> starlark::Result<BigInt> {
        Ok(BigInt::from(this.zoned.timestamp().as_nanosecond().div_euclid(1_000_000_000)))
    }

    #[starlark(attribute)]
    fn unix_nano(this: &Time) -> starlark::Result<BigInt> {
        Ok(BigInt::from(this.zoned.timestamp().as_nanosecond()))
    }

    /// The time as text, in a layout of Go.
    fn format<'v>(this: &Time, layout: Value<'v>) -> starlark::Result<String> {
        let layout = arguments::text("time.format", "layout", layout)?;
        Ok(go_format::format(&this.zoned, layout))
    }

    /// The same instant in another zone.
    fn in_location<'v>(this: &Time, zone_name: Value<'v>) -> starlark::Result<Time> {
        let name = arguments::text("time.in_location", "zone", zone_name)?;
        let zone = zone(name).map_err(|error| failure("time.in_location", error))?;
        Ok(Time::new(this.zoned.with_time_zone(zone)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all_equal, all_fail};

    #[test]
    fn parts_are_those_of_the_zone() {
        const TIME: &str = "t = time.from_timestamp(1720000000, 5).in_location('Asia/Kolkata')\n";
        let parts =
            format!("{TIME}[t.year, t.month, t.day, t.hour, t.minute, t.second, t.nanosecond, t.unix, t.unix_nano]");
        all_equal(&[
            (&parts, "[2024, 7, 3, 15, 16, 40, 5, 1720000000, 1720000000000000005]"),
            (&format!("{TIME}t.format('2006-01-02 15:04 MST')"), "'2024-07-03 15:16 IST'"),
            ("time.from_timestamp(0).format(layout='Jan 2')", "'Jan 1'"),
            ("time.from_timestamp(0).in_location('UTC').hour", "0"),
            ("type(time.now())", "'time.time'"),
        ]);
        all_fail(&[
            ("time.now().in_location('Mars')", "time.in_location: unknown time zone \"Mars\""),
            ("time.now().in_location(1)", "time.in_location: `zone` must be str, not int"),
            ("time.now().format(None)", "time.format: `layout` must be str, not NoneType"),
            ("time.now().century", "century"),
        ]);
    }

    #[test]
    fn instants_are_compared_whatever_their_zones() {
        const TIMES: &str = "a = time.from_timestamp(0)\nb = a.in_location('Asia/Tokyo')\nc = a + time.nanosecond\n";
        all_equal(&[
            (&format!("{TIMES}[a == b, a != c, a < c, b <= a, c > b, max(a, c) == c]"), "[True] * 6"),
            (&format!("{TIMES}len(set([a, b, c]))"), "2"),
            ("time.now() == 1", "False"),
        ]);
        all_fail(&[("time.now() < 1", "not supported"), ("time.now() < time.hour", "not supported")]);
    }

    #[test]
    fn durations_are_added_and_differences_are_durations() {
        const SPRING: &str = "t = time.time(year=2024, month=3, day=31, location='Europe/Berlin')\n";
        all_equal(&[
            ("(time.from_timestamp(5) - time.from_timestamp(2)) == 3 * time.second", "True"),
            ("time.hour + time.from_timestamp(0) == time.from_timestamp(0) + time.hour", "True"),
            ("(time.from_timestamp(0) - time.hour).unix", "-3600"),
            // A day with a missing hour: twenty-four hours later it is one o'clock.
            (&format!("{SPRING}str(t + 24 * time.hour)"), "'2024-04-01 01:00:00 +0200 CEST'"),
            ("(time.time(year=9999) - time.time(year=0)).hours", "87649440.0"),
        ]);
        all_fail(&[
            ("time.now() + time.hour * 1000000000", "is out of range"),
            ("time.now() - time.hour * 1000000000", "is out of range"),
            ("time.now() + 1", "not supported"),
            ("time.now() - 1", "not supported"),
            ("time.now() + time.now()", "not supported"),
            ("time.now() * 2", "not supported"),
        ]);
    }
}
