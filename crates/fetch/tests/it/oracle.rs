//! Random values, compared with what others make of them: the engine itself, where its CAST is the rule, and `jiff`.

use engine::Value;
use fetch::{BadValue, Carriers, Converter, select_list};
use jiff::tz::{Offset, TimeZone};
use lib_functions::testing::with_rows;
use types::literal;

use crate::lab::{Dice, Lab, column, list_of, quoted, relation};

const CASES: usize = 6_000;

/// The carrier of each expression, or why it has none.
fn carriers(sql_type: &str, expressions: &[String]) -> Vec<Result<Option<String>, BadValue>> {
    let rows: Vec<String> = expressions.iter().map(|expression| format!("{{'v': {expression}}}")).collect();
    with_rows(&format!("[{}]", rows.join(",")), |rows| {
        let mut converter = Converter::new(vec![column(sql_type)]);
        let mut out = Carriers::new();
        let mut carrier = |row| converter.row(row, &mut out).map(|()| out.iter().next().unwrap().map(str::to_owned));
        rows.iter().map(|row| carrier(*row)).collect()
    })
}

/// The texts, in UTC, of what SQL makes of each text `c`, in a session of another zone.
fn made(lab: &Lab, sql: &str, texts: &[Option<String>]) -> Vec<Option<String>> {
    let json = literal(&serde_json::to_string(texts).unwrap());
    let texts = format!("SELECT unnest(CAST(CAST({json} AS JSON) AS VARCHAR[])) AS c");
    lab.connection
        .execute(&format!("CREATE OR REPLACE TEMP TABLE made AS SELECT {sql} AS out FROM ({texts})"))
        .unwrap();
    lab.connection.execute("SET TimeZone = 'UTC'").unwrap();
    let rows = lab.connection.query("SELECT CAST(out AS VARCHAR) FROM made").unwrap();
    lab.connection.execute("SET TimeZone = 'America/New_York'").unwrap();
    rows.into_values().map(|mut row| row.swap_remove(0).into_text()).collect()
}

/// The value of each expression, NULL for one that is refused, and the reasons of refusals.
fn converted(lab: &Lab, sql_type: &str, expressions: &[String]) -> Vec<(Option<String>, Option<String>)> {
    let carriers = carriers(sql_type, expressions);
    let texts: Vec<Option<String>> = carriers.iter().map(|carrier| carrier.clone().unwrap_or(None)).collect();
    let mut column = column(sql_type);
    column.is_try = true;
    let list = select_list(&[column], |_| "c".into());
    let values = made(lab, list.strip_suffix(" AS \"out\"").unwrap(), &texts);
    values.into_iter().zip(carriers).map(|(value, carrier)| (value, carrier.err().map(|bad| bad.reason))).collect()
}

fn cast(lab: &Lab, sql_type: &str, texts: &[String]) -> Vec<Option<String>> {
    let texts: Vec<Option<String>> = texts.iter().cloned().map(Some).collect();
    made(lab, &format!("TRY_CAST(c AS {sql_type})"), &texts)
}

fn random_texts(pieces: &[&str], longest: usize) -> Vec<String> {
    let mut dice = Dice::new();
    (0..CASES).map(|_| dice.text(pieces, longest)).collect()
}

const NUMBERS: [&str; 22] = [
    "0",
    "1",
    "5",
    "9",
    "4",
    "00",
    "99",
    "_",
    ".",
    "e",
    "E",
    "e-",
    "e+1",
    "+",
    "-",
    "0x",
    "0b",
    "F",
    " ",
    "\n",
    "é",
    "214748364",
];

#[test]
fn texts_of_numbers_are_those_that_the_engine_reads() {
    let lab = Lab::open();
    let texts = random_texts(&NUMBERS, 6);
    // Not in all forms the engine skips all blanks.
    let trimmed: Vec<String> = texts.iter().map(|text| text.trim().to_owned()).collect();
    let expressions: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    for name in ["INTEGER", "UTINYINT", "HUGEINT", "DECIMAL(10,2)", "DECIMAL(3,3)", "DECIMAL(38,0)"] {
        let theirs = cast(&lab, name, &trimmed);
        let ours = converted(&lab, name, &expressions);
        let mut same = 0;
        for ((text, theirs), (ours, reason)) in texts.iter().zip(theirs).zip(ours) {
            if ours == theirs {
                same += usize::from(ours.is_some());
                continue;
            }
            let refused = reason.as_deref().is_some_and(|reason| reason.contains("fraction"));
            // The engine takes some halves of numbers, refuses exponents that are large though the number is not, and
            // rounds decimals with an exponent wrongly (99e-99 is 0.01).
            let has_exponent = text.contains(['e', 'E']);
            let is_half = text.trim().parse::<f64>().is_err();
            // The largest integers have no other bases there.
            let is_other_base = name == "HUGEINT" && text.contains(['x', 'b']);
            let is_zero = theirs.is_none() && ours.as_deref() == Some("0");
            assert!(
                refused
                    || is_zero
                    || is_other_base
                    || is_half && ours.is_none()
                    || has_exponent && (theirs.is_none() || name.starts_with('D')),
                "{text:?} as {name}: {ours:?} ({reason:?}), engine: {theirs:?}"
            );
        }
        assert!(same > 100, "{name}: {same}");
    }
}

fn random_floats() -> Vec<f64> {
    let mut dice = Dice::new();
    let mut float = || match dice.below(4) {
        0 => f64::from_bits(dice.bits()),
        // Few digits.
        1 => f64::from(u32::try_from(dice.below(1_000_000)).unwrap()) / 1000.0,
        // Halfway between two of single precision, and beside that.
        2 => {
            let single = f32::from_bits(u32::try_from(dice.bits() >> 33).unwrap());
            let half = f64::midpoint(f64::from(single), f64::from(single.next_up()));
            [half, half.next_up(), half.next_down()][dice.below(3)]
        }
        _ => 10_f64.powi(i32::try_from(dice.below(40)).unwrap() - 20),
    };
    let mut floats: Vec<f64> = Vec::new();
    while floats.len() < CASES {
        floats.push(float());
        floats.retain(|float| float.is_finite());
    }
    floats
}

#[test]
fn floats_become_what_the_engine_makes_of_a_double() {
    let lab = Lab::open();
    let floats = random_floats();
    let texts: Vec<String> = floats.iter().map(|float| format!("{float:?}")).collect();
    let expressions: Vec<String> = texts.iter().map(|text| format!("float('{text}')")).collect();
    for name in ["VARCHAR", "FLOAT", "DOUBLE"] {
        let some: Vec<Option<String>> = texts.iter().cloned().map(Some).collect();
        let theirs = made(&lab, &format!("TRY_CAST(CAST(c AS DOUBLE) AS {name})"), &some);
        let ours = converted(&lab, name, &expressions);
        for ((text, theirs), (ours, _)) in texts.iter().zip(theirs).zip(ours) {
            assert_eq!(ours, theirs, "{text} as {name}");
        }
    }
}

#[test]
fn floats_become_decimals_by_their_shortest_text() {
    let lab = Lab::open();
    let mut floats = random_floats();
    // Above, two texts may be as short and as near.
    floats.retain(|float| float.abs() < 1e13);
    // Without an exponent, with which the engine does not round right.
    let texts: Vec<String> = floats.iter().map(|float| format!("{float}")).collect();
    let expressions: Vec<String> = floats.iter().map(|float| format!("float('{float:?}')")).collect();
    for name in ["DECIMAL(10,2)", "DECIMAL(38,10)", "DECIMAL(18,17)"] {
        let theirs = cast(&lab, name, &texts);
        let ours = converted(&lab, name, &expressions);
        for ((text, theirs), (ours, _)) in texts.iter().zip(theirs).zip(ours) {
            assert_eq!(ours, theirs, "{text} as {name}");
        }
    }
}

const MOMENTS: [&str; 34] = [
    "2026-01-02",
    "2024-02-29",
    "0001-01-01",
    "-0044-03-15",
    "0044-03-15 (BC)",
    "2026-3-8",
    "2026/12/31",
    "12026-01-01",
    "2026-02-30",
    "T",
    " ",
    "  ",
    "10:00:00",
    "23:59:59.9999999",
    "02:30",
    "1:2:3",
    "24:00:00",
    "25:00",
    "10",
    ".5",
    ".",
    "Z",
    "z",
    "+02:00",
    "-0530",
    "+14",
    "+05:30:15",
    " UTC",
    " GMT",
    "infinity",
    "epoch",
    "+5",
    "x",
    "\n",
];

#[test]
fn texts_of_moments_mean_the_same_in_every_session() {
    let lab = Lab::open();
    let mut texts = random_texts(&MOMENTS, 4);
    texts.sort();
    texts.dedup();
    let expressions: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    // Not all types let the engine skip all blanks.
    let trimmed: Vec<String> = texts.iter().map(|text| text.trim().to_owned()).collect();
    let has_offset = |text: &String| ["+", "-0530", "Z", "z", "UTC", "GMT"].iter().any(|offset| text.contains(offset));
    for (name, plain) in [
        ("DATE", "DATE"),
        ("TIME", "TIME"),
        ("TIMESTAMP", "TIMESTAMP"),
        ("TIMESTAMP_NS", "TIMESTAMP_NS"),
        ("TIMESTAMPTZ", "TIMESTAMP"),
    ] {
        let theirs = cast(&lab, plain, &trimmed);
        let ours = converted(&lab, name, &expressions);
        let mut same = 0;
        for ((text, theirs), (ours, reason)) in texts.iter().zip(theirs).zip(ours) {
            let zone = if name == "TIMESTAMPTZ" && theirs.as_deref().is_some_and(|text| !text.contains("infinity")) {
                "+00"
            } else {
                ""
            };
            let theirs = theirs.map(|text| text + zone);
            if ours == theirs {
                same += usize::from(ours.is_some());
                continue;
            }
            let names_zone = reason.as_deref().is_some_and(|reason| reason.contains("must be an offset"));
            // The engine leaves out what it does not understand behind a date; that may have been an offset.
            let has_word = text.chars().any(|c| c.is_ascii_alphabetic() && !matches!(c, 'T' | 't'));
            let has_sign = text
                .trim()
                .split_once(|c: char| "T:".contains(c) || c.is_whitespace())
                .is_some_and(|(_, rest)| rest.contains('-'));
            let is_refused =
                ours.is_none() && (has_word || has_sign) && reason.as_deref().is_some_and(|it| it.contains("no ISO"));
            let is_as_expected = names_zone || is_refused || has_offset(text);
            assert!(is_as_expected, "{text:?} as {name}: {ours:?} ({reason:?}), engine: {theirs:?}");
        }
        assert!(same > 30, "{name}: {same}");
    }
    lab.connection.execute("SET TimeZone = 'UTC'").unwrap();
    let theirs = cast(&lab, "TIMETZ", &trimmed);
    lab.connection.execute("SET TimeZone = 'America/New_York'").unwrap();
    let mut same = 0;
    for ((text, theirs), (ours, _)) in texts.iter().zip(theirs).zip(converted(&lab, "TIMETZ", &expressions)) {
        // What is no text of a time may be refused, as the engine would read part of it.
        let is_as_expected = ours.is_none() || ours == theirs || has_offset(text);
        assert!(is_as_expected, "{text:?} as TIMETZ: {ours:?}, engine: {theirs:?}");
        same += usize::from(ours.is_some() && ours == theirs);
    }
    assert!(same > 30, "{same}");
}

#[test]
fn offsets_are_taken_off_as_another_calendar_does() {
    let lab = Lab::open();
    let mut dice = Dice::new();
    let mut expressions = Vec::new();
    let mut expected = Vec::new();
    while expected.len() < 2_000 {
        let seconds = i64::try_from(dice.below(253_402_300_800 + 62_135_596_800)).unwrap() - 62_135_596_800;
        let nanos = i32::try_from(dice.below(1_000_000)).unwrap() * 1_000;
        let offset = i32::try_from(dice.below(16 * 60 * 2)).unwrap() - 16 * 60 + 1;
        let Ok(instant) = jiff::Timestamp::new(seconds, nanos) else { continue };
        let local = instant.to_zoned(TimeZone::fixed(Offset::from_seconds(offset * 60).unwrap()));
        let utc = instant.to_zoned(TimeZone::UTC);
        // DuckDB writes the years before 1 in another way.
        if local.year() < 1 || utc.year() < 1 {
            continue;
        }
        expressions.push(quoted(&local.strftime("%Y-%m-%dT%H:%M:%S%.f%:z").to_string()));
        let shown = utc.strftime("%Y-%m-%d %H:%M:%S%.f").to_string();
        expected.push((utc.strftime("%Y-%m-%d").to_string(), utc.strftime("%H:%M:%S%.f").to_string(), shown));
    }
    for (name, pick) in [("DATE", 0), ("TIME", 1), ("TIMESTAMP", 2), ("TIMESTAMPTZ", 3)] {
        for ((expression, expected), (ours, _)) in
            expressions.iter().zip(&expected).zip(converted(&lab, name, &expressions))
        {
            let text = match pick {
                0 => expected.0.clone(),
                1 => expected.1.clone(),
                2 => expected.2.clone(),
                _ => format!("{}+00", expected.2),
            };
            assert_eq!(ours, Some(text), "{expression} as {name}");
        }
    }
}

#[test]
fn a_row_of_carriers_survives_as_json() {
    let lab = Lab::open();
    let pieces = ["\"", "\\", "\u{1}", "\n", "é", "😀", "\u{7f}", "\u{2028}", ",", "]", "null", "\\u0000"];
    let texts = random_texts(&pieces, 5);
    let expressions: Vec<String> = texts.iter().take(2_000).map(|text| format!("{{'v': {}}}", quoted(text))).collect();
    let rows = with_rows(&format!("[{}]", expressions.join(",")), |rows| {
        let mut converter = Converter::new(vec![column("VARCHAR"), column("VARCHAR")]);
        let mut out = Carriers::new();
        let mut json = |row| {
            let mut json = String::new();
            converter.row(row, &mut out).unwrap();
            out.write_json(&mut json);
            json
        };
        rows.iter().map(|row| json(*row)).collect::<Vec<String>>()
    });
    let found = lab.connection.query(&format!("SELECT {} FROM {}", list_of("text"), relation(&rows))).unwrap();
    assert_eq!(found.len(), 2_000);
    for (row, text) in found.into_values().zip(texts) {
        let text = || Value::Text(text.clone());
        assert_eq!(row, [Value::List(vec![text(), text()])]);
    }
}
