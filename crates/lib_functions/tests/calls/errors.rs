//! Errors say where they come from.

use lib_functions::LibErrorKind;
use testkit::http::{Answer, Server};

use crate::scene::Scene;

#[test]
fn a_failed_request_leads_to_the_line_that_made_it() {
    let server = Server::answers(vec![Answer::new(503, &[], "down")]);
    let stage = Scene::new("", &format!("url = \"{}\"\nhttp.get(url)", server.url("/"))).stage();
    let failed = stage.with(|running| {
        running.fetch(&[], &lib_functions::HostValue::None, 1, |_, row, _| crate::scene::keep(&row, &mut Vec::new()))
    });
    let Err(lib_functions::CallError::Failed(error)) = failed.unwrap().map_err(crate::scene::call_error) else {
        panic!()
    };
    let place = error.place.unwrap();
    assert_eq!((place.line(), place.column(), error.kind), (5, 5, LibErrorKind::Failed));
}

#[test]
fn messages_of_fail_are_joined() {
    for (call, expected) in [
        ("fail(\"a\", 1, None)", "x.fetch: a 1 None"),
        ("fail(\"a\", \"b\", sep=\"\")", "x.fetch: ab"),
        ("fail(\"fail: twice\")", "x.fetch: fail: twice"),
        ("fail(\"two\\nlines\")", "x.fetch: two\nlines"),
    ] {
        assert_eq!(Scene::new("", call).error(), expected, "{call}");
    }
    assert!(Scene::new("", "fail()").error().starts_with("x.fetch:"));
}

#[test]
fn values_nested_without_end_are_no_crash() {
    let nest = "x = []\nfor i in range(5000):\n    x = [x]\n";
    for last in [
        "str(x)",
        "print(x)",
        "x == x",
        "json.encode(x)",
        "http.post(\"http://127.0.0.1:9/\", json=x)",
        "return {\"rows\": [], \"next\": x}",
    ] {
        let got = Scene::new("", &format!("{nest}{last}")).run();
        // Whatever it is, it is an answer.
        assert!(got.page.is_ok() || got.kind == Some(LibErrorKind::Failed), "{last}");
    }
}

#[test]
fn a_broken_top_level_is_an_error() {
    let text = "API = {\"fetch\": {}}\nX = http.get(\"/x\")\n\ndef fetch(page):\n    return {\"rows\": []}\n";
    let error = Scene::of(text).error();
    assert!(error.starts_with("lib/x.star: http.get: \"/x\" is relative"), "{error}");
    let text = "API = {\"fetch\": {}}\nabort()\n\ndef fetch(page):\n    return {\"rows\": []}\n";
    let error = Scene::of(text).error();
    assert_eq!(error, "lib/x.star: abort() is called outside of a function");
}

#[test]
fn messages_are_in_words_of_the_author() {
    for (body, expected) in [
        ("http.gett(\"/x\")", "x.fetch: the module has no attribute `gett`, did you mean `get`?"),
        ("page.next", "x.fetch: `page` has no attribute `next`"),
        ("None[\"a\"]", "x.fetch: Operation `[]` not supported for types `None` and `string`"),
        ("for c in \"abc\": pass", "x.fetch: a value of type `string` cannot be iterated"),
        ("STATE.append(1)", "x.fetch: what the top level made cannot be changed by a function"),
        ("deep()", "x.fetch: too many calls inside of each other"),
        ("deep(1)", "x.fetch: deep: Found 1 extra positional argument(s)"),
        ("return None", "x.fetch: must return dict, not None"),
        ("fail(\"NoneType for call to x\")", "x.fetch: NoneType for call to x"),
    ] {
        let text = format!(
            "API = {{\"fetch\": {{}}}}\nSTATE = []\ndef deep():\n    return deep()\ndef fetch(page):\n    {body}\n"
        );
        assert_eq!(Scene::of(&text).error(), expected, "{body}");
    }
}

#[test]
fn wrong_arguments_are_told_with_the_function() {
    for (call, expected) in [
        ("http.put()", "x.fetch: http.put: Missing parameter `url`"),
        ("http.get(\"http://a/\", {})", "x.fetch: http.get: "),
        ("json.decode()", "x.fetch: json.decode: "),
        ("md5()", "x.fetch: md5: "),
        ("env.get(\"A\", nothing=1)", "x.fetch: env.get: "),
        ("read_text(\n    \"a\",\n    \"b\",\n)", "x.fetch: read_text: "),
        ("sleep(1, 2)", "x.fetch: sleep: "),
        ("print(1, end=\"\")", "x.fetch: print: "),
        ("fail(\"a\", sep=1)", "x.fetch: fail: Type of parameter `sep`"),
        ("own = lambda a: a\nown()", "x.fetch: own: Missing parameter `a`"),
    ] {
        let error = Scene::new("", call).error();
        assert!(error.starts_with(expected), "{call}: {error}");
    }
}
