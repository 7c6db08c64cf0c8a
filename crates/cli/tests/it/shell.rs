//! What a shell is told: completion while somebody types, and man pages.

use std::process::Command;

use testkit::Project;

use crate::{BINARY, project};

/// What is offered for the last of these words.
fn offered(project: &Project, words: &[&str]) -> Vec<String> {
    let mut command = project.command(&[]);
    command.env("ONDATRASQL_COMPLETE", "fish").args(["--", "ondatrasql"]).args(words);
    let output = command.output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

#[test]
fn commands_flags_values_and_models_are_offered() {
    let project = project();
    project.model("raw/orders", "SELECT 1 AS id");
    project.model("raw/odd", "SELECT broken FROM");
    project.model("mart/sums", "SELECT 1 AS id");
    let env = std::fs::read_to_string(project.root().join(".env")).unwrap();
    let provider =
        ["CLIENT_ID", "CLIENT_SECRET", "AUTH_URL", "TOKEN_URL", "SCOPE"].map(|part| format!("CRM_{part}=x\n"));
    project.write(".env", &format!("{env}{}", provider.concat()));
    assert_eq!(offered(&project, &["hist"]), ["history"]);
    assert_eq!(offered(&project, &["queue", "re"]), ["retry", "reset"]);
    assert_eq!(offered(&project, &["run", "--full"]), ["--full-refresh"]);
    assert_eq!(offered(&project, &["sql", "--format", ""]), ["csv", "json", "markdown"]);
    for command in [&["run"][..], &["query"], &["history"], &["describe"], &["lineage"], &["check"], &["queue", "show"]]
    {
        let words = [command, &["raw."]].concat();
        assert_eq!(offered(&project, &words), ["raw.odd", "raw.orders"], "{command:?}");
    }
    assert_eq!(offered(&project, &["lineage", "o"]), ["overview"]);
    assert_eq!(offered(&project, &["auth", "c"]), ["crm"]);
    // Nothing is known outside of a project, and that is no error.
    assert_eq!(offered(&Project::empty(BINARY), &["run", "raw"]), Vec::<String>::new());
}

#[test]
fn files_are_offered_where_a_command_takes_them() {
    let project = project();
    project.model("raw/orders", "SELECT 1 AS id");
    project.model("mart/sums", "SELECT 1 AS id");
    project.write("models/raw/notes.md", "");
    project.write("lib/crm.star", "API = {\"fetch\": {}}\ndef fetch(page):\n    return []\n");
    for command in ["run", "sandbox", "check", "query", "history", "describe", "lineage"] {
        assert_eq!(offered(&project, &[command, "mod"]), ["models/"], "{command}");
        assert_eq!(offered(&project, &[command, "models/raw/"]), ["models/raw/orders.sql"], "{command}");
        assert_eq!(offered(&project, &[command, "lib/"]), Vec::<String>::new(), "{command}");
    }
    let no_flags = |words: &[&str]| -> Vec<String> {
        offered(&project, words).into_iter().filter(|word| !word.starts_with('-')).collect()
    };
    assert_eq!(no_flags(&["validate", ""]), ["lib/", "models/"]);
    assert_eq!(offered(&project, &["validate", "models/raw/o"]), ["models/raw/orders.sql"]);
    assert_eq!(offered(&project, &["validate", "lib/"]), ["lib/crm.star"]);
    // Names come first, and alone as long as nothing is typed.
    assert_eq!(offered(&project, &["run", "m"]), ["mart.sums", "models/"]);
    assert_eq!(no_flags(&["run", ""]), ["mart.sums", "raw.orders"]);
    std::fs::write(project.root().join("lake.prom"), "").unwrap();
    assert_eq!(offered(&project, &["run", "--metrics-file", "lake.p"]), ["lake.prom"]);
}

#[test]
fn words_of_edit_blueprints_and_commands_behind_help_are_offered() {
    let project = project();
    project.model("raw/orders", "SELECT 1 AS id");
    project.write("config/macros/own.sql", "");
    project.write("lib/crm.star", "API = {\"fetch\": {}}\ndef fetch(page):\n    return []\n");
    assert_eq!(offered(&project, &["edit", "s"]), ["state", "sources", "secrets", "settings"]);
    assert_eq!(offered(&project, &["edit", "macros/o"]), ["macros/own"]);
    assert_eq!(offered(&project, &["edit", "raw"]), ["raw.orders"]);
    assert_eq!(offered(&project, &["describe", "blueprint", "c"]), ["crm"]);
    assert_eq!(offered(&project, &["describe", "b"]), ["blueprint"]);
    assert_eq!(offered(&project, &["help", "li"]), ["lineage"]);
    assert_eq!(offered(&project, &["help", "flu"]), ["flush"]);
}

/// What bash offers for the last of these words, split as bash splits them.
fn offered_by_bash(project: &Project, words: &[&str]) -> String {
    let program = "source <(\"$0\" completions bash) && COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1)) && \
                   _clap_complete_ondatrasql ondatrasql \"${COMP_WORDS[COMP_CWORD]}\" x && \
                   printf '%s\\n' \"${COMPREPLY[@]}\"";
    let mut bash = Command::new("bash");
    let output = bash.args(["-c", program, BINARY, "ondatrasql"]).args(words).current_dir(project.root()).output();
    let output = output.unwrap();
    assert!(output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn bash_completes_with_the_lines_that_it_is_given() {
    let project = project();
    project.model("raw/orders", "SELECT 1 AS id");
    assert_eq!(offered_by_bash(&project, &["run", "raw.o"]), "raw.orders");
    assert_eq!(offered_by_bash(&project, &["run", "models/raw/o"]), "models/raw/orders.sql");
    // Bash takes `--format=s` apart, and puts what it gets in the place of the last part.
    assert_eq!(offered_by_bash(&project, &["lineage", "raw.orders", "--format", "=", "s"]), "svg");
    assert_eq!(offered_by_bash(&project, &["validate", "--output", "=", "n"]), "ndjson");
    assert_eq!(offered_by_bash(&project, &["run", "--jobs", "=", "2", "raw."]), "raw.orders");
}

#[test]
fn every_shell_gets_its_lines_and_others_are_refused() {
    let nowhere = Project::empty(BINARY);
    for shell in ["bash", "zsh", "fish"] {
        let output = nowhere.run(&["completions", shell]).success();
        assert!(output.stdout.contains("ONDATRASQL_COMPLETE") && output.stdout.contains(shell), "{}", output.stdout);
    }
    assert!(nowhere.run(&["completions", "tcsh"]).failure(2).stderr.contains("tcsh"));
    nowhere.run(&["completions"]).failure(2);
}

#[test]
fn there_is_a_page_for_each_command() {
    let nowhere = Project::empty(BINARY);
    let first = nowhere.run(&["man"]).success().stdout;
    assert!(first.contains(".TH ondatrasql 1") && first.contains("ondatrasql\\-run(1)"), "{first}");
    let output = nowhere.run(&["man", "--dir", "share/man1"]).success();
    assert!(output.stdout.starts_with("Wrote "), "{}", output.stdout);
    let page = |name: &str| std::fs::read_to_string(nowhere.root().join("share/man1").join(name)).unwrap();
    assert!(page("ondatrasql-run.1").contains("\\-\\-full\\-refresh"));
    assert!(page("ondatrasql-run.1").contains("Examples:\n.nf\n  ondatrasql run\n  ondatrasql run staging.orders\n"));
    assert!(page("ondatrasql-queue-retry.1").contains(".TH ondatrasql-queue-retry 1"));
    // Help names every command; each has its page.
    let help = nowhere.run(&["help"]).success().stdout;
    let commands = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    for line in commands.lines() {
        let name = line.split_whitespace().next().unwrap();
        assert!(page(&format!("ondatrasql-{name}.1")).contains(".SH NAME"), "{name}");
    }
    nowhere.write("taken", "");
    for folder in ["taken", "taken/below", "/proc/zz"] {
        let output = nowhere.run(&["man", "--dir", folder]).failure(1);
        let expected = format!("error: write man pages into {folder}: ");
        assert!(output.stderr.starts_with(&expected), "{}", output.stderr);
        assert!(
            output.stderr.contains("[CLI-005]") && output.stderr.contains("help: name a folder"),
            "{}",
            output.stderr
        );
        assert_eq!(output.stdout, "");
    }
}
