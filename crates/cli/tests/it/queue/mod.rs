//! The commands of the queue, against a real sink (chapter 04 §10).

mod change;
mod documents;
mod drain;
mod dry_run;
mod look;
mod states;
mod stats;
mod target;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use state::BackendKind;
use testkit::http::{Answer, Seen, Server};
use testkit::{Lake, Project, StateFixture};

use crate::BINARY;

/// A project whose model `sync.contacts` pushes the rows of `contacts.csv` to a service that answers as it is told.
struct Contacts {
    fixture: StateFixture,
    service: Server,
    /// What is said about rows, by name; `ok` about all others.
    verdicts: Arc<Mutex<BTreeMap<String, String>>>,
}

impl Contacts {
    fn new(rows: &[(i64, &str)]) -> Self {
        Self::on(BackendKind::File, rows)
    }

    /// The same, with its state on a database of this kind.
    fn on(kind: BackendKind, rows: &[(i64, &str)]) -> Self {
        let verdicts: Arc<Mutex<BTreeMap<String, String>>> = Arc::default();
        let said = Arc::clone(&verdicts);
        let service = Server::new(move |_, request| Answer::ok(answer(request, &said.lock().unwrap()).to_string()));
        let contacts = Self { fixture: StateFixture::new(BINARY, kind), service, verdicts };
        contacts.lib("\"batch_size\": 2, \"retry_backoff\": 3600");
        contacts.project().model("sync/contacts", &contacts.model("-- @push: crm('eu')\n"));
        contacts.set(rows);
        contacts
    }

    fn project(&self) -> &Project {
        &self.fixture.project
    }

    /// Writes `lib/crm.star` with these keys of its `push` section.
    fn lib(&self, keys: &str) {
        let text = format!(
            "API = {{\"base_url\": \"{}\", \"push\": {{\"args\": [\"region\"], {keys}}}}}\n\n\
             def push(rows, region, batch_number):\n    \
             body = {{\"rows\": rows, \"region\": region, \"batch_number\": batch_number}}\n    \
             return http.post(\"/rows\", json = body).json\n",
            self.service.url("")
        );
        self.project().write("lib/crm.star", &text);
    }

    fn model(&self, push: &str) -> String {
        let source = self.project().root().join("contacts.csv");
        format!(
            "-- @kind: merge\n-- @unique_key: id\n{push}\
             SELECT id::BIGINT AS id, name::VARCHAR AS name FROM read_csv('{}')",
            source.display()
        )
    }

    fn set(&self, rows: &[(i64, &str)]) {
        let lines: String = rows.iter().map(|(id, name)| format!("{id},{name}\n")).collect();
        self.project().write("contacts.csv", &format!("id,name\n{lines}"));
    }

    /// From now on the service says this about rows with this name.
    fn say(&self, name: &str, verdict: &str) {
        self.verdicts.lock().unwrap().insert(name.into(), verdict.into());
    }

    /// The same of several names.
    fn say_of_all(&self, names: &[&str], verdict: &str) {
        for name in names {
            self.say(name, verdict);
        }
    }

    /// Changes the lake behind the back of the runs.
    fn lake(&self, sql: &str) {
        Lake::open(self.project()).execute(sql);
    }

    /// How many snapshots the lake has.
    fn snapshots(&self) -> i64 {
        Lake::open(self.project()).number("SELECT count(*) FROM lake.snapshots()")
    }

    /// The document that a command prints.
    #[track_caller]
    fn json(&self, args: &[&str]) -> Value {
        let output = self.project().run(&[args, &["--json"]].concat()).success();
        assert_eq!(output.stdout.lines().count(), 1, "{}", output.stdout);
        serde_json::from_str(&output.stdout).unwrap()
    }

    /// How the only target stands.
    #[track_caller]
    fn stand(&self) -> Value {
        self.json(&["queue"])["targets"][0].take()
    }

    /// The bodies of the requests since the last call of this.
    fn sent(&self) -> Vec<Value> {
        self.service.take_seen().iter().map(|seen| serde_json::from_slice(&seen.body).unwrap()).collect()
    }
}

/// A verdict for every row.
fn answer(request: &Seen, verdicts: &BTreeMap<String, String>) -> Value {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let verdict = |row: &Value| {
        let key = format!("{}:{}", row["__ondatra_rowid"], row["__ondatra_change_type"].as_str().unwrap());
        (key, json!(verdicts.get(row["name"].as_str().unwrap()).map_or("ok", String::as_str)))
    };
    body["rows"].as_array().unwrap().iter().map(verdict).collect::<serde_json::Map<_, _>>().into()
}

/// The names in some rows.
fn names(rows: &Value) -> Vec<&str> {
    rows.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect()
}
