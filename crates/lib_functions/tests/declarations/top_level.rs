//! The top level of a file: `API` is bound once and stays as it is, and so does every other name.

use crate::{assert_fails, good, project, registry};

const GOOD: &str = "API = {\"fetch\": {\"args\": []}}\ndef fetch(): pass\n";

#[test]
fn api_is_a_dict_that_is_written_out() {
    for (value, said) in [
        ("[]", "API: expected dict, got list"),
        ("\"x\"", "API: expected dict, got string"),
        ("None", "API: expected dict, got None"),
        ("1", "API: expected dict, got int"),
        ("dict(fetch = {})", "API must be a literal value, not a call"),
        ("OTHER", "API must be a literal value, not the name `OTHER`"),
        ("{\"fetch\": {}} | {}", "API must be a literal value, not a calculation"),
        ("{k: {} for k in [\"fetch\"]}", "API must be a literal value, not a comprehension"),
        ("lambda: 1", "API must be a literal value, not a lambda"),
    ] {
        assert_fails(&format!("\nAPI = {value}\n"), said, 2, value);
    }
}

#[test]
fn api_is_bound_by_an_assignment_alone() {
    for (text, words) in [
        ("def API(): pass\n", "API"),
        ("API, x = {\"fetch\": {}}, 1\n", "API"),
        ("[API] = [{\"fetch\": {}}]\n", "API"),
        ("load(\"lib/other.star\", \"API\")\n", "\"API\""),
        ("load(\"lib/other.star\", API = \"X\")\n", "API"),
    ] {
        let folder = project(&[("lib/api.star", text), ("lib/other.star", "X = 1\n")]);
        let registry = registry(folder.path());
        let error = &registry.broken("api").unwrap().error;
        assert!(error.message.contains("API must be bound by `API = {…}`"), "{error}");
        let place = error.place.as_ref().unwrap();
        assert_eq!(&place.source()[place.span()], words);
    }
}

#[test]
fn a_name_is_bound_once() {
    for (text, name, words) in [
        ("API = {\"fetch\": {}}\n", "API", "API"),
        ("A = 1\nA = 2\n", "A", "A"),
        ("A = 1\nA += 2\n", "A", "A"),
        ("A = 1\nA |= 2\n", "A", "A"),
        ("A, B = 1, 2\nB = 1\n", "B", "B"),
        ("A, A = 1, 2\n", "A", "A"),
        ("(A, [B, A]) = (1, [2, 3])\n", "A", "A"),
        ("def fetch(): pass\n", "fetch", "fetch"),
        ("fetch = 1\n", "fetch", "fetch"),
        ("A = 1\ndef A(): pass\n", "A", "A"),
        ("A = 1; A = 2\n", "A", "A"),
        ("load(\"lib/other.star\", \"x\", \"x\")\n", "x", "\"x\""),
        ("load(\"lib/other.star\", fetch = \"x\")\n", "fetch", "fetch"),
        ("x = 1\nload(\"lib/other.star\", \"x\")\n", "x", "\"x\""),
    ] {
        let whole = format!("{GOOD}{text}");
        let line = whole.lines().count();
        let said = format!("the name `{name}` is bound a second time");
        assert_fails(&whole, &said, line, words);
    }
    for text in [
        "A = [x for x in []]\nx = 1\n",
        "def f():\n    A = 1\n    A = 2\n    fetch = 3\nA = 1\n",
        "A = [1]\nA[0] = 2\n",
    ] {
        good(&format!("{GOOD}{text}"));
    }
}

#[test]
fn api_is_not_changed() {
    for (text, words) in [
        ("API[\"x\"] = 1", "API"),
        ("API[\"x\"] += 1", "API"),
        ("API[\"fetch\"][\"args\"] = [\"a\"]", "API"),
        ("API[\"fetch\"][\"args\"] += [\"a\"]", "API"),
        ("API[\"fetch\"][\"args\"][0] = \"a\"", "API"),
        ("API.x = 1", "API"),
        ("A, API[\"x\"] = 1, 2", "API"),
        ("API += {}", "API"),
        ("API |= {}", "API"),
        ("API.update({})", "API"),
        ("API.pop(\"fetch\")", "API"),
        ("API.popitem()", "API"),
        ("API.clear()", "API"),
        ("API.setdefault(\"x\", 1)", "API"),
        ("API[\"fetch\"].update(x = 1)", "API"),
        ("API[\"fetch\"][\"args\"].append(\"a\")", "API"),
        ("API[\"fetch\"][\"args\"].extend([\"a\"])", "API"),
        ("API[\"fetch\"][\"args\"].insert(0, \"a\")", "API"),
        ("API.get(\"fetch\").update(x = 1)", "API"),
        ("A = API.pop(\"fetch\")", "API"),
        ("A = [API.update({x: 1}) for x in [\"a\"]]", "API"),
        ("print(API.pop(\"fetch\"))", "API"),
    ] {
        assert_fails(&format!("{GOOD}{text}\n"), "API is changed after it was bound", 3, words);
    }
    for text in [
        "A = API[\"fetch\"]",
        "A = API.get(\"x\")",
        "A = API[\"fetch\"][\"args\"].index",
        "print(API)",
        "B = {}\nB.update(API)",
        "def f():\n    API[\"x\"] = 1",
    ] {
        good(&format!("{GOOD}{text}\n"));
    }
}

#[test]
fn statements_that_belong_into_functions_are_rejected() {
    for (text, said, words) in [
        ("if True:\n    A = 1\n", "`if` cannot be used outside of a function", "if"),
        ("if True: A = 1\nelse: A = 2\n", "`if` cannot be used outside of a function", "if"),
        ("for x in []:\n    pass\n", "`for` cannot be used outside of a function", "for"),
        ("for x in []: pass\n", "`for` cannot be used outside of a function", "for x in []: pass\n"),
        ("while True:\n    pass\n", "`while` stands outside of a function", "while"),
        ("while True: pass\n", "`while` stands outside of a function", "while"),
        ("\twhile True: pass\n", "unexpected new indentation block", "\t"),
        ("if True:\n    while True:\n        pass\n", "`if` cannot be used outside of a function", "if"),
        ("return 1\n", "`return` cannot be used outside of a function", "return 1"),
        ("break\n", "`break` cannot be used outside of a loop", "break"),
        ("continue\n", "`continue` cannot be used outside of a loop", "continue"),
    ] {
        assert_fails(&format!("{GOOD}{text}"), said, 3, words);
    }
    let folder =
        project(&[("lib/helper.star", "def f(): pass\nwhile True:\n    pass\n"), ("lib/twice.star", "A = 1\nA = 2\n")]);
    let registry = registry(folder.path());
    assert!(registry.broken("helper").unwrap().error.message.contains("`while` stands outside of a function"));
    assert!(registry.broken("twice").unwrap().error.message.contains("`A` is bound a second time"));
}
