//! `load`: paths from the project's folder, which must stay inside; no circles; `_names` are private.

use std::os::unix::fs::symlink;
use std::path::Path;

use tempfile::TempDir;

use crate::{project, registry, write};

const FETCH: &str = "API = {\"fetch\": {}}\ndef fetch(): pass\n";

/// A project whose `lib/api.star` loads, beside `lib/helper.star`.
fn loading(load: &str) -> TempDir {
    project(&[
        ("lib/api.star", format!("{FETCH}{load}\n").as_str()),
        ("lib/helper.star", "load(\"lib/sub/deep.star\", \"deep\")\nx = 1\n_y = 2\ndef f(): pass\n"),
        ("lib/sub/deep.star", "deep = 1\n"),
        ("shared/other.star", "x = 1\n"),
    ])
}

#[track_caller]
fn assert_loads(folder: &TempDir) {
    let registry = registry(folder.path());
    if let Some(broken) = registry.all_broken().next() {
        panic!("{}", broken.error);
    }
    assert!(registry.get("api").is_some());
}

/// Asserts what is wrong with `lib/api.star`, and the words of which line that is said of.
#[track_caller]
fn assert_broken(folder: &TempDir, said: &str, file: &str, line: usize, words: &str) {
    let registry = registry(folder.path());
    let error = &registry.broken("api").expect("api is broken").error;
    assert!(error.message.contains(said), "{error}");
    let place = error.place.as_ref().unwrap_or_else(|| panic!("no place: {error}"));
    assert_eq!((place.file(), place.line(), &place.source()[place.span()]), (Path::new(file), line, words), "{error}");
}

#[test]
fn files_are_loaded_from_anywhere_in_the_project() {
    for load in [
        "load(\"lib/helper.star\", \"x\")",
        "load(\"lib/helper.star\", \"x\", g = \"f\")",
        "load(\"./lib/./helper.star\", \"x\")",
        "load(\"lib//helper.star\", \"x\")",
        "load(\"lib/sub/deep.star\", \"deep\")",
        "load(\"shared/other.star\", \"x\")",
        "load(\"lib/helper.star\", \"x\")\nload(\"lib/helper.star\", y = \"x\")",
        "load(\"lib/helper.star\", \"x\")\nload(\"lib/sub/deep.star\", \"deep\")",
    ] {
        assert_loads(&loading(load));
    }
}

#[test]
fn paths_out_of_the_project_are_errors() {
    for path in ["../x.star", "lib/../../x.star", "lib/../lib/helper.star", "/etc/passwd", "/lib/helper.star", ""] {
        let words = format!("\"{path}\"");
        let folder = loading(&format!("load({words}, \"x\")"));
        assert_broken(&folder, "path traversal", "lib/api.star", 3, &words);
    }
}

#[test]
fn links_out_of_the_project_are_errors() {
    let outside = project(&[("real.star", "x = 1\n")]);
    let folder = loading("load(\"shared/link.star\", \"x\")");
    symlink(outside.path().join("real.star"), folder.path().join("shared/link.star")).unwrap();
    assert_broken(&folder, "outside project directory (path traversal)", "lib/api.star", 3, "\"shared/link.star\"");
    let folder = loading("load(\"linked/real.star\", \"x\")");
    symlink(outside.path(), folder.path().join("linked")).unwrap();
    assert_broken(&folder, "outside project directory (path traversal)", "lib/api.star", 3, "\"linked/real.star\"");
    let folder = loading("load(\"shared/link.star\", \"x\")");
    symlink("other.star", folder.path().join("shared/link.star")).unwrap();
    assert_loads(&folder);
}

#[test]
fn files_that_are_not_there_are_errors() {
    for (path, said) in [
        ("lib/missing.star", "lib/missing.star: No such file"),
        ("missing/x.star", "missing/x.star: No such file"),
        ("helper.star", "helper.star: No such file"),
        ("lib/helper", "lib/helper: No such file"),
        ("lib/sub", "lib/sub is not a file"),
    ] {
        let words = format!("\"{path}\"");
        assert_broken(&loading(&format!("load({words}, \"x\")")), said, "lib/api.star", 3, &words);
    }
}

#[test]
fn circles_are_errors() {
    let folder = project(&[("lib/api.star", "load(\"lib/api.star\", \"x\")\n")]);
    assert_broken(&folder, "load of lib/api.star makes a cycle", "lib/api.star", 1, "\"lib/api.star\"");
    let folder = project(&[
        ("lib/api.star", "load(\"lib/b.star\", \"x\")\n"),
        ("lib/b.star", "\nload(\"lib/c.star\", \"x\")\n"),
        ("lib/c.star", "\n\nload(\"./lib/b.star\", \"x\")\n"),
    ]);
    assert_broken(&folder, "load of lib/b.star makes a cycle", "lib/c.star", 3, "\"./lib/b.star\"");
    let folder = project(&[("lib/api.star", "load(\"lib/sub/link.star\", \"x\")\n"), ("lib/sub/x", "")]);
    symlink("../api.star", folder.path().join("lib/sub/link.star")).unwrap();
    assert_broken(&folder, "makes a cycle", "lib/sub/link.star", 1, "\"lib/sub/link.star\"");
}

#[test]
fn two_ways_to_one_file_are_no_circle() {
    assert_loads(&project(&[
        ("lib/api.star", format!("{FETCH}load(\"lib/b.star\", \"b\")\nload(\"lib/c.star\", \"c\")\n").as_str()),
        ("lib/b.star", "load(\"lib/d.star\", \"d\")\nb = 1\n"),
        ("lib/c.star", "load(\"lib/d.star\", \"d\")\nc = 1\n"),
        ("lib/d.star", "d = 1\n"),
    ]));
}

#[test]
fn a_long_row_of_loads_is_an_error_not_a_crash() {
    let folder = project(&[("lib/api.star", "load(\"lib/sub/0.star\", \"x\")\n")]);
    for at in 0..300 {
        write(folder.path(), &format!("lib/sub/{at}.star"), format!("load(\"lib/sub/{}.star\", \"x\")\n", at + 1));
    }
    let registry = registry(folder.path());
    assert!(registry.broken("api").unwrap().error.message.contains("more than 100 files load each other in a row"));
}

#[test]
fn only_a_files_own_public_names_can_be_loaded() {
    for (load, said, words) in [
        ("load(\"lib/helper.star\", \"_y\")", "`_y` is private to lib/helper.star", "\"_y\""),
        ("load(\"lib/helper.star\", y = \"_y\")", "`_y` is private to lib/helper.star", "\"_y\""),
        ("load(\"lib/helper.star\", \"z\")", "lib/helper.star has no `z` of its own", "\"z\""),
        ("load(\"lib/helper.star\", \"deep\")", "lib/helper.star has no `deep` of its own", "\"deep\""),
        ("load(\"lib/helper.star\", \"X\")", "lib/helper.star has no `X` of its own", "\"X\""),
    ] {
        assert_broken(&loading(load), said, "lib/api.star", 3, words);
    }
    assert_loads(&loading("load(\"lib/helper.star\", _private = \"x\")"));
}

#[test]
fn a_fault_in_what_is_loaded_is_shown_there() {
    for (text, said, line, words) in [
        ("x = 1\nx = 2\n", "lib/sub/bad.star: the name `x` is bound a second time", 2, "x"),
        ("x = 1\ny = = 2\n", "lib/sub/bad.star: unexpected", 2, "="),
        ("x = 1\nwhile x:\n  pass\n", "lib/sub/bad.star: `while` stands outside of a function", 2, "while"),
    ] {
        let load = format!("{FETCH}load(\"lib/sub/bad.star\", \"x\")\n");
        assert_broken(
            &project(&[("lib/api.star", load.as_str()), ("lib/sub/bad.star", text)]),
            said,
            "lib/sub/bad.star",
            line,
            words,
        );
    }
}

#[test]
fn load_stands_at_the_top_level_with_names() {
    for (text, said, words) in [
        ("def f():\n    load(\"lib/helper.star\", \"x\")", "`load` must only occur at the top of a module", ""),
        ("load(\"lib/helper.star\")", "at least two arguments", ""),
        ("load(\"lib/helper.star\", x)", "expected string literal in load statement", "x"),
        ("load(1, \"x\")", "unexpected", "1"),
    ] {
        let registry = registry(loading(text).path());
        let error = &registry.broken("api").unwrap().error;
        assert!(error.message.contains(said), "{error}");
        let place = error.place.as_ref().unwrap();
        assert!(place.source()[place.span()].contains(words), "{error}");
    }
}

#[test]
fn functions_that_are_loaded_are_the_files_functions() {
    let text = |args: &str| {
        format!("API = {{\"fetch\": {{\"args\": {args}}}}}\nload(\"lib/base.star\", fetch = \"get_all\")\n")
    };
    let base = ("lib/base.star", "def get_all(a, page):\n    pass\n");
    assert_loads(&project(&[("lib/api.star", text("['a']").as_str()), base]));
    for (args, said) in [("['b']", "fetch(): missing parameter \"b\""), ("[]", "fetch(): undeclared parameter \"a\"")] {
        let folder = project(&[("lib/api.star", text(args).as_str()), base]);
        assert_broken(&folder, said, "lib/api.star", 2, "fetch");
    }
}
