//! Models with `@push`, end to end: the binary against a service that takes rows and fails on command (chapter 04).

mod answers;
mod arguments;
mod backlog;
pub mod checker;
mod crash;
mod crash_points;
mod interrupt;
mod jobs;
mod kinds;
mod maintenance;
mod net;
pub mod sink;
mod tables;

use std::process::{Child, Stdio};

use state::{BackendKind, Counts, Queue};
use testkit::{Lake, Output, StateFixture};

use crate::BINARY;
use checker::{Arrived, check};
use sink::Sink;

/// A `push` that answers for each row.
pub const SYNC: &str = r#"
def push(rows, batch_number):
    resp = http.post("/rows", json = {"rows": rows, "batch": batch_number})
    if not resp.ok:
        fail("status", resp.status_code)
    return resp.json
"#;

/// A `push` that takes all rows or none.
const ATOMIC: &str = r#"
def push(rows, batch_number):
    resp = http.post("/rows", json = {"rows": rows, "batch": batch_number})
    if not resp.ok:
        fail("status", resp.status_code)
"#;

/// A `push` that begins a job.
const ASYNC: &str = r#"
def push(rows, batch_number):
    resp = http.post("/jobs", json = {"rows": rows, "batch": batch_number})
    if not resp.ok:
        fail("status", resp.status_code)
    return resp.json

def poll(job_ref):
    resp = http.get("/jobs/" + str(job_ref["id"]))
    if not resp.ok:
        fail("status", resp.status_code)
    return resp.json
"#;

const FINALIZE: &str = r#"
def finalize(succeeded, failed):
    http.post("/finalize", json = {"succeeded": succeeded, "failed": failed}).ok
"#;

pub const MERGE: &str = "merge\n-- @unique_key: id";

/// The SQL of the models: columns that are numbers, of a table of the lake.
pub const SELECT: &str = "SELECT id::BIGINT AS id, k::BIGINT AS k, v::BIGINT AS v FROM ext.t";

/// A project with a table `ext.t (id, k, v)`, a model `sync.x` of it, and the service that it pushes to.
struct Scene {
    fixture: StateFixture,
    lake: Lake,
    sink: Sink,
}

impl Scene {
    /// A state in a file; `keys` of the section `push`, and the functions of `lib/crm.star`.
    fn new(header: &str, keys: &str, functions: &str) -> Self {
        Self::on(BackendKind::File, header, keys, functions)
    }

    fn on(kind: BackendKind, header: &str, keys: &str, functions: &str) -> Self {
        let fixture = StateFixture::new(BINARY, kind);
        let lake = Lake::open(&fixture.project);
        lake.execute("CREATE SCHEMA ext; CREATE TABLE ext.t (id BIGINT, k BIGINT, v BIGINT)");
        let scene = Self { fixture, lake, sink: Sink::start() };
        scene.lib(keys, functions);
        scene.model(header, SELECT);
        scene
    }

    fn lib(&self, keys: &str, functions: &str) {
        let url = self.sink.server.url("");
        let text =
            format!("API = {{\"base_url\": \"{url}\", \"timeout\": 1, \"push\": {{{keys}}}}}\n{functions}{FINALIZE}");
        self.fixture.project.write("lib/crm.star", &text);
    }

    fn model(&self, header: &str, select: &str) {
        self.fixture.project.model("sync/x", &format!("-- @kind: {header}\n-- @push: crm\n{select}\n"));
    }

    /// Adds rows to the source: `v` is 0.
    fn add(&self, ids: std::ops::RangeInclusive<i64>) {
        let (first, last) = (ids.start(), ids.end());
        self.lake.execute(&format!("INSERT INTO ext.t SELECT i, i % 5, 0 FROM range({first}, {last} + 1) r(i)"));
    }

    /// Changes rows of the source.
    fn change(&self, which: &str) {
        self.lake.execute(&format!("UPDATE ext.t SET v = v + 1 WHERE {which}"));
    }

    fn run(&self) -> Output {
        self.fixture.project.run(&["run"])
    }

    /// A run of which nothing fails; gives what it printed.
    #[track_caller]
    fn good(&self) -> String {
        self.run().success().stdout
    }

    /// Runs until nothing is left: on a machine that is too busy a worker cannot renew its lease in time and begins
    /// nothing more. A run that leaves something without saying so is at fault.
    #[track_caller]
    fn deliver_all(&self) {
        for _ in 0..5 {
            let told = self.good();
            let counts = self.counts();
            if counts.pending + counts.waiting + counts.in_flight == 0 {
                return;
            }
            assert!(told.contains("the state did not answer in time"), "{counts:?} after:\n{told}");
        }
    }

    /// A run that something fails of; gives what it printed.
    #[track_caller]
    fn bad(&self) -> String {
        let output = self.run().failure(1);
        output.stdout + &output.stderr
    }

    fn spawn(&self) -> Child {
        self.fixture.project.command(&["run"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// The same, and nobody reads what it prints.
    fn silent(&self) -> Child {
        self.fixture.project.command(&["run"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Adds lines to `.env`.
    fn env(&self, lines: &str) {
        let before = std::fs::read_to_string(self.fixture.project.root().join(".env")).unwrap();
        self.fixture.project.write(".env", &format!("{before}{lines}"));
    }

    /// How the queue of the model stands.
    fn counts(&self) -> Counts {
        let counts =
            self.fixture.open("checker").counts().unwrap().into_iter().find(|counts| counts.target == "sync.x");
        counts.unwrap_or(Counts { target: "sync.x".into(), pending: 0, waiting: 0, in_flight: 0, dead: 0, oldest_s: 0 })
    }

    /// Checks that the sink has everything, and that nothing is left.
    #[track_caller]
    fn check(&self) -> Arrived {
        let counts = self.counts();
        assert_eq!((counts.pending, counts.waiting, counts.in_flight, counts.dead), (0, 0, 0, 0), "{counts:?}");
        check(&self.lake, &self.sink, "x")
    }
}

/// Checks that a text has another in it.
#[track_caller]
fn has(text: &str, part: &str) {
    assert!(text.contains(part), "{part:?} is not in:\n{text}");
}
