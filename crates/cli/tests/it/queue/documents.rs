//! What `run` and the commands of the queue print with `--json`, against the schemas.

use serde_json::Value;

use super::Contacts;
use crate::schema::document;

/// A command's document; whatever its exit code, the document stands.
#[track_caller]
fn told(contacts: &Contacts, schema: &str, args: &[&str]) -> Value {
    document(schema, &contacts.project().run(&[args, &["--json"]].concat()).stdout)
}

#[test]
fn each_document_of_the_queue_is_as_its_schema_says() {
    let contacts = Contacts::new(&[(1, "ann"), (2, "bob"), (3, "cat")]);
    assert_eq!(told(&contacts, "queue", &["queue"])["targets"], serde_json::json!([]));
    contacts.say("ann", "error: later");
    contacts.say("bob", "reject: no");
    let run = contacts.project().run(&["run", "--json"]).failure(1);
    let record = document("run", &run.stdout);
    assert_eq!((&record["status"], &record["push_retry"]), (&"error".into(), &1.into()));
    contacts.say("dan", "ok");
    assert_eq!(told(&contacts, "queue", &["queue"])["targets"].as_array().unwrap().len(), 1);
    assert_eq!(told(&contacts, "queue-show", &["queue", "show", "sync.contacts"])["total"], 1);
    let dead = told(&contacts, "queue-show", &["queue", "show", "sync.contacts", "--dead"]);
    assert!(dead["events"][0]["dead_at"].is_string(), "{dead}");
    assert_eq!(told(&contacts, "queue-change", &["queue", "retry", "sync.contacts"])["events"], 1);
    let preview = told(&contacts, "push-dry-run", &["push", "sync.contacts", "--dry-run"]);
    assert_eq!(preview["batches"][0]["rows"].as_array().unwrap().len(), 1, "{preview}");
    let drained = told(&contacts, "queue-drain", &["queue", "drain"]);
    assert_eq!(drained["targets"][0]["status"], "error", "{drained}");
    let dropped = told(&contacts, "queue-change", &["queue", "drop", "sync.contacts", "--dead", "--yes"]);
    assert_eq!(dropped["events"], 1);
    let status = told(&contacts, "state-status", &["state", "status"]);
    assert_eq!(status["targets"][0]["target"], "sync.contacts", "{status}");
    contacts.project().write("other.sql", "ATTACH 'other.duckdb' AS state;");
    told(&contacts, "state-copy", &["state", "copy", "--to", "other.sql"]);
    let reset = told(&contacts, "queue-reset", &["queue", "reset", "sync.contacts", "--from-now"]);
    assert_eq!((&reset["position"], &reset["dropped"]), (&"now".into(), &1.into()));
}
