//! `ondatrasql stats` shows the queue, if that can be told at once.

use serde_json::json;

use super::Contacts;
use crate::schema::document;

#[test]
fn stats_tell_how_every_target_stands_and_wait_for_nobody() {
    let contacts = Contacts::new(&[(1, "ann"), (2, "bob"), (3, "cat")]);
    contacts.say("ann", "error: try later");
    contacts.say("bob", "reject: no email");
    contacts.project().run(&["run"]).failure(1);
    let told = document("stats", &contacts.project().run(&["stats", "--json"]).success().stdout);
    let mut target = told["queue"][0].clone();
    assert!(target["oldest_s"].take().is_number(), "{told:#}");
    let expected =
        json!({"target": "sync.contacts", "pending": 0, "waiting": 1, "in_flight": 0, "dead": 1, "oldest_s": null});
    assert_eq!((target, &told["warnings"]), (expected, &json!([])));
    let text = contacts.project().run(&["stats"]).success().stdout;
    assert!(text.contains("─ Queue ─") && text.contains("sync.contacts        0        1          0     1"), "{text}");

    let held = contacts.fixture.open("another");
    let output = contacts.project().run(&["stats", "--json"]).success();
    let told = document("stats", &output.stdout);
    assert!(told.get("queue").is_none() && told["model_count"] == 1, "{told:#}");
    let warning = told["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("the queue is not shown: ") && warning.contains("STATE-004"), "{warning}");
    assert!(output.stderr.contains("warning: the queue is not shown"), "{}", output.stderr);
    drop(held);
}
