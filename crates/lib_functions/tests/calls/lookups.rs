//! `lookup`, over a lake that is made up.

use lib_functions::{HostValue, Lookup};

use crate::scene::Scene;

/// Says what it was asked for; knows a table `raw.names`.
struct Fake;

impl Lookup for Fake {
    fn lookup(
        &self,
        table: &str,
        key: &str,
        value: &str,
        keys: &[HostValue],
    ) -> Result<Vec<(usize, HostValue)>, String> {
        match (table, key, value) {
            ("raw.names", "id", "name") => {
                let known = keys.iter().enumerate().filter(|(_, key)| **key != HostValue::int(9));
                Ok(known.map(|(at, key)| (at, HostValue::Text(format!("{key:?}")))).collect())
            }
            ("raw.names", _, _) => Err(format!("there is no column {key} for abcd1234")),
            ("raw.broken", ..) => Ok(vec![(99, HostValue::None)]),
            ("raw.panics", ..) => panic!("the lake fell over abcd1234"),
            _ => Ok(Vec::new()),
        }
    }
}

fn scene(call: &str) -> Scene {
    Scene::new("", &format!("print({call})")).lookup(Fake).file(".env", "API_KEY=abcd1234\n")
}

#[test]
fn keys_are_the_very_items_that_were_asked_for() {
    for (call, shown) in [
        ("lookup(\"raw.names\", \"id\", \"name\", [1, \"a\", 9])", "{1: \"Int(1)\", \"a\": \"Text(\\\"a\\\")\"}"),
        (
            "lookup(table=\"raw.names\", key=\"id\", value=\"name\", where=(1 << 70,))",
            "{1180591620717411303424: \"Int(1180591620717411303424)\"}",
        ),
        ("lookup(\"raw.none\", key=\"id\", value=\"name\", where=[1])", "{}"),
        ("lookup(\"raw.names\", \"id\", \"name\", [])", "{}"),
    ] {
        assert_eq!(scene(call).lines(), [shown], "{call}");
    }
}

#[test]
fn what_cannot_be_looked_up_is_an_error() {
    for (call, expected) in [
        ("lookup(\"raw.names\", \"x\", \"name\", [1])", "x.fetch: lookup: there is no column x for [REDACTED]"),
        (
            "lookup(\"raw.names\", \"id\", \"name\", [1.5])",
            "x.fetch: lookup: `where` must be list of str or int, not float",
        ),
        (
            "lookup(\"raw.names\", \"id\", \"name\", [True])",
            "x.fetch: lookup: `where` must be list of str or int, not bool",
        ),
        ("lookup(\"raw.names\", \"id\", \"name\", [None])", "x.fetch: lookup: `where` must be"),
        ("lookup(\"raw.names\", \"id\", \"name\", \"abc\")", "x.fetch: lookup: `where` must be list, not string"),
        ("lookup(5, \"id\", \"name\", [1])", "x.fetch: lookup: `table` must be str, not int"),
        ("lookup(\"raw.broken\", \"id\", \"name\", [1])", "x.fetch: lookup: "),
    ] {
        let error = scene(call).error();
        assert!(error.starts_with(expected), "{call}: {error}");
    }
    let error = Scene::new("", "lookup(\"a\", \"b\", \"c\", [])").error();
    assert!(error.starts_with("x.fetch: lookup: there is no lake"), "{error}");
}

#[test]
fn a_panic_fails_the_model_and_nothing_else() {
    let stage = scene("lookup(\"raw.panics\", \"id\", \"name\", [1])").stage();
    for _ in 0..2 {
        let error = stage.run().page.unwrap_err();
        assert!(error.starts_with("x: ") && error.contains("internal error: the lake fell over [REDACTED]"), "{error}");
    }
}
