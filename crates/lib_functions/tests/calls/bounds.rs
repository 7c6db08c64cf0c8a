//! One operation of a script is bounded in memory and time, and no value crashes the process.

use std::time::Duration;

use lib_functions::{HostValue, LibErrorKind, Limits};

use crate::scene::Scene;

/// A scene whose heap may hold 64 MiB, so that what is too large is found at once.
fn scene(body: &str) -> Scene {
    Scene::new("", body).limits(Limits { heap_bytes: 64 << 20, time: Duration::from_mins(1), ..Limits::default() })
}

const MEMORY: &str = "a text or a list is larger than the memory limit allows";
const DIGITS: &str = "an integer has more than 100000 digits";

#[track_caller]
fn assert_refused(cases: &[(&str, &str)]) {
    for (body, expected) in cases {
        let got = scene(body).run();
        assert_eq!(got.kind, Some(LibErrorKind::Failed), "{body}: {:?}", got.page);
        let error = got.page.unwrap_err();
        assert!(error.starts_with("x.fetch: ") && error.contains(expected), "{body}: {error}");
    }
}

#[test]
fn what_is_too_large_is_refused_before_it_is_made() {
    assert_refused(&[
        ("\"a\" * 10000000000", "Integer"),
        ("n = 2000000000\n\"a\" * n", MEMORY),
        ("n = 2000000000\nn * \"ab\"", MEMORY),
        ("n = 2000000000\n[0] * n", MEMORY),
        ("n = 2000000000\n(0,) * n", MEMORY),
        ("n = 2000000000\nb\"a\" * n", MEMORY),
        ("s = \"ab\"\ns *= 2000000000", MEMORY),
        ("l = [0]\nl *= 2000000000", MEMORY),
        ("d = {\"a\": \"ab\"}\nd[\"a\"] *= 2000000000", MEMORY),
        ("s = \"a\" * 1000000\n\",\".join([s] * 1000)", MEMORY),
        ("s = \"a\" * 1000000\ns.join([\"\"] * 1000)", MEMORY),
        ("j = (\"a\" * 1000000).join\nj([\"\"] * 1000)", MEMORY),
        ("s = \"a\" * 1000000\ns.replace(\"\", s)", MEMORY),
        ("s = \"a\" * 1000000\n(s + \"\").replace(\"a\", s)", MEMORY),
        ("s = \"a\" * 1000000\n(\"%s\" * 1000) % ((s,) * 1000)", MEMORY),
        ("s = \"a\" * 1000000\nf = \"%s\" * 100\nf %= (s,) * 100", MEMORY),
        ("s = \"a\" * 1000000\n(\"{0}\" * 1000).format(s)", MEMORY),
        ("s = \"a\" * 1000000\n\"{0}{x}\".format(1, x=s * 1000)", MEMORY),
        ("s = \"a\" * 20000000\n\"{0}{0}{0}{0}\".format(s)", MEMORY),
        ("s = \"a\" * 20000000\nf\"{s}{s}{s}{s}\"", MEMORY),
        ("s = \"a\" * 1000000\nf\"{s * 1000}\"", MEMORY),
        ("(\",\" * 10000000).split(\",\")", MEMORY),
        ("(\"\\n\" * 10000000).splitlines()", MEMORY),
        ("list((\"a\" * 10000000).elems())", MEMORY),
        ("list(range(2000000000))", MEMORY),
        ("[].extend(range(2000000000))", MEMORY),
        ("l = []\nl += range(2000000000)", MEMORY),
        ("print(*range(2000000000))", MEMORY),
        ("any(range(2000000000))", MEMORY),
        ("s = \"a\"\nfor i in range(60):\n    s = s + s", "emory limit"),
        ("s = \"a\"\nfor i in range(60):\n    s += s", "emory limit"),
        ("l = [1]\nfor i in range(60):\n    l = l + l", "emory limit"),
        ("l = [1]\nfor i in range(60):\n    l += l", "emory limit"),
        ("l = [1]\nfor i in range(60):\n    l.extend(l)", "emory limit"),
        ("s = \"a\" * 30000000\nfor i in range(900):\n    s = s + \"b\"", "emory limit"),
    ]);
}

#[test]
fn integers_have_bounds() {
    assert_refused(&[
        ("x = 3\nfor i in range(60):\n    x = x * x", DIGITS),
        ("x = 3\nfor i in range(60):\n    x *= x", DIGITS),
        ("n = 2000000000\n1 << n", DIGITS),
        ("1 << 2000000000", DIGITS),
        ("n = 1\nfor i in range(9):\n    n <<= 100000", DIGITS),
        ("int(\"1\" * 200000)", DIGITS),
    ]);
    let lines = scene("print(len(str(10 * ((1 << 100000) << 100000))), int(\"1\" * 1000) % 7)").lines();
    assert_eq!(lines, ["60207 5"]);
}

/// Values that are nested without end: each holds the one before twice.
const DEEP: &str = "l = []\nm = []\nt = ()\nfor i in range(600):\n    l = [l, l]\n    m = [m, m]\n    t = (t, t)\n";
/// The same, less deep, but without end when they are written out.
const WIDE: &str = "l = []\nm = []\nt = ()\nfor i in range(60):\n    l = [l, l]\n    m = [m, m]\n    t = (t, t)\n";

const USES: [&str; 37] = [
    "\"a\".startswith(l)",
    "\",\".join([l])",
    "\"a\".replace(l, \"\")",
    "str(l)",
    "repr(l)",
    "print(l)",
    "fail(l)",
    "json.encode(l)",
    "yaml.encode(l)",
    "\"%s\" % l",
    "\"%s\" % (l,)",
    "\"{}\".format(l)",
    "f\"{l}\"",
    "f\"{[l]!r}\"",
    "l == m",
    "l != m",
    "l < m",
    "l in [m]",
    "l not in [m]",
    "[m].index(l)",
    "[m].remove(l)",
    "sorted([l, m])",
    "max([l, m])",
    "min(l, m)",
    "{t: 1}",
    "{x: 1 for x in [t]}",
    "d = {}\nd[t] = 1",
    "d = {}\nd[t]",
    "{}.get(t)",
    "g = {}.get\ng(t)",
    "t in {}",
    "set([t])",
    "dict([(t, 1)])",
    "set().add(t)",
    "http.post(\"http://127.0.0.1:9/\", json=l)",
    "return {\"rows\": [], \"next\": l}",
    "return {\"rows\": [{t: 1}]}",
];

#[test]
fn values_without_end_are_refused_wherever_they_are_used() {
    let wide = [(WIDE, "l == m")];
    for (values, used) in USES.map(|used| (DEEP, used)).into_iter().chain(wide) {
        let got = scene(&format!("{values}{used}")).run();
        assert_eq!(got.kind, Some(LibErrorKind::Failed), "{used}: {:?}", got.page);
    }
}

#[test]
fn what_the_top_level_made_may_not_nest_without_end() {
    let text = "def deep():\n    l = []\n    for i in range(300000):\n        l = [l]\n    return l\nX = deep()\n\
                API = {\"fetch\": {}}\n\ndef fetch(page):\n    return {\"rows\": []}\n";
    assert!(Scene::of(text).error().contains("nested more than 512 levels deep"));
}

#[test]
fn operators_and_methods_keep_their_meaning() {
    let body = "a, b, c = 2, 3, 4\n\
                print(a + b * c, (a + b) * c, a * (b + c), -a * b, a * b % c, 1 << a << b, (a) << (b), a * -b)\n\
                print(a == b, a != b, a < b, a <= b, a > b, a >= b, not a == b, a in [b, a], a not in (b, c), 1 if a == b else c)\n\
                s = \"x-y\"\n\
                print(s.replace(\"-\", s), (s + \"z\").split(\"-\"), \",\".join([s for i in [a] if i == a]), \"{}{x}\".format(a, x=b))\n\
                print(\"%s %d\" % (s, a), s * a, [a] * b, f\"{a * b}{s.replace('x', s)}{s!r}\", (s).strip(\"x\"))\n\
                d = {s: a}\n\
                d[s] += b\n\
                d[s] *= b\n\
                e = [a, b]\n\
                f = e\n\
                f += (a, b)\n\
                e[(a - a)] <<= b\n\
                print(d[s], d.get(s), d.get(s + s, c), d.pop(s), e, {(a, b): c}[a, b] if False else {(a, b): c}[(a, b)])\n\
                j = \"-\".join\n\
                print(j([s, s]), set([a]).union([b]), sorted(e, reverse=True), max(e, key=lambda x: -x), str(a), int(\"7\"))\n\
                def add(*all, **named):\n    return all, named\n\
                print(add(x=c, *[a, b], **{\"y\": a}), [\n    a  # (one\n    * (  # two)\n      b\n    )\n])";
    let got = scene(body).lines();
    assert_eq!(
        got,
        [
            "14 20 14 -6 2 32 16 -6",
            "False True True True False False True True True 4",
            "xx-yy [\"x\", \"yz\"] x-y 23",
            "x-y 2 x-yx-y [2, 2, 2] 6x-y-y\"x-y\" -y",
            "15 15 4 15 [16, 3, 2, 3] 4",
            "x-y-x-y set([2, 3]) [16, 3, 3, 2] 2 2 7",
            "((2, 3), {\"x\": 4, \"y\": 2}) [6]",
        ]
    );
}

#[test]
fn a_limit_is_told_at_the_function() {
    let limits = Limits { steps: 10_000, ..Limits::default() };
    let stage = Scene::new("", "for i in range(1000000):\n    pass").limits(limits).stage();
    let ended = stage.with(|running| crate::scene::fetch(running, &[], &HostValue::None, &mut Vec::new()));
    let Err(lib_functions::CallError::Failed(error)) = ended.unwrap() else { panic!("it ended") };
    let place = error.place.expect("the place of the function at least");
    assert!(place.source()[place.span()].contains("fetch") || place.source()[place.span()].contains("for"));
}

#[test]
fn errors_of_operators_are_those_of_the_language_at_the_authors_place() {
    for (body, expected, shown) in [
        ("a = None\nb = 1\n(a) * b", "Operation `*` not supported for types `None` and `int`", "(a) * b"),
        ("a = None\nprint(1, a < 2 + a)", "`int` and `None`", "2 + a"),
        ("a = \"%d\"\na % \"x\"", "", "a % \"x\""),
        ("a = []\nb = {}\nb[a]", "", "b[a]"),
        ("a = 1\n\",\".join([a])", "", "\",\".join([a])"),
        ("a = None\na *= a", "`*", "a *= a"),
    ] {
        let stage = Scene::new("", body).stage();
        let ended = stage.with(|running| {
            running
                .fetch(&[], &lib_functions::HostValue::None, 1, |_, row, _| crate::scene::keep(&row, &mut Vec::new()))
        });
        let Err(lib_functions::CallError::Failed(error)) = ended.unwrap().map_err(crate::scene::call_error) else {
            panic!("{body}")
        };
        let place = error.place.clone().unwrap();
        assert_eq!(&place.source()[place.span()], shown, "{body}: {error}");
        assert!(error.message.contains(expected), "{body}: {error}");
    }
}
