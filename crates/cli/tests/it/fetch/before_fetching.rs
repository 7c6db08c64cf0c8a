//! What a run finds of earlier ones before it fetches, row by row of the table in chapter 03 §3.4.

use std::fs;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use state::{BackendKind, Staging};
use testkit::http::Server;
use testkit::{Catalog, Lake, Project, StateFixture};

use super::{PAGES, model, page, page_number, run, staged, staged_in};
use crate::{BINARY, project};

/// Rows of a page: so many that each page is staged on its own.
const ROWS: i64 = 12_000;

/// Never ends.
const ENDLESS: &str = "SELECT count(*) AS n FROM range(10000000) a(i), range(10000000) b(j) WHERE (i * j) % 7 = 9";

/// An API of three pages; requests that `blocks` says are answered only once the flag is down.
struct Blocking {
    api: Server,
    blocked: Arc<AtomicBool>,
}

impl Blocking {
    fn start(blocks: fn(&str, i64) -> bool) -> Self {
        let blocked = Arc::new(AtomicBool::new(true));
        let flag = Arc::clone(&blocked);
        let api = Server::new(move |_, request| {
            let number = page_number(request);
            while flag.load(Ordering::SeqCst) && blocks(request.path(), number) {
                std::thread::sleep(Duration::from_millis(10));
            }
            let rows: Vec<_> = (0..ROWS).map(|at| json!({"id": (number - 1) * ROWS + at})).collect();
            page(&json!(rows), (number < 3).then_some(number + 1))
        });
        Self { api, blocked }
    }

    fn lib(&self, project: &Project) {
        project.write("lib/api.star", &super::lib(&self.api, "", PAGES));
        let other = super::lib(&self.api, "", &PAGES.replace("/page", "/other"));
        project.write("lib/other.star", &other);
    }
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn start(project: &Project) -> Child {
    let mut command = project.command(&["run", "--jobs", "1"]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Kills a run that has fetched all rows of `raw.x` and committed none: a model before it never ends, and the one
/// after it has begun to fetch, which it does not before the first is through.
fn killed_before_the_commit(project: &Project, header: &str) -> Blocking {
    let blocking = Blocking::start(|path, _| path == "/other");
    blocking.lib(project);
    project.model("a/first", ENDLESS);
    model(project, "raw/x", header, "id::BIGINT AS id", "api()");
    model(project, "raw/y", "table", "id::BIGINT AS id", "other()");
    let child = start(project);
    blocking.api.wait_for(|request| request.path() == "/other");
    kill(child);
    blocking.blocked.store(false, Ordering::SeqCst);
    project.remove("models/a/first.sql");
    project.remove("models/raw/y.sql");
    assert_eq!(blocking.api.take_seen().iter().filter(|request| request.path() == "/page").count(), 3);
    blocking
}

#[track_caller]
fn assert_each_once(project: &Project) {
    let once = "SELECT count(*), count(DISTINCT id) FROM raw.x";
    assert_eq!(project.rows(once), format!("{0},{0}\n", 3 * ROWS));
}

#[test]
fn an_open_fetch_is_deleted_and_done_anew() {
    for header in ["append", "table"] {
        let project = project();
        let blocking = Blocking::start(|_, number| number == 3);
        blocking.lib(&project);
        model(&project, "raw/x", header, "id::BIGINT AS id", "api()");
        let child = start(&project);
        blocking.api.wait_for(|request| page_number(request) == 3);
        kill(child);
        blocking.blocked.store(false, Ordering::SeqCst);
        let found = staged(&project, "raw.x");
        assert!(matches!(&found[..], [fetch] if !fetch.is_complete && fetch.is_dead), "{found:?}");
        blocking.api.take_seen();
        let output = run(&project);
        assert!(!output.contains("WARN"), "{output}");
        assert_eq!(blocking.api.seen().len(), 3);
        assert_each_once(&project);
        assert_eq!(staged(&project, "raw.x"), []);
    }
}

#[test]
fn a_complete_fetch_is_committed_without_a_request() {
    let project = project();
    let blocking = killed_before_the_commit(&project, "append");
    let found = staged(&project, "raw.x");
    assert!(matches!(&found[..], [fetch] if fetch.is_complete && fetch.row_count == 3 * 12_000), "{found:?}");
    let output = run(&project);
    assert!(output.contains(&format!("WARN: resumed {} staged rows", 3 * ROWS)), "{output}");
    assert_eq!(blocking.api.seen().len(), 0);
    assert_each_once(&project);
    assert_eq!(staged(&project, "raw.x"), []);
}

#[test]
fn a_run_of_another_model_leaves_it_alone() {
    let project = project();
    let blocking = killed_before_the_commit(&project, "append");
    model(&project, "raw/z", "table", "id::BIGINT AS id", "other()");
    project.run(&["run", "raw.z"]).success();
    assert_eq!(staged(&project, "raw.x").len(), 1);
    project.run(&["run", "raw.x"]).success();
    assert!(blocking.api.seen().iter().all(|request| request.path() == "/other"));
    assert_each_once(&project);
}

#[test]
fn a_full_refresh_fetches_whatever_is_left() {
    let project = project();
    let blocking = killed_before_the_commit(&project, "append");
    let output = project.run(&["run", "raw.x", "--full-refresh", "--yes"]).success().stdout;
    assert!(output.contains("fetched anew") && !output.contains("resumed"), "{output}");
    assert_eq!(blocking.api.seen().len(), 3);
    assert_each_once(&project);
    assert_eq!(staged(&project, "raw.x"), []);
}

#[test]
fn the_case_of_a_models_name_does_not_matter() {
    let project = project();
    let blocking = killed_before_the_commit(&project, "append");
    project.remove("models/raw/x.sql");
    model(&project, "raw/X", "append", "id::BIGINT AS id", "api()");
    run(&project);
    drop(blocking);
    assert_each_once(&project);
    assert_eq!(staged(&project, "raw.x"), []);
}

#[test]
fn what_is_left_of_a_model_that_is_gone_is_deleted_by_a_run_of_all() {
    let project = project();
    let _blocking = killed_before_the_commit(&project, "append");
    project.remove("models/raw/x.sql");
    model(&project, "raw/z", "table", "id::BIGINT AS id", "other()");
    let one = project.run(&["run", "raw.z"]).success();
    assert!(!one.stderr.contains("staged rows"), "{}", one.stderr);
    assert_eq!(staged(&project, "raw.x").len(), 1);
    let all = project.run(&["run"]).success();
    assert!(
        all.stderr.contains("warning: staged rows of raw.x were deleted: there is no such model"),
        "{}",
        all.stderr
    );
    assert_eq!(staged(&project, "raw.x"), []);
}

#[test]
fn a_complete_fetch_of_something_else_is_done_anew_with_a_warning() {
    let anew = |project: &Project, blocking: &Blocking| {
        let output = run(project);
        assert!(output.contains(&format!("WARN: {} rows that an earlier run fetched", 3 * ROWS)), "{output}");
        assert_eq!(blocking.api.seen().len(), 3);
        assert_eq!(staged(project, "raw.x"), []);
        assert_each_once(project);
    };
    // A table, another lib file, another model.
    let first = project();
    let blocking = killed_before_the_commit(&first, "table");
    anew(&first, &blocking);
    let second = project();
    let blocking = killed_before_the_commit(&second, "append");
    second.write("lib/api.star", &super::lib(&blocking.api, "", &format!("# edited\n{PAGES}")));
    anew(&second, &blocking);
    let third = project();
    let blocking = killed_before_the_commit(&third, "append");
    model(&third, "raw/x", "append", "id::BIGINT AS id, id::VARCHAR AS t", "api()");
    anew(&third, &blocking);
}

/// A process that dies after the commit leaves the state as it was before it: here a copy is put back.
#[test]
fn staged_rows_that_are_in_the_lake_are_deleted() {
    let project = project();
    let blocking = killed_before_the_commit(&project, "append");
    let files = ["state.duckdb", "state.duckdb.wal"].map(|name| project.root().join(name));
    let copies: Vec<_> = files.iter().map(|file| fs::read(file).ok()).collect();
    run(&project);
    assert_each_once(&project);
    for (file, copy) in files.iter().zip(copies) {
        match copy {
            Some(bytes) => fs::write(file, bytes).unwrap(),
            None => drop(fs::remove_file(file)),
        }
    }
    assert_eq!(staged(&project, "raw.x").len(), 1);
    // What the API has now is other than what it had: of an append the table tells what came twice.
    blocking.api.take_seen();
    let empty = "def fetch():\n    return {\"rows\": []}\n";
    project.write("lib/api.star", &super::lib(&blocking.api, "", empty));
    let output = run(&project);
    assert!(!output.contains("WARN"), "{output}");
    assert_each_once(&project);
    assert_eq!(staged(&project, "raw.x"), []);
}

#[test]
fn if_the_lake_cannot_tell_nothing_is_deleted_or_written() {
    let project = project();
    let blocking = killed_before_the_commit(&project, "append");
    let lake = Lake::open(&project);
    lake.execute("CREATE TABLE main._ondatra_acks (x INTEGER)");
    project.run(&["run"]).failure(1);
    assert_eq!(staged(&project, "raw.x").len(), 1);
    assert_eq!(blocking.api.seen().len(), 0);
    lake.execute("DROP TABLE main._ondatra_acks");
    assert!(run(&project).contains("WARN: resumed"));
    assert_each_once(&project);
}

#[test]
fn a_commit_that_another_writer_prevents_is_made_by_the_next_run() {
    let project = project();
    project.write("config/catalog.sql", &Catalog::Sqlite.attach().replace("5000", "50"));
    let blocking = Blocking::start(|_, _| false);
    blocking.lib(&project);
    model(&project, "raw/x", "append", "id::BIGINT AS id", "api()");
    let lake = Lake::open(&project);
    lake.execute("BEGIN; UPDATE __ducklake_metadata_lake.ducklake_metadata SET value = value");
    let output = project.run(&["run"]).failure(1);
    assert!(output.stderr.contains("ENGINE-005"), "{}", output.stderr);
    assert!(matches!(&staged(&project, "raw.x")[..], [fetch] if fetch.is_complete));
    lake.execute("ROLLBACK");
    blocking.api.take_seen();
    assert!(run(&project).contains("WARN: resumed"));
    assert_eq!(blocking.api.seen().len(), 0);
    assert_each_once(&project);
}

/// The fetch of a worker that may live is left alone: also what the lake knows of it.
#[test]
fn the_fetch_of_another_worker_is_left_alone_until_its_time_is_over() {
    let fixture = StateFixture::new(BINARY, BackendKind::Postgres);
    let project = &fixture.project;
    let blocking = Blocking::start(|_, _| false);
    blocking.lib(project);
    model(project, "raw/x", "append", "id::BIGINT AS id", "api()");
    run(project);
    let mut other = fixture.open("other");
    let fetch = other.begin_fetch("raw.x", "run", "f").unwrap();
    other.stage_rows(&fetch, 0, &["[\"1\",\"7\"]".to_owned()]).unwrap();
    other.complete_fetch(&fetch, 1, None).unwrap();
    drop(other);
    // That worker's rows are in the lake, as far as the lake tells.
    let lake = Lake::open(project);
    lake.execute(&format!("INSERT INTO main._ondatra_acks VALUES ('{}', 'raw.x', now(), 1)", fetch.claim_id));
    let output = run(project);
    assert!(!output.contains("WARN"), "{output}");
    assert_eq!(staged_in(&fixture, "raw.x").len(), 1, "the lease runs");
    let known = format!("SELECT count(*) FROM main._ondatra_acks WHERE claim_id = '{}'", fetch.claim_id);
    assert_eq!(lake.number(&known), 1, "what tells that the rows are there stays as long as they are staged");
    fixture.open("test").run_sql("UPDATE sync_fetch SET lease_until = now() - INTERVAL '1 minute'").unwrap();
    let output = run(project);
    assert!(!output.contains("WARN"), "{output}");
    assert_eq!(staged_in(&fixture, "raw.x"), []);
    run(project);
    assert_eq!(lake.number(&known), 0);
    assert_eq!(lake.number("SELECT count(*) FROM main._ondatra_acks"), 1);
    assert_eq!(lake.number("SELECT count(*) FROM raw.x"), 4 * 3 * ROWS, "four runs");
}

/// A model was committed since: rows that were fetched before that are older than what the table has.
#[test]
fn rows_from_before_the_last_commit_are_not_committed_any_more() {
    let fixture = StateFixture::new(BINARY, BackendKind::Postgres);
    let project = &fixture.project;
    let blocking = Blocking::start(|_, _| false);
    blocking.lib(project);
    model(project, "raw/x", "merge\n-- @unique_key: id", "id::BIGINT AS id", "api()");
    run(project);
    drop(killed_before_the_commit(project, "merge\n-- @unique_key: id"));
    blocking.lib(project);
    // The lease of the killed run has not ended: this one fetches itself.
    let output = run(project);
    assert!(!output.contains("WARN"), "{output}");
    fixture.open("test").run_sql("UPDATE sync_fetch SET lease_until = now() - INTERVAL '1 minute'").unwrap();
    let output = run(project);
    assert!(output.contains("fetched anew") && !output.contains("resumed"), "{output}");
    assert_each_once(project);
}
