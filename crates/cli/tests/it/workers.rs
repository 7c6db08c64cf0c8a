//! Several workers on one lake: each model is run by one of them at a time, and no row is doubled.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use engine::registry_statements;
use state::BackendKind;
use testkit::http::{Answer, Server};
use testkit::{Lake, Postgres, Project, Random, STATE_KEY, StateFixture};
use types::Target;

use crate::BINARY;
use crate::push::checker::check;
use crate::push::sink::{Say, Sink};
use crate::push::{MERGE, SELECT, SYNC};

/// What the workers share.
struct Team {
    workers: Vec<Project>,
    lake: Postgres,
    /// The servers of the state, if it is shared.
    _state: Option<StateFixture>,
}

impl Team {
    /// Workers, each in a clone of the project, on a lake in PostgreSQL; `state` is what they share besides, if
    /// anything.
    fn new(count: usize, state: Option<BackendKind>) -> Self {
        let lake = Postgres::start();
        lake.create_database("lake");
        let state = state.map(|kind| StateFixture::new(BINARY, kind));
        let workers: Vec<Project> = (0..count).map(|_| Project::empty(BINARY)).collect();
        let files = workers[0].root().join("files");
        for worker in &workers {
            worker.write(
                "config/catalog.sql",
                &format!(
                    "ATTACH 'ducklake:postgres:{}' AS lake (DATA_PATH '{}', DATA_INLINING_ROW_LIMIT 0);",
                    lake.connection("lake"),
                    files.display()
                ),
            );
            let read = |file: &str| std::fs::read_to_string(state.as_ref()?.project.root().join(file)).ok();
            let own = "ATTACH 'state.duckdb' AS state (ENCRYPTION_KEY '${ONDATRA_STATE_KEY}');".to_owned();
            worker.write("config/state.sql", &read("config/state.sql").unwrap_or(own));
            worker.write(".env", &read(".env").unwrap_or(format!("ONDATRA_STATE_KEY={STATE_KEY}\n")));
        }
        Self { workers, lake, _state: state }
    }

    /// Writes a model into all clones.
    fn model(&self, path: &str, sql: &str) {
        self.workers.iter().for_each(|worker| worker.model(path, sql));
    }

    /// The file that `raw.items` is read from.
    fn items(&self, count: usize) -> String {
        let lines: String = (0..count).map(|id| format!("{id}\n")).collect();
        self.workers[0].write("data/items.csv", &format!("id\n{lines}"));
        self.workers[0].root().join("data/items.csv").display().to_string()
    }

    /// A chain of models that adds new rows of a file to `mart.log`.
    fn chain(&self) {
        let file = self.items(0);
        self.model(
            "raw/items",
            &format!("SELECT id::BIGINT AS id FROM read_csv('{file}', columns = {{'id': 'BIGINT'}})"),
        );
        self.model("mart/log", "-- @kind: append\nSELECT id, random() AS drawn FROM raw.items");
        self.model("mart/merged", "-- @kind: merge\n-- @unique_key: id\nSELECT id FROM mart.log");
    }

    /// A model that fetches what is newer than what it has.
    fn fetching(&self, api: &Server) {
        let lib = format!(
            "API = {{\"base_url\": \"{}\", \"fetch\": {{}}}}\ndef fetch(page, last_value):\n    \
             return {{\"rows\": http.get(\"/items\", params = {{\"since\": last_value}}).json}}\n",
            api.url("")
        );
        self.workers.iter().for_each(|worker| worker.write("lib/api.star", &lib));
        let header = "-- @kind: append\n-- @incremental: id\n-- @incremental_initial: -1\n-- @fetch\n";
        self.model("raw/fetched", &format!("{header}SELECT id::BIGINT AS id FROM api()"));
    }

    fn start(&self, at: usize) -> Child {
        let mut command = self.workers[at].command(&["run"]);
        command.env("ONDATRA_LEASE", "2").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs all at once; what each said.
    fn run_together(&self) -> Vec<Output> {
        let running: Vec<Child> = (0..self.workers.len()).map(|at| self.start(at)).collect();
        running.into_iter().map(|worker| worker.wait_with_output().unwrap()).collect()
    }

    #[track_caller]
    fn check(&self, count: usize) {
        let found = self.workers[0].rows("SELECT count(*), count(DISTINCT id) FROM mart.log");
        assert_eq!(found, format!("{count},{count}\n"), "no row is missing and none is doubled");
    }
}

fn together_on(kind: BackendKind) {
    let team = Team::new(3, Some(kind));
    team.chain();
    let there = Arc::new(AtomicI64::new(0));
    let served = Arc::clone(&there);
    let api = Server::new(move |_, request| {
        let since: i64 = request.parameter("since").unwrap().parse().unwrap();
        let rows: Vec<String> =
            (since + 1..served.load(Ordering::SeqCst)).map(|id| format!("{{\"id\": {id}}}")).collect();
        Answer::ok(format!("[{}]", rows.join(","))).after(Duration::from_millis(300))
    });
    team.fetching(&api);
    for count in [100, 150, 151] {
        there.store(count, Ordering::SeqCst);
        team.items(usize::try_from(count).unwrap());
        let outputs = team.run_together();
        for output in &outputs {
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{text}");
        }
        let count = usize::try_from(count).unwrap();
        team.check(count);
        let fetched = team.workers[0].rows("SELECT count(*), count(DISTINCT id) FROM raw.fetched");
        assert_eq!(fetched, format!("{count},{count}\n"), "no row is fetched twice or missed: {outputs:?}");
    }
}

#[test]
fn workers_on_postgresql_share_the_models() {
    together_on(BackendKind::Postgres);
}

#[test]
fn workers_on_a_quack_server_share_the_models() {
    together_on(BackendKind::Quack);
}

/// Reads what a worker says until it says `line`.
fn wait_for(worker: &mut Child, line: &str) {
    let lines = BufReader::new(worker.stdout.as_mut().unwrap()).lines();
    assert!(lines.map(Result::unwrap).any(|said| said == line), "{line:?} is never said");
}

#[test]
fn a_model_that_another_worker_has_is_waited_for_or_skipped() {
    let team = Team::new(2, Some(BackendKind::Postgres));
    team.model(
        "raw/slow",
        "SELECT count(*) AS n FROM range(10000000) a(i), range(10000000) b(j) WHERE (i * j) % 7 = 9",
    );
    let mut first = team.start(0);
    wait_for(&mut first, "Running 1 models...");
    let mut second = team.start(1);
    wait_for(&mut second, "[WAIT] raw.slow");
    second.kill().unwrap();
    second.wait().unwrap();
    let skipped = team.workers[1].run(&["run", "--no-wait"]).success().stdout;
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(skipped.contains("[SKIP] raw.slow (table, skip, 0 rows, ") && skipped.contains("held by "), "{skipped}");
}

/// Who has a model delivers its changes, also those that were left from before.
#[test]
fn what_another_worker_has_is_its_to_deliver() {
    let team = Team::new(2, Some(BackendKind::Postgres));
    let (failing, other) = (Server::answers(vec![Answer::new(500, &[], "no")]), Server::answers(vec![Answer::ok("")]));
    for (worker, sink) in team.workers.iter().zip([&failing, &other]) {
        let lib = format!(
            "API = {{\"base_url\": \"{}\", \"retry\": 0, \"push\": {{\"batch_mode\": \"atomic\", \"retry_backoff\": 0}}}}\n\
             def push(rows):\n    if not http.post(\"/\", json = {{\"rows\": rows}}).ok:\n        fail(\"no\")\n",
            sink.url("")
        );
        worker.write("lib/crm.star", &lib);
    }
    let header = "-- @kind: merge\n-- @unique_key: id\n-- @push: crm\n";
    team.model("sync/x", &format!("{header}SELECT 1::BIGINT AS id"));
    team.workers[0].run(&["run"]).failure(1);
    assert!(!failing.take_seen().is_empty(), "a change is left to be delivered");
    let (pipe, read) =
        (team.workers[0].root().join("slow.csv"), "header = false, columns = {'n': 'BIGINT'}, auto_detect = false");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let slow = format!("{header}SELECT n::BIGINT AS id FROM read_csv('{}', {read})", pipe.display());
    team.workers[0].model("sync/x", &slow);
    let mut first = team.start(0);
    // Opened once its reader is there, which has the model by then.
    let query = OpenOptions::new().write(true).open(&pipe).unwrap();
    let skipped = team.workers[1].run(&["run", "--no-wait"]).success().stdout;
    first.kill().unwrap();
    first.wait().unwrap();
    drop(query);
    assert!(skipped.contains("[SKIP] sync.x") && skipped.contains("held by "), "{skipped}");
    assert!(other.seen().is_empty(), "it was delivered by who had it not: {skipped}");
}

#[test]
fn without_a_shared_state_a_commit_that_would_double_rows_is_planned_again() {
    let team = Team::new(3, None);
    team.chain();
    for count in [100, 150, 151] {
        team.items(count);
        team.run_together();
        // Whoever was overtaken too often has said so; the next run finds nothing to do.
        team.workers[0].run(&["run"]).success();
        team.check(count);
    }
}

#[test]
fn what_another_commits_while_queries_run_ahead_is_not_added_twice() {
    let team = Team::new(2, None);
    let file = team.items(2);
    team.model("raw/items", &format!("SELECT id::BIGINT AS id FROM read_csv('{file}', columns = {{'id': 'BIGINT'}})"));
    for (name, times) in [("first", 1), ("second", 2)] {
        let pause = format!("sleep_ms({times} * getvariable('pause')::BIGINT) IS NULL");
        team.model(&format!("mart/{name}"), &format!("-- @kind: append\nSELECT id FROM raw.items WHERE {pause}"));
    }
    let pause = |at: usize, milliseconds: u32| {
        let lines = format!("ONDATRA_STATE_KEY={STATE_KEY}\nPAUSE={milliseconds}\n");
        team.workers[at].write(".env", &lines);
        team.workers[at].write("config/variables/constants.sql", "SET VARIABLE pause = ${PAUSE};");
    };
    pause(0, 0);
    pause(1, 0);
    team.workers[0].run(&["run"]).success();
    team.items(3);
    pause(0, 3000);
    let slow = team.start(0);
    while team.workers[1].rows("SELECT count(*) FROM raw.items") != "3\n" {
        std::thread::sleep(Duration::from_millis(50));
    }
    // Both queries go on. The first model to land has the lake looked at again, before the second one lands.
    let quick = team.workers[1].run(&["run"]).success().stdout;
    assert!(quick.contains("[OK] mart.second (append, incremental, 1 rows"), "{quick}");
    let slow = slow.wait_with_output().unwrap();
    assert!(slow.status.success(), "{}", String::from_utf8_lossy(&slow.stderr));
    for table in ["mart.first", "mart.second"] {
        let found = team.workers[0].rows(&format!("SELECT count(*), count(DISTINCT id) FROM {table}"));
        assert_eq!(found, "3,3\n", "{table}");
    }
}

#[test]
fn a_slow_query_of_a_worker_is_no_part_of_its_transaction() {
    let team = Team::new(2, Some(BackendKind::Postgres));
    let (pipe, read) =
        (team.workers[0].root().join("slow.csv"), "header = false, columns = {'n': 'BIGINT'}, auto_detect = false");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    team.workers[0].model("raw/slow", &format!("SELECT n FROM read_csv('{}', {read})", pipe.display()));
    team.workers[1].model("raw/quick", "SELECT 1 AS n");
    let mut slow = team.workers[0].command(&["run", "--jobs", "1"]);
    let slow = slow.stdout(Stdio::piped()).spawn().unwrap();
    // Opened once its reader is there.
    let mut query = OpenOptions::new().write(true).open(&pipe).unwrap();
    team.workers[1].run(&["run", "--jobs", "1"]).success();
    // In its transaction the query would be in the way of the other one's commit, begin anew, and read this.
    team.workers[0].write("anew.csv", "8\n");
    std::fs::rename(team.workers[0].root().join("anew.csv"), &pipe).unwrap();
    query.write_all(b"7\n").unwrap();
    drop(query);
    let said = slow.wait_with_output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stdout));
    assert_eq!(team.workers[0].rows("SELECT n FROM raw.slow"), "7\n");
}

/// Workers that run all the time, one of which is killed every now and then while `step` changes the data.
fn under_kills(team: &Team, kills: usize, mut step: impl FnMut(usize)) {
    let mut random = Random(7);
    let mut running: Vec<Child> = (0..team.workers.len()).map(|at| team.start(at)).collect();
    for round in 0..kills {
        step(round);
        std::thread::sleep(Duration::from_millis(100 + random.below(900) as u64));
        let victim = random.below(running.len());
        for (at, worker) in running.iter_mut().enumerate() {
            if at == victim {
                worker.kill().unwrap();
            }
            if at == victim || worker.try_wait().unwrap().is_some() {
                worker.wait().unwrap();
                *worker = team.start(at);
            }
        }
    }
    for worker in running {
        worker.wait_with_output().unwrap();
    }
}

fn killed_on(kind: BackendKind, kills: usize) {
    let team = Team::new(4, Some(kind));
    team.chain();
    under_kills(&team, kills, |round| drop(team.items(10 * (round + 1))));
    team.workers[0].run(&["run"]).success();
    team.check(10 * kills);
    assert_eq!(team.lake.sql("lake", "SELECT 1"), "1\n");
}

/// Lanes of a worker, and rows of a batch.
const LANES: usize = 2;
const BATCH: usize = 5;

fn killed_while_pushing_on(kind: BackendKind, kills: usize) {
    let team = Team::new(4, Some(kind));
    let files = team.workers[0].root().join("files");
    team.workers[0].run(&["sql", "SELECT 1"]).success();
    let lake = Lake::on_postgres(&team.lake.connection("lake"), &files);
    lake.execute("CREATE SCHEMA ext; CREATE TABLE ext.t (id BIGINT, k BIGINT, v BIGINT)");
    let sink = Sink::start();
    sink.always(Say::Slow(Duration::from_millis(30)));
    let lib = format!(
        "API = {{\"base_url\": \"{}\", \"timeout\": 1, \"push\": {{\"batch_size\": {BATCH}, \
         \"max_concurrent\": {LANES}, \"retry_backoff\": 0}}}}\n{SYNC}",
        sink.server.url("")
    );
    team.workers.iter().for_each(|worker| worker.write("lib/crm.star", &lib));
    team.model("sync/x", &format!("-- @kind: {MERGE}\n-- @push: crm\n{SELECT}\n"));
    // What came before the first feed is sent as it is, without its history.
    team.workers[0].run(&["run"]).success();
    under_kills(&team, kills, |round| {
        let first = 10 * round + 1;
        lake.execute(&format!(
            "INSERT INTO ext.t SELECT i, i % 5, 0 FROM range({first}, {first} + 10) r(i); \
             UPDATE ext.t SET v = v + 1 WHERE id % 3 = {}",
            round % 3
        ));
    });
    // What the last dead workers held runs out.
    std::thread::sleep(Duration::from_millis(2_500));
    team.workers[0].run(&["run"]).success();
    let arrived = check(&lake, &sink, "x");
    assert!(arrived.twice <= kills * LANES * BATCH, "{arrived:?} after {kills} kills");
}

#[test]
fn killed_workers_that_push_lose_nothing() {
    killed_while_pushing_on(BackendKind::Postgres, 4);
}

#[test]
#[ignore = "make soak"]
fn soak_killed_workers_that_push_on_postgresql_lose_nothing() {
    killed_while_pushing_on(BackendKind::Postgres, 20);
}

#[test]
#[ignore = "make soak"]
fn soak_killed_workers_that_push_on_a_quack_server_lose_nothing() {
    killed_while_pushing_on(BackendKind::Quack, 20);
}

#[test]
fn killed_workers_on_postgresql_double_nothing() {
    killed_on(BackendKind::Postgres, 4);
}

#[test]
#[ignore = "make soak"]
fn soak_killed_workers_on_postgresql_double_nothing() {
    killed_on(BackendKind::Postgres, 20);
}

#[test]
#[ignore = "make soak"]
fn soak_killed_workers_on_a_quack_server_double_nothing() {
    killed_on(BackendKind::Quack, 20);
}

/// A catalog on a server shows what was committed after the lake's own transaction began.
#[test]
fn a_registry_that_another_worker_makes_meanwhile_is_none_yet() {
    let postgres = Postgres::start();
    postgres.create_database("lake");
    let files = tempfile::tempdir().unwrap();
    let open = || Lake::on_postgres(&postgres.connection("lake"), files.path());
    let (ours, other) = (open(), open());
    let of = ("lake", "__ducklake_metadata_lake.public");
    let target = Target { schema: "raw".into(), name: "a".into() };
    let recorded = || engine::recorded_commit(&ours.connection, of, &target).unwrap();

    ours.execute("BEGIN; FROM lake.current_snapshot()");
    other.execute(&registry_statements("lake", "raw.a", "table", "{}", false).join(";"));
    assert_eq!(recorded(), None, "our transaction does not see it");
    ours.execute("COMMIT");
    assert_eq!(recorded().as_deref(), Some("{}"));
}

#[test]
fn workers_of_one_job_each_share_fetches() {
    let team = Team::new(3, Some(BackendKind::Postgres));
    let api = Server::new(|_, _| Answer::ok("[{\"id\": 1}]").after(Duration::from_millis(300)));
    let lib = format!(
        "API = {{\"base_url\": \"{}\", \"fetch\": {{}}}}\ndef fetch():\n    return {{\"rows\": http.get(\"/\").json}}\n",
        api.url("")
    );
    team.workers.iter().for_each(|worker| worker.write("lib/api.star", &lib));
    for at in 0..9 {
        team.model(&format!("raw/t{at}"), "-- @fetch\nSELECT id::BIGINT AS id FROM api()");
        team.model(&format!("mart/m{at}"), &format!("SELECT count(*) AS n FROM raw.t{at}"));
    }
    let start = |at: usize| {
        let mut command = team.workers[at].command(&["run", "--jobs", "1"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let running: Vec<Child> = (0..3).map(start).collect();
    let outputs: Vec<Output> = running.into_iter().map(|worker| worker.wait_with_output().unwrap()).collect();
    for output in &outputs {
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("[OK] raw.t"), "each has its share: {text}");
        assert!(text.contains("run by another worker meanwhile"), "and leaves the others theirs: {text}");
    }
    assert_eq!(api.seen().len(), 9, "nothing is fetched twice");
    let sum = (0..9).map(|at| format!("SELECT n FROM mart.m{at}")).collect::<Vec<_>>().join(" UNION ALL ");
    assert_eq!(team.workers[1].rows(&format!("SELECT count(*), sum(n) FROM ({sum})")), "9,9\n");
}
