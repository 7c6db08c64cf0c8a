//! The calls in the docs, read as the command line reads them.

use std::fs;
use std::path::PathBuf;

use super::ask::prepare_sql;
use super::described;
use crate::invocation::given;

fn pages() -> Vec<PathBuf> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let folders = ["docs", "docs/checks", "docs/errors"].map(|folder| root.join(folder));
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .chain([root.join("README.md")])
        .collect()
}

/// The calls of the program in the blocks for a shell, without what describes a form: `[…]`, `<…>`.
fn calls(page: &str) -> Vec<String> {
    let mut is_shell = false;
    let lines = page.lines().filter(|line| {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            is_shell = ["sh", "console", "bash"].contains(&language);
        }
        is_shell
    });
    let calls = lines.filter_map(|line| {
        let line = line.trim_start();
        line.strip_prefix("$ ").unwrap_or(line).strip_prefix("ondatrasql ")
    });
    calls.filter(|call| !call.contains(['[', '<', '…'])).map(str::to_owned).collect()
}

/// What is read today was read when it was written, or the page is wrong.
#[test]
fn every_call_in_the_docs_is_understood() {
    let mut count = 0;
    for path in pages() {
        for call in calls(&fs::read_to_string(&path).unwrap()) {
            let words = shlex::split(&call).unwrap_or_else(|| panic!("{}: {call}", path.display()));
            let is_end = |word: &String| ["|", ">", "2>", "&&", ";"].contains(&word.as_str());
            let words: Vec<String> = words.into_iter().take_while(|word| !is_end(word)).collect();
            let words = if words[0] == "sql" { prepare_sql(&words) } else { words };
            let name = || std::iter::once("ondatrasql".to_owned());
            let words = given(name().chain(words).map(Into::into)).words;
            let line: Vec<String> = name().chain(words).collect();
            let read = described().try_get_matches_from(line);
            assert!(read.is_ok(), "{}: {call}: {}", path.display(), read.unwrap_err());
            count += 1;
        }
    }
    assert!(count > 30, "only {count} calls were found");
}

fn missing_in_usage(command: &mut clap::Command, missing: &mut Vec<String>) {
    let usage = command.render_usage().to_string();
    let flags = command.get_arguments().filter(|argument| !argument.is_hide_set()).filter_map(clap::Arg::get_long);
    let told = flags.filter(|flag| *flag != "help" && !usage.contains(&format!("--{flag}")));
    missing.extend(told.map(|flag| format!("{}: --{flag}", command.get_name())));
    command.get_subcommands_mut().for_each(|sub| missing_in_usage(sub, missing));
}

#[test]
fn every_flag_stands_in_the_usage_line_of_its_command() {
    let mut line = described();
    line.build();
    let mut missing = Vec::new();
    missing_in_usage(&mut line, &mut missing);
    assert_eq!(missing, Vec::<String>::new());
}
