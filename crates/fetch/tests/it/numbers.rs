//! Integers, floats, decimals, booleans, bits.

use crate::lab::Lab;

#[test]
fn integers_take_whole_numbers_in_range() {
    let lab = Lab::open();
    for (name, least, most) in [
        ("TINYINT", "-128", "127"),
        ("SMALLINT", "-32768", "32767"),
        ("INTEGER", "-2147483648", "2147483647"),
        ("BIGINT", "-9223372036854775808", "9223372036854775807"),
        ("HUGEINT", "-170141183460469231731687303715884105728", "170141183460469231731687303715884105727"),
        ("UTINYINT", "0", "255"),
        ("USMALLINT", "0", "65535"),
        ("UINTEGER", "0", "4294967295"),
        ("UBIGINT", "0", "18446744073709551615"),
        ("UHUGEINT", "0", "340282366920938463463374607431768211455"),
    ] {
        let (below, above) = (format!("{least} - 1"), format!("{most} + 1"));
        let (text, exponent) = (format!("'{most}'"), format!("'{most}0e-1'"));
        lab.all(
            name,
            &[
                (least, Ok(Some(least))),
                (most, Ok(Some(most))),
                (&text, Ok(Some(most))),
                (&exponent, Ok(Some(most))),
                (&below, Err("it is out of range")),
                (&above, Err("it is out of range")),
                ("7.0", Ok(Some("7"))),
                ("-0.0", Ok(Some("0"))),
                ("True", Ok(Some("1"))),
                ("None", Ok(None)),
                ("1.5", Err("it has a fraction, which is never rounded")),
                ("'1.5'", Err("it has a fraction")),
                ("'12.0'", Ok(Some("12"))),
                ("' +1_2\\n'", Ok(Some("12"))),
                ("'0x1F'", Ok(Some("31"))),
                ("''", Err("it is no integer")),
                ("'abc'", Err("the value abc is not valid for")),
                ("'NULL'", Err("it is no integer")),
                ("1e300", Err("it is out of range")),
                ("float('nan')", Err("the value NaN is not valid")),
                ("float('inf')", Err("it is not finite")),
                ("[1]", Err("the value [1] is not valid")),
                ("{'a': 1}", Err("a dict has no meaning")),
                ("b'1'", Err("bytes has no meaning")),
                ("time.from_timestamp(0)", Err("a time has no meaning")),
                ("len", Err("the value <function> is not valid")),
                ("json", Err("a namespace is no data")),
            ],
        );
    }
    // Trap 6 and 8.
    lab.all("BIGINT", &[("json.decode('9007199254740993')", Ok(Some("9007199254740993"))), ("1.5", Err("fraction"))]);
    lab.all(
        "BIGINT",
        &[("9007199254740992.0", Ok(Some("9007199254740992"))), ("1e18", Ok(Some("1000000000000000000")))],
    );
}

#[test]
fn floats_take_all_numbers() {
    let lab = Lab::open();
    let both: &[(&str, Result<Option<&str>, &str>)] = &[
        ("1", Ok(Some("1.0"))),
        ("2.5", Ok(Some("2.5"))),
        ("-0.0", Ok(Some("-0.0"))),
        ("0.1", Ok(Some("0.1"))),
        ("1e16", Ok(Some("1e+16"))),
        ("True", Ok(Some("1.0"))),
        ("' 1.5 '", Ok(Some("1.5"))),
        ("'1e3'", Ok(Some("1000.0"))),
        ("'nan'", Ok(Some("nan"))),
        ("'Infinity'", Ok(Some("inf"))),
        ("float('nan')", Ok(Some("nan"))),
        ("float('inf')", Ok(Some("inf"))),
        ("float('-inf')", Ok(Some("-inf"))),
        ("None", Ok(None)),
        ("1 << 2000", Err("it is out of range")),
        ("'1e400'", Err("it is out of range")),
        ("' -1_0e400 '", Err("it is out of range")),
        ("'1' + 400 * '0'", Err("it is out of range")),
        ("'-inf'", Ok(Some("-inf"))),
        ("'abc'", Err("Could not convert string 'abc'")),
        ("''", Err("Could not convert string ''")),
        ("[1.5]", Err("a list has no meaning")),
        ("b'1'", Err("bytes has no meaning")),
        ("len", Err("no data")),
    ];
    lab.all("DOUBLE", both);
    lab.all("FLOAT", both);
    lab.all(
        "DOUBLE",
        &[
            ("5e-324", Ok(Some("5e-324"))),
            ("1.7976931348623157e308", Ok(Some("1.7976931348623157e+308"))),
            ("9007199254740993", Ok(Some("9007199254740992.0"))),
            ("1 << 100", Ok(Some("1.2676506002282294e+30"))),
        ],
    );
    lab.all(
        "FLOAT",
        &[
            ("1e39", Err("it is out of range")),
            ("'1e39'", Err("it is out of range")),
            ("1e-50", Ok(Some("0.0"))),
            ("16777217", Ok(Some("16777216.0"))),
            // Halfway between two floats, and just above: rounded once.
            ("1.00000005960464477539", Ok(Some("1.0"))),
            ("1.00000005960464499743", Ok(Some("1.0000001"))),
            ("1 << 127", Ok(Some("1.7014118e+38"))),
            ("1 << 128", Err("it is out of range")),
        ],
    );
}

#[test]
fn decimals_are_exact_and_rounded_half_away() {
    let lab = Lab::open();
    lab.all(
        "DECIMAL(10,2)",
        &[
            ("0.285", Ok(Some("0.29"))),
            ("-0.285", Ok(Some("-0.29"))),
            ("'0.285'", Ok(Some("0.29"))),
            ("'0.28499999999999999999999'", Ok(Some("0.28"))),
            ("1.005", Ok(Some("1.01"))),
            ("0.1 + 0.2", Ok(Some("0.30"))),
            ("-0.0", Ok(Some("0.00"))),
            ("-0.001", Ok(Some("0.00"))),
            ("5", Ok(Some("5.00"))),
            ("99999999", Ok(Some("99999999.00"))),
            ("99999999.99", Ok(Some("99999999.99"))),
            ("99999999.994", Ok(Some("99999999.99"))),
            ("99999999.995", Err("it has too many digits before the point")),
            ("100000000", Err("it has too many digits before the point")),
            ("'1e400'", Err("it has too many digits")),
            ("10 << 2000", Err("it has too many digits")),
            ("1e300", Err("it has too many digits")),
            ("1e-300", Ok(Some("0.00"))),
            ("5e-324", Ok(Some("0.00"))),
            ("'1e2'", Ok(Some("100.00"))),
            ("'-1_0.5'", Ok(Some("-10.50"))),
            ("True", Ok(Some("1.00"))),
            ("None", Ok(None)),
            ("float('nan')", Err("only FLOAT and DOUBLE")),
            ("float('inf')", Err("only FLOAT and DOUBLE")),
            ("'nan'", Err("it is no number")),
            ("''", Err("it is no number")),
            ("'1,5'", Err("it is no number")),
            ("[]", Err("a list has no meaning")),
        ],
    );
    lab.all(
        "DECIMAL(38,0)",
        &[
            ("10 * 1", Ok(Some("10"))),
            ("99999999999999999999999999999999999999", Ok(Some("99999999999999999999999999999999999999"))),
            ("99999999999999999999999999999999999999 + 1", Err("too many digits")),
            ("2.5", Ok(Some("3"))),
            ("-2.5", Ok(Some("-3"))),
        ],
    );
    lab.all(
        "DECIMAL(38,38)",
        &[("'0.12345678901234567890123456789012345678'", Ok(Some(".12345678901234567890123456789012345678")))],
    );
    lab.all("DECIMAL(4,1)", &[("999.9", Ok(Some("999.9"))), ("999.95", Err("too many digits"))]);
}

#[test]
fn booleans_follow_the_engine() {
    let lab = Lab::open();
    lab.all(
        "BOOLEAN",
        &[
            ("True", Ok(Some("true"))),
            ("False", Ok(Some("false"))),
            ("0", Ok(Some("false"))),
            ("-3", Ok(Some("true"))),
            ("1 << 100", Ok(Some("true"))),
            ("0.0", Ok(Some("false"))),
            ("0.5", Ok(Some("true"))),
            ("'TRUE'", Ok(Some("true"))),
            ("'f'", Ok(Some("false"))),
            ("'1'", Ok(Some("true"))),
            ("None", Ok(None)),
            ("float('nan')", Err("only FLOAT and DOUBLE")),
            ("'2'", Err("Could not convert string '2'")),
            ("''", Err("Could not convert string ''")),
            ("[]", Err("a list has no meaning")),
        ],
    );
}

#[test]
fn bits_follow_the_engine() {
    let lab = Lab::open();
    lab.all(
        "BIT",
        &[
            ("'0101'", Ok(Some("0101"))),
            ("5", Ok(Some(&format!("{:032b}", 5)))),
            ("-1", Ok(Some(&"1".repeat(32)))),
            ("1 << 40", Ok(Some(&format!("{:064b}", 1_i64 << 40)))),
            ("5.0", Ok(Some(&format!("{:064b}", 5_f64.to_bits())))),
            ("True", Ok(Some("00000001"))),
            ("b'\\x01\\xff'", Ok(Some("0000000111111111"))),
            ("1 << 100", Err("an int has no meaning")),
            ("'012'", Err("Invalid character")),
            ("''", Err("empty string")),
        ],
    );
}
