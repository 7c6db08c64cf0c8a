//! Which files are reported: paths, links, duplicates; and what is wrong with a path.

use std::os::unix::fs::symlink;

use serde_json::Value;
use testkit::Project;

use super::{found, paths, report, with_files};

/// Models in two folders, of which one is broken; two lib files and a helper below.
fn example() -> Project {
    with_files(&[
        ("models/mart/a.sql", "SELECT * FROM staging.b"),
        ("models/mart/deep/er.sql", "SELECT 1 AS a"),
        ("models/staging/b.sql", "-- @kind: tabel\nSELECT 1 AS a"),
        ("models/staging/.hidden.sql", "nonsense"),
        ("models/staging/notes.md", "nonsense"),
        ("models/empty/.gitkeep", ""),
        ("lib/one.star", "API = {\"push\": {}}\ndef push(rows):\n    return {}\n"),
        ("lib/two.star", "API = {\"push\": {}}\ndef push(rows):\n    return {}\n"),
        ("lib/deep/three.star", "nonsense ("),
    ])
}

#[test]
fn without_a_path_everything_is_reported_models_first() {
    let report = report(&example(), &[]);
    let expected =
        ["models/mart/a.sql", "models/mart/deep/er.sql", "models/staging/b.sql", "lib/one.star", "lib/two.star"];
    assert_eq!(paths(&report), expected);
}

#[test]
fn missing_trees_and_empty_projects_are_fine() {
    let report = report(&with_files(&[]), &[]);
    assert_eq!(report["files"], Value::Array(Vec::new()));
    assert_eq!(report["summary"]["files"], 0);
}

#[test]
fn a_path_is_a_file_or_a_folder_from_here_or_from_the_root() {
    let project = example();
    for (args, expected) in [
        (&["models/mart/a.sql"][..], &["models/mart/a.sql"][..]),
        (&["models/mart"], &["models/mart/a.sql", "models/mart/deep/er.sql"]),
        (&["models/mart/", "./models/mart/a.sql"], &["models/mart/a.sql", "models/mart/deep/er.sql"]),
        (&["lib", "models/mart/a.sql"], &["models/mart/a.sql", "lib/one.star", "lib/two.star"]),
        (&["lib/two.star", "lib/two.star"], &["lib/two.star"]),
    ] {
        assert_eq!(paths(&report(&project, args)), expected, "{args:?}");
    }
    let output = project.run_in("models/mart", &["validate", "a.sql", "deep", "lib/one.star"]).success().stdout;
    for path in ["models/mart/a.sql", "models/mart/deep/er.sql", "lib/one.star"] {
        assert!(output.contains(&format!("{path}\n")), "{output}");
    }
    assert!(output.contains("Summary: 3 files"), "{output}");
}

#[test]
fn the_rest_of_the_project_is_known_and_not_reported() {
    let project = example();
    let report = report(&project, &["models/mart/a.sql"]);
    assert_eq!(found(&report), [], "staging.b is a model, and broken, which is not asked for");
}

#[test]
fn links_are_followed_to_where_they_lead() {
    let project = example();
    let root = project.root();
    symlink(root.join("models/mart"), root.join("short")).unwrap();
    symlink(root.join("models/mart/a.sql"), root.join("a_link.sql")).unwrap();
    symlink(root.join("models/mart/deep/er.sql"), root.join("models/mart/linked.sql")).unwrap();
    assert_eq!(paths(&report(&project, &["short/deep"])), ["models/mart/deep/er.sql"]);
    assert_eq!(paths(&report(&project, &["a_link.sql"])), ["models/mart/a.sql"]);
    // A linked file is a model of its own.
    assert_eq!(paths(&report(&project, &["models/mart/linked.sql"])), ["models/mart/linked.sql"]);
}

#[test]
fn a_path_out_of_scope_is_a_wrong_invocation() {
    let project = example();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("x.sql"), "SELECT 1").unwrap();
    symlink(outside.path().join("x.sql"), project.root().join("models/mart/outside.sql")).unwrap();
    symlink(outside.path(), project.root().join("models/elsewhere")).unwrap();
    for (path, message) in [
        ("nowhere.sql", "path not found: nowhere.sql"),
        ("models/mart/b.sql", "path not found: models/mart/b.sql"),
        ("config/catalog.sql", "out of scope: config/catalog.sql"),
        (".", "out of scope: ."),
        ("..", "out of scope: .."),
        ("models/staging/notes.md", "out of scope"),
        ("models/staging/.hidden.sql", "out of scope"),
        ("models/mart/outside.sql", "out of scope"),
        ("models/elsewhere", "out of scope"),
        ("lib/deep/three.star", "out of scope"),
        ("lib/deep", "no files to validate in lib/deep"),
        ("models/empty", "no files to validate in models/empty"),
    ] {
        for args in [vec!["validate", path], vec!["validate", "models/mart/a.sql", path, "--output", "json"]] {
            let output = project.run(&args).failure(2);
            assert!(
                output.stderr.starts_with("error: ") && output.stderr.contains(message),
                "{path}: {}",
                output.stderr
            );
            assert!(output.stderr.contains("\nhelp: "), "{}", output.stderr);
            assert_eq!(output.stdout, "", "{path}");
        }
    }
}

#[test]
fn a_broken_lib_file_out_of_scope_is_a_warning() {
    let project = example();
    project.write("lib/two.star", "API = {\"push\": {}}\n");
    let in_scope = report(&project, &["lib"]);
    assert_eq!(found(&in_scope), [("lib/two.star".into(), Some(1), "blueprint.invalid_api_dict".into())]);
    for args in [&["models/mart"][..], &["lib/one.star"]] {
        let report = report(&project, args);
        assert_eq!(found(&report), [("lib/two.star".into(), Some(1), "validate.blueprint_load_failed".into())]);
        let entry = report["files"].as_array().unwrap().iter().find(|file| file["path"] == "lib/two.star").unwrap();
        assert_eq!(entry.get("checks"), None, "it was not checked");
    }
}
