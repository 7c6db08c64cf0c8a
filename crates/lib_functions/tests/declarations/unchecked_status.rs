//! Functions that fetch and never look at the status of an answer.

use crate::{good, project, registry};

/// The functions that do not look, in a file with these lines.
fn unchecked(text: &str) -> Vec<String> {
    let lib = good(&format!("API = {{\"fetch\": {{}}}}\n{text}"));
    for found in &lib.unchecked_status {
        assert_eq!(&found.place.source()[found.place.span()], found.function);
    }
    lib.unchecked_status.into_iter().map(|found| found.function).collect()
}

fn body(lines: &str) -> String {
    format!("def fetch():\n    {}\n", lines.replace('\n', "\n    "))
}

#[test]
fn requests_without_a_look_at_the_status_are_found() {
    for text in [
        body("return http.get('/x').json"),
        body("http.post('/x')"),
        body("h = http\nreturn h.get('/x').json"),
        body("h = http\ng = h\nreturn g.get('/x').json"),
        body("get = http.get\nreturn get('/x').json"),
        body("h, j = http, json\nreturn h.get('/x')"),
        body("if True:\n    h = http\nh.get('/x')"),
        body("for i in range(3):\n    while i < 5:\n        x = [http.get(u) for u in []]"),
        body("f = lambda u: http.get(u)\nreturn f('/x')"),
        body("def inner():\n    return http.get('/x')\nreturn inner()"),
        format!("h = http\n{}", body("return h.get('/x')")),
        format!("{}h = http\n", body("return h.get('/x')")),
        "fetch = lambda: http.get('/x')\n".into(),
        // Names and texts that only look like it.
        body("ok = 1\nstatus_code = 2\nx = '.ok fail() abort()'  # .ok\nreturn http.get('/x')"),
        body("x = fail\nreturn http.get('/x')"),
        body("x.fail()\nreturn http.get('/x')"),
        // What a helper looks at does not count.
        format!("def look(r):\n    if not r.ok:\n        fail('x')\n{}", body("look(http.get('/x'))")),
    ] {
        assert_eq!(unchecked(&text), ["fetch"], "{text}");
    }
}

#[test]
fn a_look_at_the_status_is_enough() {
    for text in [
        body("r = http.get('/x')\nif not r.ok:\n    fail('x')"),
        body("return http.get('/x').ok"),
        body("return http.get('/x').status_code == 200"),
        body("r = http.get('/x')\nif not r.json:\n    fail('x')"),
        body("r = http.get('/x')\nif not r.json:\n    abort()"),
        body("return [r for r in [http.get('/x')] if r.ok]"),
        body("while not http.get('/x').ok:\n    sleep(1)"),
        body("return {'rows': []}"),
        body("return other.get('/x')"),
        body("return help('/x')"),
        format!("def helper():\n    return http.get('/x')\n{}", body("return helper()")),
        // An alias of another function's own.
        format!("def helper():\n    h = http\n    return h\n{}", body("return h.get('/x')")),
    ] {
        assert_eq!(unchecked(&text), [""; 0], "{text}");
    }
}

#[test]
fn each_function_that_fetches_is_looked_at_for_itself() {
    let folder = project(&[(
        "lib/api.star",
        "API = {\"fetch\": {\"async\": True}}\ndef submit():\n    return http.post('/x').json\n\
         def check(job_ref):\n    return http.get(job_ref).ok\ndef fetch_result(result_ref, page):\n    \
         return http.get(result_ref)\ndef push(rows):\n    http.post('/x')\n",
    )]);
    let registry = registry(folder.path());
    let found = registry.get("api").unwrap().unchecked_status.iter();
    let found: Vec<_> = found.map(|found| (found.function.as_str(), found.place.line())).collect();
    assert_eq!(found, [("submit", 2), ("fetch_result", 6)]);
}

#[test]
fn a_comment_with_a_reason_silences_the_file() {
    let marker = "ondatracheck:allow-unchecked-status";
    let fetch = body("return http.get('/x')");
    for (text, is_silent) in [
        (format!("# {marker} the API always answers 200\n{fetch}"), true),
        (format!("#{marker}\treason\n{fetch}"), true),
        (format!("{fetch}    # {marker} reason\n"), true),
        (format!("X = 1  # {marker} reason\r\n{fetch}"), true),
        (format!("# {marker}\n# {marker} reason\n{fetch}"), true),
        (format!("# {marker}\n{fetch}"), false),
        (format!("# {marker}   \n{fetch}"), false),
        (format!("# {marker}: reason\n{fetch}"), false),
        (format!("# {marker}-reason\n{fetch}"), false),
        (format!("# see {marker} reason\n{fetch}"), false),
        (format!("X = \"# {marker} reason\"\n{fetch}"), false),
        (format!("X = \"\"\"\n# {marker} reason\n\"\"\"\n{fetch}"), false),
    ] {
        assert_eq!(unchecked(&text).is_empty(), is_silent, "{text}");
    }
}
