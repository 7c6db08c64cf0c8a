//! `ondatrasql new`: model files and folders (chapter 05 §3.3).

use std::fs;
use std::os::unix::fs::PermissionsExt;

use testkit::Project;

use crate::{BINARY, project};

#[test]
fn a_model_file_is_made_with_its_folders_and_is_a_model() {
    let project = project();
    let output = project.run(&["new", "raw.api.orders.SQL"]).success();
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("Created models/raw/api/orders.sql\n", ""));
    let text = fs::read_to_string(project.root().join("models/raw/api/orders.sql")).unwrap();
    assert!(text.starts_with("-- raw.api__orders\n-- @kind: table\n") && text.contains("SELECT *\nFROM "), "{text}");
    let report = project.run(&["validate"]).success();
    assert!(report.stdout.contains("models/raw/api/orders.sql"), "{}", report.stdout);
    assert!(!project.files().iter().any(|file| file.starts_with("ducklake")), "no catalog was needed");
}

#[test]
fn a_name_without_an_ending_is_a_folder() {
    let project = project();
    let output = project.run(&["new", "raw.api"]).success();
    assert!(output.stdout.starts_with("Created models/raw/api/\n"), "{}", output.stdout);
    assert!(output.stdout.contains("`ondatrasql new raw.api.orders.sql`"), "{}", output.stdout);
    assert!(project.root().join("models/raw/api").is_dir());
    let again = project.run(&["new", "raw.api"]).success();
    assert!(again.stdout.starts_with("models/raw/api/ is there already\n"), "{}", again.stdout);
}

#[test]
fn a_model_that_is_there_is_left_alone_whatever_its_case() {
    let project = project();
    project.model("raw/orders", "SELECT 1 AS a");
    for name in ["raw.orders.sql", "RAW.Orders.sql"] {
        let output = project.run(&["new", name]).failure(1);
        assert!(
            output.stderr.contains("models/raw/orders.sql already exists [MODEL-011]") && output.stdout.is_empty(),
            "{}",
            output.stderr
        );
    }
    assert_eq!(project.files().iter().filter(|file| file.starts_with("models/")).count(), 1);
    assert_eq!(fs::read_to_string(project.root().join("models/raw/orders.sql")).unwrap(), "SELECT 1 AS a");
}

#[test]
fn wrong_names_exit_with_2_and_make_nothing() {
    let project = project();
    project.write("config/sources.sql", "ATTACH 'crm.db' AS Crm;");
    for (name, expected) in [
        ("orders.sql", "must be schema.name"),
        ("raw.api.star", "unsupported extension .star"),
        ("raw..x.sql", "empty path segment"),
        ("raw.a__b.sql", "'__'"),
        ("raw.a-b.sql", "invalid path segment"),
        ("../raw", "empty path segment"),
        (&format!("raw.{}.sql", "x".repeat(300)), "too long for a file"),
        ("lake.x.sql", "schema `lake` has the name of the attached database `lake`"),
        ("LAKE.api", "schema `LAKE` has the name of the attached database `lake`"),
        ("crm.x.sql", "schema `crm` has the name of the attached database `Crm`"),
    ] {
        let output = project.run(&["new", name]).failure(2);
        assert!(output.stderr.contains(expected) && output.stderr.contains("CLI-002"), "{name}: {}", output.stderr);
    }
    assert!(project.run(&["new"]).failure(2).stderr.contains("usage: ondatrasql new"));
    assert!(project.run(&["new", "a.b.sql", "c"]).failure(2).stderr.contains("extra args: c"));
    assert!(!project.root().join("models").exists());
}

#[test]
fn it_needs_a_project_and_no_healthy_one() {
    let nowhere = Project::empty(BINARY);
    assert!(nowhere.run(&["new", "raw.x.sql"]).failure(1).stderr.contains("not in an ondatrasql project"));
    let broken = project();
    broken.write("config/catalog.sql", "ATTACH 'nothing");
    broken.write(".env", "no variable");
    fs::create_dir_all(broken.root().join("models/raw")).unwrap();
    let output = broken.run_in("models/raw", &["new", "raw.x.sql", "--json"]).success();
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", "Created models/raw/x.sql\n"));
    assert!(broken.root().join("models/raw/x.sql").is_file());
}

#[test]
fn a_folder_that_cannot_be_written_is_told() {
    let project = project();
    project.write("models/raw", "a file where a folder should be");
    let output = project.run(&["new", "raw.x.sql"]).failure(1);
    assert!(
        output.stderr.contains("create models/raw: ") && output.stderr.contains("PROJECT-003"),
        "{}",
        output.stderr
    );
    let folder = project.root().join("models");
    fs::remove_file(folder.join("raw")).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    let output = project.run(&["new", "raw.x.sql"]);
    let may_write_anywhere = fs::write(folder.join("probe"), "").is_ok();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    if !may_write_anywhere {
        assert!(output.failure(1).stderr.contains("Permission denied"));
    }
}
