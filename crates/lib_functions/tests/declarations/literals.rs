//! `API` is read, not executed: only values that stand there literally are allowed.

use crate::{assert_fails, good};

#[test]
fn what_is_not_literal_is_an_error_wherever_it_stands() {
    for (value, what) in [
        ("BASE", "the name `BASE`"),
        ("env.get(\"X\")", "a call"),
        ("dict()", "a call"),
        ("\"a\" + \"b\"", "a calculation"),
        ("\"%s\" % 1", "a calculation"),
        ("60 * 5", "a calculation"),
        ("1 == 1", "a calculation"),
        ("not True", "a calculation"),
        ("~1", "a calculation"),
        ("[x for x in []]", "a comprehension"),
        ("{x: x for x in []}", "a comprehension"),
        ("f\"a\"", "an f-string"),
        ("f\"{BASE}\"", "an f-string"),
        ("(1, 2)", "a tuple"),
        ("()", "a tuple"),
        ("lambda: 1", "a lambda"),
        ("1 if True else 2", "a condition"),
        ("env.x", "a part of something else"),
        ("X[0]", "a part of something else"),
        ("X[0:1]", "a part of something else"),
        ("b\"a\"", "bytes"),
        ("-\"a\"", "a sign before what is no number"),
        ("-True", "a sign before what is no number"),
    ] {
        // The parser leaves the brackets of a tuple out of its place.
        let words = if value == "(1, 2)" { "1, 2" } else { value };
        for (api, path) in [
            (format!("{{\"fetch\": {{}},\n \"base_url\": {value}}}"), "API[\"base_url\"]"),
            (format!("{{\"fetch\": {{\"args\": [\"a\",\n {value}]}}}}"), "API[\"fetch\"][\"args\"][1]"),
            (format!("{{\"fetch\": {{\"anything\":\n {value}}}}}"), "API[\"fetch\"][\"anything\"]"),
            (format!("{{\"fetch\": {{}}, \"x\": {{\"y\": [{{\"z\":\n {value}}}]}}}}"), "API[\"x\"][\"y\"][0][\"z\"]"),
            (format!("{{\"fetch\": {{}},\n {value}: 1}}"), "a key of API"),
        ] {
            let text = format!("API = {api}\ndef fetch(): pass\n");
            assert_fails(&text, &format!("{path} must be a literal value, not {what}"), 2, words);
        }
    }
}

#[test]
fn a_name_bound_above_is_no_literal_value() {
    let text = "BASE = \"https://x.y\"\nAPI = {\"base_url\": BASE, \"fetch\": {}}\ndef fetch(): pass\n";
    assert_fails(text, "API[\"base_url\"] must be a literal value, not the name `BASE`", 2, "BASE");
}

#[test]
fn keys_are_strings_and_stand_once() {
    for (api, said, words) in [
        ("{1: 2}", "a key of API is not a string", "1"),
        ("{None: 2}", "a key of API is not a string", "None"),
        ("{\"fetch\": {True: 2}}", "a key of API[\"fetch\"] is not a string", "True"),
        ("{\"fetch\": {}, 'fetch': {}}", "API has the key \"fetch\" twice", "'fetch'"),
        ("{\"fetch\": {\"a\": 1, r'a': 1}}", "API[\"fetch\"] has the key \"a\" twice", "r'a'"),
        ("{\"x\": [{\"a\": 1, \"\"\"a\"\"\": 1}]}", "API[\"x\"][0] has the key \"a\" twice", "\"\"\"a\"\"\""),
    ] {
        assert_fails(&format!("API = {api}\n"), said, 1, words);
    }
}

#[test]
fn all_literals_are_read() {
    good(
        "API = {\n  # a comment\n  \"fetch\": {\"args\": (['a', r\"b\", '''c''',]), 'timeout': +1.5, \"retry\": 0x10,},\n  \
         'x': [None, True, False, -1, - 1, -1.5e3, 123456789012345678901234567890, {}, []],\n}\n\
         def fetch(a, b, c): pass\n",
    );
}
