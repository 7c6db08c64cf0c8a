//! A project that lives long: after many runs nothing has piled up, neither files nor sizes nor time.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use testkit::Project;
use testkit::http::{Answer, Server};

use crate::project;

/// Expires, merges and deletes all that is old.
const TIDY: &str = "CALL ducklake_expire_snapshots('lake', older_than => now());\n\
    CALL ducklake_merge_adjacent_files('lake');\n\
    CALL ducklake_cleanup_old_files('lake', cleanup_all => true);\n";

/// What a project takes on disk.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    state: u64,
    metadata: u64,
    /// Files in its folders and in that for temporary ones.
    files: usize,
    /// The median of the runs since the last time.
    run: Duration,
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

fn files(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| if entry.path().is_dir() { files(&entry.path()) } else { 1 }).sum()
}

fn sizes(project: &Project, mut runs: Vec<Duration>) -> Sizes {
    runs.sort();
    let root = project.root();
    Sizes {
        state: size(&root.join("state.duckdb")),
        metadata: size(&root.join("ducklake.sqlite")),
        files: files(&root) + files(&project.temp_root()),
        run: runs[runs.len() / 2],
    }
}

/// A project that fetches, keeps rows in each way, and pushes.
fn living(api: &Server) -> Project {
    let project = project();
    project.write(
        "lib/api.star",
        &format!(
            "API = {{\"base_url\": \"{}\", \"fetch\": {{}}, \"push\": {{\"batch_mode\": \"atomic\"}}}}\n\
             def fetch(page, last_value):\n    \
             return {{\"rows\": http.get(\"/items\", params = {{\"since\": last_value}}).json}}\n\
             def push(rows, batch_number):\n    \
             resp = http.post(\"/rows\", json = rows)\n    \
             if not resp.ok:\n        fail(\"status\", resp.status_code)\n",
            api.url("")
        ),
    );
    let columns = "id::BIGINT AS id, v::BIGINT AS v";
    project.model(
        "raw/items",
        &format!(
            "-- @kind: append\n-- @incremental: id\n-- @incremental_initial: -1\n-- @fetch\nSELECT {columns} FROM api()"
        ),
    );
    let newest = "SELECT id % 50 AS id, max(v) AS v FROM raw.items GROUP BY ALL";
    project.model("mart/merged", &format!("-- @kind: merge\n-- @unique_key: id\n{newest}"));
    project.model("mart/tracked", &format!("-- @kind: tracked\n-- @group_key: id\n{newest}"));
    project.model("mart/total", "SELECT sum(v) AS v FROM raw.items");
    let pushed = format!("SELECT {columns} FROM mart.merged");
    project.model("sync/out", &format!("-- @kind: merge\n-- @unique_key: id\n-- @push: api\n{pushed}"));
    project.write("sql/tidy.sql", TIDY);
    project
}

// What it records is its result.
#[allow(clippy::print_stderr)]
/// So many turns of so many runs, each with maintenance at its end.
fn live(turns: usize, runs: usize) {
    let api = Server::new(|_, request| {
        let Some(since) = request.parameter("since") else { return Answer::ok("{}") };
        let since: i64 = since.parse().unwrap();
        let rows: Vec<String> =
            (since + 1..since + 6).map(|id| format!("{{\"id\": {id}, \"v\": {}}}", id * 7)).collect();
        Answer::ok(format!("[{}]", rows.join(",")))
    });
    let project = living(&api);
    let mut recorded = Vec::new();
    for turn in 0..turns {
        let times = (0..runs).map(|_| {
            let clock = Instant::now();
            project.run(&["run"]).success();
            clock.elapsed()
        });
        let times = times.collect();
        project.run(&["tidy"]).success();
        recorded.push(sizes(&project, times));
        let Sizes { state, metadata, files, run } = recorded[turn];
        let runs = (turn + 1) * runs;
        let line = format!("after {runs} runs: state {state}, metadata {metadata}, {files} files, a run {run:?}");
        eprintln!("{line}");
    }
    let rows = turns * runs * 5;
    assert_eq!(project.rows("SELECT count(*), count(DISTINCT id) FROM raw.items"), format!("{rows},{rows}\n"));
    let (early, late) = (recorded[turns / 5], recorded[turns - 1]);
    // How many snapshots maintenance may remove differs from time to time, and their files with them.
    assert!(late.files <= early.files * 3 / 2 + 10, "files pile up: {early:?} {late:?}");
    for (what, early, late) in [("state", early.state, late.state), ("metadata", early.metadata, late.metadata)] {
        // A file of the engine grows by blocks of 256 KiB.
        assert!(late <= early * 6 / 5 + (1 << 19), "the {what} grows from {early} to {late} bytes");
    }
}

#[test]
fn nothing_piles_up_over_runs() {
    live(2, 6);
}

#[test]
#[ignore = "about half an hour: make soak"]
fn soak_a_thousand_runs_pile_nothing_up() {
    live(50, 20);
}
