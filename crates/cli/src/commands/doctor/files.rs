//! Files of the project: who may read and write them, and what died processes left.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use engine::SpillFolder;
use runtime::sandbox_leftovers;
use rustix::fs::{Access, access};

use super::finding::Finding;
use crate::invocation::Invocation;

/// Files with secrets, where they are.
const SECRET_FILES: [&str; 2] = [".env", "config/secrets.sql"];

pub(super) fn permissions(invocation: &Invocation) -> Vec<Finding> {
    let root = &invocation.root;
    let mut found: Vec<Finding> = SECRET_FILES.iter().filter_map(|name| readable_by_others(root, name)).collect();
    // A run writes there: the lake's catalog beside its data, and the state.
    if access(root, Access::WRITE_OK).is_err() {
        let message = format!("{} cannot be written by this user", root.display());
        found.push(Finding::error("permissions", message, "run as the user to whom the project belongs, or chown it"));
    }
    if found.is_empty() {
        found.push(Finding::ok("permissions", "the project can be written, and its secrets are this user's"));
    }
    found
}

fn readable_by_others(root: &Path, name: &str) -> Option<Finding> {
    let path = root.join(name);
    let mode = fs::metadata(&path).ok()?.permissions().mode() & 0o777;
    // Templates hold comments only.
    let holds_something = fs::read_to_string(&path).is_ok_and(|text| text.lines().any(is_set));
    let is_open = mode & 0o077 != 0 && holds_something;
    is_open.then(|| {
        let message = format!("{name} can be read by other users (mode {mode:03o})");
        Finding::warning("permissions", message, format!("chmod 600 {name}"))
    })
}

fn is_set(line: &str) -> bool {
    let line = line.trim_start();
    !line.is_empty() && !line.starts_with('#') && !line.starts_with("--")
}

pub(super) fn leftovers(invocation: &Invocation) -> Vec<Finding> {
    let temp = invocation.session_options().temp_root;
    let spilled = SpillFolder::leftovers(&temp).len();
    let spilled = (spilled > 0).then(|| {
        let message = format!("{spilled} folder(s) of processes that died are in {}", temp.display());
        let remedy = "opening the lake removes them, also this command's; those of other users stay";
        Finding::warning("leftovers", message, remedy)
    });
    let sandboxes = sandbox_leftovers(&invocation.root);
    let forks = (sandboxes > 0).then(|| {
        let message = format!("{sandboxes} sandbox(es) whose processes died are in .sandbox/");
        Finding::warning("leftovers", message, "the next `ondatrasql sandbox` removes them, with their databases")
    });
    let found: Vec<Finding> = spilled.into_iter().chain(forks).collect();
    if found.is_empty() {
        return vec![Finding::ok("leftovers", "no process that died has left files behind")];
    }
    found
}
