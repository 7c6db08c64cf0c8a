//! The program, the engine, the disk.

use std::path::{Path, PathBuf};

use engine::{Database, Pins};

use super::finding::Finding;
use crate::invocation::Invocation;

/// Less free space than this is told of …
const LOW_BYTES: u64 = 1 << 30;
/// … and with less than this a run is likely to fail.
const EMPTY_BYTES: u64 = 100 << 20;

pub(super) fn versions() -> Vec<Finding> {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    let own = Finding::ok("version", format!("OndatraSQL v{}, {os} {arch}", env!("CARGO_PKG_VERSION")));
    let engine = match Pins::read().check_library() {
        Ok(()) => Finding::ok("engine", format!("DuckDB {}", Database::library_version())),
        Err(error) => Finding::of_error("engine", &error),
    };
    vec![own, engine]
}

/// Free space where rows and files go: the project, its data, and what the engine spills.
pub(super) fn disk(invocation: &Invocation) -> Vec<Finding> {
    let folders = [invocation.root.clone(), invocation.session_options().temp_root];
    let mut seen: Vec<u64> = Vec::new();
    let mut findings = Vec::new();
    for folder in folders {
        let Ok(space) = rustix::fs::statvfs(&folder) else { continue };
        // Several folders on one disk are one finding.
        if !seen.contains(&space.f_fsid) {
            seen.push(space.f_fsid);
            findings.push(free(&folder, space.f_bavail.saturating_mul(space.f_frsize)));
        }
    }
    findings
}

fn free(folder: &Path, bytes: u64) -> Finding {
    let shown = PathBuf::from(folder).display().to_string();
    let message = format!("{} MiB are free in {shown}", bytes >> 20);
    let remedy = "make room: `ondatrasql checkpoint` deletes files that no snapshot needs any more";
    match bytes {
        0..EMPTY_BYTES => Finding::error("disk", message, remedy),
        EMPTY_BYTES..LOW_BYTES => Finding::warning("disk", message, remedy),
        _ => Finding::ok("disk", message),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::finding::Level;
    use super::free;

    #[test]
    fn little_space_is_told_of_before_it_is_an_error() {
        let level = |bytes: u64| free(Path::new("/"), bytes).level;
        assert_eq!(
            [level(0), level(99 << 20), level(100 << 20), level((1 << 30) - 1), level(1 << 30)],
            [Level::Error, Level::Error, Level::Warning, Level::Warning, Level::Ok]
        );
    }
}
