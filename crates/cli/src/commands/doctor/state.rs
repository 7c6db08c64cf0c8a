//! The state: its key, whether it opens, and what waits in it.

use project::check_state_key;
use state::{StateError, Status, state_file};

use super::finding::Finding;
use crate::commands::state::open_at_once;
use crate::invocation::Invocation;

pub(super) fn state(invocation: &Invocation) -> Vec<Finding> {
    let file = match check_state_key(&invocation.root, &invocation.environment) {
        Ok(file) => file,
        Err(error) => return vec![Finding::of_error("state", &error)],
    };
    // To open it would make it.
    if state_file(&file).is_some_and(|path| !invocation.root.join(path).exists()) {
        return vec![Finding::ok("state", "it is made by the first run that needs it")];
    }
    match open_at_once(invocation).and_then(|mut store| store.status()) {
        Ok(status) => std::iter::once(encryption(&status)).chain(queue(&status)).chain(workers(&status)).collect(),
        Err(error @ StateError::Locked { .. }) => {
            let remedy = "nothing to do if that is a run; look again when it has ended";
            vec![Finding::warning("state", error.to_string(), remedy)]
        }
        Err(error) => vec![Finding::of_error("state", &error)],
    }
}

fn encryption(status: &Status) -> Finding {
    let message = format!("{} opens, schema version {}", status.backend.name(), status.schema_version);
    if status.path.is_some() && status.cipher.is_none() {
        let remedy = "make it anew with ENCRYPTION_KEY in config/state.sql, and carry it over with `state copy`";
        return Finding::warning("state", format!("{message}; its file is not encrypted"), remedy);
    }
    Finding::ok("state", message)
}

/// Rows that sinks did not take.
fn queue(status: &Status) -> Vec<Finding> {
    let dead = status.targets.iter().filter(|target| target.dead > 0);
    dead.map(|target| {
        let name = &target.target;
        Finding::warning(
            "queue",
            format!("{} change(s) of {name} were given up", target.dead),
            format!(
                "see why with `ondatrasql queue show {name} --dead`, then `queue retry {name}` or `queue drop {name}`"
            ),
        )
    })
    .collect()
}

fn workers(status: &Status) -> Option<Finding> {
    let dead: Vec<&str> =
        status.workers.iter().filter(|worker| !worker.is_alive).map(|worker| worker.worker.as_str()).collect();
    (!dead.is_empty()).then(|| {
        let message = format!("workers that died hold something: {}", dead.join(", "));
        Finding::warning("workers", message, "the next run takes it over")
    })
}
