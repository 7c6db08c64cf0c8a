//! `queue drain`.

use serde_json::json;

use super::{Contacts, names};

#[test]
fn a_drain_feeds_and_delivers_without_running_models() {
    let contacts = Contacts::new(&[(1, "ann"), (2, "bob")]);
    contacts.project().model("sync/contacts", &contacts.model(""));
    contacts.project().run(&["run"]).success();
    contacts.project().model("sync/contacts", &contacts.model("-- @push: crm('eu')\n"));
    contacts.set(&[(1, "ann"), (2, "bob"), (3, "not yet in the table")]);
    let text = contacts.project().run(&["queue", "drain"]).success().stdout;
    assert_eq!(text, "[OK] sync.contacts\n  PUSH: 2 delivered, 0 rejected, 0 to retry, 0 pending\n");
    let sent = contacts.sent();
    assert_eq!((sent.len(), &sent[0]["region"], &sent[0]["batch_number"]), (1, &json!("eu"), &json!(1)));
    assert_eq!(names(&sent[0]["rows"]), ["ann", "bob"]);
    let drained = contacts.json(&["queue", "drain", "sync.contacts"]);
    let target = json!({"target": "sync.contacts", "status": "ok", "push_delivered": 0, "push_rejected": 0,
                        "push_retry": 0, "push_pending": 0, "push_dead": 0, "errors": [], "warnings": []});
    assert_eq!(drained, json!({"schema_version": 1, "targets": [target], "warnings": []}));
    assert!(contacts.sent().is_empty());
}

#[test]
fn what_is_rejected_or_fails_makes_the_drain_fail() {
    for (verdict, counts) in [
        ("reject: no", "1 delivered, 1 rejected, 0 to retry, 0 pending"),
        ("error: no", "1 delivered, 0 rejected, 1 to retry, 1 pending"),
    ] {
        let contacts = Contacts::new(&[(1, "ann"), (2, "bob")]);
        contacts.project().run(&["run"]).success();
        contacts.project().run(&["queue", "reset", "sync.contacts", "--resend"]).success();
        contacts.say("ann", verdict);
        let output = contacts.project().run(&["queue", "drain", "sync.contacts", "--json"]).failure(1);
        let document: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!(document["targets"][0]["status"], "error");
        assert!(output.stderr.contains(counts) && output.stderr.contains("[PUSH-002]"), "{}", output.stderr);
        assert!(output.stderr.contains("[FAILED] sync.contacts\n"), "{}", output.stderr);
    }
}

#[test]
fn a_target_that_fails_does_not_keep_the_others_from_being_drained() {
    let contacts = Contacts::new(&[(1, "ann")]);
    let other = contacts.model("-- @push: crm('us')\n").replace("name::VARCHAR", "upper(name)::VARCHAR");
    contacts.project().model("sync/others", &other);
    contacts.project().run(&["run"]).success();
    for target in ["sync.contacts", "sync.others"] {
        contacts.project().run(&["queue", "reset", target, "--resend"]).success();
    }
    contacts.say("ann", "reject: no");
    let output = contacts.project().run(&["queue", "drain"]).failure(1);
    assert!(
        output.stdout.contains("[FAILED] sync.contacts") && output.stdout.contains("[OK] sync.others"),
        "{}",
        output.stdout
    );
    assert!(output.stderr.contains("sync.contacts: 1 row(s) rejected: no"), "{}", output.stderr);
}

#[test]
fn without_models_that_push_there_is_nothing_to_do() {
    let contacts = Contacts::new(&[(1, "ann")]);
    let output = contacts.project().run(&["queue", "drain"]).success();
    assert!(output.stdout.contains("[SKIP] sync.contacts\n  WARN: it has no table yet"), "{}", output.stdout);
    contacts.project().model("sync/contacts", &contacts.model(""));
    assert_eq!(contacts.project().run(&["queue", "drain"]).success().stdout, "No model pushes.\n");
    assert_eq!(contacts.json(&["queue", "drain"]), json!({"schema_version": 1, "targets": [], "warnings": []}));
}
