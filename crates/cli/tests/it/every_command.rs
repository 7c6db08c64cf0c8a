//! What holds for every command: without a project, with a broken one, in a pipe, on a terminal, with its help.

use std::io::Read;
use std::process::Stdio;

use testkit::Project;

use crate::BINARY;
use crate::terminal::on_terminal_with;

/// A call of each command that looks at a project, with the code that it ends with in one with a table `raw.a`.
pub const CALLS: [(&[&str], i32); 25] = [
    (&["run"], 0),
    (&["run", "raw.a"], 0),
    (&["check"], 0),
    (&["validate"], 0),
    (&["sandbox"], 0),
    (&["sandbox", "raw.a"], 0),
    (&["sql", "SELECT * FROM raw.a"], 0),
    (&["query", "raw.a"], 0),
    (&["history"], 0),
    (&["history", "raw.a"], 0),
    (&["describe", "raw.a"], 0),
    (&["describe", "blueprint"], 0),
    (&["stats"], 0),
    (&["doctor"], 0),
    (&["lineage", "overview"], 0),
    (&["lineage", "raw.a"], 0),
    (&["lineage", "raw.a.id"], 0),
    (&["queue"], 0),
    (&["queue", "drain"], 0),
    (&["state", "status"], 0),
    (&["auth", "status"], 0),
    (&["flush"], 0),
    (&["merge"], 0),
    (&["expire"], 0),
    (&["checkpoint"], 0),
];

pub fn with_a_table() -> Project {
    let project = Project::empty(BINARY);
    project.run(&["init"]).success();
    project.model("raw/a", "SELECT range AS id, 'wide 日本' AS name FROM range(2000)");
    project.run(&["run"]).success();
    project
}

#[test]
fn the_path_of_a_file_stands_for_its_model() {
    let project = with_a_table();
    let (root, below) = (project.root().clone(), project.root().join("models/raw"));
    let (root, below) = (root.as_path(), below.as_path());
    let told = |folder: &std::path::Path, words: &[&str]| {
        let output = project.command(words).current_dir(folder).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    for command in ["describe", "lineage", "history", "query", "run", "sandbox", "check"] {
        // What takes time tells another one each time.
        let is_same = !["run", "sandbox", "check"].contains(&command);
        let named = told(root, &[command, "raw.a"]);
        for (folder, path) in [(root, "models/raw/a.sql"), (below, "a.sql"), (below, "models/raw/a.sql")] {
            let by_path = told(folder, &[command, path]);
            assert!(by_path.contains("raw.a") || command == "query", "{command}: {by_path}");
            assert!(!is_same || by_path == named, "{command}: {by_path}\n{named}");
        }
    }
    // What becomes of the table is told also without the file, and what never was is as it was typed.
    std::fs::remove_file(below.join("a.sql")).unwrap();
    assert!(told(below, &["history", "a.sql"]).contains("raw.a"));
    assert!(told(below, &["describe", "models/raw/a.sql"]).contains("raw.a"));
    let unknown = project.run(&["describe", "models/raw/b.sql"]).failure(1);
    assert!(unknown.stderr.contains("model \"raw.b\" not found"), "{}", unknown.stderr);
}

#[test]
fn who_only_looks_makes_no_lake() {
    let look: [(&[&str], i32, &str); 10] = [
        (&["stats"], 0, "No model has run yet"),
        (&["history"], 0, "No runs found"),
        (&["history", "raw.a"], 0, "No runs found"),
        (&["describe", "raw.a"], 1, "raw.a has not been run yet"),
        (&["describe", "raw.b"], 1, "model \"raw.b\" not found"),
        (&["lineage", "overview"], 0, "No models found"),
        (&["lineage", "raw.a"], 1, "raw.a has not been run yet"),
        (&["query", "raw.a"], 1, "raw"),
        (&["check", "raw.a"], 1, "raw.a has no table yet"),
        (&["edit", "raw.b"], 1, "raw.b not found"),
    ];
    for catalog in ["sqlite", "duckdb"] {
        let project = Project::empty(BINARY);
        project.run(&["init", "--catalog", catalog]).success();
        project.model("raw/a", "SELECT 1 AS id");
        let before = project.files();
        for (call, code, expected) in look {
            let output = project.run(call);
            assert_eq!(output.code, code, "{call:?}: {}", output.stderr);
            assert!(format!("{}{}", output.stdout, output.stderr).contains(expected), "{call:?}: {}", output.stderr);
            let tells = output.stderr.starts_with("note: there is no lake yet (ducklake.");
            assert!(tells || ["check", "edit"].contains(&call[0]), "{call:?}: {}", output.stderr);
            assert_eq!(project.files(), before, "{call:?} made something");
        }
        let stats = project.run(&["stats", "--json"]).success().stdout;
        assert!(stats.contains("\"model_count\":0") && !stats.contains("data_path"), "{stats}");
        // Files without the catalog that knows them are no new project.
        project.write(&format!("ducklake.{catalog}.files/raw/a/x.parquet"), "rows");
        let warning = project.run(&["history"]).success().stderr;
        assert!(warning.starts_with("warning: ") && warning.contains("bring it back from a backup"), "{warning}");
        assert!(!project.root().join(format!("ducklake.{catalog}")).exists());
        // What runs makes it, and from then on there is one.
        project.run(&["run"]).success();
        assert_eq!(project.run(&["query", "raw.a"]).success().stderr, "");
    }
}

#[test]
fn outside_of_a_project_each_says_so() {
    let nowhere = Project::empty(BINARY);
    for (call, _) in CALLS {
        let output = nowhere.run(call).failure(1);
        assert!(output.stderr.contains("not in an ondatrasql project"), "{call:?}: {}", output.stderr);
        assert_eq!(output.stdout, "", "{call:?}");
    }
}

#[test]
fn in_a_pipe_nothing_is_colored_and_json_is_json() {
    let project = with_a_table();
    for (call, code) in CALLS {
        let output = project.run(call);
        assert_eq!(output.code, code, "{call:?}: {}{}", output.stdout, output.stderr);
        let all = format!("{}{}", output.stdout, output.stderr);
        assert!(!all.contains('\u{1b}') && !all.contains("panicked"), "{call:?}: {all}");
        let output = project.run(&[call, &["--json"]].concat());
        assert_eq!(output.code, code, "{call:?}: {}", output.stderr);
        // That of `validate` is indented.
        let documents =
            if call == ["validate"] { vec![output.stdout.as_str()] } else { output.stdout.lines().collect() };
        for document in documents {
            let read: Result<serde_json::Value, _> = serde_json::from_str(document);
            assert!(read.is_ok_and(|value| value.is_object()), "{call:?}: {document}");
        }
    }
}

/// `| head -1`: nobody reads on.
#[test]
fn a_pipe_that_is_closed_early_ends_without_a_word() {
    let project = with_a_table();
    for (call, _) in CALLS {
        let mut child = project.command(call).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        child.wait().unwrap();
        assert!(!stderr.contains("panicked") && !stderr.contains("Broken pipe"), "{call:?}: {stderr}");
    }
}

#[test]
fn on_a_terminal_lines_fit_and_no_color_is_respected() {
    let project = with_a_table();
    let look: [&[&str]; 6] =
        [&["history"], &["stats"], &["describe", "raw.a"], &["doctor"], &["lineage", "raw.a"], &["checkpoint"]];
    for call in look {
        let (narrow, code) = on_terminal_with(&project, 60, ("NO_COLOR", "1"), call);
        assert_eq!(code, 0, "{call:?}: {narrow}");
        assert!(!narrow.contains("\u{1b}[3"), "{call:?}: {narrow}");
        for line in narrow.lines().filter(|line| line.starts_with(['│', '║', '╭', '╔'])) {
            assert!(unicode_width::UnicodeWidthStr::width(line.trim_end()) <= 60, "{call:?}: {line}");
        }
    }
}

#[test]
fn with_a_broken_configuration_each_says_where() {
    let project = with_a_table();
    project.write("config/catalog.sql", "ATTACH 'ducklake:sqlite:ducklake.sqlite' AS lake (DATA_PATHH 'x');");
    // These look at files alone, or at the state.
    let others = ["validate", "queue", "state", "auth"];
    for (call, _) in CALLS.iter().filter(|(call, _)| !others.contains(&call[0]) && call[1..] != ["blueprint"]) {
        let output = project.run(call).failure(1);
        let all = format!("{}{}", output.stdout, output.stderr);
        assert!(all.contains("help: "), "{call:?}: {all}");
    }
}

#[test]
fn each_has_help_with_an_example() {
    let nowhere = Project::empty(BINARY);
    let names = CALLS.iter().map(|(call, _)| call[0]);
    let others = ["init", "new", "edit", "push", "auth", "completions", "man", "state serve", "state copy"];
    let more = ["state rekey", "rewrite", "cleanup", "orphaned", "version", "help"];
    for name in names.chain(others).chain(more) {
        let words: Vec<&str> = name.split(' ').chain(["--help"]).collect();
        let output = nowhere.run(&words).success();
        let help = output.stdout.to_lowercase();
        assert!(
            help.contains("usage: ondatrasql ") && (help.contains("example") || help.contains("start file")),
            "{name}: {help}"
        );
        assert_eq!(output.stderr, "", "{name}");
    }
}
