//! The module `json`. Its parts are also for responses and for values that become text.

use starlark::environment::GlobalsBuilder;
use starlark::eval::Evaluator;
use starlark::values::{Heap, Value};

pub(crate) use super::json_read::parse;
use super::{arguments, failure};
use crate::json_write::indented;
pub(crate) use crate::json_write::{Style, to_text};
use crate::surroundings::Surroundings;

/// Adds the namespace `json`.
pub(super) fn register(builder: &mut GlobalsBuilder) {
    builder.namespace("json", members);
}

#[starlark::starlark_module]
fn members(builder: &mut GlobalsBuilder) {
    /// Compact JSON with sorted keys.
    fn encode<'v>(x: Value<'v>, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<String> {
        Surroundings::pace(eval)?;
        let heap = eval.heap();
        to_text(x, heap, Style::Sorted).map_err(|error| failure("json.encode", error))
    }

    /// The value of a JSON text; the default, if given, when the text is not JSON. What is JSON but beyond a limit is an
    /// error also then.
    fn decode<'v>(
        s: Value<'v>,
        default: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        Surroundings::pace(eval)?;
        let heap = eval.heap();
        let text = arguments::text("json.decode", "s", s)?;
        match (parse(text, heap), default) {
            (Ok(value), _) => Ok(value),
            (Err(error), Some(value)) if !error.is_beyond => Ok(value),
            (Err(error), _) => Err(failure("json.decode", error)),
        }
    }

    /// The same JSON text, one value a line.
    fn indent<'v>(
        s: Value<'v>,
        prefix: Option<Value<'v>>,
        indent: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<String> {
        Surroundings::pace(eval)?;
        let text = arguments::text("json.indent", "s", s)?;
        let (prefix, indent) = margins("json.indent", prefix, indent)?;
        Heap::temp(|heap| parse(text, heap).map(|_| ())).map_err(|error| failure("json.indent", error))?;
        Ok(indented(text, prefix, indent))
    }

    /// JSON with sorted keys, one value a line.
    fn encode_indent<'v>(
        x: Value<'v>,
        prefix: Option<Value<'v>>,
        indent: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<String> {
        Surroundings::pace(eval)?;
        let heap = eval.heap();
        let (prefix, indent) = margins("json.encode_indent", prefix, indent)?;
        let text = to_text(x, heap, Style::Sorted).map_err(|error| failure("json.encode_indent", error))?;
        Ok(indented(&text, prefix, indent))
    }
}

fn margins<'v>(
    function: &str,
    prefix: Option<Value<'v>>,
    indent: Option<Value<'v>>,
) -> starlark::Result<(&'v str, &'v str)> {
    let prefix = prefix.map_or(Ok(""), |value| arguments::text(function, "prefix", value))?;
    let indent = indent.map_or(Ok("\t"), |value| arguments::text(function, "indent", value))?;
    Ok((prefix, indent))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all_equal, all_fail, eval, literal};

    fn decoded(text: &str) -> Result<String, String> {
        eval(&format!("json.decode({})", literal(text)))
    }

    #[test]
    fn texts_become_values() {
        let cases = [
            ("null", "None"),
            (" \r\n\t[ 1 , true,false ] ", "[1, True, False]"),
            ("\u{feff}{}", "{}"),
            ("{\"b\":1,\"a\":{\"c\":[]}}", "{\"b\": 1, \"a\": {\"c\": []}}"),
            ("{\"a\":1,\"b\":2,\"a\":3}", "{\"a\": 3, \"b\": 2}"),
            ("9007199254740993", "9007199254740993"),
            ("-9223372036854775809", "-9223372036854775809"),
            ("-0", "0"),
            ("1.0", "1.0"),
            ("-0.0", "-0.0"),
            ("1e3", "1000.0"),
            ("1E+2", "100.0"),
            ("1e-400", "0.0"),
            ("\"\\u0065\\n\\\"\\\\\\/\\b\\f\\r\\t\"", "\"e\\n\\\"\\\\/\\x08\\x0c\\r\\t\""),
            ("\"\u{1f600}\"", "\"\\U0001f600\""),
            ("\"\\u0000\"", "\"\\x00\""),
            ("\"\"", "\"\""),
            ("{\"\":\"\"}", "{\"\": \"\"}"),
        ];
        for (text, expected) in cases {
            assert_eq!(decoded(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn surrogates_pair_up_or_are_replaced() {
        let cases = [
            ("\\ud83d\\ude00", "\u{1f600}"),
            ("\\ud83d", "\u{fffd}"),
            ("\\ude00", "\u{fffd}"),
            ("\\ud83d\\ud83d\\ude00", "\u{fffd}\u{1f600}"),
            ("\\ud83dx", "\u{fffd}x"),
            ("\\ud83d\\n", "\u{fffd}\n"),
            ("\\udbff\\udfff", "\u{10ffff}"),
        ];
        for (escapes, expected) in cases {
            let script = format!("json.decode({}) == {}", literal(&format!("\"{escapes}\"")), literal(expected));
            assert_eq!(eval(&script).as_deref(), Ok("True"), "{escapes}");
        }
    }

    #[test]
    fn integers_of_a_hundred_digits_are_exact() {
        let digits = "1234567890".repeat(10);
        for sign in ["", "-"] {
            let number = format!("{sign}{digits}");
            assert_eq!(decoded(&number).as_ref(), Ok(&number));
            assert_eq!(eval(&format!("json.encode([{number}])")), Ok(format!("\"[{number}]\"")));
        }
    }

    #[test]
    fn what_is_no_json_is_an_error_with_its_place() {
        let cases = [
            ("", "json.decode: line 1, column 1: the text is empty"),
            (" \u{feff}1", "line 1, column 2: expected a value"),
            ("{\n  \"é\": tru}", "line 2, column 8: expected a value, found 't'"),
            ("[1,]", "line 1, column 4: expected a value, found ']'"),
            ("[1 2]", "expected `,` or `]`, found '2'"),
            ("{\"a\" 1}", "expected `:`"),
            ("{a:1}", "expected a key in double quotes"),
            ("{\"a\":1,}", "expected a key in double quotes"),
            ("[1", "found the end of the text"),
            ("\"abc", "the string does not end"),
            ("\"a\nb\"", "a control character in a string"),
            ("\"a\u{0}b\"", "a control character in a string"),
            ("\"\\x41\"", "unknown escape"),
            ("\"\\u12g4\"", "needs four hexadecimal digits"),
            ("\"\\u+123\"", "needs four hexadecimal digits"),
            ("01", "line 1, column 2: unexpected text"),
            ("-", "expected a digit"),
            ("1.", "expected a digit"),
            (".5", "expected a value"),
            ("+1", "expected a value"),
            ("1e", "expected a digit"),
            ("1e400", "the number 1e400 is out of range"),
            ("-1e400", "the number -1e400 is out of range"),
            ("NaN", "expected a value"),
            ("Infinity", "expected a value"),
            ("'a'", "expected a value"),
            ("nul", "expected a value"),
            ("{} {}", "unexpected text after the value"),
            ("[1]\u{0}", "unexpected text after the value"),
            ("// a\n1", "expected a value"),
        ];
        for (text, expected) in cases {
            let error = decoded(text).expect_err(text);
            assert!(error.starts_with("json.decode: ") && error.contains(expected), "{text:?} gave {error}");
        }
    }

    #[test]
    fn a_default_stands_in_for_what_is_no_json_only() {
        all_equal(&[
            ("json.decode('', None)", "None"),
            ("json.decode('[', default=7)", "7"),
            ("json.decode(s='{', default={})", "{}"),
            ("json.decode('1', 7)", "1"),
        ]);
        all_fail(&[
            ("json.decode(1, default=2)", "json.decode: `s` must be str, not int"),
            ("json.decode('1e400', default=2)", "json.decode: line 1, column 1: the number 1e400 is out of range"),
            ("json.decode('[' * 900 + ']' * 900, 2)", "nested more than 512 levels deep"),
            ("json.decode('1' * 400000, 2)", "an integer of 400000 digits is longer than 100000"),
            ("json.decode(None, default=2)", "json.decode: `s` must be str, not NoneType"),
        ]);
    }

    #[test]
    fn depth_is_bounded_both_ways() {
        let nested = |depth: usize| format!("json.decode('[' * {depth} + ']' * {depth}) != None");
        assert_eq!(eval(&nested(500)).as_deref(), Ok("True"));
        assert!(eval(&nested(100_000)).unwrap_err().contains("nested more than 512 levels deep"));
        assert!(eval("json.decode('{\"a\":' * 100000)").unwrap_err().contains("nested more than"));
        all_fail(&[
            (
                "def f():\n    x = []\n    for _ in range(2000):\n        x = [x]\n    return json.encode(x)\nf()",
                "json.encode: the value is nested more than 512 levels deep, or contains itself",
            ),
            ("x = {}\nx['x'] = x\njson.encode(x)", "contains itself"),
            ("x = []\nx.append(x)\njson.encode_indent(x)", "json.encode_indent: the value is nested"),
        ]);
    }

    #[test]
    fn values_become_compact_texts_with_sorted_keys() {
        all_equal(&[
            ("json.encode({'b': 1, 'a': [None, True, 'x'], 'B': {}})", "'{\"B\":{},\"a\":[null,true,\"x\"],\"b\":1}'"),
            ("json.encode((1, 2))", "'[1,2]'"),
            ("json.encode(set([3]))", "'[3]'"),
            ("json.encode(range(3))", "'[0,1,2]'"),
            ("json.encode(1.0)", "'1.0'"),
            ("json.encode(0.1)", "'0.1'"),
            ("json.encode(1e300)", "'1e300'"),
            ("json.encode('<a href=\"x\">&</a>')", "'\"<a href=\\\\\"x\\\\\">&</a>\"'"),
            ("json.encode('é\\U0001f600\\x00\\n\\x7f')", "'\"é\\U0001f600\\\\u0000\\\\n\\x7f\"'"),
            ("json.decode(json.encode(9007199254740993))", "9007199254740993"),
            ("json.encode('x' * 1000000) == '\"' + 'x' * 1000000 + '\"'", "True"),
            ("len(json.decode(json.encode('\\n' * 1000000)))", "1000000"),
        ]);
        all_fail(&[
            ("json.encode(float('nan'))", "json.encode: the float NaN is not finite"),
            ("json.encode({'a': [1, float('-inf')]})", "the float -inf is not finite (at [\"a\"][1])"),
            ("json.encode({1: 2})", "a key of a dict must be str, not int"),
            ("json.encode([{None: 2}])", "a key of a dict must be str, not NoneType (at [0])"),
            ("json.encode(len)", "a value of type function is not JSON"),
            ("json.encode(b'x')", "a value of type bytes is not JSON"),
            ("json.encode(time.hour)", "a value of type time.duration is not JSON"),
            ("json.encode()", "Missing parameter `x` for call to `encode`"),
            ("json.encode(1, 2)", "call to encode"),
        ]);
    }

    #[test]
    fn texts_are_indented_as_they_are_written() {
        all_equal(&[
            (
                "json.indent('{\"b\":[1,{}],\"a\":[]}')",
                "'{\\n\\t\"b\": [\\n\\t\\t1,\\n\\t\\t{}\\n\\t],\\n\\t\"a\": []\\n}'",
            ),
            (
                "json.indent('[1.50,\"a,b:[\\\\\\\\\\\\\"{\"]', prefix='> ', indent='  ')",
                "'[\\n>   1.50,\\n>   \"a,b:[\\\\\\\\\\\\\"{\"\\n> ]'",
            ),
            ("json.indent(' [ ] ')", "'[]'"),
            ("json.indent('7')", "'7'"),
            ("json.encode_indent({'b': 1, 'a': (2,)}, indent=' ')", "'{\\n \"a\": [\\n  2\\n ],\\n \"b\": 1\\n}'"),
            ("json.encode_indent([], '-')", "'[]'"),
            ("json.decode(json.encode_indent({'a': [1, {'b': '}'}]})) == {'a': [1, {'b': '}'}]}", "True"),
        ]);
        all_fail(&[
            ("json.indent('[')", "json.indent: line 1, column 2"),
            ("json.indent('[]', indent=2)", "json.indent: `indent` must be str, not int"),
            ("json.encode_indent(float('nan'))", "json.encode_indent: the float NaN"),
        ]);
    }
}
