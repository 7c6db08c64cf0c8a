//! Reads times in layouts of Go, by the rules of Go's `time.Parse`.

use jiff::Zoned;
use jiff::civil::{Date, DateTime};
use jiff::tz::{Offset, TimeZone};

use super::go_layout::{MONTHS, OffsetForm, Pad, SHORT_NAME, Token, WEEKDAYS, next_piece};
use super::time_zone::{abbreviated_offset, fixed_offset, named_offset};

/// Digits of a fraction of a second that matter.
const NANOSECOND_DIGITS: usize = 9;

/// Reads a text in a layout. A time without an offset or a zone is one of `location`; a time with an offset keeps its
/// instant, and gets the zone `location` if that has this offset then.
pub(super) fn parse(text: &str, layout: &str, location: &TimeZone) -> Result<Zoned, String> {
    let mut reader = Reader { text, fields: Fields::default() };
    let mut rest = layout;
    let result = loop {
        let piece = next_piece(rest);
        if let Err(error) = reader.literal(piece.literal) {
            break Err(error);
        }
        let Some((shown, token)) = piece.token else {
            break if reader.text.is_empty() {
                reader.fields.time(location)
            } else {
                Err(format!("extra text {:?}", reader.text))
            };
        };
        let before = reader.text;
        match reader.token(token, piece.rest) {
            Some(Ok(())) => rest = piece.rest,
            Some(Err(field)) => break Err(format!("{field} out of range")),
            None => break Err(format!("cannot read {before:?} as {shown:?}")),
        }
    };
    result.map_err(|error| format!("cannot parse {text:?} as {layout:?}: {error}"))
}

/// What was read so far.
#[derive(Default)]
struct Fields {
    year: i16,
    month: Option<i8>,
    day: Option<i8>,
    year_day: Option<i16>,
    hour: i8,
    minute: i8,
    second: i8,
    nanosecond: i32,
    /// Whether the second half of the day was named.
    afternoon: Option<bool>,
    utc: bool,
    offset: Option<i32>,
    abbreviation: Option<String>,
}

struct Reader<'t> {
    /// What is not read yet.
    text: &'t str,
    fields: Fields,
}

/// Nothing: the text does not fit. An error: a number that is out of the range of the field that it names.
type Outcome = Option<Result<(), &'static str>>;

impl Reader<'_> {
    /// Text that stands for itself. As in Go, blanks stand for any number of blanks.
    fn literal(&mut self, literal: &str) -> Result<(), String> {
        let mut expected = literal;
        while let Some(next) = expected.chars().next() {
            let fits = if next == ' ' {
                matches!(self.text.chars().next(), None | Some(' '))
            } else {
                self.text.starts_with(next)
            };
            if !fits {
                return Err(format!("cannot read {:?} as {literal:?}", self.text));
            }
            if next == ' ' {
                expected = expected.trim_start_matches(' ');
                self.text = self.text.trim_start_matches(' ');
            } else {
                expected = &expected[next.len_utf8()..];
                self.text = &self.text[next.len_utf8()..];
            }
        }
        Ok(())
    }

    fn token(&mut self, token: Token, following: &str) -> Outcome {
        match token {
            Token::LongYear => self.fields.year = self.digits(4, 4)?.try_into().ok()?,
            Token::Year => {
                let year = i16::try_from(self.digits(2, 2)?).ok()?;
                self.fields.year = if year >= 69 { year + 1900 } else { year + 2000 };
            }
            Token::LongMonth => self.fields.month = Some(self.name(&MONTHS, usize::MAX)? + 1),
            Token::ShortMonth => self.fields.month = Some(self.name(&MONTHS, SHORT_NAME)? + 1),
            Token::LongWeekday => _ = self.name(&WEEKDAYS, usize::MAX)?,
            Token::ShortWeekday => _ = self.name(&WEEKDAYS, SHORT_NAME)?,
            Token::Month(pad) => {
                let month = self.number(pad)?;
                self.fields.month = Some(month);
                return Some(within(month, 1, 12, "month"));
            }
            Token::Day(pad) => {
                self.skip_spaces(pad, 1);
                self.fields.day = Some(self.number(pad)?);
            }
            Token::YearDay(pad) => {
                self.skip_spaces(pad, 2);
                let least = if pad == Pad::Zero { 3 } else { 1 };
                self.fields.year_day = Some(self.digits(least, 3)?.try_into().ok()?);
            }
            Token::Hour24 => {
                self.fields.hour = self.number(Pad::None)?;
                return Some(within(self.fields.hour, 0, 23, "hour"));
            }
            Token::Hour12(pad) => {
                self.fields.hour = self.number(pad)?;
                return Some(within(self.fields.hour, 0, 12, "hour"));
            }
            Token::Minute(pad) => {
                self.fields.minute = self.number(pad)?;
                return Some(within(self.fields.minute, 0, 59, "minute"));
            }
            Token::Second(pad) => {
                self.fields.second = self.number(pad)?;
                if within(self.fields.second, 0, 59, "second").is_err() {
                    return Some(Err("second"));
                }
                let expected = next_piece(following);
                let has_fraction = matches!(expected.token, Some((_, Token::Fraction { .. })));
                if !has_fraction {
                    self.fraction_if_any();
                }
            }
            Token::UpperHalf => self.fields.afternoon = Some(self.one_of("PM", "AM")?),
            Token::LowerHalf => self.fields.afternoon = Some(self.one_of("pm", "am")?),
            Token::Fraction { trimmed: true, .. } => self.fraction_if_any(),
            Token::Fraction { digits, .. } => {
                self.text = self.text.strip_prefix(['.', ','])?;
                self.fraction_digits(digits)?;
            }
            Token::Offset(form) => return self.offset(form),
            Token::Abbreviation => return self.abbreviation(),
        }
        Some(Ok(()))
    }

    /// A number of so many digits.
    fn digits(&mut self, least: usize, most: usize) -> Option<i32> {
        let count = self.text.bytes().take(most).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.text.split_at(count);
        self.text = rest;
        if count < least { None } else { digits.parse().ok() }
    }

    /// One or two digits; two if the layout pads with a zero.
    fn number(&mut self, pad: Pad) -> Option<i8> {
        let least = if pad == Pad::Zero { 2 } else { 1 };
        self.digits(least, 2)?.try_into().ok()
    }

    fn skip_spaces(&mut self, pad: Pad, most: usize) {
        for _ in 0..most {
            if pad == Pad::Space {
                self.text = self.text.strip_prefix(' ').unwrap_or(self.text);
            }
        }
    }

    /// The place of a name, of which only so many letters are written, in any case.
    fn name(&mut self, names: &[&str], letters: usize) -> Option<i8> {
        for (at, name) in names.iter().enumerate() {
            let shown = &name[..letters.min(name.len())];
            if self.text.get(..shown.len()).is_some_and(|start| start.eq_ignore_ascii_case(shown)) {
                self.text = &self.text[shown.len()..];
                return i8::try_from(at).ok();
            }
        }
        None
    }

    /// Whether the first of two words stands here; nothing if neither does.
    fn one_of(&mut self, first: &str, second: &str) -> Option<bool> {
        if let Some(rest) = self.text.strip_prefix(first) {
            self.text = rest;
            return Some(true);
        }
        self.text = self.text.strip_prefix(second)?;
        Some(false)
    }

    fn fraction_if_any(&mut self) {
        let Some(rest) = self.text.strip_prefix(['.', ',']) else { return };
        let count = rest.bytes().take_while(u8::is_ascii_digit).count();
        if count > 0 {
            self.text = rest;
            let _ = self.fraction_digits(count);
        }
    }

    /// Exactly so many digits; those below a nanosecond are cut off.
    fn fraction_digits(&mut self, count: usize) -> Option<()> {
        let digits = self.text.get(..count).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()))?;
        self.text = &self.text[count..];
        let known = &digits[..count.min(NANOSECOND_DIGITS)];
        self.fields.nanosecond = format!("{known:0<NANOSECOND_DIGITS$}").parse().ok()?;
        Some(())
    }

    fn offset(&mut self, form: OffsetForm) -> Outcome {
        if form.z
            && let Some(rest) = self.text.strip_prefix('Z')
        {
            self.text = rest;
            self.fields.utc = true;
            return Some(Ok(()));
        }
        let sign = if self.one_of("+", "-")? { 1 } else { -1 };
        let mut parts = [0; 3];
        for (at, part) in parts[..form.parts].iter_mut().enumerate() {
            if at > 0 && form.colons {
                self.text = self.text.strip_prefix(':')?;
            }
            *part = self.digits(2, 2)?;
        }
        let [hours, minutes, seconds] = parts;
        if hours > 24 || minutes > 60 || seconds > 60 {
            return Some(Err("time zone offset"));
        }
        self.fields.offset = Some(sign * (hours * 3600 + minutes * 60 + seconds));
        Some(Ok(()))
    }

    /// An abbreviation like `UTC`, `CEST`, `GMT+3` or `-03`.
    fn abbreviation(&mut self) -> Outcome {
        if let Some(rest) = self.text.strip_prefix("UTC") {
            self.text = rest;
            self.fields.utc = true;
            return Some(Ok(()));
        }
        if let Some(rest) = self.text.strip_prefix("GMT").filter(|rest| rest.starts_with(['+', '-'])) {
            self.text = rest;
            return self.short_offset(1);
        }
        if self.text.starts_with(['+', '-']) {
            return self.short_offset(2);
        }
        let letters = self.text.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (name, rest) = self.text.split_at(letters);
        let known_form = name.bytes().all(|letter| letter.is_ascii_uppercase()) || matches!(name, "ChST" | "MeST");
        if !(3..=5).contains(&letters) || !known_form {
            return None;
        }
        self.text = rest;
        self.fields.abbreviation = Some(name.to_owned());
        Some(Ok(()))
    }

    /// An offset of hours, or of hours and minutes if two digits follow them.
    fn short_offset(&mut self, least: usize) -> Outcome {
        let sign = if self.one_of("+", "-")? { 1 } else { -1 };
        let hours = self.digits(least, 2)?;
        let minutes = self.digits(2, 2).unwrap_or(0);
        if hours > 24 || minutes > 59 {
            return Some(Err("time zone offset"));
        }
        self.fields.offset = Some(sign * (hours * 3600 + minutes * 60));
        Some(Ok(()))
    }
}

fn within(value: i8, least: i8, most: i8, field: &'static str) -> Result<(), &'static str> {
    if (least..=most).contains(&value) { Ok(()) } else { Err(field) }
}

impl Fields {
    fn time(self, location: &TimeZone) -> Result<Zoned, String> {
        let out_of_range = |_| "the time is out of range".to_owned();
        let civil = self.date()?.at(self.hour(), self.minute, self.second, self.nanosecond);
        if self.utc {
            return civil.to_zoned(TimeZone::UTC).map_err(out_of_range);
        }
        if let Some(seconds) = self.offset {
            let offset = Offset::from_seconds(seconds).map_err(out_of_range)?;
            return at_offset(civil, offset, fixed_offset(offset), location);
        }
        if let Some(name) = self.abbreviation {
            let offset = abbreviated_offset(&name, civil, location).ok_or_else(|| {
                format!("the abbreviation {name:?} is of no known offset there; say which location is meant")
            })?;
            return at_offset(civil, offset, named_offset(&name, offset), location);
        }
        civil.to_zoned(location.clone()).map_err(out_of_range)
    }

    fn hour(&self) -> i8 {
        match self.afternoon {
            Some(true) if self.hour < 12 => self.hour + 12,
            Some(false) if self.hour == 12 => 0,
            _ => self.hour,
        }
    }

    fn date(&self) -> Result<Date, String> {
        let Some(year_day) = self.year_day else {
            return Date::new(self.year, self.month.unwrap_or(1), self.day.unwrap_or(1))
                .map_err(|_| "day out of range".to_owned());
        };
        let first = Date::new(self.year, 1, 1).map_err(|_| "year out of range".to_owned())?;
        if year_day < 1 || year_day > first.days_in_year() {
            return Err("day of the year out of range".to_owned());
        }
        let date = first.with().day_of_year(year_day).build().map_err(|_| "day of the year out of range".to_owned())?;
        if self.month.is_some_and(|month| month != date.month()) {
            return Err("the day of the year is in another month".to_owned());
        }
        if self.day.is_some_and(|day| day != date.day()) {
            return Err("the day of the year is another day".to_owned());
        }
        Ok(date)
    }
}

/// The instant of a time at an offset, in the zone `location` if that has this offset then, else in the other zone.
fn at_offset(civil: DateTime, offset: Offset, other: TimeZone, location: &TimeZone) -> Result<Zoned, String> {
    let instant = offset.to_timestamp(civil).map_err(|_| "the time is out of range".to_owned())?;
    let zone = if location.to_offset(instant) == offset { location.clone() } else { other };
    Ok(instant.to_zoned(zone))
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::parse;

    /// The time as RFC 3339 with its zone, in the given location.
    fn read(text: &str, layout: &str, location: &str) -> Result<String, String> {
        parse(text, layout, &TimeZone::get(location).unwrap()).map(|time| {
            let offset = time.offset();
            format!("{}{offset}", time.datetime())
        })
    }

    #[test]
    fn every_token_is_read() {
        let cases = [
            ("2009", "2006", "2009-01-01T00:00:00+00"),
            ("68 69", "06 06", "1969-01-01T00:00:00+00"),
            ("68", "06", "2068-01-01T00:00:00+00"),
            ("2009 02 03", "2006 01 02", "2009-02-03T00:00:00+00"),
            ("2009 2 3", "2006 1 2", "2009-02-03T00:00:00+00"),
            ("2009 12 31", "2006 1 2", "2009-12-31T00:00:00+00"),
            ("feb 2009", "Jan 2006", "2009-02-01T00:00:00+00"),
            ("FEBRUARY 2009", "January 2006", "2009-02-01T00:00:00+00"),
            ("2009-02- 3", "2006-01-_2", "2009-02-03T00:00:00+00"),
            ("2009 034", "2006 002", "2009-02-03T00:00:00+00"),
            ("2012366", "2006002", "2012-12-31T00:00:00+00"),
            ("2009  34", "2006 __2", "2009-02-03T00:00:00+00"),
            ("Tue Tuesday 2009", "Mon Monday 2006", "2009-01-01T00:00:00+00"),
            ("2009 23:59:58", "2006 15:04:05", "2009-01-01T23:59:58+00"),
            ("2009 4:5:6 PM", "2006 3:4:5 PM", "2009-01-01T16:05:06+00"),
            ("2009 04:05:06pm", "2006 03:04:05pm", "2009-01-01T16:05:06+00"),
            ("2009 12:30AM", "2006 03:04PM", "2009-01-01T00:30:00+00"),
            ("2009 12:30PM", "2006 03:04PM", "2009-01-01T12:30:00+00"),
            ("2009 05.123", "2006 05.000", "2009-01-01T00:00:05.123+00"),
            ("2009 05,123", "2006 05.000", "2009-01-01T00:00:05.123+00"),
            ("2009 05.1234567891", "2006 05.999", "2009-01-01T00:00:05.123456789+00"),
            ("2009 05", "2006 05.999", "2009-01-01T00:00:05+00"),
            ("2009 05.5", "2006 05", "2009-01-01T00:00:05.5+00"),
            ("2009 +0200", "2006 -0700", "2009-01-01T00:00:00+02"),
            ("2009 -02:30", "2006 -07:00", "2009-01-01T00:00:00-02:30"),
            ("2009 +02", "2006 -07", "2009-01-01T00:00:00+02"),
            ("2009 -023015", "2006 -070000", "2009-01-01T00:00:00-02:30:15"),
            ("2009 +02:30:15", "2006 Z07:00:00", "2009-01-01T00:00:00+02:30:15"),
            ("2009 Z", "2006 Z0700", "2009-01-01T00:00:00+00"),
            ("2009 Z", "2006 Z07:00", "2009-01-01T00:00:00+00"),
            ("2009 +0530", "2006 Z0700", "2009-01-01T00:00:00+05:30"),
            ("2009 UTC", "2006 MST", "2009-01-01T00:00:00+00"),
            ("2009 GMT", "2006 MST", "2009-01-01T00:00:00+00"),
            ("2009 GMT-8", "2006 MST", "2009-01-01T00:00:00-08"),
            ("2009 PST", "2006 MST", "2009-01-01T00:00:00-08"),
            ("2009 -03", "2006 MST", "2009-01-01T00:00:00-03"),
            ("2009-02-03T04:05:06Z", "2006-01-02T15:04:05Z07:00", "2009-02-03T04:05:06+00"),
            ("2009-02-03T04:05:06.789+02:00", "2006-01-02T15:04:05Z07:00", "2009-02-03T04:05:06.789+02"),
            ("Tue, 03 Feb 2009 04:05:06 GMT", "Mon, 02 Jan 2006 15:04:05 MST", "2009-02-03T04:05:06+00"),
            ("Tue Feb   3 2009", "Mon Jan 2 2006", "2009-02-03T00:00:00+00"),
            ("\u{1f600}2009é", "\u{1f600}2006é", "2009-01-01T00:00:00+00"),
            ("0000-02-29", "2006-01-02", "0000-02-29T00:00:00+00"),
            ("9999-12-30", "2006-01-02", "9999-12-30T00:00:00+00"),
            ("2024-02-29", "2006-01-02", "2024-02-29T00:00:00+00"),
        ];
        for (text, layout, expected) in cases {
            assert_eq!(read(text, layout, "UTC").as_deref(), Ok(expected), "{text} as {layout}");
        }
    }

    #[test]
    fn a_location_is_for_texts_that_have_none() {
        const LAYOUT: &str = "2006-01-02 15:04:05 MST";
        let cases = [
            ("2020-07-01 12:00:00", "2006-01-02 15:04:05", "2020-07-01T12:00:00+02"),
            ("2020-01-01 12:00:00", "2006-01-02 15:04:05", "2020-01-01T12:00:00+01"),
            ("2020-07-01 12:00:00 +0500", "2006-01-02 15:04:05 -0700", "2020-07-01T12:00:00+05"),
            ("2020-07-01 12:00:00 CEST", LAYOUT, "2020-07-01T12:00:00+02"),
            ("2020-01-01 12:00:00 CET", LAYOUT, "2020-01-01T12:00:00+01"),
            ("2020-01-01 12:00:00 CEST", LAYOUT, "2020-01-01T12:00:00+02"),
            // The hour that is missing in spring is the next one, the hour that comes twice in autumn is the first.
            ("2020-03-29 02:30:00", "2006-01-02 15:04:05", "2020-03-29T03:30:00+02"),
            ("2020-10-25 02:30:00", "2006-01-02 15:04:05", "2020-10-25T02:30:00+02"),
            ("2020-10-25 02:30:00 CET", LAYOUT, "2020-10-25T02:30:00+01"),
            ("2020-10-25 02:30:00 CEST", LAYOUT, "2020-10-25T02:30:00+02"),
        ];
        for (text, layout, expected) in cases {
            assert_eq!(read(text, layout, "Europe/Berlin").as_deref(), Ok(expected), "{text} as {layout}");
        }
    }

    #[test]
    fn zones_stay_or_are_named_by_what_was_read() {
        let cases = [
            ("2020-07-01T12:00:00+02:00", "2006-01-02T15:04:05Z07:00", "CEST"),
            ("2020-07-01T12:00:00+05:30", "2006-01-02T15:04:05Z07:00", "+0530"),
            ("2020-07-01T12:00:00Z", "2006-01-02T15:04:05Z07:00", "UTC"),
            ("2020-07-01 PST", "2006-01-02 MST", "PST"),
        ];
        for (text, layout, abbreviation) in cases {
            let time = parse(text, layout, &TimeZone::get("Europe/Berlin").unwrap()).unwrap();
            assert_eq!(super::super::go_format::format(&time, "MST"), abbreviation, "{text}");
        }
    }

    #[test]
    fn what_does_not_fit_is_an_error_with_text_and_layout() {
        let cases = [
            ("", "2006", "cannot read \"\" as \"2006\""),
            ("209", "2006", "cannot read \"209\""),
            ("10000-01-01", "2006-01-02", "cannot parse \"10000-01-01\" as \"2006-01-02\""),
            ("2009x", "2006", "extra text \"x\""),
            ("2009 ", "2006", "extra text \" \""),
            ("2009/01", "2006-01", "cannot read \"/01\" as \"-\""),
            ("2009-13", "2006-01", "month out of range"),
            ("2009-00", "2006-01", "month out of range"),
            ("2009-1", "2006-01", "cannot read \"1\" as \"01\""),
            ("2009-02-30", "2006-01-02", "day out of range"),
            ("2023-02-29", "2006-01-02", "day out of range"),
            ("2009-02-00", "2006-01-02", "day out of range"),
            ("24:00", "15:04", "hour out of range"),
            ("13:00 PM", "3:04 PM", "hour out of range"),
            ("23:60", "15:04", "minute out of range"),
            ("23:59:60", "15:04:05", "second out of range"),
            ("2016-12-31T23:59:60Z", "2006-01-02T15:04:05Z07:00", "second out of range"),
            ("10 XM", "3 PM", "cannot read \"XM\" as \"PM\""),
            ("10 pm", "3 PM", "cannot read \"pm\" as \"PM\""),
            ("Foo 2009", "Jan 2006", "cannot read \"Foo 2009\" as \"Jan\""),
            ("2009 +25:00", "2006 -07:00", "offset out of range"),
            ("2009 0200", "2006 -0700", "cannot read \"0200\" as \"-0700\""),
            ("2009 +0200", "2006 -07:00", "as \"-07:00\""),
            ("2009 Z", "2006 -07:00", "as \"-07:00\""),
            ("2009 XYZ", "2006 MST", "the abbreviation \"XYZ\" is of no known offset"),
            ("2009 cet", "2006 MST", "as \"MST\""),
            ("2009 5.12", "2006 5.000", "as \".000\""),
            ("2009 366", "2006 002", "day of the year out of range"),
            ("2009 000", "2006 002", "day of the year out of range"),
            ("2009-03-034", "2006-01-002", "in another month"),
            ("9999-12-31T23:59:59-24:00", "2006-01-02T15:04:05Z07:00", "out of range"),
            ("\u{1f600}", "2006", "cannot read"),
            ("20\u{e9}9", "2006", "cannot read"),
            ("2009\u{0}", "2006", "extra text"),
        ];
        for (text, layout, expected) in cases {
            let error = read(text, layout, "UTC").expect_err(text);
            assert!(error.contains(expected) && error.contains("as"), "{text} as {layout} gave {error}");
        }
    }

    #[test]
    fn what_is_written_in_a_layout_is_read_in_it() {
        let layouts = [
            "Mon Jan _2 15:04:05 2006",
            "Mon Jan _2 15:04:05 MST 2006",
            "Mon Jan 02 15:04:05 -0700 2006",
            "Monday, 02-Jan-06 15:04:05 MST",
            "Mon, 02 Jan 2006 15:04:05 -0700",
            "2006-01-02T15:04:05.999999999Z07:00",
            "January 2, 2006 at 3:04:05.000 pm (MST)",
            "2006 002 15h04m5s",
            "20060102150405",
        ];
        let zone = TimeZone::get("America/New_York").unwrap();
        for second in (0..40).map(|n| 1_000_000_000 + n * 11_111_111) {
            let time = jiff::Timestamp::from_second(second).unwrap().to_zoned(zone.clone());
            for layout in layouts {
                let text = super::super::go_format::format(&time, layout);
                assert_eq!(parse(&text, layout, &zone).as_ref(), Ok(&time), "{text} as {layout}");
            }
        }
    }
}
