//! Time zones by name, by offset and by abbreviation.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};

/// Abbreviations that are of one offset whatever the location, with their hours (RFC 2822, section 4.3).
const FIXED: [(&str, i8); 9] = [
    ("GMT", 0),
    ("EST", -5),
    ("EDT", -4),
    ("CST", -6),
    ("CDT", -5),
    ("MST", -7),
    ("MDT", -6),
    ("PST", -8),
    ("PDT", -7),
];
/// How many changes of a zone's offset are looked at, before and after a time, to find an abbreviation.
const TRANSITIONS: usize = 8;

/// The zone of a name of the IANA database, of `UTC`, or of `Local`, which is the zone of the machine.
pub(super) fn zone(name: &str) -> Result<TimeZone, String> {
    match name {
        "UTC" => Ok(TimeZone::UTC),
        "Local" => Ok(TimeZone::system()),
        _ => TimeZone::get(name).map_err(|_| format!("unknown time zone {name:?}")),
    }
}

/// A zone of one offset, abbreviated as `+0200`.
pub(super) fn fixed_offset(offset: Offset) -> TimeZone {
    if offset == Offset::UTC {
        return TimeZone::UTC;
    }
    let seconds = offset.seconds().unsigned_abs();
    let sign = if offset.is_negative() { '-' } else { '+' };
    named_offset(&format!("{sign}{:02}{:02}", seconds / 3600, seconds / 60 % 60), offset)
}

/// A zone of one offset, with an abbreviation of its own.
pub(super) fn named_offset(abbreviation: &str, offset: Offset) -> TimeZone {
    let seconds = offset.seconds().unsigned_abs();
    // POSIX counts offsets westwards.
    let sign = if offset.is_negative() { '+' } else { '-' };
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    TimeZone::posix(&format!("<{abbreviation}>{sign}{hours}:{minutes:02}:{seconds:02}"))
        .unwrap_or_else(|_| TimeZone::fixed(offset))
}

/// The offset that an abbreviation means at a time of a location: that of the location then, else that of the location
/// at another time of the years around (a time of summer, given in winter), else one that is the same everywhere.
pub(super) fn abbreviated_offset(name: &str, civil: DateTime, location: &TimeZone) -> Option<Offset> {
    let possible = location.to_ambiguous_zoned(civil);
    let instants = [possible.clone().earlier(), possible.later()].map(|time| time.ok().map(|time| time.timestamp()));
    let then = instants.into_iter().flatten().find_map(|instant| {
        let info = location.to_offset_info(instant);
        (info.abbreviation() == name).then(|| info.offset())
    });
    let around = || {
        let instant = instants.into_iter().flatten().next()?;
        nearby_offset(name, instant, location)
    };
    let fixed = || {
        let (_, hours) = FIXED.iter().find(|(known, _)| *known == name)?;
        Some(Offset::constant(*hours))
    };
    then.or_else(around).or_else(fixed)
}

fn nearby_offset(name: &str, instant: Timestamp, location: &TimeZone) -> Option<Offset> {
    let before = location.preceding(instant).take(TRANSITIONS);
    let mut around = before.chain(location.following(instant).take(TRANSITIONS));
    around.find(|change| change.abbreviation() == name).map(|change| change.offset())
}
