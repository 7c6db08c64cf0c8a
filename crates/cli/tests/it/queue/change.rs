//! `queue retry`, `queue drop` and `queue reset`.

use serde_json::json;

use super::{Contacts, names};

#[test]
fn what_waits_is_due_after_a_retry() {
    let contacts = Contacts::new(&[(1, "ann"), (2, "bob")]);
    contacts.say("ann", "error: try later");
    contacts.project().run(&["run"]).failure(1);
    contacts.say("ann", "ok");
    contacts.project().run(&["run"]).success();
    assert_eq!(contacts.stand()["waiting"], 1);
    let retried = contacts.json(&["queue", "retry", "sync.contacts"]);
    assert_eq!(
        retried,
        json!({"schema_version": 1, "target": "sync.contacts", "dead": false, "events": 1, "warnings": []})
    );
    contacts.project().run(&["run"]).success();
    assert_eq!((&contacts.stand()["waiting"], &contacts.stand()["pending"]), (&json!(0), &json!(0)));
    let again = contacts.project().run(&["queue", "retry", "sync.contacts"]).success();
    assert!(again.stderr.contains("warning: sync.contacts has no waiting event"), "{}", again.stderr);
}

#[test]
fn a_dead_letter_is_put_back_alone_or_with_all_others() {
    let contacts = Contacts::new(&[(1, "ann"), (2, "bob"), (3, "cat")]);
    contacts.say_of_all(&["ann", "bob", "cat"], "reject: no");
    contacts.project().run(&["run"]).failure(1);
    contacts.verdicts.lock().unwrap().clear();
    let shown = contacts.json(&["queue", "show", "sync.contacts", "--dead"]);
    let id = shown["events"][1]["id"].to_string();
    let text = contacts.project().run(&["queue", "retry", "sync.contacts", "--dead", "--id", &id]).success().stdout;
    assert_eq!(text, "1 dead letter of sync.contacts: in the queue again\n");
    contacts.sent();
    contacts.project().run(&["run"]).success();
    assert_eq!(names(&contacts.sent()[0]["rows"]), ["bob"]);
    assert_eq!(contacts.json(&["queue", "retry", "sync.contacts", "--dead"])["events"], 2);
    let none = contacts.project().run(&["queue", "retry", "sync.contacts", "--dead", "--id", "99"]).success();
    assert!(none.stderr.contains("no dead letter with the number 99"), "{}", none.stderr);
}

#[test]
fn dead_letters_are_dropped_after_a_confirmation() {
    let contacts = Contacts::new(&[(1, "ann"), (2, "bob")]);
    contacts.say_of_all(&["ann", "bob"], "reject: no");
    contacts.project().run(&["run"]).failure(1);
    let refused = contacts.project().run(&["queue", "drop", "sync.contacts", "--dead"]).failure(2);
    assert!(refused.stderr.contains("needs --yes without a terminal"), "{}", refused.stderr);
    let shown = contacts.json(&["queue", "show", "sync.contacts", "--dead"]);
    let id = shown["events"][0]["id"].to_string();
    let one = contacts.json(&["queue", "drop", "sync.contacts", "--dead", "--id", &id, "--yes"]);
    assert_eq!((&one["events"], &one["dead"]), (&json!(1), &json!(true)));
    let left = contacts.json(&["queue", "show", "sync.contacts", "--dead"]);
    assert_eq!((&left["total"], &left["events"][0]["row"]["name"]), (&json!(1), &json!("bob")));
    let text = contacts.project().run(&["queue", "drop", "sync.contacts", "--dead", "--yes"]).success().stdout;
    assert_eq!(text, "1 dead letter of sync.contacts: removed\n");
    assert_eq!(contacts.stand()["dead"], 0);
}

#[test]
fn drop_asks_what_and_takes_a_number_for_dead_letters_alone() {
    let contacts = Contacts::new(&[]);
    for (args, said) in [
        (&[][..], "queue drop needs --dead or --all"),
        (&["--dead", "--all"], "cannot be used with"),
        (&["--all", "--id", "1"], "cannot be used with"),
        (&["--dead", "--id", "0"], "invalid --id value: 0"),
    ] {
        let output = contacts.project().run(&[&["queue", "drop", "sync.contacts", "--yes"], args].concat()).failure(2);
        assert!(output.stderr.contains(said), "{args:?}: {}", output.stderr);
    }
}

#[test]
fn a_reset_to_now_skips_what_is_pending() {
    let contacts = Contacts::new(&[(1, "ann"), (2, "bob")]);
    contacts.say("ann", "error: try later");
    contacts.project().run(&["run"]).failure(1);
    contacts.verdicts.lock().unwrap().clear();
    let reset = contacts.json(&["queue", "reset", "sync.contacts", "--from-now"]);
    assert_eq!((&reset["position"], &reset["dropped"]), (&json!("now"), &json!(1)));
    contacts.sent();
    contacts.set(&[(1, "ann"), (2, "bob"), (3, "cat")]);
    contacts.project().run(&["run"]).success();
    let sent = contacts.sent();
    assert_eq!((sent.len(), names(&sent[0]["rows"])), (1, vec!["cat"]));
}

#[test]
fn a_table_that_was_never_pushed_can_begin_now() {
    let contacts = Contacts::new(&[(1, "ann")]);
    contacts.project().model("sync/contacts", &contacts.model(""));
    contacts.project().run(&["run"]).success();
    contacts.project().model("sync/contacts", &contacts.model("-- @push: crm('eu')\n"));
    contacts.project().run(&["queue", "reset", "sync.contacts", "--from-now"]).success();
    contacts.project().run(&["queue", "drain"]).success();
    assert!(contacts.sent().is_empty());
}

#[test]
fn a_resend_sends_the_whole_table_again_as_inserts() {
    let contacts = Contacts::new(&[(1, "ann")]);
    contacts.project().run(&["run"]).success();
    contacts.set(&[(1, "eve"), (2, "bob")]);
    contacts.project().run(&["run"]).success();
    contacts.sent();
    let text = contacts.project().run(&["queue", "reset", "sync.contacts", "--resend"]).success().stdout;
    assert!(
        text.starts_with("0 undelivered events of sync.contacts: dropped; the next run sends the whole table"),
        "{text}"
    );
    contacts.project().run(&["run"]).success();
    let rows = contacts.sent()[0]["rows"].take();
    let mut sent = names(&rows);
    sent.sort_unstable();
    assert_eq!(sent, ["bob", "eve"]);
    assert!(rows.as_array().unwrap().iter().all(|row| row["__ondatra_change_type"] == "insert"), "{rows}");
}

#[test]
fn reset_asks_which_way() {
    let contacts = Contacts::new(&[(1, "ann")]);
    for (args, said) in
        [(&[][..], "needs --from-now or --resend"), (&["--from-now", "--resend"], "cannot be used with")]
    {
        let output = contacts.project().run(&[&["queue", "reset", "sync.contacts"], args].concat()).failure(2);
        assert!(output.stderr.contains(said), "{}", output.stderr);
    }
    let output = contacts.project().run(&["queue", "reset", "sync.contacts", "--from-now"]).failure(1);
    assert!(output.stderr.contains("sync.contacts has no table yet"), "{}", output.stderr);
}
