//! Streams that cannot be written: a full device is a failure, a reader that is gone is none (chapter 05 §1.5).

use std::fs::File;
use std::io::Read;
use std::process::{Output, Stdio};

use testkit::Project;

use crate::{BINARY, project};

fn full() -> File {
    File::options().write(true).open("/dev/full").unwrap()
}

/// Runs a command whose standard output cannot be written.
fn into_full(project: &Project, args: &[&str]) -> Output {
    project.command(args).stdout(full()).stderr(Stdio::piped()).output().unwrap()
}

/// Runs a command whose reader is gone before it begins.
fn into_nobody(project: &Project, args: &[&str]) -> (Option<i32>, String) {
    let mut child = project.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (child.wait().unwrap().code(), said)
}

#[test]
fn results_that_cannot_be_written_are_a_failure_of_every_command() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS a");
    project.write("sql/one.sql", "SELECT 1");
    for args in [
        &["run"][..],
        &["run", "--json"],
        &["run", "raw.a", "--json"],
        &["query", "raw.a"],
        &["query", "raw.a", "--json"],
        &["sql", "SELECT 1"],
        &["one"],
        &["one", "--json"],
        &["state", "status"],
        &["state", "status", "--json"],
        &["history"],
        &["history", "--json"],
        &["stats"],
        &["stats", "--json"],
        &["describe", "raw.a"],
        &["describe", "raw.a", "--json"],
        &["describe", "blueprint"],
        &["describe", "blueprint", "--json"],
        &["new", "raw.fresh.sql"],
        &["version"],
        &["version", "--json"],
        &["help"],
        &["run", "--help"],
    ] {
        let output = into_full(&project, args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(1) && said.contains("write standard output: No space left"),
            "{args:?}: {said}"
        );
    }
    assert_eq!(project.rows("FROM raw.a"), "1\n", "the run itself went through");
}

#[test]
fn a_project_whose_making_could_not_be_told_is_made_all_the_same() {
    let project = Project::empty(BINARY);
    let output = into_full(&project, &["init"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(project.root().join("config/catalog.sql").is_file());
}

#[test]
fn a_reader_that_is_gone_is_no_failure_and_hides_none() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS a");
    for args in [
        &["run", "--json"][..],
        &["run"],
        &["version"],
        &["sql", "SELECT 1"],
        &["state", "status", "--json"],
        &["history"],
        &["stats"],
        &["describe", "raw.a"],
        &["describe", "blueprint"],
    ] {
        let (code, said) = into_nobody(&project, args);
        assert!(code == Some(0) && !said.contains("standard output"), "{args:?}: {code:?} {said}");
    }
    project.model("raw/b", "SELECT error('no') AS a");
    for args in [&["run", "--json"][..], &["run"]] {
        assert_eq!(into_nobody(&project, args).0, Some(1), "{args:?}");
    }
}

#[test]
fn lines_for_people_are_no_results_where_json_is() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS a");
    let output = project.command(&["run", "--json"]).stdout(Stdio::piped()).stderr(full()).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"status\":\"ok\""));
}
