//! Dates and times.

use crate::lab::Lab;

const NUMBERS: [(&str, Result<Option<&str>, &str>); 5] = [
    ("1767225600", Err("epochs are not guessed")),
    ("1767225600.0", Err("epochs are not guessed")),
    ("True", Err("a bool has no meaning")),
    ("time.hour", Err("a duration has no meaning")),
    ("None", Ok(None)),
];

#[test]
fn dates_are_those_of_utc() {
    let lab = Lab::open();
    lab.all("DATE", &NUMBERS);
    lab.all(
        "DATE",
        &[
            ("'2026-01-02'", Ok(Some("2026-01-02"))),
            ("'2026-1-2'", Ok(Some("2026-01-02"))),
            ("'2024-02-29'", Ok(Some("2024-02-29"))),
            ("'2023-02-29'", Err("out of range")),
            ("'1900-02-29'", Err("out of range")),
            ("'2026-02-30'", Err("out of range")),
            ("'0000-02-29'", Ok(Some("0001-02-29 (BC)"))),
            ("'-0043-03-15'", Ok(Some("0044-03-15 (BC)"))),
            ("'0044-03-15 (BC)'", Ok(Some("0044-03-15 (BC)"))),
            ("'12026-01-02'", Ok(Some("12026-01-02"))),
            ("'infinity'", Ok(Some("infinity"))),
            ("'2026-01-01T23:00:00-05:00'", Ok(Some("2026-01-02"))),
            ("'2026-01-01T01:00:00+02:00'", Ok(Some("2025-12-31"))),
            ("'2026-01-01T23:00:00'", Ok(Some("2026-01-01"))),
            ("'2026-01-01 24:00:00Z'", Ok(Some("2026-01-02"))),
            ("'0001-01-01T01:00+02:00'", Ok(Some("0001-12-31 (BC)"))),
            ("'2026-02-30T23:00:00-05:00'", Err("no ISO date")),
            ("'2026-01-01 23:00 Europe/Berlin'", Err("must be an offset")),
            ("time.parse_time('2026-01-01T01:00:00+02:00')", Ok(Some("2025-12-31"))),
            ("time.time(year=-5, month=3, day=1)", Ok(Some("0006-03-01 (BC)"))),
            ("'1767225600'", Err("out of range")),
            ("'20260102'", Err("invalid date")),
            ("''", Err("invalid date")),
            ("'a\\x00'", Err("NUL")),
            ("[]", Err("a list has no meaning")),
        ],
    );
}

#[test]
fn times_of_day_are_those_of_utc() {
    let lab = Lab::open();
    lab.all("TIME", &NUMBERS);
    lab.all("TIME_NS", &NUMBERS);
    lab.all(
        "TIME",
        &[
            ("'10:00:00'", Ok(Some("10:00:00"))),
            ("'10:00'", Ok(Some("10:00:00"))),
            ("'10:00:00+02:00'", Ok(Some("08:00:00"))),
            ("'01:00+02'", Ok(Some("23:00:00"))),
            ("'23:30:00.25 -0130'", Ok(Some("01:00:00.25"))),
            ("'10:00:00Z'", Ok(Some("10:00:00"))),
            ("'24:00:00'", Ok(Some("24:00:00"))),
            ("'24:00:00Z'", Ok(Some("24:00:00"))),
            ("'10:00:00.1234567'", Ok(Some("10:00:00.123456"))),
            ("'2026-01-01T10:00:00+02:00'", Ok(Some("08:00:00"))),
            ("time.parse_time('2026-01-01T10:00:00.5+02:00')", Ok(Some("08:00:00.5"))),
            ("'10:00:00 Europe/Berlin'", Err("must be an offset")),
            ("'25:00:00'", Err("out of range")),
            ("'10:60:00'", Err("out of range")),
            ("'10'", Err("out of range")),
        ],
    );
    lab.all(
        "TIME_NS",
        &[
            ("'10:00:00.123456789+02:00'", Ok(Some("08:00:00.123456789"))),
            ("time.from_timestamp(1, 1)", Ok(Some("00:00:01.000000001"))),
        ],
    );
    lab.all("TIMETZ", &NUMBERS);
    lab.all(
        "TIMETZ",
        &[
            ("'10:00:00'", Ok(Some("10:00:00+00"))),
            ("'10:00:00Z'", Ok(Some("10:00:00+00"))),
            ("'10:00:00.5+02:30'", Ok(Some("10:00:00.5+02:30"))),
            ("'2026-01-01T10:00-05'", Ok(Some("10:00:00-05"))),
            ("time.parse_time('2026-01-01T10:00:00-02:30')", Ok(Some("10:00:00-02:30"))),
            ("'10:00:00 EST'", Err("must be an offset")),
            ("'10'", Err("no ISO date or time")),
            ("'2026-01-01'", Ok(Some("00:00:00+00"))),
        ],
    );
}

#[test]
fn timestamps_are_those_of_utc() {
    let lab = Lab::open();
    for name in ["TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMPTZ"] {
        let zone = if name == "TIMESTAMPTZ" { "+00" } else { "" };
        let shown = |text: &str| format!("{text}{zone}");
        lab.all(name, &NUMBERS);
        lab.all(
            name,
            &[
                // Trap 12.
                ("'2026-01-01T10:00:00+02:00'", Ok(Some(&shown("2026-01-01 08:00:00")))),
                ("'2026-01-01T10:00:00'", Ok(Some(&shown("2026-01-01 10:00:00")))),
                ("'2026-01-01 10:00:00Z'", Ok(Some(&shown("2026-01-01 10:00:00")))),
                ("'2026-01-01t10:00:00z'", Ok(Some(&shown("2026-01-01 10:00:00")))),
                ("'2026-01-01 10:00:00 +0200'", Ok(Some(&shown("2026-01-01 08:00:00")))),
                ("'2026-01-01 10:00:00 UTC'", Ok(Some(&shown("2026-01-01 10:00:00")))),
                ("'2026-01-01T10:00+02'", Ok(Some(&shown("2026-01-01 08:00:00")))),
                ("'2026-01-01T10:00'", Ok(Some(&shown("2026-01-01 10:00:00")))),
                ("'2026-01-01'", Ok(Some(&shown("2026-01-01 00:00:00")))),
                ("' 2026/1/1 '", Ok(Some(&shown("2026-01-01 00:00:00")))),
                ("'2026-01-01T24:00:00'", Ok(Some(&shown("2026-01-02 00:00:00")))),
                ("'2024-02-29T23:30:00-01:00'", Ok(Some(&shown("2024-03-01 00:30:00")))),
                // The hour that New York's clocks skip.
                ("'2026-03-08T02:30:00'", Ok(Some(&shown("2026-03-08 02:30:00")))),
                (
                    "time.parse_time('2026-01-01T10:00:00+02:00').in_location('Asia/Tokyo')",
                    Ok(Some(&shown("2026-01-01 08:00:00"))),
                ),
                ("'infinity'", Ok(Some("infinity"))),
                ("'epoch'", Ok(Some(&shown("1970-01-01 00:00:00")))),
                ("'2026-02-30T10:00:00Z'", Err("")),
                ("'2026-13-01'", Err("")),
                ("'2026-01-01T25:00:00'", Err("")),
                ("'2026-01-01T23:59:60Z'", Err("")),
                ("'1767225600'", Err("")),
                ("'yesterday'", Err("")),
                ("'10:00:00'", Err("")),
                ("''", Err("")),
                ("b'2026-01-01'", Err("bytes has no meaning")),
            ],
        );
        if name != "TIMESTAMP_NS" {
            lab.all(
                name,
                &[
                    ("'0000-01-01'", Ok(Some(&shown("0001-01-01 (BC) 00:00:00")))),
                    ("'0044-03-15 (BC) 10:00+02:00'", Ok(Some(&shown("0044-03-15 (BC) 08:00:00")))),
                    ("'12026-01-01T10:00:00-01:00'", Ok(Some(&shown("12026-01-01 11:00:00")))),
                    ("time.time(year=-1)", Ok(Some(&shown("0002-01-01 (BC) 00:00:00")))),
                ],
            );
        }
    }
}

#[test]
fn fractions_of_seconds_follow_the_engine() {
    let lab = Lab::open();
    for (name, nines, exact) in [
        ("TIMESTAMP", "2026-01-01 08:00:00.999999", "2026-01-01 08:00:00.123456"),
        ("TIMESTAMP_S", "2026-01-01 08:00:01", "2026-01-01 08:00:00"),
        ("TIMESTAMP_MS", "2026-01-01 08:00:01", "2026-01-01 08:00:00.123"),
        ("TIMESTAMP_NS", "2026-01-01 08:00:00.9999996", "2026-01-01 08:00:00.123456789"),
        ("TIMESTAMPTZ", "2026-01-01 08:00:00.999999+00", "2026-01-01 08:00:00.123456+00"),
    ] {
        lab.all(
            name,
            &[
                ("'2026-01-01T10:00:00.9999996+02:00'", Ok(Some(nines))),
                ("'2026-01-01T08:00:00.9999996Z'", Ok(Some(nines))),
                ("'2026-01-01T10:00:00.1234567894+02:00'", Ok(Some(exact))),
                ("time.parse_time('2026-01-01T10:00:00.123456789+02:00')", Ok(Some(exact))),
            ],
        );
    }
}

#[test]
fn a_zone_by_its_name_has_a_meaning_for_timestamptz_alone() {
    let lab = Lab::open();
    let named = "'2026-07-01 10:00:00 Europe/Berlin'";
    lab.all("TIMESTAMPTZ", &[(named, Ok(Some("2026-07-01 08:00:00+00"))), ("'2026-07-01 10:00 Nowhere'", Err(""))]);
    lab.all("TIMESTAMP", &[(named, Err("must be an offset"))]);
}

#[test]
fn an_offset_that_is_not_understood_is_never_left_out() {
    let lab = Lab::open();
    let types = ["DATE", "TIME", "TIMETZ", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMPTZ"];
    let offsets =
        ["+24:00", "+99", "+99:99", "+02:60", "+15:60", "+2:00", "+2", "+020", "+0", "-5", "+02:00x", "+", "−"];
    for name in types {
        for offset in offsets {
            for clock in ["10:00:00", "10:00"] {
                for date in ["2026-01-01T", "2026-01-01 ", ""] {
                    lab.all(name, &[(&format!("'{date}{clock}{offset}'"), Err(""))]);
                }
            }
        }
        for hour in ["'2026-01-01T10+02:00'", "'2026-01-01 10-05'", "'2026-01-01+02:00'", "'2026-01-01Z'"] {
            lab.all(name, &[(hour, Err(""))]);
        }
        for zone in ["[America/New_York]", "[]", "[", "[a]]"] {
            lab.all(name, &[(&format!("'2026-01-01T23:30:00{zone}'"), Err(""))]);
        }
    }
}

#[test]
fn an_annotation_beside_an_offset_changes_nothing() {
    let lab = Lab::open();
    for text in ["'2026-01-01T23:30:00-05:00[America/New_York]'", "'2026-01-01T23:30−05:00[-05:00][u-ca=gregory]'"] {
        lab.all("DATE", &[(text, Ok(Some("2026-01-02")))]);
        lab.all("TIME", &[(text, Ok(Some("04:30:00")))]);
        lab.all("TIMESTAMP", &[(text, Ok(Some("2026-01-02 04:30:00")))]);
        lab.all("TIMESTAMPTZ", &[(text, Ok(Some("2026-01-02 04:30:00+00")))]);
    }
    lab.all("TIMESTAMP", &[("'2026-01-01T10:00:00Z[UTC]'", Ok(Some("2026-01-01 10:00:00")))]);
}
