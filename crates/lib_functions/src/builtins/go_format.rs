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
