//! `push TARGET --dry-run`.

use serde_json::{Value, json};

use super::{Contacts, names};

#[test]
fn what_is_shown_is_what_is_sent_afterwards() {
    let contacts = Contacts::new(&[(1, "ann"), (2, "bob"), (3, "cat")]);
    contacts.say_of_all(&["ann", "cat"], "error: try later");
    contacts.project().run(&["run"]).failure(1);
    contacts.project().run(&["queue", "retry", "sync.contacts"]).success();
    contacts.verdicts.lock().unwrap().clear();
    contacts.lake("UPDATE sync.contacts SET name = 'bea' WHERE id = 2");
    contacts.lake("DELETE FROM sync.contacts WHERE id = 3");
    contacts.sent();
    let shown = contacts.json(&["push", "sync.contacts", "--dry-run"]);
    assert_eq!((&shown["pending"], &shown["to_feed"], &shown["function"]), (&json!(2), &json!(3), &json!("crm")));
    assert_eq!(shown["arguments"], json!({"region": "eu"}));
    assert!(contacts.sent().is_empty());
    contacts.project().run(&["queue", "drain"]).success();
    let body = |batch: &Value| json!({"rows": batch["rows"], "region": "eu", "batch_number": batch["batch_number"]});
    let expected: Vec<Value> = shown["batches"].as_array().unwrap().iter().map(body).collect();
    assert_eq!(expected.len(), 2);
    assert_eq!(contacts.sent(), expected);
}

#[test]
fn several_changes_of_a_row_are_folded_as_the_delivery_folds_them() {
    let contacts = Contacts::new(&[(1, "ann")]);
    contacts.lib("\"batch_size\": 9, \"changes\": \"net\"");
    contacts.project().run(&["run"]).success();
    contacts.lake("UPDATE sync.contacts SET name = 'bea'");
    contacts.lake("UPDATE sync.contacts SET name = 'cat'");
    contacts.sent();
    let shown = contacts.json(&["push", "sync.contacts", "--dry-run"]);
    assert_eq!((&shown["to_feed"], names(&shown["batches"][0]["rows"])), (&json!(2), vec!["ann", "cat"]));
    contacts.project().run(&["queue", "drain"]).success();
    assert_eq!(contacts.sent()[0]["rows"], shown["batches"][0]["rows"]);
}

#[test]
fn it_changes_nothing() {
    let contacts = Contacts::new(&[(1, "ann"), (2, "bob"), (3, "cat")]);
    contacts.say("ann", "error: try later");
    contacts.project().run(&["run"]).failure(1);
    contacts.lake("INSERT INTO sync.contacts VALUES (9, 'zoe')");
    let (tables, snapshots) = (contacts.json(&["state", "status"])["tables"].take(), contacts.snapshots());
    contacts.sent();
    let output = contacts.project().run(&["push", "sync.contacts", "--dry-run"]).success();
    assert!(output.stdout.contains("1 change would be fed"), "{}", output.stdout);
    assert!(output.stdout.contains("Arguments: region = \"eu\"") && output.stdout.contains("zoe"), "{}", output.stdout);
    assert!(contacts.sent().is_empty());
    assert_eq!(contacts.json(&["state", "status"])["tables"], tables);
    assert_eq!(contacts.snapshots(), snapshots);
}

#[test]
fn a_row_that_waits_holds_back_its_later_changes() {
    let contacts = Contacts::new(&[(1, "ann"), (2, "bob")]);
    contacts.say("ann", "error: try later");
    contacts.project().run(&["run"]).failure(1);
    contacts.lake("UPDATE sync.contacts SET name = name || '2'");
    let shown = contacts.json(&["push", "sync.contacts", "--dry-run"]);
    assert_eq!((&shown["waiting"], &shown["to_feed"]), (&json!(1), &json!(4)));
    assert_eq!(shown["batches"].as_array().unwrap().len(), 1);
    assert_eq!(names(&shown["batches"][0]["rows"]), ["bob", "bob2"]);
}

#[test]
fn as_many_batches_are_shown_as_asked_for() {
    let contacts = Contacts::new(&[(1, "a"), (2, "b"), (3, "c"), (4, "d"), (5, "e"), (6, "f"), (7, "g")]);
    contacts.project().run(&["run"]).success();
    contacts.project().run(&["queue", "reset", "sync.contacts", "--resend"]).success();
    let batches = |args: &[&str]| {
        let shown = contacts.json(&[&["push", "sync.contacts", "--dry-run"], args].concat());
        assert_eq!(shown["to_feed"], 7);
        shown["batches"].as_array().unwrap().len()
    };
    assert_eq!([batches(&[]), batches(&["--limit", "1"]), batches(&["--limit", "9"])], [3, 1, 4]);
}

#[test]
fn nothing_to_send_is_said() {
    let contacts = Contacts::new(&[(1, "ann")]);
    let output = contacts.project().run(&["push", "sync.contacts", "--dry-run"]).failure(1);
    assert!(output.stderr.contains("sync.contacts has no table yet"), "{}", output.stderr);
    contacts.project().run(&["run"]).success();
    let output = contacts.project().run(&["push", "sync.contacts", "--dry-run"]).success();
    assert!(output.stdout.contains("Nothing would be sent."), "{}", output.stdout);
}

#[test]
fn without_the_flag_nothing_is_sent() {
    let contacts = Contacts::new(&[(1, "ann")]);
    let output = contacts.project().run(&["push", "sync.contacts"]).failure(2);
    assert!(output.stderr.contains("`ondatrasql queue drain sync.contacts`"), "{}", output.stderr);
}

#[test]
fn what_is_left_of_a_table_that_was_dropped_would_be_buried() {
    let contacts = Contacts::new(&[(1, "ann"), (2, "bob")]);
    contacts.say("ann", "error: try later");
    contacts.project().run(&["run"]).failure(1);
    contacts.lake("CREATE OR REPLACE TABLE sync.contacts AS SELECT 7::BIGINT AS id, 'new' AS name");
    let shown = contacts.json(&["push", "sync.contacts", "--dry-run"]);
    assert_eq!(shown["warnings"], json!(["1 event would become dead letters: their table was dropped"]));
    assert_eq!((&shown["pending"], &shown["waiting"], &shown["to_feed"]), (&json!(0), &json!(0), &json!(1)));
    assert_eq!(names(&shown["batches"][0]["rows"]), ["new"]);
    contacts.sent();
    contacts.project().run(&["queue", "drain"]).success();
    assert_eq!(contacts.sent()[0]["rows"], shown["batches"][0]["rows"]);
    let text = contacts.project().run(&["queue", "show", "sync.contacts", "--dead"]).success().stdout;
    assert!(text.contains("(not kept)") && text.contains("the table was dropped and made again"), "{text}");
}

#[test]
fn values_that_the_function_cannot_have_are_told() {
    let contacts = Contacts::new(&[]);
    contacts
        .project()
        .model("sync/contacts", "-- @push: crm('eu')\nSELECT 1::BIGINT AS id, 'nan'::DOUBLE AS x, ''::VARCHAR AS name");
    contacts.project().run(&["run"]).success();
    contacts.project().run(&["queue", "reset", "sync.contacts", "--resend"]).success();
    let shown = contacts.json(&["push", "sync.contacts", "--dry-run"]);
    assert_eq!(shown["batches"][0]["rows"][0]["x"], json!(null));
    assert!(shown["warnings"][0].as_str().unwrap().starts_with("batch 1: 1 value(s) are NaN"), "{shown}");
}
