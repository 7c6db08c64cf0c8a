//! Days and times of day, and moving them by an offset. Years are counted with a year 0, before which they are
//! negative; they reach as far as DuckDB's, which is farther than those of `jiff`.

use std::fmt::Write as _;

/// Seconds of a day.
const DAY: i64 = 86_400;
/// Days of the 400 years after which the calendar repeats.
const ERA: i64 = 146_097;

/// A day of the Gregorian calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Day {
    pub(crate) year: i64,
    pub(crate) month: u8,
    pub(crate) day: u8,
}

impl Day {
    /// Nothing for a day that no calendar has.
    pub(crate) fn new(year: i64, month: u8, day: u8) -> Option<Self> {
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let length = match month {
            2 if is_leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        (1..=length).contains(&day).then_some(Self { year, month, day })
    }

    /// A day later by a number of days. The calendar is reckoned from March on, so that leap days are last
    /// (Hinnant, "chrono-compatible low-level date algorithms").
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(crate) fn plus(self, days: i64) -> Self {
        if days == 0 {
            return self;
        }
        let number = self.number() + days;
        let era = number.div_euclid(ERA);
        let of_era = number.rem_euclid(ERA);
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / (ERA - 1)) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let day = (of_year - (153 * month + 2) / 5 + 1) as u8;
        let month = if month < 10 { month + 3 } else { month - 9 };
        Self { year: year + era * 400 + i64::from(month <= 2), month: month as u8, day }
    }

    /// Days since the first of March of the year 0.
    fn number(self) -> i64 {
        let month = i64::from(self.month);
        let year = self.year - i64::from(month <= 2);
        let of_era = year.rem_euclid(400);
        let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + i64::from(self.day) - 1;
        year.div_euclid(400) * ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year
    }

    /// Writes it as DuckDB does: `2026-01-31`, `0044-03-15 (BC)`.
    pub(crate) fn write(self, out: &mut String) {
        let Self { year, month, day } = self;
        let _ = match year {
            1.. => write!(out, "{year:04}-{month:02}-{day:02}"),
            _ => write!(out, "{:04}-{month:02}-{day:02} (BC)", 1 - year),
        };
    }
}

/// A time of day: seconds up to and with 24:00:00, and the digits of the fraction as they were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Clock<'t> {
    pub(crate) seconds: i64,
    pub(crate) fraction: &'t str,
}

impl Clock<'_> {
    /// The time of day, and by how many days it is another, where the clock is earlier by an offset in seconds.
    pub(crate) fn minus(self, offset: i32) -> (Self, i64) {
        if offset == 0 {
            return (self, 0);
        }
        let seconds = self.seconds - i64::from(offset);
        (Self { seconds: seconds.rem_euclid(DAY), ..self }, seconds.div_euclid(DAY))
    }

    pub(crate) fn write(self, out: &mut String) {
        let Self { seconds, fraction } = self;
        let _ = write!(out, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
        if !fraction.is_empty() {
            out.push('.');
            out.push_str(fraction);
        }
    }
}

/// Writes an offset as `+02:00`, with seconds where it has any.
pub(crate) fn write_offset(offset: i32, out: &mut String) {
    let sign = if offset < 0 { '-' } else { '+' };
    let seconds = offset.unsigned_abs();
    let _ = write!(out, "{sign}{:02}:{:02}", seconds / 3600, seconds / 60 % 60);
    if !seconds.is_multiple_of(60) {
        let _ = write!(out, ":{:02}", seconds % 60);
    }
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan;
    use jiff::civil::Date;

    use super::Day;

    #[test]
    fn days_are_counted_as_another_calendar_counts_them() {
        let mut date = Date::MIN;
        let step = 97;
        while let Ok(next) = date.checked_add(step.days()) {
            let day = |date: Date| {
                let part = |part: i8| u8::try_from(part).unwrap();
                Day::new(date.year().into(), part(date.month()), part(date.day())).unwrap()
            };
            assert_eq!(day(date).plus(step), day(next));
            assert_eq!(day(next).plus(-step), day(date));
            date = next;
        }
    }

    #[test]
    fn days_that_do_not_exist_are_none() {
        for (year, month, day, exists) in [
            (2024, 2, 29, true),
            (2023, 2, 29, false),
            (1900, 2, 29, false),
            (2000, 2, 29, true),
            (0, 2, 29, true),
            (-4, 2, 29, true),
            (2026, 4, 31, false),
            (2026, 13, 1, false),
            (2026, 0, 1, false),
            (2026, 1, 0, false),
        ] {
            assert_eq!(Day::new(year, month, day).is_some(), exists, "{year}-{month}-{day}");
        }
    }
}
