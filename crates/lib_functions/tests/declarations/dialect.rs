//! The dialect: `while`, tabs, `\r\n`, the mark of the encoding; and that errors are shown where the author made them.

use lib_functions::Lib;

use crate::{assert_fails, good, read, with_function};

const GOOD: &str = "API = {\"fetch\": {}}\ndef fetch(): pass\n";

/// A good file with these lines for the body of a function.
fn body(lines: &str) -> String {
    format!("{GOOD}def f(x):\n    {}\n", lines.replace('\n', "\n    "))
}

#[test]
fn while_stands_where_a_statement_may() {
    for lines in [
        "while x:\n    x -= 1",
        "while x: x -= 1",
        "while x: x -= 1; x -= 2",
        "while x: pass  # why",
        "while(x):\n    x -= 1",
        "while not(x): break",
        "while x:\n    while x > 1:\n        while x > 2: x -= 1\n        x -= 1\n    x -= 1",
        "while True:\n    if x:\n        break\n    elif x == 2:\n        continue\n    else:\n        while x: break\n    x += 1",
        "if x:\n    pass\nelse:\n    while x:\n        x -= 1",
        "if x:\n    while x:\n        x -= 1\nelif x:\n    while x:\n        x -= 1\nelse:\n    while x: x -= 1",
        "for y in x:\n    while y:\n        y -= 1\n        for z in x:\n            if z: break\n            continue",
        "# while x:\nwhile x:\n    # while y:\n    x -= 1\n# done",
        "while x:  # why\n\n    # and more\n\n    x -= 1",
        "while x:\n# a comment at the left\n    x -= 1",
        "def g(y):\n    while y:\n        y -= 1\n    return y\nwhile g(x):\n    def h():\n        while x: return x\n    x -= 1",
        "while (lambda y: y > 1)(x):\n    x -= 1",
        "while lambda: x:\n    break",
        "while [lambda a, b = {1: 2}: a][0]:\n    break",
        "while x[1:2] == {1: [2]}[1]:\n    x -= 1",
        "while (x and\n       x > 1 and  # why\n       x > 2):\n    x -= 1",
        "while x and \\\n      x > 1:\n    x -= 1",
        "while x if x else x:\n    x -= 1",
        "while \":\" in x or ''':\n''' in x or f\"{x[\":\"]}:\":\n    x -= 1",
        "while \"\\\":\" in x: break",
        "while x:\n          x -= 1\n          x -= 1",
        "while x :\n    x -= 1",
        "while x:\n    return",
        "x = 1; y = 2\nwhile x: x -= 1\nreturn x",
    ] {
        good(&body(lines));
        good(&body(lines).replace('\n', "\r\n"));
        good(&body(lines).replace("    ", "\t"));
    }
}

#[test]
fn the_word_in_texts_and_comments_is_nothing() {
    for lines in [
        "return \"while x:\"",
        "return '''\nwhile x:\n'''",
        "return r\"\\\"\"  # while x:",
        "return \"\\\\\"  # while x:",
        "return f\"\"\"\nwhile {x}:\n\"\"\"",
        "return b\"while x:\"",
        "return {'while': 1, \"a\": 'while x: y'}",
        "while_x = 1\nreturn while_x",
        "return \"a\\\nwhile x:\\\n\"",
    ] {
        good(&body(lines));
    }
}

#[test]
fn a_while_that_is_wrong_is_shown_at_its_place() {
    let must_begin = "`while` must begin a line, and `:` end its condition";
    for (lines, said, line, words) in [
        ("while:\n    pass", "unexpected symbol ':', expected expression", 4, ":"),
        ("while :\n    pass", "unexpected symbol ':', expected expression", 4, ":"),
        ("while x\n    pass", must_begin, 4, "while"),
        ("while x y:\n    pass", "unexpected identifier 'y', expected symbol ':'", 4, "y"),
        ("while x, y:\n    pass", "unexpected symbol ',', expected symbol ':'", 4, ","),
        ("while x) or (y:\n    pass", must_begin, 4, "while"),
        ("while x = 1:\n    pass", "unexpected symbol '=', expected symbol ':'", 4, "="),
        ("while x:\nreturn 1", "unexpected keyword 'return', expected new indentation block", 5, "return"),
        ("while x:\n    pass\nelse:\n    pass", "unexpected keyword 'else'", 6, "else"),
        ("x = 1; while x: pass", must_begin, 4, "while"),
        ("if x: while x: pass", must_begin, 4, "while"),
        ("x = while", must_begin, 4, "while"),
        ("while x:\n    else:\n        pass", "unexpected keyword 'else'", 5, "else"),
        ("while x:\n    elif x:\n        pass", "unexpected keyword 'elif'", 5, "elif"),
        ("while x: y()\n    z()", "incorrect indentation", 5, "    "),
        ("while x:\n    pass\n  pass", "incorrect indentation", 6, "  "),
    ] {
        let text = body(lines);
        let error = read(&text).unwrap_err();
        assert!(error.message.contains(said), "{error}\n{text}");
        let place = error.place.as_ref().unwrap();
        let found = &place.source()[place.span()];
        assert!(place.line() == line && (found == words || words.trim().is_empty()), "{error} {found:?}\n{text}");
    }
}

#[test]
fn errors_are_shown_in_the_authors_lines_and_columns() {
    for (lines, line, column, words) in [
        ("y = = 1", 4, 9, "="),
        ("while x:\n    y = = 1", 5, 13, "="),
        ("while x:\n    while x:\n        y = = 1\n", 6, 17, "="),
        ("while x: y = = 1", 4, 18, "="),
        ("while x and\tx > = 1:\n    pass", 4, 21, "="),
        ("while x:\n    pass\nwhile x:\n    pass\ny = é", 8, 9, "é"),
        ("y = 'é'; z = ?", 4, 18, "?"),
        ("\"\"\"\r\n\r\n\"\"\"\ny = = 1", 7, 9, "="),
        ("y\t=\t= 1", 4, 9, "="),
    ] {
        let text = body(lines);
        for text in [text.clone(), text.replace("\r\n", "\n").replace('\n', "\r\n"), format!("\u{feff}{text}")] {
            let error = read(&text).unwrap_err();
            let place = error.place.as_ref().unwrap();
            let found = &place.source()[place.span()];
            assert_eq!((place.line(), place.column(), found), (line, column, words), "{error}\n{text:?}");
        }
    }
}

#[test]
fn what_is_never_closed_is_shown_where_it_begins() {
    for (text, said, line, words) in [
        ("x = [1,\n  (2, 3),\n\n", "`[` is never closed", 3, "["),
        ("x = {'a': (1,\n", "`(` is never closed", 3, "("),
        ("def f(\n", "`(` is never closed", 3, "("),
        ("x = f\"{[}\"]\n", "unexpected", 3, "}"),
        ("x = \"\"\"a\nb\n", "unfinished string literal", 3, "\""),
        ("x = 'a\n", "unfinished string literal", 3, "'a"),
        ("x = [1\ny = 2]\n", "unexpected identifier 'y'", 4, "y"),
        ("x = 1)\n", "unexpected symbol ')'", 3, ")"),
    ] {
        assert_fails(&format!("{GOOD}{text}"), said, line, words);
    }
}

#[test]
fn tabs_are_columns_up_to_the_next_multiple_of_eight() {
    for text in [
        "\tif x:\n\t\treturn 1\n\treturn 2",
        "\tif x:\n                return 1\n        return 2",
        "   \tif x:\n\t  return 1\n       \treturn 2",
        "\tx\t=\t1\t# a\tcomment\n\treturn\tx",
        "\twhile x:\n\t\tx -= 1\n\t\n\t# x\n\treturn x",
        "\treturn [\n\t1,\n\t\t2,\t]",
        "\treturn f\"{\tx\t}\t\"",
    ] {
        good(&format!("{GOOD}def f(x):\n{text}\n"));
    }
    assert_fails(&with_function("def fetch():\n\tpass\n    pass"), "incorrect indentation", 4, "    ");
}

#[test]
fn texts_keep_their_tabs() {
    let lib = good("API = {\"fetch\": {\"supported_columns\": [\"a\tb\", '''\tc''']}}\ndef fetch(): pass\n");
    assert_eq!(lib.api.fetch.unwrap().supported_columns.unwrap(), ["a\tb", "\tc"]);
}

#[test]
fn line_ends_of_windows_change_nothing() {
    let text =
        "API = {\n  \"fetch\": {\"supported_columns\": ['''a\nb''', 'c\\\nd', r'''e\\\nf''']},\n}\ndef fetch(): pass\n";
    let columns = |lib: Lib| lib.api.fetch.unwrap().supported_columns.unwrap();
    let unix = columns(good(text));
    assert_eq!(unix, ["a\nb", "cd", "e\\\nf"]);
    assert_eq!(columns(good(&text.replace('\n', "\r\n"))), unix);
}

#[test]
fn the_mark_of_the_encoding_is_skipped_at_the_beginning_only() {
    good(&format!("\u{feff}{GOOD}"));
    assert_fails(&format!("{GOOD}\u{feff}x = 1\n"), "invalid input", 3, "\u{feff}");
}

#[test]
fn the_dialect_has_what_the_contract_lists() {
    for lines in [
        "return lambda a, *b, c = 1, **d: a",
        "def g(a, *, b): pass\nreturn g(1, b = 2)",
        "return f\"{x} {x!r} {{}}\" + fr\"\\d{x}\"",
        "return set([1])",
        "return x if x else [y for y in x if y for z in y]",
        "x //= 2; x |= 1; x <<= 1\nreturn ~x ^ 1",
    ] {
        good(&body(lines));
    }
}

#[test]
fn what_the_language_does_not_have_stays_rejected() {
    for (lines, line) in [
        ("return {1, 2}", 4),
        ("return 2 ** 3", 4),
        ("return 1_000", 4),
        ("return 1 < 2 < 3", 4),
        ("try:\n    pass", 4),
        ("import os", 4),
        ("class A: pass", 4),
        ("y: int = 1", 4),
        ("def g(a: int): pass", 4),
        ("def g() -> int: pass", 4),
        ("def g(a, /): pass", 4),
        ("x is None", 4),
        ("del x", 4),
        ("yield x", 4),
        ("with x: pass", 4),
        ("return ...", 4),
        ("assert x", 4),
    ] {
        let error = read(&body(lines)).unwrap_err();
        assert_eq!(error.place.as_ref().unwrap().line(), line, "{error}\n{lines}");
        assert!(!error.message.contains("dialect") && !error.message.contains("__"), "{error}");
    }
}

#[test]
fn a_number_that_would_be_infinite_is_refused() {
    for number in ["1e400", "1.5e999"] {
        assert_fails(&body(&format!("return [{number}]")), "the number is out of range", 4, number);
    }
    good(&body("return [1e308, float('inf')]"));
}
