//! What is pushed of a table, and shown of its queue, once one of its columns is masked.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use state::BackendKind;
use testkit::http::{Answer, Server};
use testkit::{Output, Project, StateFixture};

use crate::BINARY;

const TAG: &str = "-- @column: email = e | mask_email\n";

/// A project whose model `sync.x` pushes `people.csv` to a service that has one verdict for all rows.
struct People {
    fixture: StateFixture,
    service: Server,
    verdict: Arc<Mutex<String>>,
    kind: &'static str,
}

impl People {
    fn new(kind: &'static str, verdict: &str) -> Self {
        let verdict = Arc::new(Mutex::new(verdict.to_owned()));
        let said = Arc::clone(&verdict);
        let service = Server::new(move |_, request| {
            let body: Value = serde_json::from_slice(&request.body).unwrap();
            let key =
                |row: &Value| format!("{}:{}", row["__ondatra_rowid"], row["__ondatra_change_type"].as_str().unwrap());
            let of = |row: &Value| (key(row), json!(*said.lock().unwrap()));
            Answer::ok(Value::Object(body.as_array().unwrap().iter().map(of).collect()).to_string())
        });
        let people = Self { fixture: StateFixture::new(BINARY, BackendKind::File), service, verdict, kind };
        people.project().write(
            "lib/crm.star",
            &format!(
                "API = {{\"base_url\": \"{}\", \"push\": {{\"batch_size\": 10, \"retry_backoff\": 0}}}}\n\
             def push(rows):\n    [row[\"email\"] for row in rows]\n    return http.post(\"/\", json = rows).json\n",
                people.service.url("")
            ),
        );
        people.set("1,rawalice@x.io\n2,rawbob@x.io\n");
        people.model("");
        people
    }

    fn project(&self) -> &Project {
        &self.fixture.project
    }

    fn set(&self, rows: &str) {
        self.project().write("people.csv", &format!("id,email\n{rows}"));
    }

    fn model(&self, header: &str) {
        self.model_without_push(&format!("-- @push: crm\n{header}"));
    }

    fn model_without_push(&self, header: &str) {
        let source = self.project().root().join("people.csv");
        self.project().model(
            "sync/x",
            &format!(
                "-- @kind: {}\n{header}SELECT id::BIGINT AS id, email::VARCHAR AS email FROM read_csv('{}')",
                self.kind,
                source.display()
            ),
        );
    }

    fn say(&self, verdict: &str) {
        verdict.clone_into(&mut self.verdict.lock().unwrap());
    }

    fn run(&self, args: &[&str]) -> Output {
        self.project().run(args)
    }

    /// The rows that were sent since the last call of this.
    fn sent(&self) -> Vec<Value> {
        let bodies = self.service.take_seen().into_iter().map(|seen| serde_json::from_slice(&seen.body).unwrap());
        bodies.flat_map(|body: Value| body.as_array().unwrap().clone()).collect()
    }
}

fn shown(output: Output) -> String {
    output.stdout + &output.stderr
}

/// A tag that no run has applied yet: nothing leaves, nothing is lost, and the next good run sends it masked.
#[test]
fn what_waits_in_clear_is_neither_sent_nor_shown_and_leaves_masked() {
    for kind in ["merge\n-- @unique_key: id", "append", "table", "tracked\n-- @group_key: id"] {
        let people = People::new(kind, "error: later");
        people.run(&["run"]).failure(1);
        assert!(people.sent().iter().any(|row| row["email"] == "rawalice@x.io"), "{kind}");
        // With a constraint that fails no run can mask the table.
        people.model(&format!("{TAG}-- @constraint: equal(id, 0)\n"));
        people.say("ok");
        let refused = "holds `email` in clear, which the model masks, so nothing of it is sent";
        for args in [
            &["queue", "drain"][..],
            &["push", "sync.x", "--dry-run"],
            &["push", "sync.x", "--dry-run", "--json"],
            &["run"],
            &["run", "--json"],
        ] {
            let output = shown(people.run(args).failure(1));
            assert!(output.contains(refused) && !output.contains("raw"), "{kind}, {args:?}: {output}");
        }
        for args in [&["queue", "show", "sync.x"][..], &["queue", "show", "sync.x", "--json"]] {
            let output = shown(people.run(args).success());
            assert!(output.contains(refused) && !output.contains("rawalice"), "{kind}, {args:?}: {output}");
        }
        assert_eq!(people.sent(), Vec::<Value>::new(), "{kind}");
        people.model(TAG);
        people.run(&["run"]).success();
        let sent = people.sent();
        let now = |row: &&Value| {
            row["__ondatra_change_type"] != "delete" && row["__ondatra_change_type"] != "update_preimage"
        };
        let mut emails: Vec<&Value> = sent.iter().filter(now).map(|row| &row["email"]).collect();
        emails.dedup();
        assert!(!emails.is_empty() && emails.iter().all(|email| *email == "r***@x.io"), "{kind}: {sent:?}");
        assert_eq!(shown(people.run(&["queue", "show", "sync.x"]).success()), "sync.x has no events.\n", "{kind}");
    }
}

/// A function that reads the column of every row finds it, also in rows from before the column.
#[test]
fn a_masked_column_of_how_a_row_was_is_there_and_none() {
    for kind in ["merge\n-- @unique_key: id", "table", "tracked\n-- @group_key: id"] {
        let people = People::new(kind, "ok");
        let select = "SELECT id::BIGINT AS id, 1::BIGINT AS n FROM read_csv('people.csv')";
        let without = "API = {\"push\": {\"batch_size\": 10}}\n\
                       def push(rows):\n    return {str(r[\"__ondatra_rowid\"]) + \":\" + r[\"__ondatra_change_type\"]: \"ok\" for r in rows}\n";
        let with = std::fs::read_to_string(people.project().root().join("lib/crm.star")).unwrap();
        people.project().write("lib/crm.star", without);
        people.project().model("sync/x", &format!("-- @kind: {kind}\n-- @push: crm\n{select}"));
        people.run(&["run"]).success();
        people.project().write("lib/crm.star", &with);
        people.model(TAG);
        people.run(&["run"]).success();
        people.set("2,rawbob2@x.io\n");
        people.run(&["run"]).success();
        let sent = people.sent();
        let is_old =
            |row: &&Value| ["delete", "update_preimage"].contains(&row["__ondatra_change_type"].as_str().unwrap());
        let old: Vec<&Value> = sent.iter().filter(is_old).collect();
        assert!(!old.is_empty() && old.iter().all(|row| row.get("email") == Some(&Value::Null)), "{kind}: {sent:?}");
        assert!(sent.iter().any(|row| row["email"] == "r***@x.io"), "{kind}: {sent:?}");
    }
}

#[test]
fn what_a_model_that_is_gone_left_is_shown_without_what_it_masked() {
    let people = People::new("merge\n-- @unique_key: id", "ok");
    people.run(&["run"]).success();
    people.say("error: later");
    people.model(TAG);
    people.run(&["run"]).failure(1);
    std::fs::remove_file(people.project().root().join("models/sync/x.sql")).unwrap();
    let output = shown(people.run(&["queue", "show", "sync.x"]).success());
    assert!(output.contains("update_preimage") && output.contains("r***@x.io"), "{output}");
    assert!(!output.contains("rawalice"), "{output}");
}

/// The letter stays, with what the service said; so it does where the model pushes no more.
#[test]
fn rows_of_dead_letters_are_forgotten_when_their_table_is_masked() {
    for pushes in [true, false] {
        let people = People::new("append", "reject: no");
        people.run(&["run"]).failure(1);
        let dead = ["queue", "show", "sync.x", "--dead", "--json"];
        assert!(shown(people.run(&dead).success()).contains("rawalice"));
        people.say("ok");
        if pushes {
            people.model(TAG);
        } else {
            people.model_without_push(TAG);
        }
        let output = shown(people.run(&dead).success());
        assert!(!output.contains("rawalice"), "what is masked is not shown before the run that masks it: {output}");
        people.run(&["run"]).success();
        let output = people.run(&dead).success();
        let told: Value = serde_json::from_str(&output.stdout).unwrap();
        let letters: Vec<_> =
            told["events"].as_array().unwrap().iter().map(|one| (&one["error"], &one["row"])).collect();
        assert_eq!(letters, [(&json!("no"), &Value::Null), (&json!("no"), &Value::Null)], "{told}");
        let output = shown(people.run(&["queue", "show", "sync.x", "--dead"]).success());
        assert!(output.contains("(not kept)"), "{output}");
    }
}

/// Letters from after the tag hold what was sent: masked rows.
#[test]
fn rows_of_later_dead_letters_are_kept() {
    let people = People::new("append", "reject: no");
    people.model(TAG);
    people.run(&["run"]).failure(1);
    people.say("ok");
    people.run(&["run"]).success();
    let output = shown(people.run(&["queue", "show", "sync.x", "--dead"]).success());
    assert!(output.contains("r***@x.io"), "{output}");
}
