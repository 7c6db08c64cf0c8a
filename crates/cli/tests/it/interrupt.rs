//! Ctrl-C, SIGTERM and SIGHUP: the running model rolls back, later ones do not start, the lake stays readable.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use testkit::Project;

use crate::project;

const ENDLESS: &str = "SELECT count(*) AS n FROM range(10000000) a(i), range(10000000) b(j) WHERE (i * j) % 7 = 9";

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

/// A run that has committed `raw.a` and is in the middle of the endless `raw.b`.
fn endless_run(project: &Project) -> (Child, BufReader<std::process::ChildStdout>) {
    project.model("raw/a", "SELECT 1 AS a");
    project.model("raw/b", ENDLESS);
    project.model("raw/c", "SELECT count(*) AS a FROM raw.b");
    let mut child = project.command(&["run"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("[OK] raw.a") {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0, "the run ended too early");
    }
    // Most of the time raw.b is running by then; if not, it does not start, which is as good.
    std::thread::sleep(Duration::from_millis(400));
    (child, lines)
}

#[test]
fn the_running_model_rolls_back_and_the_rest_does_not_start() {
    for name in ["-INT", "-TERM", "-HUP"] {
        let project = project();
        let (child, mut lines) = endless_run(&project);
        let asked = Instant::now();
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        assert!(asked.elapsed() < Duration::from_secs(20), "it went on for {:?}", asked.elapsed());
        let mut rest = String::new();
        lines.read_to_string(&mut rest).unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains("error: interrupted"), "{stderr}");
        assert!(!rest.contains("[OK] raw.b") && !rest.contains("raw.c"), "{rest}");
        assert_eq!(
            project.rows(
                "SELECT string_agg(table_name, ',' ORDER BY table_name) FROM duckdb_tables() WHERE schema_name = 'raw'"
            ),
            "a\n"
        );
        project.model("raw/b", "SELECT 2 AS a");
        assert!(project.run(&["run"]).success().stdout.contains("Done: 2 ran, 1 skipped, 0 failed"));
    }
}

#[test]
fn a_second_signal_ends_at_once() {
    let project = project();
    let (child, _lines) = endless_run(&project);
    signal(&child, "-INT");
    signal(&child, "-TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!stderr.contains("interrupted"), "it took the time to report: {stderr}");
    project.remove("models/raw/b.sql");
    project.remove("models/raw/c.sql");
    project.run(&["run"]).success();
}

#[test]
fn what_was_started_to_outlive_its_terminal_does_so() {
    let project = project();
    project.model("raw/a", "SELECT count(*) AS n FROM range(30000) a(i), range(30000) b(j) WHERE (i * j) % 7 = 9");
    let mut command = Command::new("nohup");
    let run = project.command(&["run"]);
    command.arg(run.get_program()).args(run.get_args()).current_dir(project.root());
    command.env_clear().envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(700));
    signal(&child, "-HUP");
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("Done: 1 ran"), "{output:?}");
}
