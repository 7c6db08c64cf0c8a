//! Files: of the project and of the folders that are allowed, nothing else.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::scene::{Scene, Stage};

/// A project with files, links, and a folder outside.
fn stage(body: &str, outside: &Path, allows: bool) -> Stage {
    fs::create_dir_all(outside.join("deep")).unwrap();
    fs::write(outside.join("s.txt"), "outside").unwrap();
    fs::write(outside.join("deep/t.txt"), "deep").unwrap();
    let env = if allows { format!("ONDATRA_FILE_ROOTS=/nowhere::{}\n", outside.display()) } else { String::new() };
    let body = body.replace("OUT", outside.to_str().unwrap());
    let stage = Scene::new("\"max_response_bytes\": 1000", &body)
        .file(".env", env)
        .file("data/a.txt", "é")
        .file("data/b/c.txt", "c")
        .file("data/[x].txt", "x")
        .file("data/big.bin", "x".repeat(1001))
        .file("data/full.bin", "x".repeat(1000))
        .stage();
    let data = stage.dir.path().join("data");
    fs::write(data.join("bad.bin"), b"\xff\x00").unwrap();
    symlink(outside.join("s.txt"), data.join("out-link.txt")).unwrap();
    symlink("a.txt", data.join("in-link.txt")).unwrap();
    symlink("nowhere", data.join("dangling.txt")).unwrap();
    symlink(outside, data.join("out-folder")).unwrap();
    stage
}

fn shown(expression: &str, allows: bool) -> Result<String, String> {
    let outside = tempfile::tempdir().unwrap();
    let got = stage(&format!("print({expression})"), outside.path(), allows).run();
    got.page.map(|_| got.lines[0].replace(outside.path().to_str().unwrap(), "OUT"))
}

#[test]
fn files_of_the_project_are_read() {
    for (expression, expected) in [
        ("read_text(\"data/a.txt\")", "é"),
        ("read_text(p=\"./data/../data/a.txt\")", "é"),
        ("read_text(\"data/in-link.txt\")", "é"),
        ("read_text(\"data/[x].txt\")", "x"),
        ("repr(read_blob(\"data/bad.bin\")), type(read_blob(\"data/a.txt\"))", "b\"\\xff\\x00\" bytes"),
        ("base64_encode(read_blob(\"data/bad.bin\"))", "/wA="),
        ("len(read_text(\"data/full.bin\"))", "1000"),
        ("md5_file(\"data/b/c.txt\")", "4a8a08f09d37b73795649038408b5f33"),
        ("file_exists(\"data/a.txt\"), file_exists(\"data\"), file_exists(\"data/none\")", "True False False"),
        (
            "file_exists(\"data/in-link.txt\"), file_exists(\"data/dangling.txt\"), file_exists(\"data/*.txt\")",
            "True False False",
        ),
    ] {
        assert_eq!(shown(expression, false).as_deref(), Ok(expected), "{expression}");
    }
}

#[test]
fn patterns_give_sorted_paths() {
    for (pattern, expected) in [
        ("data/*.none", "[]"),
        ("none/*", "[]"),
        ("data/?.txt", "[\"data/a.txt\"]"),
        ("data/b/*", "[\"data/b/c.txt\"]"),
        ("data/b/**/*.txt", "[\"data/b/c.txt\"]"),
        ("data/[ab].txt", "[\"data/a.txt\"]"),
        ("data/[[]x].txt", "[\"data/[x].txt\"]"),
        ("data/b*", "[\"data/b\", \"data/bad.bin\", \"data/big.bin\"]"),
        ("data/a.txt", "[\"data/a.txt\"]"),
    ] {
        assert_eq!(shown(&format!("glob(\"{pattern}\")"), false).as_deref(), Ok(expected), "{pattern}");
    }
}

#[test]
fn a_project_folder_may_look_like_a_pattern() {
    let outer = tempfile::Builder::new().prefix("a[b]*?").tempdir().unwrap();
    let stage = Scene::new("", "print(glob(\"data/**/*.txt\"), read_text(\"data/a.txt\"))").file("data/a.txt", "1");
    let got = stage.stage_in(outer).run();
    assert_eq!((got.page.is_ok(), got.lines), (true, vec!["[\"data/a.txt\"] 1".to_owned()]));
}

#[test]
fn what_lies_outside_is_refused_unless_it_is_allowed() {
    for (expression, allowed) in [
        ("read_text(\"OUT/s.txt\")", "outside"),
        ("read_text(\"data/out-link.txt\")", "outside"),
        ("read_text(\"data/out-folder/s.txt\")", "outside"),
        ("read_blob(\"OUT/s.txt\")", "outside"),
        ("md5_file(\"OUT/s.txt\")", "c30163615770c8b2b8873288e828de41"),
        ("file_exists(\"OUT/s.txt\")", "True"),
        ("file_exists(\"OUT/none.txt\")", "False"),
        ("glob(\"OUT/*.txt\")", "[\"OUT/s.txt\"]"),
        ("glob(\"OUT/**/*.txt\")", "[\"OUT/deep/t.txt\", \"OUT/s.txt\"]"),
        ("glob(\"data/out*.txt\")", "[\"data/out-link.txt\"]"),
    ] {
        let refused = shown(expression, false).unwrap_err();
        let function = expression.split('(').next().unwrap();
        assert!(refused.starts_with(&format!("x.fetch: {function}: ")), "{expression}: {refused}");
        assert!(refused.contains("outside of the project"), "{expression}: {refused}");
        let got = shown(expression, true).unwrap();
        if function == "md5_file" { assert_eq!(got.len(), 32) } else { assert_eq!(got, allowed, "{expression}") }
    }
    for expression in [
        "read_text(\"../x\")",
        "read_text(\"data/../../x\")",
        "read_text(\"/etc/none/none\")",
        "glob(\"../*\")",
        "glob(\"/*\")",
        "glob(\"/**\")",
        "glob(\"/**/*.csv\")",
    ] {
        let refused = shown(expression, true).unwrap_err();
        assert!(refused.contains("outside of the project"), "{expression}: {refused}");
    }
}

#[test]
fn a_script_can_not_allow_itself_more() {
    let outside = tempfile::tempdir().unwrap();
    let body = "env.set(\"ONDATRA_FILE_ROOTS\", \"OUT\")\nread_text(\"OUT/s.txt\")";
    let error = stage(body, outside.path(), false).run().page.unwrap_err();
    assert!(error.contains("outside of the project"), "{error}");
}

#[test]
fn what_is_no_such_file_is_an_error() {
    for (expression, expected) in [
        ("read_text(\"data/none.txt\")", "read_text: data/none.txt: "),
        ("read_text(\"data\")", "read_text: data is no file"),
        ("read_text(\"data/dangling.txt\")", "read_text: data/dangling.txt"),
        ("read_text(\"data/*.txt\")", "read_text: data/*.txt: "),
        ("read_text(\"data/bad.bin\")", "read_text: data/bad.bin is not UTF-8"),
        ("read_text(\"data/big.bin\")", "read_text: data/big.bin is larger than max_response_bytes (1000 bytes)"),
        ("read_blob(\"data/big.bin\")", "larger than max_response_bytes"),
        ("read_text(5)", "read_text: `p` must be str, not int"),
        ("read_blob(None)", "read_blob: `p` must be str"),
        ("md5_file([])", "md5_file: `p` must be str"),
        ("file_exists(1)", "file_exists: `p` must be str"),
        ("glob(1)", "glob: `p` must be str"),
        ("glob(\"data/[\")", "glob: "),
        ("glob(\"data/a**\")", "glob: "),
        ("read_text()", "read_text"),
    ] {
        let error = shown(expression, false).unwrap_err();
        assert!(error.starts_with("x.fetch: ") && error.contains(expected), "{expression}: {error}");
    }
}

#[test]
fn links_in_a_circle_do_not_hang() {
    let stage = Scene::new("", "print(glob(\"data/**/*.txt\"))").file("data/a.txt", "1").stage();
    symlink(".", stage.dir.path().join("data/loop")).unwrap();
    let got = stage.run();
    assert!(got.page.is_ok() && got.lines[0].contains("data/a.txt"), "{got:?}");
}

#[test]
fn folders_that_are_allowed_may_be_named_from_the_project() {
    let outer = tempfile::tempdir().unwrap();
    let shared = outer.path().join("shared");
    fs::create_dir(&shared).unwrap();
    fs::write(shared.join("a.txt"), "1").unwrap();
    let project = tempfile::tempdir_in(outer.path()).unwrap();
    let body = "print(read_text(\"../shared/a.txt\"), glob(\"../shared/*\"))";
    let got = Scene::new("", body).file(".env", "ONDATRA_FILE_ROOTS=../shared\n").stage_in(project).run();
    assert_eq!((got.page.is_ok(), got.lines), (true, vec!["1 [\"../shared/a.txt\"]".to_owned()]));
}
