//! The commands on every database that can hold the queue.

use serde_json::json;
use state::{BackendKind, Queue};

use super::{Contacts, names};

#[test]
fn the_commands_do_the_same_on_every_database() {
    for kind in testkit::ALL_BACKENDS {
        let contacts = Contacts::on(kind, &[(1, "ann"), (2, "bob"), (3, "cat")]);
        contacts.say("ann", "error: try later");
        contacts.say("bob", "reject: no email");
        contacts.project().run(&["run"]).failure(1);
        contacts.verdicts.lock().unwrap().clear();
        let stand = contacts.stand();
        assert_eq!(
            [&stand["pending"], &stand["waiting"], &stand["dead"]],
            [&json!(0), &json!(1), &json!(1)],
            "{kind:?}"
        );
        let shown = |args: &[&str]| {
            let events = contacts.json(&[&["queue", "show", "sync.contacts"], args].concat())["events"].take();
            (events[0]["row"]["name"].clone(), events[0]["error"].clone())
        };
        assert_eq!(shown(&[]), (json!("ann"), json!("try later")), "{kind:?}");
        assert_eq!(shown(&["--dead"]), (json!("bob"), json!("no email")), "{kind:?}");
        for dead in [&[][..], &["--dead"]] {
            let retried = contacts.json(&[&["queue", "retry", "sync.contacts"], dead].concat());
            assert_eq!(retried["events"], 1, "{kind:?}");
        }
        contacts.sent();
        let preview = contacts.json(&["push", "sync.contacts", "--dry-run"]);
        contacts.project().run(&["queue", "drain"]).success();
        let (sent, batches) = (contacts.sent(), preview["batches"].as_array().unwrap());
        for (at, expected) in ["bob", "ann"].iter().enumerate() {
            assert_eq!(sent[at]["rows"], batches[at]["rows"], "{kind:?}");
            assert_eq!(names(&sent[at]["rows"]), [*expected], "{kind:?}: what failed before goes last");
        }
        contacts.project().run(&["queue", "reset", "sync.contacts", "--resend"]).success();
        assert_eq!(contacts.json(&["push", "sync.contacts", "--dry-run"])["to_feed"], 3, "{kind:?}");
        contacts.project().run(&["queue", "drop", "sync.contacts", "--all", "--yes"]).success();
        assert_eq!(contacts.json(&["queue"])["targets"], json!([]), "{kind:?}");
    }
}

#[test]
fn what_a_living_worker_delivers_is_left_to_it() {
    for kind in [BackendKind::Postgres, BackendKind::Quack] {
        let contacts = Contacts::on(kind, &[(1, "ann"), (2, "bob")]);
        contacts.say("ann", "error: try later");
        contacts.project().run(&["run"]).failure(1);
        contacts.project().run(&["queue", "retry", "sync.contacts"]).success();
        let mut worker = contacts.fixture.open("busy");
        worker.claim("sync.contacts", "run", 9).unwrap().unwrap();
        contacts.lake("UPDATE sync.contacts SET name = name || '2'");
        let in_flight = contacts.stand()["in_flight"][0].take();
        assert_eq!((&in_flight["worker"], &in_flight["alive"]), (&json!("busy"), &json!(true)), "{kind:?}");
        let preview = contacts.json(&["push", "sync.contacts", "--dry-run"]);
        assert_eq!((&preview["in_flight"], &preview["to_feed"]), (&json!(1), &json!(4)), "{kind:?}");
        assert_eq!(names(&preview["batches"][0]["rows"]), ["bob", "bob2"], "{kind:?}");
        for args in [&["reset", "--from-now"][..], &["reset", "--resend"], &["drop", "--all", "--yes"]] {
            let output = contacts.project().run(&[&["queue"], args, &["sync.contacts"]].concat()).failure(1);
            assert!(output.stderr.contains("are being delivered by busy; nothing was changed"), "{}", output.stderr);
        }
    }
}
