//! `env` and `print`.

use crate::scene::{Scene, Stage, fetch, text};
use lib_functions::{Direction, HostValue, with_lib};

#[test]
fn a_default_stands_for_what_is_not_set() {
    let body = "print(env.get(\"A\"), env.get(\"EMPTY\", \"d\"), env.get(\"NONE\"), env.get(\"NONE\", \"d\"), \
                env.get(name=\"NONE\", default=\"e\"), env.get(\"BOTH\"), sep=\"|\")";
    let scene = Scene::new("", body).file(".env", "A=1\nEMPTY=\nBOTH=file\n").variable("BOTH", "process");
    assert_eq!(scene.lines(), ["1|||d|e|process"]);
}

#[test]
fn a_variable_may_stand_for_a_file() {
    let body = "print(env.get(\"COLOR\"), len(env.get(\"COLOR\")), env.get(\"WORD\"))";
    let scene = Scene::new("", body).file("run/color", "dark green\n").variable("WORD", "file:///x");
    assert_eq!(scene.variable("COLOR", "file:run/color").lines(), ["[REDACTED] 10 file:///x"]);
    let error = Scene::new("", "env.get(\"COLOR\", \"red\")").variable("COLOR", "file:run/none").error();
    let told = "x.fetch: env.get: COLOR stands for the content of run/none, which cannot be read: No such file";
    assert!(error.starts_with(told), "{error}");
    let api = "\"base_url\": \"http://127.0.0.1:1\", \"auth\": {\"env\": \"COLOR\"}";
    let error = Scene::new(api, "pass").variable("COLOR", "file:run/none").error();
    assert!(error.starts_with("x: COLOR stands for the content of run/none"), "{error}");
}

fn run(stage: &Stage, name: &str) {
    let done = with_lib(stage.lib(name), &stage.host, Direction::Fetch, |running| {
        fetch(running, &[], &HostValue::None, &mut Vec::new()).is_ok()
    });
    assert!(done.unwrap());
}

#[test]
fn what_is_set_is_seen_by_all_libs_and_by_nobody_else() {
    let stage = Scene::new("", "env.set(\"A\", \"new\")\nenv.set(name=\"B\", value=\"\")\nprint(env.get(\"A\"))")
        .file("lib/y.star", text("", "print(env.get(\"A\"), env.get(\"B\", \"d\"), sep=\"|\")"))
        .file(".env", "A=old\n")
        .stage();
    run(&stage, "x");
    run(&stage, "y");
    assert_eq!(stage.lines(), ["new", "new|"]);
    assert_eq!(std::fs::read_to_string(stage.dir.path().join(".env")).unwrap(), "A=old\n");
    assert!(std::env::var("B").is_err());
}

#[test]
fn what_is_no_variable_is_refused() {
    for (call, expected) in [
        ("env.set(\"\", \"x\")", "env.set: `name`"),
        ("env.set(\"A=B\", \"x\")", "env.set: `name`"),
        ("env.set(\"A\", 5)", "env.set: `value` must be str, not int"),
        ("env.set(\"A\")", "env.set"),
        ("env.get()", "env.get"),
        ("env.get(5)", "env.get: `name` must be str, not int"),
        ("env.get(\"A\", 5)", "env.get: `default` must be str, not int"),
    ] {
        let error = Scene::new("", call).error();
        assert!(error.starts_with("x.fetch: ") && error.contains(expected), "{call}: {error}");
    }
}

/// Trap 28 of chapter 03 §3.6 among others.
#[test]
fn lines_are_printed_without_secrets() {
    let env = "API_KEY=abcd1234\nPLAIN=visible\nSHORT_KEY=abc\nX=a1b2c3d4e5f6a7b8c9\n";
    for (call, line) in [
        ("print(env.get(\"API_KEY\"))", "[REDACTED]"),
        (
            "print(\"x\" + env.get(\"API_KEY\") + \"y\", {\"k\": env.get(\"API_KEY\")})",
            "x[REDACTED]y {\"k\": \"[REDACTED]\"}",
        ),
        ("print(env.get(\"PLAIN\"), env.get(\"SHORT_KEY\"), env.get(\"X\"))", "visible abc [REDACTED]"),
        ("print(\"Authorization: Bearer some.thing\")", "Authorization: Bearer [REDACTED]"),
        ("print(\"http://h/?key=1&b=2\")", "http://h/?key=[REDACTED]&b=2"),
        ("print()", ""),
        ("print(1, None, [2.0, \"a\"], sep=\"-\")", "1-None-[2.0, \"a\"]"),
        ("print(\"ab\", \"cd1234\", sep=\"\")", "[REDACTED]"),
    ] {
        assert_eq!(Scene::new("", call).file(".env", env).lines(), [line], "{call}");
    }
}

#[test]
fn data_is_handed_to_scripts_untouched() {
    let scene = Scene::new("", "return {\"rows\": [{\"k\": env.get(\"API_KEY\")}]}").file(".env", "API_KEY=abcd1234\n");
    assert_eq!(scene.run().rows, ["k=\"abcd1234\""]);
}
