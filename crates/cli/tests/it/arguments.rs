//! The form of the command line: help, `--json` anywhere, mistakes and their exit codes.

use testkit::Project;

use crate::{BINARY, project};

#[test]
fn help_names_every_command_and_succeeds() {
    let folder = Project::empty(BINARY);
    let help = folder.run(&[]).success().stdout;
    assert!(help.starts_with(&format!("OndatraSQL v{}", env!("CARGO_PKG_VERSION"))), "{help}");
    let scripts = ["flush", "merge", "expire", "rewrite", "cleanup", "orphaned", "checkpoint"];
    for command in [
        "init", "new", "edit", "run", "queue", "push", "history", "stats", "describe", "lineage", "sandbox", "sql",
        "query", "version", "help",
    ]
    .iter()
    .chain(&scripts)
    {
        assert!(help.contains(&format!("  {command} ")), "{command} is missing:\n{help}");
        let own = folder.run(&[command, "--help"]).success().stdout;
        assert!(own.contains(&format!("Usage: ondatrasql {command}")), "{own}");
        assert_eq!(folder.run(&["help", command]).success().stdout, own);
    }
    for same in [&["help"][..], &["-h"], &["--help"]] {
        assert_eq!(folder.run(same).success().stdout, help);
    }
}

#[test]
fn version_is_one_line_or_one_document() {
    let folder = Project::empty(BINARY);
    assert_eq!(folder.run(&["version"]).success().stdout, format!("{}\n", env!("CARGO_PKG_VERSION")));
    let json = format!("{{\"schema_version\":1,\"version\":\"{}\"}}\n", env!("CARGO_PKG_VERSION"));
    for args in [&["--json", "version"][..], &["version", "--json"], &["--json", "version", "--json"]] {
        assert_eq!(folder.run(args).success().stdout, json);
    }
}

#[test]
fn mistakes_exit_with_2_and_say_what_is_wrong() {
    let project = project();
    for (args, expected) in [
        (&["frobnicate"][..], "unknown command: frobnicate"),
        (&["rnu"], "did you mean `run`?"),
        (&["help", "nope"], "unknown command: nope"),
        (&["--nope"], "unknown flag: --nope"),
        (&["run", "--nope"], "unknown flag: --nope"),
        (&["run", "--json=1"], "unknown flag: --json"),
        (&["run", "a.b", "c.d"], "extra args"),
        (&["run", "--state-wait"], "requires a value"),
        (&["run", "--state-wait", "soon"], "invalid --state-wait value: soon"),
        (&["version", "x"], "unexpected args"),
        (&["init", "x"], "unexpected args"),
        (&["sql"], "usage: ondatrasql sql"),
        (&["sql", ""], "usage: ondatrasql sql"),
        (&["sql", "SELECT 1", "x"], "unexpected argument"),
        (&["sql", "SELECT 1", "--format"], "requires a value"),
        (&["sql", "SELECT 1", "--format", "xml"], "invalid --format value"),
        (&["sql", "SELECT 1", "--nope"], "unknown flag: --nope"),
    ] {
        let output = project.run(args).failure(2);
        assert!(
            output.stderr.starts_with("error: ") && output.stderr.contains(expected),
            "{args:?}: {}",
            output.stderr
        );
        assert_eq!(output.stdout, "", "{args:?}");
    }
}

#[test]
fn output_in_a_pipe_has_no_escape_bytes() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS a");
    project.model("raw/b", "SELECT nope");
    let output = project.run(&["run"]).failure(1);
    assert!(!output.stdout.contains('\u{1b}') && !output.stderr.contains('\u{1b}'));
}

/// `script` gives the command a terminal.
fn on_a_terminal(project: &Project, env: &[(&str, &str)]) -> String {
    let mut script = std::process::Command::new("script");
    script
        .args(["-qec", &format!("{BINARY} run"), "/dev/null"])
        .current_dir(project.root())
        .env("TERM", "xterm")
        .env("TMPDIR", project.temp_root())
        .envs(env.iter().copied());
    String::from_utf8(script.output().unwrap().stdout).unwrap()
}

#[test]
fn a_terminal_gets_colors_and_progress_and_no_color_is_respected() {
    let project = project();
    project.model("raw/a", "SELECT count(*) AS n FROM range(30000) a(i), range(30000) b(j) WHERE (i * j) % 7 = 3");
    let colored = on_a_terminal(&project, &[]);
    assert!(colored.contains("\u{1b}[32m[OK]\u{1b}[0m raw.a"), "{colored:?}");
    assert!(
        colored.contains("0/1 raw.a") && colored.contains("\u{1b}[2K"),
        "a bar after a second, erased at the end: {colored:?}"
    );
    for plain in [[("NO_COLOR", "1")], [("TERM", "dumb")]] {
        let text = on_a_terminal(&project, &plain);
        assert!(!text.contains('\u{1b}') && text.contains("[SKIP] raw.a"), "{text:?}");
    }
}
