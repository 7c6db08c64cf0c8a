//! `ondatrasql edit`: which file is opened, and with what (chapter 05 §3.4).

use std::fs;
use std::os::unix::fs::PermissionsExt;

use testkit::{Output, Project};

use crate::{BINARY, project};

/// Runs `edit` with an editor.
fn edit_with(project: &Project, editor: Option<&str>, args: &[&str]) -> Output {
    let mut command = project.command(&[&["edit"], args].concat());
    if let Some(editor) = editor {
        command.env("EDITOR", editor);
    }
    let output = command.output().unwrap();
    Output {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap_or(-1),
    }
}

/// The file that `edit` opens, relative to the project.
#[track_caller]
fn opened(project: &Project, target: &str) -> String {
    let output = edit_with(project, Some("echo opened"), &[target]).success();
    let path = output.stdout.strip_prefix("opened ").unwrap().trim_end();
    let root = project.root().canonicalize().unwrap();
    path.strip_prefix(root.to_str().unwrap()).unwrap().trim_start_matches('/').to_owned()
}

#[test]
fn words_and_names_lead_to_their_files() {
    let project = project();
    project.write("config/macros/helpers.sql", "");
    project.model("raw/api/orders", "SELECT 1 AS a");
    project.model("totals", "SELECT 1 AS a");
    for (target, file) in [
        ("env", ".env"),
        (".env", ".env"),
        ("catalog", "config/catalog.sql"),
        ("secrets.sql", "config/secrets.sql"),
        ("macros/helpers", "config/macros/helpers.sql"),
        ("macros/helpers.sql", "config/macros/helpers.sql"),
        ("raw.api__orders", "models/raw/api/orders.sql"),
        ("RAW.API__orders.sql", "models/raw/api/orders.sql"),
        ("main.totals", "models/totals.sql"),
    ] {
        assert_eq!(opened(&project, target), file, "{target}");
    }
    assert!(!project.files().iter().any(|file| file.starts_with("ducklake")), "the lake was not needed");
}

#[test]
fn a_model_that_left_its_place_is_found_by_its_last_commit() {
    let project = project();
    project.write("drafts/try.sql", "SELECT 1 AS a");
    project.run(&["run", "drafts/try.sql"]).success();
    assert_eq!(opened(&project, "tmp.try"), "drafts/try.sql");
    assert_eq!(opened(&project, "TMP.Try"), "drafts/try.sql");
    project.remove("drafts/try.sql");
    let output = edit_with(&project, Some("echo opened"), &["tmp.try"]).failure(1);
    assert!(output.stderr.contains("tmp.try not found") && output.stderr.contains("EDIT-002"), "{}", output.stderr);
}

#[test]
fn what_is_not_there_and_what_is_no_name_are_told_apart() {
    let project = project();
    project.run(&["new", "raw.countries"]).success();
    for (target, code, expected) in [
        ("raw.countries", 1, "raw.countries not found"),
        ("raw.a__b", 1, "`ondatrasql new raw.a.b.sql` makes it"),
        ("macros/nothing", 1, "file not found: config/macros/nothing.sql"),
        ("nonsense", 1, "nonsense not found"),
        ("../x", 2, "invalid target"),
        ("raw/orders", 2, "invalid target"),
        ("macros/", 2, "invalid target"),
        ("", 2, "invalid target"),
    ] {
        let output = edit_with(&project, Some("echo opened"), &[target]).failure(code);
        assert!(output.stderr.contains(expected) && output.stdout.is_empty(), "{target}: {}", output.stderr);
    }
    assert!(edit_with(&project, None, &[]).failure(2).stderr.contains("usage: ondatrasql edit"));
    let nowhere = Project::empty(BINARY);
    assert!(nowhere.run(&["edit", "env"]).failure(1).stderr.contains("not in an ondatrasql project"));
}

#[test]
fn a_broken_configuration_can_be_edited() {
    let project = project();
    project.write("config/catalog.sql", "ATTACH 'nothing");
    project.write(".env", "no variable");
    project.model("raw/orders", "not even SQL (");
    for (target, file) in [("env", ".env"), ("catalog", "config/catalog.sql"), ("raw.orders", "models/raw/orders.sql")]
    {
        assert_eq!(opened(&project, target), file);
    }
    assert!(edit_with(&project, Some("echo"), &["raw.gone"]).failure(1).stderr.contains("raw.gone not found"));
}

#[test]
fn the_editor_is_a_command_line_and_its_failure_is_told() {
    let project = project();
    let script = "#!/bin/sh\nshift\necho \"$# $1\" >> \"$2\"\n";
    project.write("my editor.sh", script);
    let path = project.root().join("my editor.sh");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let editor = format!("'{}' --flag \"two words\"", path.display());
    let output = edit_with(&project, Some(&editor), &["settings"]).success();
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", ""));
    assert_eq!(fs::read_to_string(project.root().join("config/settings.sql")).unwrap(), "2 two words\n");
    for (editor, expected) in [
        ("false", "editor `false` ended with exit status: 1 [EDIT-001]"),
        ("no-such-editor -x", "editor `no-such-editor` not found in PATH"),
        ("'open", "a quote is not closed"),
    ] {
        let output = edit_with(&project, Some(editor), &["env"]).failure(1);
        assert!(output.stderr.contains(expected), "{editor}: {}", output.stderr);
    }
    let json = edit_with(&project, Some("echo opened"), &["env", "--json"]).success();
    assert!(json.stdout.is_empty() && json.stderr.starts_with("opened "), "{json:?}");
}

#[test]
fn without_a_word_the_first_usual_editor_is_taken() {
    let project = project();
    let folder = project.root().join("bin");
    fs::create_dir(&folder).unwrap();
    let open = |editor: &str| {
        let mut command = project.command(&["edit", "env"]);
        command.env("PATH", &folder).env("EDITOR", editor).output().unwrap()
    };
    let none = open("");
    assert_eq!(none.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&none.stderr).contains("no editor found"), "{none:?}");
    for (name, mode) in [("gedit", 0o755), ("vi", 0o755), ("nano", 0o644)] {
        project.write(&format!("bin/{name}"), &format!("#!/bin/sh\necho {name}\n"));
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    assert_eq!(String::from_utf8_lossy(&open(" ").stdout), "vi\n", "nano cannot be executed");
}
