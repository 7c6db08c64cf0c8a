//! VARCHAR and what is text for the engine, JSON, bytes.

use crate::lab::{Lab, column};

#[test]
fn everything_has_a_text() {
    let lab = Lab::open();
    lab.all(
        "VARCHAR",
        &[
            ("'abc'", Ok(Some("abc"))),
            ("''", Ok(Some(""))),
            ("'NULL'", Ok(Some("NULL"))),
            ("'  a\\n'", Ok(Some("  a\n"))),
            ("'\\\\ \\\" { } [ , é \\U0001f600'", Ok(Some("\\ \" { } [ , é 😀"))),
            ("1", Ok(Some("1"))),
            ("1 << 100", Ok(Some("1267650600228229401496703205376"))),
            ("1.0", Ok(Some("1.0"))),
            ("-0.0", Ok(Some("-0.0"))),
            ("1.10", Ok(Some("1.1"))),
            ("1e15", Ok(Some("1000000000000000.0"))),
            ("1e16", Ok(Some("1e+16"))),
            ("0.00015", Ok(Some("0.00015"))),
            ("0.000015", Ok(Some("1.5e-05"))),
            ("json.decode('1.0')", Ok(Some("1.0"))),
            ("True", Ok(Some("true"))),
            ("False", Ok(Some("false"))),
            ("None", Ok(None)),
            ("[1, 2.0, 'é', None, True, {}]", Ok(Some("[1,2.0,\"é\",null,true,{}]"))),
            ("(1, 'a')", Ok(Some("[1,\"a\"]"))),
            ("{'b': 1, 'a': {'c': [1 << 70]}}", Ok(Some("{\"b\":1,\"a\":{\"c\":[1180591620717411303424]}}"))),
            ("{}", Ok(Some("{}"))),
            ("['\\x00\\\"']", Ok(Some("[\"\\u0000\\\"\"]"))),
            ("b'a\\xff\\x00\\\\'", Ok(Some("a\\xFF\\x00\\x5C"))),
            ("time.parse_time('2026-01-01T10:00:00.5+02:00')", Ok(Some("2026-01-01 08:00:00.5+00"))),
            ("time.time(year=0, month=2, day=29)", Ok(Some("0001-02-29 (BC) 00:00:00+00"))),
            ("time.hour * 1.5", Ok(Some("01:30:00"))),
            ("[time.second, b'a']", Ok(Some("[\"00:00:01\",\"a\"]"))),
            ("'a\\x00b'", Err("it holds the character NUL")),
            ("float('nan')", Err("only FLOAT and DOUBLE")),
            ("[float('nan')]", Err("the float NaN is not finite (at [0])")),
            ("{1: 2}", Err("a key of a dict must be str, not int")),
            ("len", Err("a function is no data")),
            ("[{'a': len}]", Err("a value of type function is not JSON (at [0][\"a\"])")),
        ],
    );
}

#[test]
fn a_list_that_holds_itself_is_an_error() {
    let lab = Lab::open();
    for name in ["VARCHAR", "JSON", "VARCHAR[]"] {
        // The expression must have no statements, so that the list is one of its own elements by a method's effect.
        let error = lab.value(&column(name), "[(x, x.append(x))[0] for x in [[]]][0]").unwrap_err();
        assert!(error.contains("contains itself"), "{name}: {error}");
    }
}

#[test]
fn json_takes_any_value() {
    let lab = Lab::open();
    lab.all(
        "JSON",
        &[
            // Trap 11.
            ("'abc'", Ok(Some("\"abc\""))),
            ("''", Ok(Some("\"\""))),
            ("'12'", Ok(Some("\"12\""))),
            ("'null'", Ok(Some("\"null\""))),
            ("'true'", Ok(Some("\"true\""))),
            ("'\"a\"'", Ok(Some("\"\\\"a\\\"\""))),
            ("'{\"b\": 1.10, \"a\": 9007199254740993}'", Ok(Some("{\"b\": 1.10, \"a\": 9007199254740993}"))),
            ("' [1, 2]\\n'", Ok(Some("[1, 2]"))),
            ("'[1, 2'", Ok(Some("\"[1, 2\""))),
            ("\"{'a': 1}\"", Ok(Some("\"{'a': 1}\""))),
            ("'[\"\\\\ud83d\"]'", Ok(Some("[\"\\ufffd\"]"))),
            ("'[1e400]'", Ok(Some("[1e400]"))),
            ("1", Ok(Some("1"))),
            ("1 << 70", Ok(Some("1180591620717411303424"))),
            ("1.0", Ok(Some("1.0"))),
            ("True", Ok(Some("true"))),
            ("None", Ok(None)),
            ("{'b': 1, 'a': '{}', 'c': None}", Ok(Some("{\"b\":1,\"a\":\"{}\",\"c\":null}"))),
            ("[]", Ok(Some("[]"))),
            ("'a\\x00'", Ok(Some("\"a\\u0000\""))),
            ("'\\\\ \\t \\U0001f600'", Ok(Some("\"\\\\ \\t 😀\""))),
            ("time.from_timestamp(0)", Ok(Some("\"1970-01-01 00:00:00+00\""))),
            ("float('inf')", Err("the float inf is not finite")),
            ("len", Err("no data")),
        ],
    );
}

#[test]
fn blobs_take_bytes_and_texts_as_utf_8() {
    let lab = Lab::open();
    lab.all(
        "BLOB",
        &[
            ("b'a\\x00\\xff'", Ok(Some("a\\x00\\xFF"))),
            ("'é\\\\x41'", Ok(Some("\\xC3\\xA9\\x5Cx41"))),
            ("'\\x00'", Ok(Some("\\x00"))),
            ("''", Ok(Some(""))),
            ("None", Ok(None)),
            ("1", Err("an int has no meaning")),
            ("[1]", Err("a list has no meaning")),
        ],
    );
    let all =
        lab.value(&column("BLOB"), "base64_decode(base64_encode(b'\\x00\\x1f\\x20\\x22\\x27\\x5c\\x7e\\x7f\\xff'))");
    assert_eq!(all, Ok(Some("\\x00\\x1F \\x22\\x27\\x5C~\\x7F\\xFF".into())));
}

#[test]
fn types_of_texts_are_judged_by_the_engine() {
    let lab = Lab::open();
    lab.all(
        "UUID",
        &[
            ("'550E8400-e29b-41d4-a716-446655440000'", Ok(Some("550e8400-e29b-41d4-a716-446655440000"))),
            ("'abc'", Err("Could not convert string 'abc'")),
            ("'\\x00'", Err("NUL")),
            ("5", Err("an int has no meaning")),
            ("None", Ok(None)),
        ],
    );
    lab.all(
        "ENUM('a', 'b c', '5')",
        &[("'b c'", Ok(Some("b c"))), ("5", Ok(Some("5"))), ("None", Ok(None)), ("'c'", Err("Could not convert"))],
    );
    lab.all(
        "INTERVAL",
        &[
            ("'1 day 2 hours'", Ok(Some("1 day 02:00:00"))),
            ("time.hour * 25 + time.millisecond", Ok(Some("25:00:00.001"))),
            ("-time.microsecond", Ok(Some("-00:00:00.000001"))),
            ("time.nanosecond * 1999", Ok(Some("00:00:00.000001"))),
            ("'abc'", Err("Could not convert string 'abc'")),
            ("5", Err("an int has no meaning")),
            ("None", Ok(None)),
        ],
    );
    // The lake has no unions; a text is what can become one.
    lab.all("UNION(num INTEGER, str VARCHAR)", &[("'a'", Ok(Some("a")))]);
}
