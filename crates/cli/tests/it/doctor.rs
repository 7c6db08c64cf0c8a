//! `ondatrasql doctor`: what is amiss is told with its remedy, and nothing is changed.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;
use testkit::{Catalog, Lake, Project};

use crate::schema::document;
use crate::{BINARY, project};

/// A project whose secrets are its user's.
fn sound() -> Project {
    let project = project();
    set_mode(&project, 0o600);
    project
}

fn set_mode(project: &Project, mode: u32) {
    fs::set_permissions(project.root().join(".env"), fs::Permissions::from_mode(mode)).unwrap();
}

fn findings(project: &Project, code: i32) -> Vec<Value> {
    // Other tests leave folders in the common one.
    let temp = tempfile::tempdir().unwrap();
    let output = project.command(&["doctor", "--json"]).env("TMPDIR", temp.path()).output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(code), ""));
    document("doctor", &String::from_utf8(output.stdout).unwrap())["findings"].as_array().unwrap().clone()
}

/// What a check said: its level, message and remedy.
fn told(findings: &[Value], check: &str) -> String {
    let found = findings.iter().filter(|finding| finding["check"] == check);
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    found
        .map(|finding| ["level", "message", "remedy"].map(|key| text(finding, key)).join(" | "))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn a_sound_project_is_sound_and_stays_as_it_is() {
    let project = sound();
    let files = || {
        let mut files: Vec<_> = fs::read_dir(project.root()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        files.sort();
        files
    };
    project.run(&["sql", "SELECT 1"]).success();
    let before = files();
    let found = findings(&project, 0);
    assert!(found.iter().all(|finding| finding["level"] == "ok"), "{found:#?}");
    assert_eq!(files(), before, "no state is made");
    assert_eq!(told(&found, "state"), "ok | it is made by the first run that needs it | ");
    let output = project.run(&["doctor"]).success();
    assert!(output.stdout.starts_with("[OK] version: OndatraSQL v") && output.stderr.is_empty(), "{}", output.stdout);
    assert!(
        !output.stdout.contains('\u{1b}') && output.stdout.contains("\n[OK] catalog: lake opens"),
        "{}",
        output.stdout
    );
    project.model("raw/a", "SELECT 1 AS id");
    project.run(&["run"]).success();
    project.run(&["state", "status"]).success();
    let found = findings(&project, 0);
    assert!(told(&found, "state").starts_with("ok | DuckDB file opens, schema version "), "{found:#?}");
    assert!(told(&found, "catalog").contains("lake opens: 2 table(s)"), "{found:#?}");
}

#[test]
fn each_fault_has_its_remedy() {
    let project = project();
    set_mode(&project, 0o644);
    let found = findings(&project, 0);
    let expected = "warning | .env can be read by other users (mode 644) | chmod 600 .env";
    assert_eq!(told(&found, "permissions"), expected);
    // A state without a key, and then with another one.
    project.run(&["state", "status"]).success();
    let env = fs::read_to_string(project.root().join(".env")).unwrap();
    project.write(".env", "ONDATRA_STATE_KEY=\n");
    assert!(told(&findings(&project, 1), "state").starts_with("error | "), "{:#?}", findings(&project, 1));
    project.write(".env", &format!("ONDATRA_STATE_KEY={}\n", "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVowMTIzNDU="));
    let found = findings(&project, 1);
    assert!(told(&found, "state").contains("cannot be opened with this key"), "{found:#?}");
    assert!(told(&found, "catalog").starts_with("ok"), "the lake is looked at nevertheless: {found:#?}");
    project.write(".env", &env);
    // A lake that does not open.
    project.write("config/catalog.sql", "ATTACH 'ducklake:sqlite:no/such/folder/x.sqlite' AS lake;");
    let output = project.run(&["doctor"]).failure(1);
    assert!(output.stdout.contains("[ERROR] catalog: "), "{}", output.stdout);
    assert!(
        output.stdout.contains("\n  help: ") && output.stdout.contains("1 error(s), 1 warning(s)"),
        "{}",
        output.stdout
    );
    project.remove("config/catalog.sql");
    assert!(told(&findings(&project, 1), "config").starts_with("error | "));
}

/// To open a catalog makes it; a new one beside old data would hide that the old one is lost.
#[test]
fn a_catalog_that_is_not_there_is_told_and_not_made() {
    for (catalog, name) in [(Catalog::Sqlite, "ducklake.sqlite"), (Catalog::Duckdb, "ducklake.duckdb")] {
        let project = Project::new(BINARY, catalog);
        set_mode(&project, 0o600);
        let file = project.root().join(name);
        let found = findings(&project, 0);
        assert!(told(&found, "catalog").starts_with("ok | ") && !file.exists(), "{found:#?}");
        project.model("raw/a", "SELECT 1 AS id");
        project.run(&["run"]).success();
        assert!(told(&findings(&project, 0), "catalog").contains("lake opens"));
        for end in ["", "-wal", "-shm", ".wal"] {
            let _ = fs::remove_file(format!("{}{end}", file.display()));
        }
        let found = findings(&project, 1);
        let expected = format!("error | {name} is not there, and {name}.files holds files of a lake | ");
        assert!(told(&found, "catalog").starts_with(&expected) && !file.exists(), "{found:#?}");
    }
}

#[test]
fn a_clock_that_is_behind_the_lake_is_told() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS id");
    project.run(&["run"]).success();
    Lake::open(&project)
        .execute("UPDATE __ducklake_metadata_lake.ducklake_snapshot SET snapshot_time = '2999-01-01 00:00:00+00'");
    let found = findings(&project, 0);
    assert!(told(&found, "clock").starts_with("warning | the newest snapshot is "), "{found:#?}");
}

#[test]
fn what_dead_processes_left_is_counted() {
    let project = project();
    let temp = tempfile::tempdir().unwrap();
    fs::create_dir(temp.path().join("ondatrasql-spill-0011")).unwrap();
    let output = project.command(&["doctor"]).env("TMPDIR", temp.path()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("[WARN] leftovers: 1 folder(s) of processes that died"), "{text}");
    // No process has such a number.
    let sandbox = project.root().join(".sandbox/4194399-0123abcd");
    fs::create_dir_all(&sandbox).unwrap();
    let minutes_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(90);
    fs::File::open(&sandbox).unwrap().set_modified(minutes_ago).unwrap();
    let found = findings(&project, 0);
    let expected = "warning | 1 sandbox(es) whose processes died are in .sandbox/ | ";
    assert!(told(&found, "leftovers").starts_with(expected), "nothing else is said of them: {found:#?}");
    assert!(sandbox.exists(), "it is only told of");
}

#[test]
fn outside_of_a_project_and_with_operands_it_is_refused() {
    let output = Project::empty(BINARY).run(&["doctor"]).failure(1);
    assert!(output.stderr.contains("not in an ondatrasql project"), "{}", output.stderr);
    assert!(project().run(&["doctor", "x"]).failure(2).stderr.contains("extra args: x"));
}
