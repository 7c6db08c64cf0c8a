//! Masking, end to end (chapter 01 §4.6): what is masked, and that nothing else is kept of it.

mod fetched;
mod functions;
mod gone;
mod leaks;
mod models;
mod pushed;
mod tags;

use std::fs;
use std::path::Path;

/// The files below a folder whose bytes hold the text.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    look(folder, text.as_bytes(), &mut found);
    found
}

fn look(folder: &Path, text: &[u8], found: &mut Vec<String>) {
    // Files come and go while a run is on.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            look(&path, text, found);
        } else if holds(&fs::read(&path).unwrap_or_default(), text) {
            found.push(path.display().to_string());
        }
    }
}

fn holds(bytes: &[u8], text: &[u8]) -> bool {
    let first = text[0];
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|&byte| byte == first) {
        rest = &rest[at..];
        if rest.starts_with(text) {
            return true;
        }
        rest = &rest[1..];
    }
    false
}
