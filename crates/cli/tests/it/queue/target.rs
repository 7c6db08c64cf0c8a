//! Which target is meant, and who may change it.

use std::fs::File;

use serde_json::json;

use super::Contacts;

/// Every command that names a target.
const NAMING: [&[&str]; 7] = [
    &["queue", "show"],
    &["queue", "retry"],
    &["queue", "drop", "--all", "--yes"],
    &["queue", "drain"],
    &["queue", "reset", "--resend"],
    &["queue", "reset", "--from-now"],
    &["push", "--dry-run"],
];

#[test]
fn an_unknown_target_is_refused_with_a_suggestion() {
    let contacts = Contacts::new(&[(1, "ann")]);
    for args in NAMING {
        let output = contacts.project().run(&[args, &["sync.contcats"]].concat()).failure(1);
        assert!(output.stderr.contains("there is no target sync.contcats"), "{args:?}: {}", output.stderr);
        assert!(output.stderr.contains("did you mean `sync.contacts`?"), "{args:?}: {}", output.stderr);
    }
    let output = contacts.project().run(&["queue", "show", "else.where"]).failure(1);
    assert!(
        output.stderr.contains("[PUSH-004]") && output.stderr.contains("`ondatrasql queue` lists"),
        "{}",
        output.stderr
    );
}

#[test]
fn a_target_may_be_written_in_any_case_or_as_the_path_of_its_model() {
    let contacts = Contacts::new(&[(1, "ann")]);
    contacts.project().run(&["run"]).success();
    for args in NAMING {
        contacts.project().run(&[args, &["Sync.CONTACTS"]].concat()).success();
        contacts.project().run(&[args, &["models/sync/contacts.sql"]].concat()).success();
    }
}

#[test]
fn what_a_model_that_is_gone_left_can_be_shown_and_dropped() {
    let contacts = Contacts::new(&[(1, "ann"), (2, "bob")]);
    contacts.say("ann", "error: down");
    contacts.project().run(&["run"]).failure(1);
    contacts.project().remove("models/sync/contacts.sql");
    let overview = contacts.json(&["queue"]);
    assert!(
        overview["warnings"][0].as_str().unwrap().contains("`ondatrasql queue drop sync.contacts --all`"),
        "{overview}"
    );
    let shown = contacts.json(&["queue", "show", "sync.contacts"]);
    assert_eq!(shown["events"][0]["row"]["name"], "ann");
    for args in [&["queue", "drain"][..], &["queue", "reset", "--resend"], &["push", "--dry-run"]] {
        let output = contacts.project().run(&[args, &["sync.contacts"]].concat()).failure(1);
        assert!(output.stderr.contains("sync.contacts has no model any more"), "{args:?}: {}", output.stderr);
    }
    let dropped = contacts.json(&["queue", "drop", "sync.contacts", "--all", "--yes"]);
    assert_eq!((&dropped["target"], &dropped["events"]), (&json!("sync.contacts"), &json!(1)));
    assert_eq!(contacts.json(&["queue"])["targets"], json!([]));
}

#[test]
fn what_is_queued_is_shown_when_the_table_is_gone() {
    let contacts = Contacts::new(&[(1, "ann")]);
    contacts.project().run(&["run"]).success();
    contacts.say("eve", "error: down");
    contacts.set(&[(1, "eve")]);
    contacts.project().run(&["run"]).failure(1);
    contacts.lake("DROP TABLE sync.contacts");
    let events = contacts.json(&["queue", "show", "sync.contacts"])["events"].take();
    assert!(events.as_array().unwrap().iter().all(|event| event["row"].is_null()), "{events}");
}

#[test]
fn a_model_that_does_not_push_is_refused() {
    let contacts = Contacts::new(&[]);
    contacts.project().model("raw/a", "SELECT 1 AS a");
    let output = contacts.project().run(&["queue", "drain", "raw.a"]).failure(1);
    assert!(output.stderr.contains("raw.a is not pushed"), "{}", output.stderr);
}

#[test]
fn who_changes_something_waits_for_a_run_and_who_looks_does_not() {
    let contacts = Contacts::new(&[(1, "ann")]);
    contacts.project().run(&["run"]).success();
    let folder = File::open(contacts.project().root().join("config")).unwrap();
    folder.lock().unwrap();
    for args in NAMING {
        let output = contacts.project().run(&[args, &["sync.contacts", "--state-wait", "100ms"]].concat());
        let changes = !matches!(args, ["queue", "show"] | ["push", ..]);
        assert_eq!(
            output.stderr.contains("another run of this project is active"),
            changes,
            "{args:?}: {}",
            output.stderr
        );
    }
    contacts.project().run(&["queue", "--state-wait", "100ms"]).success();
}

#[test]
fn help_shows_how_each_command_is_used() {
    let contacts = Contacts::new(&[]);
    for command in ["show", "retry", "drop", "drain", "reset"] {
        let help = contacts.project().run(&["queue", command, "--help"]).success().stdout;
        assert!(help.contains(&format!("ondatrasql queue {command} sync.")), "{help}");
    }
    for command in [&["queue"][..], &["push"]] {
        let help = contacts.project().run(&[command, &["--help"]].concat()).success().stdout;
        assert!(help.contains("Example"), "{help}");
    }
    for (args, said) in [
        (&["queue", "shwo"][..], "unknown command: queue shwo"),
        (&["queue", "show"], "usage: ondatrasql queue show TARGET"),
        (&["queue", "show", "a.b", "--limit", "0"], "invalid --limit value: 0"),
        (&["queue", "drain", "a.b", "c.d"], "extra args: c.d"),
        (&["push"], "usage: ondatrasql push TARGET"),
    ] {
        let output = contacts.project().run(args).failure(2);
        assert!(output.stderr.contains(said), "{args:?}: {}", output.stderr);
    }
}
