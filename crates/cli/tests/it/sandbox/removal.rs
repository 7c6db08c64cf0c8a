//! A sandbox is gone afterwards, however it ends; what a killed one leaves goes with the next.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use testkit::Project;

use super::{everything, sandbox};
use crate::project;

const ENDLESS: &str = "SELECT count(*) AS n FROM range(10000000) a(i), range(10000000) b(j) WHERE (i * j) % 7 = 9";

/// A project whose sandbox has written `raw.a` and is in the middle of an endless model.
fn endless(project: &Project) -> (Child, PathBuf) {
    project.model("raw/a", "SELECT 1 AS a");
    project.run(&["run"]).success();
    project.model("raw/a", "SELECT 2 AS a");
    project.model("raw/b", ENDLESS);
    let child = project.command(&["sandbox"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let folder = folder_with_data(project);
    (child, folder)
}

/// The folder of a sandbox that has written a table.
fn folder_with_data(project: &Project) -> PathBuf {
    let folder = || Some(fs::read_dir(project.root().join(".sandbox")).ok()?.flatten().next()?.path());
    let started = Instant::now();
    loop {
        assert!(started.elapsed() < Duration::from_mins(1), "no sandbox is made");
        if let Some(folder) = folder().filter(|folder| folder.join("data/raw/a").exists()) {
            return folder;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn send(signal: &str, child: &Child) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn an_interrupted_sandbox_leaves_nothing() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let project = project();
        let (child, folder) = endless(&project);
        for private in [folder.parent().unwrap(), &folder, &folder.join("data"), &folder.join("catalog")] {
            assert_eq!(fs::metadata(private).unwrap().permissions().mode() & 0o77, 0, "{}", private.display());
        }
        send(signal, &child);
        if signal == "-HUP" {
            // The shell tells of a closed terminal, too.
            std::thread::sleep(Duration::from_millis(50));
            send(signal, &child);
        }
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains("error: interrupted [RUN-002]") && told.contains("nothing of it stays"), "{told}");
        assert!(!folder.exists() && !project.root().join(".sandbox").exists(), "{signal}");
        assert_eq!(fs::read_dir(project.temp_root()).unwrap().count(), 0);
    }
}

/// Trap 22.
#[test]
fn what_a_killed_sandbox_left_is_removed_a_minute_later() {
    let project = project();
    let (mut child, folder) = endless(&project);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(folder.join("data/raw/a").exists() && folder.join("catalog/ducklake.sqlite").exists());
    project.remove("models/raw/b.sql");
    project.run(&["sandbox"]).success();
    assert!(folder.exists(), "it is not a minute old");
    let minutes_ago = SystemTime::now() - Duration::from_secs(90);
    fs::File::open(&folder).unwrap().set_modified(minutes_ago).unwrap();
    project.run(&["sandbox"]).success();
    assert!(!folder.exists() && !project.root().join(".sandbox").exists());
}

#[test]
fn a_sandbox_that_lives_is_not_taken_for_a_leftover() {
    let project = project();
    let (mut child, folder) = endless(&project);
    let minutes_ago = SystemTime::now() - Duration::from_secs(90);
    fs::File::open(&folder).unwrap().set_modified(minutes_ago).unwrap();
    project.remove("models/raw/b.sql");
    project.run(&["sandbox"]).success();
    assert!(folder.join("catalog").exists());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn other_files_in_the_folder_of_sandboxes_stay() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS a");
    project.run(&["run"]).success();
    project.write(".sandbox/notes.txt", "mine");
    let before = everything(&project);
    sandbox(&project, &[]).success();
    assert!(everything(&project) == before);
}

#[test]
fn a_folder_that_cannot_be_made_is_told() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS a");
    project.run(&["run"]).success();
    project.write(".sandbox", "a file in the way");
    let output = sandbox(&project, &[]).failure(1);
    assert!(output.stderr.starts_with("error: sandbox: make "), "{}", output.stderr);
}
