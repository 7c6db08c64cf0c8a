//! Dates and times: texts and time values become texts whose meaning depends on no session's time zone.
//!
//! A text that is not understood here is left to the engine only if nothing in it could be an offset or a zone: the
//! engine leaves out what it does not understand of them, or reads the text in the session's zone.

use std::fmt::Write as _;

use jiff::Zoned;

use crate::clock::{Clock, Day, write_offset};
use crate::decimal::is_blank;
use crate::{Refusal, Written};

/// Most digits of a year that a timestamp can have.
const LONGEST_YEAR: usize = 6;

/// The types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MomentType {
    Date,
    Time,
    TimeTz,
    /// TIMESTAMP of any precision.
    Timestamp,
    TimestampTz,
}

impl MomentType {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "DATE" => Self::Date,
            "TIME" | "TIME_NS" => Self::Time,
            "TIMETZ" => Self::TimeTz,
            "TIMESTAMP" | "TIMESTAMP_S" | "TIMESTAMP_MS" | "TIMESTAMP_NS" => Self::Timestamp,
            "TIMESTAMPTZ" => Self::TimestampTz,
            _ => return None,
        })
    }

    /// Writes a time value: its instant in UTC, for TIMETZ its own time of day.
    pub(crate) fn write_time(self, zoned: &Zoned, out: &mut String) {
        let fraction = fraction(zoned);
        let offset = zoned.offset().seconds();
        let here = Moment { day: Some(day(zoned)), clock: Some(clock(zoned, &fraction)), offset: Some(offset) };
        // An offset of a time value is known, so that nothing is left to refuse.
        let _ = self.write(here, out);
    }

    /// Writes what a text means.
    pub(crate) fn write_text(self, text: &str, out: &mut String) -> Written {
        match Moment::parse(text) {
            Read::Moment(moment) if self.write(moment, out).is_some() => Ok(()),
            Read::Zone if self != Self::TimestampTz => Err(Refusal::new("a time zone must be an offset like +02:00")),
            Read::Moment(_) | Read::Nothing if !self.is_left_to_engine(text) => {
                Err(Refusal::new("it is no ISO date or time of this type"))
            }
            _ => {
                out.push_str(text.trim_matches(is_blank));
                Ok(())
            }
        }
    }

    /// Whether the engine's meaning of a text that is not understood here depends on the text alone.
    fn is_left_to_engine(self, text: &str) -> bool {
        let is_special = || {
            let text = text.trim_matches(is_blank);
            ["infinity", "-infinity", "epoch"].iter().any(|special| text.eq_ignore_ascii_case(special))
        };
        match self {
            Self::Date | Self::Time | Self::Timestamp => is_special() || is_plain(text),
            Self::TimeTz => false,
            Self::TimestampTz => is_special(),
        }
    }

    /// Writes a moment, if it has what the type needs.
    fn write(self, moment: Moment<'_>, out: &mut String) -> Option<()> {
        let Moment { day, clock, offset } = moment;
        let clock_or_midnight = || clock.or_else(|| day.map(|_| Clock { seconds: 0, fraction: "" }));
        match self {
            Self::Date => {
                let later = clock.zip(offset).map_or(0, |(clock, offset)| clock.days_after(offset));
                day?.plus(later).write(out);
            }
            Self::Time => clock_or_midnight()?.minus(offset.unwrap_or(0)).0.of_day(day).write(out),
            Self::TimeTz => {
                clock_or_midnight()?.of_day(day).write(out);
                write_offset(offset.unwrap_or(0), out);
            }
            // Not left to the engine either: its CAST to TIMESTAMP leaves an offset out (1.5).
            Self::Timestamp | Self::TimestampTz => {
                let (clock, later) = clock_or_midnight()?.minus(offset.unwrap_or(0));
                day?.plus(later).write(out);
                out.push(' ');
                clock.write(out);
                if self == Self::TimestampTz {
                    out.push_str("+00");
                }
            }
        }
        Some(())
    }
}

/// Whether a text holds a date and a time of day at the most: no sign of an offset stands behind the date, no name of a
/// zone anywhere.
fn is_plain(text: &str) -> bool {
    let text = text.trim_matches(is_blank);
    let text = text.strip_suffix("(BC)").unwrap_or(text);
    let date = text.find(|c: char| matches!(c, 'T' | 't' | ':') || is_blank(c)).unwrap_or(text.len());
    let is_part = |c: char| c.is_ascii_digit() || is_blank(c) || matches!(c, 'T' | 't' | ':' | '.' | '/' | '\\');
    text[..date].chars().all(|c| c == '-' || is_part(c)) && text[date..].chars().all(is_part)
}

impl Clock<'_> {
    /// The time of day where a date stands before it: then 24:00:00 is midnight, of the next one.
    fn of_day(self, day: Option<Day>) -> Self {
        let is_next = day.is_some() && self.seconds == 86_400;
        Self { seconds: if is_next { 0 } else { self.seconds }, ..self }
    }

    /// By how many days the date in UTC is another one.
    fn days_after(self, offset: i32) -> i64 {
        // A day may be written as ended by 24:00:00: that is the next day.
        (self.seconds - i64::from(offset)).div_euclid(86_400)
    }
}

/// The text that DuckDB casts a TIMESTAMPTZ to, in UTC: `2026-01-31 08:00:00.5+00`.
pub(crate) fn write_shown(zoned: &Zoned, out: &mut String) {
    let utc = zoned.with_time_zone(jiff::tz::TimeZone::UTC);
    let fraction = fraction(&utc);
    day(&utc).write(out);
    out.push(' ');
    clock(&utc, &fraction).write(out);
    out.push_str("+00");
}

#[allow(clippy::cast_sign_loss)]
fn day(zoned: &Zoned) -> Day {
    Day { year: zoned.year().into(), month: zoned.month() as u8, day: zoned.day() as u8 }
}

fn clock<'t>(zoned: &Zoned, fraction: &'t str) -> Clock<'t> {
    let seconds = (i64::from(zoned.hour()) * 60 + i64::from(zoned.minute())) * 60 + i64::from(zoned.second());
    Clock { seconds, fraction }
}

/// Its digits without zeros at the end.
fn fraction(zoned: &Zoned) -> String {
    let mut digits = String::new();
    if zoned.subsec_nanosecond() != 0 {
        let _ = write!(digits, "{:09}", zoned.subsec_nanosecond());
        digits.truncate(digits.trim_end_matches('0').len());
    }
    digits
}

/// A date, a time of day, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Moment<'t> {
    day: Option<Day>,
    clock: Option<Clock<'t>>,
    /// Seconds that the clock is ahead of UTC.
    offset: Option<i32>,
}

/// What a text holds.
#[derive(Debug, PartialEq, Eq)]
enum Read<'t> {
    Moment(Moment<'t>),
    /// A moment, and then the name of a time zone.
    Zone,
    Nothing,
}

impl<'t> Moment<'t> {
    /// Reads ISO texts, and what DuckDB reads besides: other signs between the parts of a date, parts of one digit, BC.
    fn parse(text: &'t str) -> Read<'t> {
        let (text, is_annotated) = without_annotations(text.trim_matches(is_blank));
        let mut reader = Reader { rest: text };
        let day = reader.day();
        if day.is_some() && reader.rest.is_empty() && !is_annotated {
            return Read::Moment(Self { day, clock: None, offset: None });
        }
        if day.is_some() && !reader.eat_separator() {
            return Read::Nothing;
        }
        let Some(clock) = reader.clock() else { return Read::Nothing };
        match (reader.offset(), reader.rest) {
            // An annotation is no offset, and beside one it changes nothing.
            (None, _) if is_annotated => Read::Nothing,
            (offset, "") => Read::Moment(Self { day, clock: Some(clock), offset }),
            (None, rest) if rest.starts_with(|c: char| c.is_ascii_alphabetic()) => Read::Zone,
            _ => Read::Nothing,
        }
    }
}

/// A text without the annotations at its end, like the zone of `…+02:00[Europe/Berlin]` (RFC 9557), and whether it had
/// any.
fn without_annotations(text: &str) -> (&str, bool) {
    let mut rest = text;
    while let Some((before, inside)) = rest.strip_suffix(']').and_then(|text| text.rsplit_once('[')) {
        if inside.is_empty() || inside.contains(']') {
            break;
        }
        rest = before;
    }
    (rest, rest.len() < text.len())
}

/// Reads from the left. What cannot be read is not taken.
struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn eat(&mut self, prefix: &str) -> bool {
        self.rest.strip_prefix(prefix).map(|rest| self.rest = rest).is_some()
    }

    /// Digits, of which there must be some, but no more than `most`.
    fn digits(&mut self, most: usize) -> Option<&'t str> {
        let end = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at(end);
        if end == 0 || end > most {
            return None;
        }
        self.rest = rest;
        Some(digits)
    }

    fn number(&mut self, most: usize) -> Option<u8> {
        self.digits(most)?.parse().ok()
    }

    fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let start = self.rest;
        let found = read(self);
        if found.is_none() {
            self.rest = start;
        }
        found
    }

    fn day(&mut self) -> Option<Day> {
        self.attempt(|reader| {
            let is_negative = reader.eat("-");
            let year: i64 = reader.digits(LONGEST_YEAR)?.parse().ok()?;
            let sign = reader.rest.get(..1).filter(|sign| "-/\\ ".contains(sign))?;
            reader.eat(sign);
            let month = reader.number(2)?;
            reader.eat(sign).then_some(())?;
            let day = reader.number(2)?;
            let year = match reader.eat(" (BC)") {
                true if is_negative || year == 0 => return None,
                true => 1 - year,
                false if is_negative => -year,
                false => year,
            };
            Day::new(year, month, day)
        })
    }

    /// What stands between a date and a time of day.
    fn eat_separator(&mut self) -> bool {
        let has_letter = self.eat("T") || self.eat("t");
        let rest = self.rest.trim_start_matches(is_blank);
        let has_blank = rest.len() < self.rest.len();
        self.rest = rest;
        has_letter || has_blank
    }

    fn clock(&mut self) -> Option<Clock<'t>> {
        self.attempt(|reader| {
            let hour = reader.number(2)?;
            reader.eat(":").then_some(())?;
            let minute = reader.number(2)?;
            let mut second = 0;
            let mut fraction = "";
            if reader.eat(":") {
                second = reader.number(2)?;
                if reader.eat(".") {
                    fraction = reader.digits(usize::MAX).unwrap_or("");
                }
            }
            let seconds = (i64::from(hour) * 60 + i64::from(minute)) * 60 + i64::from(second);
            let is_end = seconds == 86_400 && fraction.bytes().all(|digit| digit == b'0');
            let exists = hour < 24 && minute < 60 && second < 60;
            (exists || is_end && minute == 0).then_some(Clock { seconds, fraction })
        })
    }

    /// `Z`, `UTC`, `GMT`, `+02`, `+0200`, `+02:00`, `+02:00:00`, blanks before it; the minus may be that of typography.
    fn offset(&mut self) -> Option<i32> {
        self.rest = self.rest.trim_start_matches(is_blank);
        if ["Z", "UTC", "GMT"].iter().any(|zero| self.rest.eq_ignore_ascii_case(zero)) {
            self.rest = "";
            return Some(0);
        }
        self.attempt(|reader| {
            let sign = if reader.eat("-") || reader.eat("\u{2212}") { -1 } else { reader.eat("+").then_some(1)? };
            let mut parts = [0; 3];
            for (at, part) in parts.iter_mut().enumerate() {
                let has_colon = at > 0 && reader.eat(":");
                if at > 0 && !has_colon && reader.rest.is_empty() {
                    break;
                }
                let digits =
                    reader.rest.get(..2).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()))?;
                reader.eat(digits);
                *part = digits.parse::<i32>().ok()?;
            }
            let [hours, minutes, seconds] = parts;
            (hours < 24 && minutes < 60 && seconds < 60).then_some(sign * ((hours * 60 + minutes) * 60 + seconds))
        })
    }
}
