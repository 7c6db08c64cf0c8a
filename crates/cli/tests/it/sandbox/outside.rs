//! What a sandbox does to the world outside of the lake: nothing is pushed, and the state is looked at.

use state::{BackendKind, Queue as _, QueueAdmin as _, Staging as _};
use testkit::http::{Answer, Server};
use testkit::{ALL_BACKENDS, Lake, StateFixture};

use super::{has, inside, records, sandbox};
use crate::BINARY;
use crate::push::SYNC;
use crate::push::sink::{Say, Sink};

/// A project that pushes `ext.t (id)` to a service.
struct Scene {
    fixture: StateFixture,
    lake: Lake,
    sink: Sink,
}

impl Scene {
    fn new(kind: BackendKind) -> Self {
        let fixture = StateFixture::new(BINARY, kind);
        let lake = Lake::open(&fixture.project);
        lake.execute("CREATE SCHEMA ext; CREATE TABLE ext.t AS SELECT i AS id FROM range(3) r(i)");
        let sink = Sink::start();
        let url = sink.server.url("");
        let lib = format!(
            "API = {{\"base_url\": \"{url}\", \"push\": {{}}}}\n{SYNC}\ndef finalize(succeeded, failed):\n    http.post(\"/finalize\", json = {{\"succeeded\": 0, \"failed\": 0}})\n"
        );
        fixture.project.write("lib/crm.star", &lib);
        fixture.project.model("sync/x", "-- @kind: append\n-- @push: crm\nSELECT id::BIGINT AS id FROM ext.t");
        Self { fixture, lake, sink }
    }

    /// All that the state holds of the queue.
    fn state(&self) -> String {
        let mut store = self.fixture.open("checker");
        let told = (store.position("sync.x").unwrap(), store.overview().unwrap());
        // By the time of the second look an event may be due that waited at the first.
        let queued = |target: &state::TargetOverview| format!("{} {}", target.pending + target.waiting, target.dead);
        format!("{:?} {}", told.0, told.1.iter().map(queued).collect::<String>())
    }
}

/// Trap 19, on every kind of state.
#[test]
fn nothing_is_pushed_and_what_would_be_is_counted() {
    for kind in ALL_BACKENDS {
        let scene = Scene::new(kind);
        let project = &scene.fixture.project;
        project.run(&["run"]).success();
        // Two events wait for their next attempt.
        scene.sink.always(Say::Each(|_| "error: later"));
        scene.lake.execute("INSERT INTO ext.t VALUES (10), (11)");
        project.run(&["run"]).failure(1);
        let (calls, state) = (scene.sink.calls().len(), scene.state());
        scene.lake.execute("INSERT INTO ext.t VALUES (12), (13), (14)");
        let told = "PUSH: 3 event(s) would be pushed to crm, 2 already queued\n    (nothing sent)\n";
        has(&inside(&sandbox(project, &[]).success()), told);
        has(&inside(&sandbox(project, &["sync.x"]).success()), told);
        let record = &records(project, &[], 0)["sync.x"];
        assert_eq!((&record["push_events"], &record["push_pending"]), (&3.into(), &2.into()), "{record}");
        assert!(record.get("push_delivered").is_none(), "{record}");
        assert_eq!((scene.sink.calls().len(), scene.state()), (calls, state), "{kind:?}");
    }
}

#[test]
fn a_skipped_model_tells_what_is_queued() {
    let scene = Scene::new(BackendKind::File);
    let project = &scene.fixture.project;
    project.model("sync/x", "-- @push: crm\nSELECT id::BIGINT AS id FROM ext.t");
    scene.sink.always(Say::Each(|_| "error: later"));
    project.run(&["run"]).failure(1);
    let record = &records(project, &[], 0)["sync.x"];
    assert_eq!(record["status"], "skip");
    assert_eq!((&record["push_events"], &record["push_pending"]), (&0.into(), &3.into()), "{record}");
}

#[test]
fn a_state_that_is_not_there_is_not_made() {
    let scene = Scene::new(BackendKind::File);
    let project = &scene.fixture.project;
    project.model("raw/a", "SELECT 1 AS a");
    project.run(&["run", "raw.a"]).success();
    assert!(!project.root().join("state.duckdb").exists());
    has(&inside(&sandbox(project, &["sync.x"]).success()), "PUSH: 3 event(s) would be pushed to crm, 0 already queued");
    assert!(!project.root().join("state.duckdb").exists() && scene.sink.calls().is_empty());
}

/// What a run left that was killed: the file with the log of what it had not come to write into it.
#[test]
fn the_log_beside_a_state_file_is_read_and_stays() {
    let scene = Scene::new(BackendKind::File);
    let project = &scene.fixture.project;
    scene.sink.always(Say::Each(|_| "error: later"));
    project.run(&["run"]).failure(1);
    let (file, log) = (project.root().join("state.duckdb"), project.root().join("state.duckdb.wal"));
    let mut store = scene.fixture.open("killed");
    assert_eq!(store.drop_all("sync.x").unwrap(), 3);
    let left = [&file, &log].map(|path| std::fs::read(path).unwrap());
    drop(store);
    std::fs::write(&file, &left[0]).unwrap();
    std::fs::write(&log, &left[1]).unwrap();
    assert!(!left[1].is_empty(), "the log holds what was done last");
    let record = &records(project, &[], 0)["sync.x"];
    assert_eq!((&record["push_events"], &record["push_pending"]), (&3.into(), &0.into()), "{record}");
}

/// A reader shuts out every run on a state file: it must be free again before the models run.
#[test]
fn the_state_is_free_while_the_models_run() {
    let scene = Scene::new(BackendKind::File);
    let project = &scene.fixture.project;
    project.run(&["run"]).success();
    project.model(
        "raw/slow",
        "SELECT count(*) AS n FROM range(10000000) a(i), range(10000000) b(j) WHERE (i * j) % 7 = 9",
    );
    let mut endless = project.command(&["sandbox"]).stdout(std::process::Stdio::null()).spawn().unwrap();
    let started = std::time::Instant::now();
    let is_forked = || {
        let all = std::fs::read_dir(project.root().join(".sandbox")).into_iter().flatten().flatten();
        all.into_iter()
            .any(|entry| std::fs::read_dir(entry.path().join("data")).is_ok_and(|mut data| data.next().is_some()))
    };
    project.model("raw/other", "SELECT 1 AS a");
    while !is_forked() && endless.try_wait().unwrap().is_none() && started.elapsed().as_secs() < 5 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    scene.lake.execute("INSERT INTO ext.t VALUES (20)");
    assert!(endless.try_wait().unwrap().is_none(), "it is still at work");
    project.run(&["run", "sync.x"]).success();
    std::process::Command::new("kill").args(["-INT", &endless.id().to_string()]).status().unwrap();
    assert_eq!(endless.wait().unwrap().code(), Some(1));
    assert!(!project.root().join(".sandbox").exists());
}

#[test]
fn a_state_that_another_process_has_is_told() {
    let scene = Scene::new(BackendKind::File);
    scene.fixture.project.run(&["run"]).success();
    let held = scene.fixture.open("another");
    // Who reads the file in this process lets go of its lock, so its bytes are not compared.
    let output = scene.fixture.project.run(&["sandbox", "--state-wait", "2s"]).failure(1);
    has(&output.stderr, "the state file is in use");
    has(&output.stderr, "waited 2 s for it");
    drop(held);
}

/// Rows of an API are staged in memory, and the function is called as in a run.
#[test]
fn models_that_fetch_ask_and_leave_nothing_in_the_state() {
    for kind in ALL_BACKENDS {
        let fixture = StateFixture::new(BINARY, kind);
        let project = &fixture.project;
        let server =
            Server::new(|number, _| Answer::ok(format!("[{{\"id\": 1, \"v\": {number}}}, {{\"id\": 2, \"v\": 0}}]")));
        let lib = format!(
            "API = {{\"base_url\": \"{}\", \"fetch\": {{}}}}\n\ndef fetch(page):\n    \
             return {{\"rows\": http.get(\"/rows\").json, \"next\": None}}\n",
            server.url("")
        );
        project.write("lib/api.star", &lib);
        project.model("raw/rows", "-- @fetch\nSELECT id::BIGINT AS id, v::BIGINT AS v FROM api()");
        project.model("mart/sums", "SELECT sum(v) AS v FROM raw.rows");
        project.run(&["run"]).success();
        let told = records(project, &[], 0);
        assert_eq!(told["raw.rows"]["diff"]["sample_added"], serde_json::json!([["1", "1"]]), "{kind:?}");
        assert_eq!(told["mart.sums"]["diff"]["rows_added"], 1, "{kind:?}");
        assert_eq!(server.seen().len(), 2, "{kind:?}");
        let mut store = fixture.open("checker");
        assert!(store.all_fetches().unwrap().is_empty(), "{kind:?}");
    }
}
