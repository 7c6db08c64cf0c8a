//! Which files of `lib/` are functions, which only help, and which are broken.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use lib_functions::Registry;
use tempfile::TempDir;

use crate::{project, registry, write};

const FETCH: &str = "API = {\"fetch\": {}}\ndef fetch(): pass\n";

fn names(registry: &Registry) -> Vec<&str> {
    registry.libs().map(|lib| lib.name.as_str()).collect()
}

fn broken(registry: &Registry) -> Vec<&str> {
    registry.all_broken().map(|broken| broken.name.as_str()).collect()
}

fn helpers(registry: &Registry) -> Vec<&str> {
    registry.helpers.iter().map(|path| path.to_str().unwrap()).collect()
}

/// Asserts that the only thing wrong is this file, and what is said.
#[track_caller]
fn assert_broken(folder: &TempDir, name: &str, said: &str) {
    let registry = registry(folder.path());
    assert_eq!(broken(&registry), [name]);
    let message = &registry.broken(name).unwrap().error.message;
    assert!(message.contains(said), "{message}");
}

#[test]
fn no_folder_and_an_empty_one_are_fine() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(names(&registry(folder.path())), [""; 0]);
    fs::create_dir(folder.path().join("lib")).unwrap();
    assert_eq!(names(&registry(folder.path())), [""; 0]);
}

#[test]
fn functions_are_the_files_directly_inside() {
    let folder = project(&[
        ("lib/orders.star", FETCH),
        ("lib/_A1.star", FETCH),
        ("lib/sub/inner.star", FETCH),
        ("lib/.hidden.star", "this is not Starlark"),
        ("lib/.star", "this is not Starlark"),
        ("lib/notes.md", "this is not Starlark"),
        ("lib/x.star.bak", "this is not Starlark"),
        ("lib/x.STAR", "this is not Starlark"),
        ("lib/star", "this is not Starlark"),
        ("lib/folder.star/x.star", FETCH),
        ("other.star", FETCH),
    ]);
    let registry = registry(folder.path());
    assert_eq!(names(&registry), ["_A1", "orders"]);
    assert_eq!((broken(&registry), helpers(&registry)), (vec![], vec![]));
    assert_eq!(registry.get("orders").unwrap().path, Path::new("lib/orders.star"));
}

#[test]
fn names_are_found_in_any_case_and_reserved_words_are_legal() {
    let folder = project(&[("lib/Order.star", FETCH), ("lib/select.star", FETCH), ("lib/_.star", FETCH)]);
    let registry = registry(folder.path());
    for (name, found) in [("order", "Order"), ("ORDER", "Order"), ("Select", "select"), ("_", "_")] {
        assert_eq!(registry.get(name).unwrap().name, found);
    }
    assert!(registry.get("orders").is_none() && registry.broken("order").is_none());
}

#[test]
fn names_that_sql_cannot_call_are_errors() {
    for stem in ["my-api", "1st", "a b", "a.b", "é", " "] {
        let path = format!("lib/{stem}.star");
        let said = format!("{path} has no name that SQL can call");
        assert_broken(&project(&[(&path, FETCH), ("lib/fine.star", FETCH)]), stem, &said);
        // Nobody calls a helper.
        assert_eq!(helpers(&registry(project(&[(&path, "X = 1\n")]).path())), [path]);
    }
}

#[test]
fn a_name_that_is_not_unicode_is_an_error() {
    let folder = project(&[("lib/fine.star", FETCH)]);
    fs::write(folder.path().join("lib").join(OsStr::from_bytes(b"a\xff.star")), FETCH).unwrap();
    assert_broken(&folder, "a\u{fffd}", "has no name that SQL can call");
}

#[test]
fn names_of_table_functions_are_errors_in_any_case() {
    for name in ["range", "Read_CSV"] {
        let path = format!("lib/{name}.star");
        assert_broken(&project(&[(&path, FETCH)]), name, "has the name of a table function of DuckDB");
        assert_eq!(helpers(&registry(project(&[(&path, "X = 1\n")]).path())), [path]);
    }
}

#[test]
fn files_whose_names_differ_in_case_only_are_all_broken() {
    let folder = project(&[
        ("lib/api.star", FETCH),
        ("lib/API.star", FETCH),
        ("lib/Api.star", "API = {}\n"),
        ("lib/fine.star", FETCH),
    ]);
    let registry = registry(folder.path());
    assert_eq!((names(&registry), broken(&registry)), (vec!["fine"], vec!["API", "Api", "api"]));
    assert!(registry.get("api").is_none());
    let messages: Vec<_> = registry.all_broken().map(|broken| broken.error.message.as_str()).collect();
    assert!(messages[0].contains("lib/API.star has the same name as lib/Api.star but for its case"), "{messages:?}");
    assert!(messages[1].contains("at least one of"), "{messages:?}");
    assert!(messages[2].contains("lib/api.star has the same name as"), "{messages:?}");
}

#[test]
fn files_without_api_are_helpers_and_must_parse() {
    let folder = project(&[
        ("lib/paging.star", "def pages(): pass\n"),
        ("lib/_private.star", ""),
        ("lib/inner.star", "def f():\n    API = {}\n    return API\n"),
        ("lib/api_lower.star", "api = {\"fetch\": {}}\n"),
        ("lib/bad.star", "def pages(:\n"),
    ]);
    let registry = registry(folder.path());
    let all = ["lib/_private.star", "lib/api_lower.star", "lib/inner.star", "lib/paging.star"];
    assert_eq!(helpers(&registry), all);
    assert_eq!(broken(&registry), ["bad"]);
    assert!(registry.get("paging").is_none() && registry.broken("paging").is_none());
}

#[test]
fn a_broken_file_leaves_the_others_alone() {
    let folder = project(&[
        ("lib/a.star", FETCH),
        ("lib/b.star", "API = {\"fetch\": {\"args\": 1}}\n"),
        ("lib/c.star", FETCH),
        ("lib/d.star", "load(\"lib/missing.star\", \"x\")\n"),
    ]);
    let registry = registry(folder.path());
    assert_eq!((names(&registry), broken(&registry)), (vec!["a", "c"], vec!["b", "d"]));
    assert_eq!(registry.broken("B").unwrap().path, Path::new("lib/b.star"));
}

#[test]
fn links_may_lead_anywhere_within_the_project() {
    let folder = project(&[("shared/real.star", FETCH)]);
    fs::create_dir(folder.path().join("lib")).unwrap();
    symlink("../shared/real.star", folder.path().join("lib/linked.star")).unwrap();
    assert_eq!(names(&registry(folder.path())), ["linked"]);

    let folder = project(&[("shared/real.star", FETCH)]);
    symlink("shared", folder.path().join("lib")).unwrap();
    assert_eq!(names(&registry(folder.path())), ["real"]);

    // The project itself may be behind a link.
    let outer = tempfile::tempdir().unwrap();
    symlink(folder.path(), outer.path().join("link")).unwrap();
    assert_eq!(names(&registry(&outer.path().join("link"))), ["real"]);
}

#[test]
fn links_out_of_the_project_are_errors() {
    let outside = project(&[("real.star", FETCH)]);
    let folder = project(&[("lib/fine.star", FETCH)]);
    symlink(outside.path().join("real.star"), folder.path().join("lib/api.star")).unwrap();
    assert_broken(&folder, "api", "outside project directory");

    let folder = tempfile::tempdir().unwrap();
    symlink(outside.path(), folder.path().join("lib")).unwrap();
    let error = Registry::read(folder.path(), |_| false).unwrap_err();
    assert!(error.message.contains("lib/ lies outside project directory"), "{error}");
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "lib", "a file");
    let error = Registry::read(folder.path(), |_| false).unwrap_err();
    assert!(error.message.starts_with("read lib/: "), "{error}");

    let folder = project(&[("lib/fine.star", FETCH)]);
    symlink("nowhere", folder.path().join("lib/api.star")).unwrap();
    assert_broken(&folder, "api", "lib/api.star: No such file");

    let folder = tempfile::tempdir().unwrap();
    symlink("nowhere", folder.path().join("lib")).unwrap();
    assert!(Registry::read(folder.path(), |_| false).is_err());

    let folder = project(&[("lib/api.star", b"# fine\nX = \"\xff\"\n")]);
    assert_broken(&folder, "api", "lib/api.star: line 2 is not UTF-8");

    let folder = project(&[("lib/api.star", "#".repeat((16 << 20) + 1))]);
    assert_broken(&folder, "api", "lib/api.star is larger than 16777216 bytes");
}
