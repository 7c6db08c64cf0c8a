//! Rules of the repository that nobody has to remember: this test does.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use types::Code;

/// Rooms in door order: a room may use only rooms before it.
const ROOMS: [&str; 19] = [
    "types",
    "model",
    "checks",
    "query",
    "project",
    "plan",
    "engine",
    "feed",
    "materialize",
    "state",
    "http_client",
    "telemetry",
    "lib_functions",
    "oauth",
    "fetch",
    "push",
    "validate",
    "runtime",
    "cli",
];
/// Crates that no room may use outside of its tests.
const OUTSIDE: [&str; 2] = ["testkit", "bench"];
/// Longest source file, in lines.
const LINES_MAX: usize = 800;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn read(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Names under a `[section]` of a manifest.
fn section(manifest: &str, name: &str) -> Vec<String> {
    let lines = manifest.lines().skip_while(|line| line.trim() != format!("[{name}]")).skip(1);
    let entries = lines
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    entries.filter_map(|line| line.split(['.', ' ', '=']).next().map(str::to_owned)).collect()
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_crate_is_a_room_or_outside() {
    let crates = fs::read_dir(repository().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let known: BTreeSet<String> = ROOMS.iter().chain(&OUTSIDE).map(|&name| name.to_owned()).collect();
    assert_eq!(crates.collect::<BTreeSet<_>>(), known);
}

#[test]
fn doors_open_one_way() {
    for (at, room) in ROOMS.iter().enumerate() {
        let uses = section(&read(&format!("crates/{room}/Cargo.toml")), "dependencies");
        for other in ROOMS[at..].iter().chain(&OUTSIDE) {
            assert!(!uses.iter().any(|name| name == other), "{room} must not use {other}");
        }
    }
}

#[test]
fn only_the_engine_names_duckdb_and_only_its_native_folder_is_unsafe() {
    for room in ROOMS.iter().chain(&OUTSIDE).filter(|room| **room != "engine") {
        assert!(!read(&format!("crates/{room}/Cargo.toml")).contains("duckdb"), "{room} names the duckdb crate");
    }
    let mut files = Vec::new();
    sources(&repository().join("crates"), &mut files);
    for file in files.iter().filter(|file| !file.components().any(|part| part.as_os_str() == "native")) {
        let text = fs::read_to_string(file).unwrap();
        assert!(!text.contains(concat!("unsafe", " {")), "{} is unsafe", file.display());
    }
}

#[test]
fn every_file_says_what_it_is_for_and_is_short() {
    let mut files = Vec::new();
    sources(&repository().join("crates"), &mut files);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("//! "), "{} has no header", file.display());
        assert!(text.lines().count() <= LINES_MAX, "{} is too long", file.display());
        assert!(
            !["util.rs", "common.rs", "helpers.rs"].iter().any(|name| file.ends_with(name)),
            "{} says nothing",
            file.display()
        );
    }
}

#[test]
fn the_map_has_a_section_for_every_room() {
    let map = read("docs/ARCHITECTURE.md");
    for room in ROOMS.iter().chain(&OUTSIDE) {
        assert!(map.lines().any(|line| line.starts_with('#') && line.contains(room)), "no heading names {room}");
    }
    assert!(map.matches("Invariant:").count() >= ROOMS.len());
}

#[test]
fn every_error_code_is_explained_and_no_other() {
    let index = read("docs/errors/README.md");
    let explained = index
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .map(|heading| heading.split_whitespace().next().unwrap());
    let codes = Code::ALL.iter().map(|code| code.as_str());
    assert_eq!(explained.collect::<BTreeSet<_>>(), codes.collect::<BTreeSet<_>>());
}

#[test]
fn every_third_party_crate_has_a_reason() {
    let reasons = read("docs/decisions/0007-dependencies.md");
    for name in section(&read("Cargo.toml"), "workspace.dependencies") {
        let own = ROOMS.contains(&name.as_str()) || OUTSIDE.contains(&name.as_str());
        assert!(own || reasons.contains(&format!("`{name}`")), "docs/decisions/0007 does not name `{name}`");
    }
}

#[test]
fn decisions_are_numbered_and_indexed() {
    let index = read("docs/decisions/README.md");
    for entry in fs::read_dir(repository().join("docs/decisions")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "README.md" || index.contains(&name), "{name} is not in the index");
    }
}
