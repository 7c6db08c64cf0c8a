//! Lists, arrays, structs and maps.

use crate::lab::{Dice, Lab, carrier, column, quoted};
use engine::Value;
use fetch::{Column, select_list};
use types::literal;

#[test]
fn lists_are_converted_element_by_element() {
    let lab = Lab::open();
    let same: &[(&str, Result<Option<&str>, &str>)] = &[
        ("[1, 2.0, '3']", Ok(Some("[1, 2, 3]"))),
        ("(1, None, 3)", Ok(Some("[1, NULL, 3]"))),
        ("range(3)", Ok(Some("[0, 1, 2]"))),
        ("set([3, 1, 2])", Ok(Some("[3, 1, 2]"))),
        ("'[1, 2, 3]'", Ok(Some("[1, 2, 3]"))),
        ("None", Ok(None)),
        ("5", Err("it is no list")),
        ("'5'", Err("its text is no JSON array")),
        ("'[1, 2'", Err("its text is no JSON array")),
        ("'[a, b, c]'", Err("its text is no JSON array")),
        ("''", Err("its text is no JSON array")),
        ("{'a': 1}", Err("it is no list")),
        ("'{\"a\": 1}'", Err("its text is no JSON array")),
        ("b'abc'", Err("it is no list")),
        ("len", Err("a function is no data")),
    ];
    lab.all("INTEGER[]", same);
    lab.all("INTEGER[3]", same);
    lab.all("INTEGER[]", &[("[]", Ok(Some("[]")))]);
    lab.all("INTEGER[3]", &[("[1, 2]", Err("it has 2 elements, not 3")), ("[]", Err("it has 0 elements"))]);
    lab.all("BIGINT[]", &[("'[9007199254740993]'", Ok(Some("[9007199254740993]")))]);
    lab.all("DECIMAL(4,2)[]", &[("[0.285, '1.005', 2]", Ok(Some("[0.29, 1.01, 2.00]")))]);
    lab.all("TIMESTAMP[]", &[("['2026-01-01T10:00:00+02:00']", Ok(Some("['2026-01-01 08:00:00']")))]);
    lab.all("TIMESTAMPTZ[]", &[("['2026-01-01']", Ok(Some("['2026-01-01 00:00:00+00']")))]);
    lab.all("BLOB[]", &[("[b'\\xff\\x00\\\\', 'é']", Ok(Some("[\\xFF\\x00\\x5C, \\xC3\\xA9]")))]);
    lab.all("VARCHAR[]", &[("['NULL', '', None, 1.0, [1]]", Ok(Some("['NULL', '', NULL, 1.0, '[1]']")))]);
    lab.all("JSON[]", &[("['abc', '{\"b\": 1.10}', None, 2]", Ok(Some("[\"abc\", {\"b\": 1.10}, NULL, 2]")))]);
    lab.all("DOUBLE[]", &[("[float('nan'), 1]", Ok(Some("[nan, 1.0]")))]);
    lab.all("INTEGER[2][]", &[("[[1, 2], None, '[3, 4]']", Ok(Some("[[1, 2], NULL, [3, 4]]")))]);
    lab.all("ENUM('a', 'b')[]", &[("['b', 'a']", Ok(Some("[b, a]")))]);
}

#[test]
fn structs_are_converted_field_by_field() {
    let lab = Lab::open();
    lab.all(
        "STRUCT(street VARCHAR, zip INTEGER)",
        &[
            // Trap 10.
            ("{'zip': 1, 'x': 2}", Ok(Some("{'street': NULL, 'zip': 1}"))),
            ("{'ZIP': 1, 'Street': 'a'}", Ok(Some("{'street': a, 'zip': 1}"))),
            ("'{\"zip\": 1, \"street\": \"b\"}'", Ok(Some("{'street': b, 'zip': 1}"))),
            ("{}", Ok(Some("{'street': NULL, 'zip': NULL}"))),
            ("{1: 2, 'zip': 3}", Ok(Some("{'street': NULL, 'zip': 3}"))),
            ("None", Ok(None)),
            ("[1]", Err("it is no dict")),
            ("'[1]'", Err("its text is no JSON object")),
            ("'abc'", Err("its text is no JSON object")),
            ("5", Err("it is no dict")),
        ],
    );
    let strict = column("STRUCT(a STRUCT(b INTEGER[])[])");
    let error = lab.value(&strict, "{'a': [{'b': [1]}, {'b': [1, 2.5]}]}").unwrap_err();
    assert!(error.contains("it has a fraction, which is never rounded (at .a[1].b[1])"), "{error}");
    let error = lab.value(&column("STRUCT(zip INTEGER)"), "{'Zip': 1, 'ZIP': 2}").unwrap_err();
    assert!(error.contains("\"Zip\" and \"ZIP\" are both equal to \"zip\" but for case (at .zip)"), "{error}");
}

#[test]
fn maps_are_made_of_dicts() {
    let lab = Lab::open();
    lab.all(
        "MAP(VARCHAR, INTEGER)",
        &[
            ("{'b': 1, 'a': None}", Ok(Some("{b=1, a=NULL}"))),
            ("{}", Ok(Some("{}"))),
            ("'{\"a\": 1}'", Ok(Some("{a=1}"))),
            ("None", Ok(None)),
            ("[1]", Err("it is no dict")),
            ("'abc'", Err("its text is no JSON object")),
            ("{None: 1}", Err("a key of a map is None")),
        ],
    );
    lab.all(
        "MAP(INTEGER, VARCHAR[])",
        &[
            ("{1: ['a'], '2': []}", Ok(Some("{1=[a], 2=[]}"))),
            ("{1: ['a'], '01': []}", Err("two keys of a map become the same")),
            ("{'x': []}", Err("it is no integer (at [a key])")),
        ],
    );
    lab.all("MAP(DATE, INTEGER)", &[("{'2026-01-02': 1}", Ok(Some("{2026-01-02=1}"))), ("{'abc': 1}", Err(""))]);
    lab.all("MAP(INTEGER[], INTEGER)", &[("{(1,): 1}", Err("keys of a map that are nested"))]);
    lab.all("STRUCT(m MAP(VARCHAR, DATE)[])", &[("{'m': [{'a': '2026-01-02'}]}", Ok(Some("{'m': [{a=2026-01-02}]}")))]);
}

#[test]
fn with_try_cast_a_bad_part_is_null_at_its_place() {
    let lab = Lab::open();
    for (sql_type, expression, expected) in [
        ("INTEGER[]", "[1, 'x', 2.5, 4]", Some("[1, NULL, NULL, 4]")),
        ("DATE[]", "['2026-01-02', '2026-02-30', 5]", Some("[2026-01-02, NULL, NULL]")),
        ("STRUCT(a UUID, b INTEGER)", "{'a': 'x', 'b': 1}", Some("{'a': NULL, 'b': 1}")),
        ("STRUCT(zip INTEGER)", "{'Zip': 1, 'ZIP': 2}", Some("{'zip': NULL}")),
        ("INTEGER[2][]", "[[1, 2], [3], 4]", Some("[[1, 2], NULL, NULL]")),
        ("MAP(VARCHAR, INTEGER)", "{'a': 'x', 'b': 2}", Some("{a=NULL, b=2}")),
        ("MAP(INTEGER, INTEGER)", "{'a': 1, 2: 2}", None),
        ("MAP(INTEGER, INTEGER)[]", "[{'a': 1}, {2: 2}]", Some("[NULL, {2=2}]")),
        ("MAP(DATE, INTEGER)", "{'a': 1, '2026-01-01': 2}", None),
    ] {
        let lenient = Column { is_try: true, ..column(sql_type) };
        assert_eq!(lab.value(&lenient, expression), Ok(expected.map(str::to_owned)), "{expression} as {sql_type}");
    }
}

/// What has ended a quoted text somewhere.
const HOSTILE: [&str; 36] = [
    "\"", "'", "\\", "{", "}", "[", "]", "(", ")", ",", ":", "=", ";", " ", "\t", "\n", "\r", "\u{b}", "\u{1}",
    "\u{7f}", "\u{a0}", "\u{2028}", "\u{feff}", "NULL", "null", "true", "1", "\\x00", "\\n", "\\u0041", "\\\"", "\\\\",
    "é", "😀", "''", "--",
];

#[test]
fn hostile_texts_survive_in_every_place() {
    let lab = Lab::open();
    let mut dice = Dice::new();
    let name = "x \"\"}',\\[é=";
    let sql_type = format!(
        "STRUCT(plain VARCHAR, list VARCHAR[], pair VARCHAR[2][], \"{name}\" STRUCT(\"NULL\" VARCHAR), \
         maps MAP(VARCHAR, VARCHAR[])[])"
    );
    let column = column(&sql_type);
    let mut carriers = Vec::new();
    let mut expected = Vec::new();
    for _ in 0..2_000 {
        let mut texts: Vec<String> = (0..6).map(|_| dice.text(&HOSTILE, 6)).collect();
        texts.push(format!("{}1", texts[5]));
        let q: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
        let key = quoted(&name.replace("\"\"", "\""));
        let script = format!(
            "{{'plain': {0}, 'list': [{1}, None, {2}], 'pair': [[{3}, {4}]], {key}: {{'NULL': {0}}}, \
             'maps': [{{{5}: [{0}], {6}: None}}]}}",
            q[0], q[1], q[2], q[3], q[4], q[5], q[6]
        );
        carriers.push(carrier(&column, &script).unwrap().unwrap());
        let t = |at: usize| Value::Text(texts[at].clone());
        let list = Value::List;
        expected.push(Value::Struct(vec![
            ("plain".into(), t(0)),
            ("list".into(), list(vec![t(1), Value::Null, t(2)])),
            ("pair".into(), list(vec![list(vec![t(3), t(4)])])),
            (name.replace("\"\"", "\""), Value::Struct(vec![("NULL".into(), t(0))])),
            ("maps".into(), list(vec![Value::Map(vec![(t(5), list(vec![t(0)])), (t(6), Value::Null)])])),
        ]));
    }
    let json = serde_json::to_string(&carriers).unwrap();
    let list = select_list(&[column], |_| "c".into());
    let texts = format!("SELECT unnest(CAST(CAST({} AS JSON) AS VARCHAR[])) AS c", literal(&json));
    let found: Vec<Value> = lab
        .connection
        .query(&format!("SELECT {list} FROM ({texts})"))
        .unwrap()
        .into_values()
        .map(|mut row| row.swap_remove(0))
        .collect();
    assert_eq!(found.len(), expected.len());
    for (at, (found, expected)) in found.into_iter().zip(expected).enumerate() {
        assert_eq!(found, expected, "{}", carriers[at]);
    }
}
