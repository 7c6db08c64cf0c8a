//! What lib functions print, and what runs with `--json` print.

use super::{model, silent, with_lib};

const PRINTING: &str = "
def fetch():
    print(\"the token is\", env.get(\"MY_TOKEN\"), sep = \" \")
    print(\"Authorization: Bearer abcdefghijk\")
    return {\"rows\": [{\"a\": 1}], \"more\": 1}
";

#[test]
fn printed_lines_go_to_standard_error_without_secrets() {
    let project = with_lib(&silent(), "", PRINTING);
    let env = std::fs::read_to_string(project.root().join(".env")).unwrap();
    project.write(".env", &format!("{env}MY_TOKEN=hidden-value-1\n"));
    model(&project, "raw/x", "table", "a::INTEGER AS a", "api()");
    for arguments in [&["run"][..], &["run", "--json"], &["run", "raw.x"]] {
        let output = project.run(arguments).success();
        assert!(output.stderr.contains("the token is [REDACTED]\n"), "{output:?}");
        let printed = |text: &str| text.contains("the token is") || text.contains("Bearer");
        assert!(!printed(&output.stdout), "{output:?}");
        let all = format!("{output:?}");
        assert!(!all.contains("hidden-value-1") && !all.contains("abcdefghijk"), "{all}");
        if arguments.contains(&"--json") {
            let record: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
            assert_eq!((&record["model"], &record["rows_affected"]), (&"raw.x".into(), &1.into()));
            assert!(record["warnings"][0].as_str().unwrap().contains("unknown keys"), "{record}");
        }
    }
}

#[test]
fn a_failed_fetch_is_a_record_with_its_error() {
    let project = with_lib(&silent(), "", "def fetch():\n    fail(\"no\", \"luck\", sep = \"-\")\n");
    model(&project, "raw/x", "table", "a::INTEGER AS a", "api()");
    project.model("staging/y", "SELECT a FROM raw.x");
    let output = project.run(&["run", "--json"]).failure(1);
    let records: Vec<serde_json::Value> =
        output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&records[0]["model"], &records[0]["status"]), (&"raw.x".into(), &"error".into()));
    assert!(records[0]["errors"][0].as_str().unwrap().contains("no-luck"), "{records:?}");
    assert_eq!(records[1]["status"], "skip");
    assert!(output.stderr.contains("raw.x: ") && output.stderr.contains("LIB-002"), "{}", output.stderr);
}

#[test]
fn no_secret_and_no_escape_comes_to_the_terminal_from_a_failed_fetch() {
    for (body, hidden, shown) in [
        ("    http.get(\"http://127.0.0.1:1/?api_key=QKey-12ab\", retry = 0).ok\n", "QKey-12ab", "api_key=*********"),
        (
            "    env.set(\"MY_API_TOKEN\", \"-\".join([\"dyn\", \"Tok3n\", \"9\"]))\n    fail(env.get(\"MY_API_TOKEN\"))\n",
            "dyn-Tok3n-9",
            "[REDACTED]",
        ),
        ("    return {\"rows\": [{\"a\": \"\\x1b[31mX\\x00\\r\"}]}\n", "\u{1b}", "the value \u{fffd}[31mX"),
        ("    fail(\"\\u202ebidi\")\n", "\u{202e}", "\u{fffd}bidi"),
    ] {
        let project = with_lib(&silent(), "", &format!("def fetch():\n{body}"));
        model(&project, "raw/x", "table", "a::INTEGER AS a", "api()");
        let output = project.run(&["run"]).failure(1);
        assert!(!output.stderr.contains(hidden) && !output.stdout.contains(hidden), "{output:?}");
        assert!(output.stderr.contains(shown), "{output:?}");
    }
}
