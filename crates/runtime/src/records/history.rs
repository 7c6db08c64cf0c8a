//! Past runs, newest first (chapter 05 §3.7).

use types::literal;

use super::commits::{RunRecord, commits, record_columns};
use crate::{RunError, Session};

/// Past runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// Newest first.
    pub runs: Vec<RunRecord>,
    /// What could not be read.
    pub warnings: Vec<String>,
}

/// The newest `limit` runs, of one model or of all. The snapshots that `expire` forgot are gone from it.
///
/// # Errors
/// The lake's catalog cannot be read. A commit that says odd things of itself is a warning.
pub fn history(session: &Session, model: Option<&str>, limit: u64) -> Result<History, RunError> {
    let of_model =
        model.map_or_else(String::new, |model| format!("WHERE lower(model) = {} ", literal(&model.to_lowercase())));
    let sql = format!(
        "SELECT {} FROM {} {of_model}ORDER BY snapshot_id DESC LIMIT {limit}",
        record_columns(),
        commits(session)
    );
    let mut warnings = Vec::new();
    let rows = session.connection.query(&sql)?.into_values();
    let runs = rows.filter_map(|row| RunRecord::read(&row, &mut warnings)).collect();
    Ok(History { runs, warnings })
}
