//! The lake: whether it opens with its extensions, what is in it, and whether this machine's clock fits it.

use engine::{EngineError, LakeFacts};
use project::ConfigFiles;
use runtime::{MissingCatalog, Session, missing_catalog};

use super::finding::Finding;
use crate::invocation::Invocation;

/// How far ahead of this machine's clock the newest snapshot may be, in seconds: other machines write, too.
const AHEAD_SECONDS: i64 = 60;

pub(super) fn lake(config: &ConfigFiles, invocation: &Invocation) -> Vec<Finding> {
    // Opening it would make it.
    if let Some(missing) = missing_catalog(config) {
        return vec![of_missing(&missing)];
    }
    let session = match Session::open(config, &invocation.session_options()) {
        Ok(session) => session,
        Err(error) => return vec![Finding::of_error("catalog", &error)],
    };
    let looked = LakeFacts::read(&session.connection, &session.lake, &session.metadata);
    match looked.and_then(|facts| Ok((facts, ahead(&session)?))) {
        Ok((facts, ahead)) => vec![
            Finding::ok(
                "catalog",
                format!("{} opens: {} table(s), newest snapshot {}", session.lake, facts.tables.len(), facts.newest()),
            ),
            clock(ahead),
        ],
        Err(error) => vec![Finding::of_error("catalog", &error)],
    }
}

fn of_missing(MissingCatalog { file, left_behind }: &MissingCatalog) -> Finding {
    let file = file.display();
    match left_behind {
        None => Finding::ok("catalog", format!("{file}: it is made by the first run")),
        Some(folder) => Finding::error(
            "catalog",
            format!("{file} is not there, and {} holds files of a lake", folder.display()),
            "bring the catalog back from a backup before anything else runs: a new one knows nothing of these files, and \
             maintenance deletes what no catalog knows",
        ),
    }
}

/// Seconds by which the newest snapshot is ahead of this machine's clock.
fn ahead(session: &Session) -> Result<i64, EngineError> {
    let sql = format!(
        "SELECT coalesce(max(epoch(snapshot_time::TIMESTAMPTZ)) - epoch(now()), 0)::BIGINT FROM {}.ducklake_snapshot",
        session.metadata
    );
    Ok(session.connection.query_value(&sql)?.as_i64().unwrap_or(0))
}

fn clock(ahead: i64) -> Finding {
    if ahead <= AHEAD_SECONDS {
        return Finding::ok("clock", "no snapshot is ahead of this machine's clock");
    }
    Finding::warning(
        "clock",
        format!("the newest snapshot is {ahead} s ahead of this machine's clock"),
        "set the clock (NTP); snapshots are expired by their time, and watermarks compare with it",
    )
}
