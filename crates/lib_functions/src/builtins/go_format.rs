//! Writes times in layouts of Go.

use std::fmt::Write as _;

use jiff::Zoned;

use super::go_layout::{MONTHS, OffsetForm, Pad, SHORT_NAME, Token, WEEKDAYS, next_piece};

/// The time as the layout shows it.
pub(super) fn format(time: &Zoned, layout: &str) -> String {
    let mut out = String::with_capacity(layout.len() + 8);
    let mut rest = layout;
    while !rest.is_empty() {
        let piece = next_piece(rest);
        out.push_str(piece.literal);
        if let Some((_, token)) = piece.token {
            write_token(&mut out, time, token);
        }
        rest = piece.rest;
    }
    out
}

fn write_token(out: &mut String, time: &Zoned, token: Token) {
    let hour12 = (time.hour() + 11) % 12 + 1;
    match token {
        Token::LongYear => write_year(out, time.year()),
        Token::Year => write_number(out, i32::from(time.year().max(0) % 100), Pad::Zero, 2),
        Token::LongMonth => out.push_str(month(time)),
        Token::ShortMonth => out.push_str(&month(time)[..SHORT_NAME]),
        Token::Month(pad) => write_number(out, i32::from(time.month()), pad, 2),
        Token::Day(pad) => write_number(out, i32::from(time.day()), pad, 2),
        Token::YearDay(pad) => write_number(out, i32::from(time.day_of_year()), pad, 3),
        Token::LongWeekday => out.push_str(weekday(time)),
        Token::ShortWeekday => out.push_str(&weekday(time)[..SHORT_NAME]),
        Token::Hour24 => write_number(out, i32::from(time.hour()), Pad::Zero, 2),
        Token::Hour12(pad) => write_number(out, i32::from(hour12), pad, 2),
        Token::Minute(pad) => write_number(out, i32::from(time.minute()), pad, 2),
        Token::Second(pad) => write_number(out, i32::from(time.second()), pad, 2),
        Token::UpperHalf => out.push_str(if time.hour() < 12 { "AM" } else { "PM" }),
        Token::LowerHalf => out.push_str(if time.hour() < 12 { "am" } else { "pm" }),
        Token::Fraction { separator, digits, trimmed } => write_fraction(out, time, separator, digits, trimmed),
        Token::Offset(form) => write_offset(out, time.offset().seconds(), form),
        Token::Abbreviation => {
            out.push_str(time.time_zone().to_offset_info(time.timestamp()).abbreviation());
        }
    }
}

fn month(time: &Zoned) -> &'static str {
    MONTHS[usize::from(time.month().unsigned_abs() - 1)]
}

fn weekday(time: &Zoned) -> &'static str {
    WEEKDAYS[usize::from(time.weekday().to_monday_zero_offset().unsigned_abs())]
}

fn write_year(out: &mut String, year: i16) {
    if year < 0 {
        out.push('-');
    }
    let _ = write!(out, "{:04}", year.unsigned_abs());
}

fn write_number(out: &mut String, number: i32, pad: Pad, width: usize) {
    let _ = match pad {
        Pad::None => write!(out, "{number}"),
        Pad::Zero => write!(out, "{number:0width$}"),
        Pad::Space => write!(out, "{number:width$}"),
    };
}

fn write_fraction(out: &mut String, time: &Zoned, separator: char, digits: usize, trimmed: bool) {
    let all = format!("{:09}", time.subsec_nanosecond());
    let shown = &all[..digits.min(all.len())];
    let shown = if trimmed { shown.trim_end_matches('0') } else { shown };
    if trimmed && shown.is_empty() {
        return;
    }
    out.push(separator);
    out.push_str(shown);
    out.extend(std::iter::repeat_n('0', if trimmed { 0 } else { digits - shown.len() }));
}

fn write_offset(out: &mut String, seconds: i32, form: OffsetForm) {
    if form.z && seconds == 0 {
        out.push('Z');
        return;
    }
    out.push(if seconds < 0 { '-' } else { '+' });
    let seconds = seconds.unsigned_abs();
    let parts = [seconds / 3600, seconds / 60 % 60, seconds % 60];
    for (at, part) in parts[..form.parts].iter().enumerate() {
        if at > 0 && form.colons {
            out.push(':');
        }
        let _ = write!(out, "{part:02}");
    }
}

#[cfg(test)]
mod tests {
    use jiff::Zoned;

    use super::format;

    fn at(text: &str) -> Zoned {
        text.parse().unwrap()
    }

    #[test]
    fn every_token_is_written() {
        let time = at("2009-02-03T16:05:06.0078901+02:00[+02:00]");
        let morning = at("2012-12-31T00:59:00-03:30[America/St_Johns]");
        let cases = [
            ("2006 06", "2009 09", "2012 12"),
            ("01 1 Jan January", "02 2 Feb February", "12 12 Dec December"),
            ("02 2 _2 002 __2", "03 3  3 034  34", "31 31 31 366 366"),
            ("Mon Monday", "Tue Tuesday", "Mon Monday"),
            ("15 03 3 PM pm", "16 04 4 PM pm", "00 12 12 AM am"),
            ("04 4 05 5", "05 5 06 6", "59 59 00 0"),
            ("05.000 05.999 05.000000000 05,00", "06.007 06.007 06.007890100 06,00", "00.000 00 00.000000000 00,00"),
            ("5.999999999", "6.0078901", "0"),
            ("-0700 -07:00 -07", "+0200 +02:00 +02", "-0330 -03:30 -03"),
            ("-070000 -07:00:00", "+020000 +02:00:00", "-033000 -03:30:00"),
            (
                "Z0700 Z07:00 Z07 Z070000 Z07:00:00",
                "+0200 +02:00 +02 +020000 +02:00:00",
                "-0330 -03:30 -03 -033000 -03:30:00",
            ),
        ];
        for (layout, expected, in_the_morning) in cases {
            assert_eq!(format(&time, layout), expected, "{layout}");
            assert_eq!(format(&morning, layout), in_the_morning, "{layout}");
        }
    }

    #[test]
    fn offsets_of_nothing_are_z_where_the_layout_says_so() {
        let time = at("2020-01-01T00:00:00Z[UTC]");
        assert_eq!(format(&time, "Z0700 Z07:00 Z07 -07:00 MST"), "Z Z Z +00:00 UTC");
    }

    #[test]
    fn zones_are_abbreviated_as_they_are_called_then() {
        assert_eq!(format(&at("2020-07-01T00:00:00[Europe/Berlin]"), "MST"), "CEST");
        assert_eq!(format(&at("2020-01-01T00:00:00[Europe/Berlin]"), "MST"), "CET");
        assert_eq!(format(&at("2020-01-01T00:00:00[America/Sao_Paulo]"), "MST"), "-03");
    }

    #[test]
    fn other_text_stands_for_itself() {
        let time = at("2009-02-03T16:05:06[UTC]");
        let cases = [
            ("", ""),
            ("T at \u{1f600} \u{0} %Y é", "T at \u{1f600} \u{0} %Y é"),
            ("Janet Month MSTR P p J", "Janet Month UTCR P p J"),
            ("_2006 _20061", "_2009 _20092"),
            ("20060102150405", "20090203160506"),
            (".0001 ,9 .", ".0002  ."),
            ("Z -0 -7 Z7", "Z -0 -7 Z7"),
            ("0 00 07", "0 00 07"),
            ("2006-01-02T15:04:05Z07:00", "2009-02-03T16:05:06Z"),
            ("Mon, 02 Jan 2006 15:04:05 MST", "Tue, 03 Feb 2009 16:05:06 UTC"),
            ("3:04PM", "4:05PM"),
        ];
        for (layout, expected) in cases {
            assert_eq!(format(&time, layout), expected, "{layout}");
        }
    }

    #[test]
    fn years_at_the_ends_are_written() {
        assert_eq!(format(&at("0000-01-01T00:00:00[UTC]"), "2006 06"), "0000 00");
        assert_eq!(format(&at("9999-12-30T00:00:00[UTC]"), "2006 06"), "9999 99");
        assert_eq!(format(&at("-000012-01-01T00:00:00[UTC]"), "2006 06"), "-0012 00");
    }
}
