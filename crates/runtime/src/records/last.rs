//! The last commit of a model: as the registry keeps it, or else the newest that the lake's history tells of.

use engine::recorded_commit;
use types::{Target, literal};

use crate::{RunError, Session};

/// The JSON that the last commit of a model tells; its name in any case.
pub(super) fn last_commit(session: &Session, target: &Target) -> Result<Option<String>, RunError> {
    let registry = (session.lake.as_str(), session.metadata.as_str());
    if let Some(info) = recorded_commit(&session.connection, registry, target)? {
        return Ok(Some(info));
    }
    let sql = format!(
        "SELECT arg_max(commit_extra_info, snapshot_id) FROM {}.ducklake_snapshot_changes WHERE lower(\
         json_extract_string(CASE WHEN json_valid(commit_extra_info) THEN commit_extra_info END, '$.model')) = {}",
        session.metadata,
        literal(&target.key())
    );
    Ok(session.connection.query_value(&sql)?.into_text())
}

/// The source file that the last commit of a model names.
///
/// # Errors
/// The lake cannot be read.
pub fn last_source_file(session: &Session, model: &str) -> Result<Option<String>, RunError> {
    let Some((schema, name)) = model.split_once('.') else { return Ok(None) };
    let info = last_commit(session, &Target::new(schema, name))?;
    // What is no JSON of ours names no file.
    let told: Option<serde_json::Value> = info.and_then(|info| serde_json::from_str(&info).ok());
    Ok(told.and_then(|told| told["source_file"].as_str().map(str::to_owned)))
}
