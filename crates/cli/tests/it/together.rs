//! Two runs of one project at once.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::project;

#[test]
fn the_second_run_waits_for_the_first() {
    let project = project();
    for at in 0..5 {
        project.model(&format!("raw/a{at}"), "SELECT i AS id FROM range(20000) t(i)");
    }
    let spawn = || project.command(&["run"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let runs = [spawn(), spawn()].map(|run| run.wait_with_output().unwrap());
    let texts: Vec<String> = runs.iter().map(|run| String::from_utf8_lossy(&run.stdout).into_owned()).collect();
    assert!(runs.iter().all(|run| run.status.success()), "{runs:?}");
    assert!(
        texts.iter().any(|text| text.contains("5 ran, 0 skipped"))
            && texts.iter().any(|text| text.contains("0 ran, 5 skipped")),
        "{texts:?}"
    );
    assert_eq!(project.rows("SELECT count(*) FROM raw.a4"), "20000\n");
}

#[test]
fn a_run_that_may_not_wait_names_the_other_process() {
    let project = project();
    project
        .model("raw/a", "SELECT count(*) AS n FROM range(10000000) a(i), range(10000000) b(j) WHERE (i * j) % 7 = 9");
    let mut first = project.command(&["run"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut header = String::new();
    BufReader::new(first.stdout.take().unwrap()).read_line(&mut header).unwrap();
    assert!(header.starts_with("Running 1 models"), "{header}");
    let second = project.run(&["run", "--state-wait", "0s"]).failure(1);
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(second.stderr.contains("another run of this project is active"), "{}", second.stderr);
    assert!(second.stderr.contains(&format!("(process {})", first.id())), "{}", second.stderr);
    assert!(second.stderr.contains("--state-wait"), "{}", second.stderr);
}
