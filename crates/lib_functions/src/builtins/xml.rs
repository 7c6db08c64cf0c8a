//! The module `xml`: documents as dicts. Attributes are keys that begin with `@`, text beside them is `#text`, elements
//! of one name are a list.

use starlark::environment::GlobalsBuilder;
use starlark::eval::Evaluator;
use starlark::values::Value;

use super::{arguments, failure, xml_read, xml_write};
use crate::surroundings::Surroundings;

/// The key of an element's text that has attributes or elements beside it.
pub(super) const TEXT_KEY: &str = "#text";
/// What the key of an attribute begins with.
pub(super) const ATTRIBUTE_MARK: char = '@';

/// Adds the namespace `xml`.
pub(super) fn register(builder: &mut GlobalsBuilder) {
    builder.namespace("xml", members);
}

#[starlark::starlark_module]
fn members(builder: &mut GlobalsBuilder) {
    /// A document as a dict with the root element's name as its key.
    fn decode<'v>(s: Value<'v>, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<Value<'v>> {
        Surroundings::pace(eval)?;
        let heap = eval.heap();
        let text = arguments::text("xml.decode", "s", s)?;
        xml_read::read(text, heap).map_err(|error| failure("xml.decode", error))
    }

    /// The document of a dict.
    fn encode<'v>(d: Value<'v>, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<String> {
        Surroundings::pace(eval)?;
        let heap = eval.heap();
        xml_write::written(d, heap).map_err(|error| failure("xml.encode", error))
    }
}

#[cfg(test)]
mod tests {
    use starlark::values::Heap;

    use super::super::testing::{all_equal, all_fail, eval, literal, texts};
    use super::{xml_read, xml_write};

    fn decoded(text: &str) -> Result<String, String> {
        eval(&format!("xml.decode({})", literal(text)))
    }

    #[test]
    fn documents_become_dicts() {
        let cases = [
            ("<a/>", "{\"a\": \"\"}"),
            ("<a></a>", "{\"a\": \"\"}"),
            ("<a> \n </a>", "{\"a\": \"\"}"),
            ("<a> x\ty </a>", "{\"a\": \"x\\ty\"}"),
            ("<a>1</a>", "{\"a\": \"1\"}"),
            ("<a x='1' y=\"two\"/>", "{\"a\": {\"@x\": \"1\", \"@y\": \"two\"}}"),
            ("<a x='1'>t</a>", "{\"a\": {\"@x\": \"1\", \"#text\": \"t\"}}"),
            ("<a><b>1</b><c/><b>2</b></a>", "{\"a\": {\"b\": [\"1\", \"2\"], \"c\": \"\"}}"),
            ("<a>x<b>1</b>y</a>", "{\"a\": {\"b\": \"1\", \"#text\": \"xy\"}}"),
            ("<a><b x='1'/><b>t</b></a>", "{\"a\": {\"b\": [{\"@x\": \"1\"}, \"t\"]}}"),
            (
                "<s:a xmlns:s='u' xmlns='v'><s:b s:k='1'>t</s:b></s:a>",
                "{\"a\": {\"b\": {\"@k\": \"1\", \"#text\": \"t\"}}}",
            ),
            ("<a xmlns='v'>t</a>", "{\"a\": \"t\"}"),
            ("\u{feff}<?xml version='1.0' encoding='UTF-8'?>\n<!-- c --><?p i?><a>1</a>\n<!-- d -->", "{\"a\": \"1\"}"),
            ("<!DOCTYPE a SYSTEM 'http://x/y'><a>1</a>", "{\"a\": \"1\"}"),
            ("<!DOCTYPE a [<!ENTITY e 'x'>]><a>1</a>", "{\"a\": \"1\"}"),
            ("<a>&lt;&amp;&gt;&quot;&apos;&#65;&#x42;</a>", "{\"a\": \"<&>\\\"'AB\"}"),
            ("<a x='&lt;&#10;&#65;'/>", "{\"a\": {\"@x\": \"<\\nA\"}}"),
            ("<a x='1\n2'/>", "{\"a\": {\"@x\": \"1 2\"}}"),
            ("<a><![CDATA[<b>&amp;]]> ]]&gt;</a>", "{\"a\": \"<b>&amp; ]]>\"}"),
            ("<a>1<!-- c -->2<?p i?>3</a>", "{\"a\": \"123\"}"),
            ("<a>l\r\nm\rn</a>", "{\"a\": \"l\\nm\\nn\"}"),
        ];
        for (text, expected) in cases {
            assert_eq!(decoded(text).as_deref(), Ok(expected), "{text}");
        }
        all_equal(&[
            ("xml.decode('<\u{e9}>\u{1f600}</\u{e9}>') == {'\u{e9}': '\u{1f600}'}", "True"),
            ("len(xml.decode('<a>' + 'x' * 1000000 + '</a>')['a'])", "1000000"),
            ("len(xml.decode('<a>' + '<b/>' * 10000 + '</a>')['a']['b'])", "10000"),
        ]);
    }

    #[test]
    fn what_is_no_document_is_an_error() {
        let cases = [
            ("", "line 1, column 1: there is no root element"),
            (" \n ", "there is no root element"),
            ("<!-- c -->", "there is no root element"),
            ("text", "text outside of the root element"),
            ("<a/>x", "text outside of the root element"),
            ("<a/>&amp;", "text outside of the root element"),
            ("<a/><![CDATA[]]>", "text outside of the root element"),
            ("<a/><b/>", "line 1, column 5: a second root element"),
            ("<a><b></a>", "line 1, column 7"),
            ("<a>\n<b>", "the element \"b\" is not closed"),
            ("</a>", "line 1"),
            ("<a", "line 1"),
            ("<a x=1/>", "line 1"),
            ("<a x/>", "line 1"),
            ("<a x='1' x='2'/>", "the attribute \"x\" stands twice"),
            ("<a x='<'/>", "`<` in the attribute"),
            ("<1a/>", "is not a name"),
            ("< a/>", "is not a name"),
            ("<a:/>", "is not a name"),
            ("<a 1='x'/>", "is not a name"),
            ("<a>&nbsp;</a>", "the entity \"nbsp\" is not known"),
            ("<a x='&e;'/>", "line 1"),
            ("<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><a>&e;</a>", "the entity \"e\" is not known"),
            ("<a>&#0;</a>", "line 1"),
            ("<a>&#x1;</a>", "the character '\\u{1}' is not allowed"),
            ("<a>&#xD800;</a>", "line 1"),
            ("<a>\u{0}</a>", "the character '\\0' is not allowed"),
            ("<a>& </a>", "line 1"),
            ("<a>]]></a>", "`]]>` in text"),
            ("<a><!-- -- --></a>", "line 1"),
            ("<a><![CDATA[x</a>", "line 1"),
            ("<a/><!DOCTYPE a>", "misplaced DOCTYPE"),
            (" <?xml version='1.0'?><a/>", "the XML declaration is not at the start"),
        ];
        for (text, expected) in cases {
            let error = decoded(text).expect_err(text);
            assert!(error.starts_with("xml.decode: line ") && error.contains(expected), "{text} gave {error}");
        }
        all_fail(&[
            ("xml.decode(b'<a/>')", "xml.decode: `s` must be str, not bytes"),
            ("xml.decode('<a>' * 100000)", "nested more than 512 levels deep"),
        ]);
    }

    #[test]
    fn no_attribute_is_lost_to_one_with_another_prefix() {
        let error = decoded("<a:b xmlns:a='u' a:c='1' c='2'/>").unwrap_err();
        assert!(error.contains("the attribute \"c\" stands twice, if prefixes are left out"), "{error}");
        assert_eq!(decoded("<b xmlns:a='u' a:c='1' d='2'/>").as_deref(), Ok("{\"b\": {\"@c\": \"1\", \"@d\": \"2\"}}"));
    }

    #[test]
    fn an_entity_bomb_is_harmless() {
        let entities: String =
            (1..30).map(|n| format!("<!ENTITY e{n} '&e{0};&e{0};&e{0};&e{0};&e{0};'>", n - 1)).collect();
        let text = format!("<!DOCTYPE a [<!ENTITY e0 'lol'>{entities}]><a>&e29;</a>");
        assert!(decoded(&text).unwrap_err().contains("the entity \"e29\" is not known"));
    }

    #[test]
    fn dicts_become_documents() {
        all_equal(&[
            ("xml.encode({'a': ''})", "'<a></a>'"),
            ("xml.encode({'a': None})", "'<a></a>'"),
            ("xml.encode({'a': {}})", "'<a></a>'"),
            ("xml.encode({'a': {'@x': 1, 'b': [True, 1.5], '#text': 't'}})", "'<a x=\"1\"><b>true</b><b>1.5</b>t</a>'"),
            ("xml.encode({'a': {'b': 't', '@x': 'y'}})", "'<a x=\"y\"><b>t</b></a>'"),
            ("xml.encode({'a': '& < > \"', })", "'<a>&amp; &lt; &gt; &quot;</a>'"),
            ("xml.encode({'a': 1, 'b': 2})", "'<doc><a>1</a><b>2</b></doc>'"),
            ("xml.encode({'a': [1, 2]})", "'<doc><a>1</a><a>2</a></doc>'"),
            ("xml.encode({'a': [1]})", "'<a>1</a>'"),
            ("xml.encode({'a': {'b': []}})", "'<a></a>'"),
            ("xml.encode({'a': 9007199254740993})", "'<a>9007199254740993</a>'"),
        ]);
        let back = "def f(d):\n    return xml.decode(xml.encode(d)) == d\n";
        let dicts = [
            "{'a': 'x'}",
            "{'a': {'@x': '\\r\\n\\t<\"&\\'', '#text': 'x & y\\r\\nz'}}",
            "{'a': {'b': ['1', {'@c': 'd'}, ''], 'e': {'f': '\\U0001f600'}}}",
        ];
        for dict in dicts {
            assert_eq!(eval(&format!("{back}f({dict})")).as_deref(), Ok("True"), "{dict}");
        }
    }

    #[test]
    fn what_is_no_dict_of_elements_is_an_error() {
        all_fail(&[
            ("xml.encode([])", "xml.encode: `d` must be dict, not list"),
            ("xml.encode({})", "xml.encode: there is no root element"),
            ("xml.encode({'a': []})", "there is no root element"),
            ("xml.encode({1: 2})", "a key must be str, not int"),
            ("xml.encode({'a b': 1})", "\"a b\" cannot be the name of an element"),
            ("xml.encode({'': 1})", "\"\" cannot be the name of an element"),
            ("xml.encode({'@a': 1})", "\"@a\" cannot be the name of an element"),
            ("xml.encode({'a><b': 1})", "cannot be the name of an element"),
            ("xml.encode({'a': {'@': 1}})", "\"\" cannot be the name of an attribute"),
            ("xml.encode({'a': {'@x': []}})", "a value of type list cannot be the text of \"x\""),
            ("xml.encode({'a': {'#text': {}}})", "a value of type dict cannot be the text of \"#text\""),
            ("xml.encode({'a': len})", "a value of type function cannot be the text of \"a\""),
            ("xml.encode({'a': [[1]]})", "a list within a list at \"a\""),
            ("xml.encode({'a': '\\x00'})", "the character '\\0' is not allowed"),
            ("xml.encode({'a': float('inf')})", "the float inf is not finite"),
            ("x = {}\nx['a'] = x\nxml.encode(x)", "contains itself"),
        ]);
    }

    #[test]
    fn any_text_is_a_document_or_an_error_and_what_was_read_is_written_the_same() {
        const PIECES: [&str; 28] = [
            "<a>",
            "</a>",
            "<b/>",
            "<b>",
            "</b>",
            "<a x='1'>",
            "<",
            ">",
            "/",
            "&amp;",
            "&",
            ";",
            "&#65;",
            "&#0;",
            "<!--",
            "-->",
            "<![CDATA[",
            "]]>",
            "<!DOCTYPE a [",
            "]>",
            "<?p",
            "?>",
            "x",
            " ",
            "'",
            "=",
            "\u{e9}",
            "\r\n",
        ];
        let mut accepted = 0;
        for text in texts(&PIECES, 7, 20_000).map(|inner| format!("<r>{inner}</r>")) {
            Heap::temp(|heap| {
                let Ok(value) = xml_read::read(&text, heap) else { return };
                accepted += 1;
                let written = xml_write::written(value, heap).unwrap();
                let again = xml_read::read(&written, heap).map(|again| again.equals(value).unwrap());
                assert_eq!(again, Ok(true), "{text:?} was written as {written:?}");
            });
        }
        assert!(accepted > 500, "{accepted}");
    }
}
