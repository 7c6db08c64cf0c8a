//! `queue` and `queue show`.

use serde_json::json;
use state::Queue;

use super::{Contacts, names};
use crate::terminal::on_terminal;

#[test]
fn the_queue_tells_how_every_target_stands() {
    let contacts = Contacts::new(&[(1, "ann"), (2, "bob"), (3, "cat")]);
    assert_eq!(contacts.json(&["queue"]), json!({"schema_version": 1, "targets": [], "warnings": []}));
    assert!(contacts.project().run(&["queue"]).success().stdout.starts_with("Nothing was queued yet"));
    contacts.say("ann", "error: try later");
    contacts.say("bob", "reject: no email");
    contacts.project().run(&["run"]).failure(1);
    let stand = contacts.stand();
    assert_eq!(
        (&stand["target"], &stand["pending"], &stand["waiting"], &stand["dead"]),
        (&json!("sync.contacts"), &json!(0), &json!(1), &json!(1))
    );
    assert!(stand["next_retry"].as_str().unwrap().ends_with('Z') && stand["oldest_s"].is_number(), "{stand}");
    let last = &stand["last_delivery"];
    assert_eq!((&last["delivered"], &last["rejected"], &last["retry"]), (&json!(1), &json!(1), &json!(1)));
    assert_eq!((&stand["in_flight"], &stand["last_error"]), (&json!([]), &json!("try later")));
    let text = contacts.project().run(&["queue"]).success().stdout;
    assert!(text.contains("─ Queue ─") && text.contains("│ sync.contacts: try later "), "{text}");
    let last = text.split("Last Delivery").nth(1).unwrap().lines().nth(2).unwrap();
    let cells: Vec<&str> = last.split_whitespace().collect();
    assert!(cells[1] == "sync.contacts" && cells[2].ends_with('Z') && cells[3..6] == ["1", "1", "1"], "{text}");
}

#[test]
fn what_is_told_fits_the_terminal_and_no_row_is_cut_off() {
    let contacts = Contacts::new(&[(1, "ann"), (2, "bob")]);
    contacts.say("ann", &format!("error: try later, {}", "because of this and that ".repeat(8)));
    contacts.say("bob", "reject: no email");
    contacts.project().run(&["run"]).failure(1);
    contacts.project().run(&["queue", "retry", "sync.contacts"]).success();
    contacts.fixture.open("a worker with a rather long name").claim("sync.contacts", "run", 9).unwrap().unwrap();
    for columns in [44, 80] {
        for args in [&["queue"][..], &["queue", "show", "sync.contacts"], &["queue", "show", "sync.contacts", "--dead"]]
        {
            let (shown, code) = on_terminal(contacts.project(), columns, args);
            let widths = shown.lines().map(|line| unicode_width::UnicodeWidthStr::width(plain(line).as_str()));
            assert!(code == 0 && widths.max() <= Some(columns), "{args:?}:\n{shown}");
            let text: String = shown.split(['│', '\n', ' ']).collect();
            let row = if args.contains(&"--dead") { r#"{"id":2,"name":"bob"}"# } else { r#"{"id":1,"name":"ann"}"# };
            assert!(args.len() == 1 || text.contains(row), "{args:?}:\n{shown}");
        }
    }
}

/// A line without colors.
fn plain(line: &str) -> String {
    let mut pieces = line.split('\u{1b}');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| text + piece.split_once('m').map_or("", |(_, rest)| rest))
}

#[test]
fn events_are_shown_with_their_rows_attempts_and_errors() {
    let contacts = Contacts::new(&[(1, "ann"), (2, "bob"), (3, "cat")]);
    contacts.say("ann", "error: try later");
    contacts.project().run(&["run"]).failure(1);
    let shown = contacts.json(&["queue", "show", "sync.contacts"]);
    assert_eq!(
        (&shown["target"], &shown["dead"], &shown["total"]),
        (&json!("sync.contacts"), &json!(false), &json!(1))
    );
    let event = &shown["events"][0];
    assert_eq!(
        (&event["change_type"], &event["state"], &event["attempts"]),
        (&json!("insert"), &json!("waiting"), &json!(1))
    );
    assert_eq!(
        (&event["error"], &event["row"]["name"], &event["row"]["id"]),
        (&json!("try later"), &json!("ann"), &json!(1))
    );
    let sent = contacts.sent();
    assert_eq!(event["row"], sent[0]["rows"][0]);
    let text = contacts.project().run(&["queue", "show", "sync.contacts"]).success().stdout;
    assert!(text.contains(r#"{"id":1,"name":"ann"}"#) && text.contains("try later"), "{text}");
}

#[test]
fn dead_letters_are_shown_as_they_were_sent() {
    let contacts = Contacts::new(&[(1, "ann"), (2, "bob"), (3, "cat")]);
    contacts.say_of_all(&["ann", "bob"], "reject: no email");
    contacts.project().run(&["run"]).failure(1);
    let sent = contacts.sent();
    contacts.verdicts.lock().unwrap().clear();
    contacts.set(&[(1, "changed since")]);
    contacts.project().run(&["run"]).success();
    let shown = contacts.json(&["queue", "show", "sync.contacts", "--dead", "--limit", "1"]);
    assert_eq!((&shown["dead"], &shown["total"]), (&json!(true), &json!(2)));
    assert_eq!(shown["events"].as_array().unwrap().len(), 1);
    let event = &shown["events"][0];
    assert_eq!(
        (&event["state"], &event["error"], &event["row"]),
        (&json!("dead"), &json!("no email"), &sent[0]["rows"][0])
    );
    assert!(event["dead_at"].as_str().unwrap() >= event["queued_at"].as_str().unwrap());
    let text = contacts.project().run(&["queue", "show", "sync.contacts", "--dead", "--limit", "1"]).success().stdout;
    assert!(text.contains("and 1 more dead letter"), "{text}");
    let none = contacts.project().run(&["queue", "show", "sync.contacts"]).success().stdout;
    assert_eq!(none, "sync.contacts has no events.\n");
}

#[test]
fn the_old_row_of_a_change_is_shown_too() {
    let contacts = Contacts::new(&[(1, "ann")]);
    contacts.project().run(&["run"]).success();
    contacts.say_of_all(&["ann", "eve"], "error: down");
    contacts.set(&[(1, "eve")]);
    contacts.project().run(&["run"]).failure(1);
    let events = contacts.json(&["queue", "show", "sync.contacts"])["events"].take();
    let shown = |at: usize| (events[at]["change_type"].as_str().unwrap(), events[at]["row"]["name"].as_str().unwrap());
    assert_eq!([shown(0), shown(1)], [("update_preimage", "ann"), ("update_postimage", "eve")]);
}

#[test]
fn a_secret_in_an_error_is_not_shown() {
    let contacts = Contacts::new(&[(1, "ann"), (2, "bob")]);
    let env = std::fs::read_to_string(contacts.project().root().join(".env")).unwrap();
    contacts.project().write(".env", &format!("{env}CRM_TOKEN=hush-hush-0123456789\n"));
    contacts.say("ann", "error: bad token hush-hush-0123456789");
    contacts.say("bob", "reject: bad token hush-hush-0123456789");
    contacts.project().run(&["run"]).failure(1);
    for args in [&["queue"][..], &["queue", "show", "sync.contacts"], &["queue", "show", "sync.contacts", "--dead"]] {
        for json in [&[][..], &["--json"]] {
            let output = contacts.project().run(&[args, json].concat()).success();
            assert!(output.stdout.contains("bad token") && !output.stdout.contains("hush-hush"), "{}", output.stdout);
        }
    }
}

#[test]
fn what_a_dead_worker_holds_is_told_and_would_be_sent_next() {
    let contacts = Contacts::new(&[(1, "ann")]);
    contacts.say("ann", "error: try later");
    contacts.project().run(&["run"]).failure(1);
    contacts.project().run(&["queue", "retry", "sync.contacts"]).success();
    contacts.fixture.open("gone").claim("sync.contacts", "run", 9).unwrap().unwrap();
    let stand = contacts.stand();
    assert_eq!((&stand["pending"], &stand["in_flight"][0]["events"]), (&json!(0), &json!(1)));
    assert_eq!((&stand["in_flight"][0]["worker"], &stand["in_flight"][0]["alive"]), (&json!("gone"), &json!(false)));
    let event = contacts.json(&["queue", "show", "sync.contacts"])["events"][0].take();
    assert_eq!(
        (&event["state"], &event["worker"], &event["row"]["name"]),
        (&json!("in_flight"), &json!("gone"), &json!("ann"))
    );
    let text = contacts.project().run(&["queue"]).success().stdout;
    let worker = text.split("─ In Flight ─").nth(1).unwrap().lines().nth(2).unwrap();
    let cells: Vec<&str> = worker.split_whitespace().collect();
    assert!(cells[1..4] == ["sync.contacts", "gone", "1"] && cells[5] == "no", "{text}");
    let shown = contacts.json(&["push", "sync.contacts", "--dry-run"]);
    assert_eq!((&shown["pending"], names(&shown["batches"][0]["rows"])), (&json!(1), vec!["ann"]));
}

#[test]
fn a_row_that_cannot_be_read_is_told_and_the_others_are_shown() {
    let contacts = Contacts::new(&[(1, "ann")]);
    contacts.project().run(&["run"]).success();
    contacts.say("eve", "error: down");
    contacts.say("ann", "error: down");
    contacts.set(&[(1, "eve")]);
    contacts.project().run(&["run"]).failure(1);
    let shown = contacts.json(&["queue", "show", "sync.contacts"]);
    let before = shown["events"][0]["snapshot"].as_i64().unwrap() - 1;
    contacts.lake(&format!("CALL ducklake_expire_snapshots('lake', versions => [{before}])"));
    let shown = contacts.json(&["queue", "show", "sync.contacts"]);
    assert_eq!((&shown["events"][0]["row"], &shown["events"][1]["row"]["name"]), (&json!(null), &json!("eve")));
    assert!(shown["warnings"][0].as_str().unwrap().contains("its row cannot be read"), "{shown}");
    let text = contacts.project().run(&["queue", "show", "sync.contacts"]).success();
    assert!(text.stdout.contains("(cannot be read)") && text.stderr.starts_with("warning: event "), "{text:?}");
    contacts.project().run(&["queue", "retry", "sync.contacts"]).success();
    for args in [&["queue", "drain"][..], &["push", "sync.contacts", "--dry-run"]] {
        let output = contacts.project().run(args).failure(1);
        assert!(output.stderr.contains("`ondatrasql queue reset sync.contacts --from-now`"), "{}", output.stderr);
        assert!(!output.stderr.contains("sync.contacts: sync.contacts"), "{}", output.stderr);
    }
}
