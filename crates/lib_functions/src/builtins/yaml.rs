//! The module `yaml`: YAML 1.2 with the core schema.

use starlark::environment::GlobalsBuilder;
use starlark::eval::Evaluator;
use starlark::values::Value;

use super::{arguments, failure, yaml_read, yaml_write};
use crate::surroundings::Surroundings;

/// Adds the namespace `yaml`.
pub(super) fn register(builder: &mut GlobalsBuilder) {
    builder.namespace("yaml", members);
}

#[starlark::starlark_module]
fn members(builder: &mut GlobalsBuilder) {
    /// The first document of a text, None if there is none.
    fn decode<'v>(s: Value<'v>, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<Value<'v>> {
        Surroundings::pace(eval)?;
        let heap = eval.heap();
        let text = arguments::text("yaml.decode", "s", s)?;
        let value = yaml_read::read(text, heap).map_err(|error| failure("yaml.decode", error))?;
        value.to_value(heap).map_err(|error| failure("yaml.decode", error))
    }

    /// A document in block style, keys in their order.
    fn encode<'v>(x: Value<'v>, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<String> {
        Surroundings::pace(eval)?;
        let heap = eval.heap();
        yaml_write::written(x, heap).map_err(|error| failure("yaml.encode", error))
    }
}

#[cfg(test)]
mod tests {
    use starlark::values::Heap;

    use super::super::testing::{all_equal, all_fail, eval, literal, texts};
    use super::{yaml_read, yaml_write};

    fn decoded(text: &str) -> Result<String, String> {
        eval(&format!("yaml.decode({})", literal(text)))
    }

    #[test]
    fn documents_become_values() {
        let cases = [
            ("", "None"),
            ("# only a comment\n", "None"),
            ("---\n", "None"),
            ("---\n...\n", "None"),
            ("\u{feff}a: 1\r\nb:\r\n- x\r\n", "{\"a\": 1, \"b\": [\"x\"]}"),
            ("[null, ~, Null, '', \"\", ]", "[None, None, None, \"\", \"\"]"),
            ("[true, False, TRUE, yes, on, y]", "[True, False, True, \"yes\", \"on\", \"y\"]"),
            ("[1, -2, +3, 0o17, 0xff, 007, 9007199254740993]", "[1, -2, 3, 15, 255, 7, 9007199254740993]"),
            (
                "[1.0, .5, 5., 1e3, -1.5E-2, 1_000, 1e, 0xg, 0o9, '1']",
                "[1.0, 0.5, 5.0, 1000.0, -0.015, \"1_000\", \"1e\", \"0xg\", \"0o9\", \"1\"]",
            ),
            ("[.inf, -.INF, 1.2.3, +, .]", "[+inf, -inf, \"1.2.3\", \"+\", \".\"]"),
            ("[2024-01-02, 2024-01-02T10:00:00Z, 10:30]", "[\"2024-01-02\", \"2024-01-02T10:00:00Z\", \"10:30\"]"),
            (
                "1: a\ntrue: b\n~: c\n1.50: d\n[x, 1]: e\n2024-01-02: f",
                "{\"1\": \"a\", \"true\": \"b\", \"null\": \"c\", \"1.50\": \"d\", \"[\\\"x\\\",1]\": \"e\", \"2024-01-02\": \"f\"}",
            ),
            ("b: 1\na: 2", "{\"b\": 1, \"a\": 2}"),
            ("a: |\n  x\n  y\nb: >-\n  x\n  y\n", "{\"a\": \"x\\ny\\n\", \"b\": \"x y\"}"),
            ("a: 1\n---\n[", "{\"a\": 1}"),
            ("a: &x [1, {b: c}]\nd: *x", "{\"a\": [1, {\"b\": \"c\"}], \"d\": [1, {\"b\": \"c\"}]}"),
            ("&k a: 1\nb: *k", "{\"a\": 1, \"b\": \"a\"}"),
            ("x: &x {a: 1, b: 2}\ny:\n  <<: *x\n  b: 3", "{\"x\": {\"a\": 1, \"b\": 2}, \"y\": {\"b\": 3, \"a\": 1}}"),
            ("[!!str 1, !!int '2', !!float 3, ! 4, !x 5, !!binary aGk=]", "[\"1\", 2, 3.0, \"4\", 5, \"aGk=\"]"),
            ("\"\\u0000\\U0001F600\\x41\"", "\"\\x00\\U0001f600A\""),
            ("plain text", "\"plain text\""),
        ];
        for (text, expected) in cases {
            assert_eq!(decoded(text).as_deref(), Ok(expected), "{text}");
        }
        let digits = "1234567890".repeat(10);
        assert_eq!(decoded(&digits), Ok(digits));
        all_equal(&[
            ("len(yaml.decode('a: ' + 'x' * 1000000)['a'])", "1000000"),
            ("len(yaml.decode('- x\\n' * 10000))", "10000"),
        ]);
    }

    #[test]
    fn copies_of_an_alias_are_values_of_their_own() {
        let script = "d = yaml.decode('a: &x [1]\\nb: *x')\nd['a'].append(2)\nd";
        assert_eq!(eval(script).as_deref(), Ok("{\"a\": [1, 2], \"b\": [1]}"));
    }

    #[test]
    fn what_is_malformed_is_an_error_with_its_place() {
        let cases = [
            ("[1", "yaml.decode: line "),
            ("a: b: c", "yaml.decode: line 1"),
            ("a: 1\n b: 2", "yaml.decode: line "),
            ("{a: 1} b", "yaml.decode: line 1"),
            ("\"abc", "yaml.decode: line "),
            ("a: *x", "anchor"),
            ("&a [*a]", "line 1, column 5: an alias within what it stands for"),
            ("a: 1\na: 2", "line 2, column 1: the key \"a\" stands twice"),
            ("a:\n\tb: 1", "yaml.decode: line 2"),
            ("<<: 1", "`<<` needs a mapping"),
            ("!!int x", "\"x\" is no int"),
            ("1e400", "the number 1e400 is out of range"),
            ("a\u{0}b", "the character '\\0' is not allowed"),
            ("%YAML 1.2 x", "yaml.decode: line 1"),
            ("- a\nb", "yaml.decode: line "),
        ];
        for (text, expected) in cases {
            let error = decoded(text).expect_err(text);
            assert!(error.starts_with("yaml.decode: ") && error.contains(expected), "{text} gave {error}");
        }
        all_fail(&[("yaml.decode(1)", "yaml.decode: `s` must be str, not int")]);
    }

    #[test]
    fn depth_and_aliases_are_bounded() {
        all_fail(&[
            ("yaml.decode('[' * 100000)", "yaml.decode: line 1"),
            ("yaml.decode('- ' * 5000)", "nested more than 512 levels deep"),
            ("yaml.decode('? ' * 5000)", "nested more than 512 levels deep"),
        ]);
        let laughs: String =
            (1..20).map(|n| format!("e{n}: &e{n} [{}]\n", vec![format!("*e{}", n - 1); 10].join(","))).collect();
        let error = decoded(&format!("e0: &e0 lol\n{laughs}")).unwrap_err();
        assert!(error.contains("the aliases stand for more than a document may hold"), "{error}");
        let long = format!("a: &a {}\nb: [{}]", "x".repeat(1_000_000), vec!["*a"; 1000].join(","));
        assert!(decoded(&long).unwrap_err().contains("the aliases stand for more"));
    }

    #[test]
    fn values_become_documents() {
        all_equal(&[
            (
                "yaml.encode({'b': 1, 'a': [1, {'c': None, 'd': []}, [2, [3]]], 'e': {}})",
                "'b: 1\\na:\\n  - 1\\n  - c: null\\n    d: []\\n  - - 2\\n    - - 3\\ne: {}\\n'",
            ),
            ("yaml.encode('x')", "'x\\n'"),
            ("yaml.encode([])", "'[]\\n'"),
            ("yaml.encode((1, set([2])))", "'- 1\\n- - 2\\n'"),
            (
                "yaml.encode([True, 1.0, 1e300, float('inf'), float('-inf'), float('nan')])",
                "'- true\\n- 1.0\\n- 1e300\\n- .inf\\n- -.inf\\n- .nan\\n'",
            ),
            (
                "yaml.encode(['yes', 'NULL', '1', '2024-01-02', '', ' x', 'a: b', 'l\\nm'])",
                "'- \"yes\"\\n- \"NULL\"\\n- \"1\"\\n- \"2024-01-02\"\\n- \"\"\\n- \" x\"\\n- \"a: b\"\\n- \"l\\\\nm\"\\n'",
            ),
            ("yaml.encode({1: 'a', None: 'b', True: {2: 3}})", "'1: a\\nnull: b\\ntrue:\\n  2: 3\\n'"),
        ]);
        all_fail(&[
            ("yaml.encode(len)", "yaml.encode: a value of type function is not YAML"),
            ("yaml.encode([b'x'])", "a value of type bytes is not YAML"),
            ("yaml.encode({(1, 2): 3})", "a key must be a scalar, not tuple"),
            ("x = []\nx.append(x)\nyaml.encode(x)", "contains itself"),
        ]);
    }

    #[test]
    fn what_is_written_reads_the_same() {
        let back = "def f(x):\n    return yaml.decode(yaml.encode(x)) == x\n";
        let values = [
            "None",
            "{'a': [{'b': [{}, [], [[1]]]}, '\\x00\\x7f\\x85\\u2028\\ufeff\\U0001f600\\\\\"\\t\\r\\n', 1 << 200, -1.5e-7]}",
            "['- a', '#', '&a', '*a', '!a', '|', '>', '%a', '@a', '`', '{', ']', ',', '?', ':', '-', '~', '---', '...', '<<', '=', '.5', '0x1', '1e3', 'a #b', 'é', '_x', 'a b', 'true', 'Off', 'nUlL', '.inf']",
            "{'x' * 3000: {'k': [1, {'l' * 2000: []}]}, '': '', 'a: b': 1, '<<': {'z': 1}}",
            "'x' * 1000000",
        ];
        for value in values {
            assert_eq!(eval(&format!("{back}f({value})")).as_deref(), Ok("True"), "{value}");
        }
    }

    #[test]
    fn any_text_is_a_value_or_an_error_and_what_was_read_is_written_the_same() {
        const PIECES: [&str; 32] = [
            "a", "b: ", "- ", "? ", ": ", ":", "\n", "\n  ", "\n ", "[", "]", "{", "}", ", ", "\"", "'", "|", ">", "#",
            " #", "&x ", "*x", "!!str ", "!t ", "---", "...", "%", "\t", "1", "<<: ", "\u{e9}", "\\",
        ];
        let mut accepted = 0;
        for text in texts(&PIECES, 9, 20_000) {
            Heap::temp(|heap| {
                let Ok(value) = yaml_read::read(&text, heap) else { return };
                accepted += 1;
                let written = yaml_write::written(value.to_value(heap).unwrap(), heap).unwrap();
                assert_eq!(yaml_read::read(&written, heap), Ok(value), "{text:?} was written as {written:?}");
            });
        }
        assert!(accepted > 1000, "{accepted}");
    }
}
