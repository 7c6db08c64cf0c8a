//! What earlier runs left of a target's fetches (chapter 03 §3.4, the table of *Staging and commit*).

use std::collections::BTreeSet;

use fetch::Staged;
use state::{SharedStore, StagedFetch, StateError};
use types::Kind;

/// Deletes what dead workers left of fetches for targets that no model has any more; gives what to tell of it.
/// `is_known` knows the others.
pub(crate) fn drop_orphans(
    store: &SharedStore,
    run_id: &str,
    is_known: impl Fn(&str) -> bool,
) -> Result<Vec<String>, StateError> {
    let mut warnings = Vec::new();
    let found = store.lock().all_fetches()?;
    for fetch in found.into_iter().filter(|fetch| fetch.is_dead && !is_known(&fetch.target)) {
        let adopted = store.lock().adopt_fetch(&fetch.target, &fetch.claim_id, run_id);
        let lease = match adopted {
            Ok(lease) => lease,
            Err(StateError::LeaseLost { .. }) => continue,
            Err(error) => return Err(error),
        };
        store.lock().drop_fetch(&lease)?;
        warnings.push(format!("staged rows of {} were deleted: there is no such model any more", fetch.target));
    }
    Ok(warnings)
}

/// Deletes what is of no use any more, and gives rows that were fetched already for this very run: complete, not in
/// the lake, and of the same fingerprint; none if a refresh was asked for. Fetches of workers that live are left alone.
pub(crate) fn settle(
    store: &SharedStore,
    target: &str,
    kind: Kind,
    run_id: &str,
    fingerprint: &str,
    acknowledged: &BTreeSet<String>,
    is_refresh: bool,
) -> Result<(Option<Staged>, Vec<String>), StateError> {
    let mut warnings = Vec::new();
    let mut resumed = None;
    let found = store.lock().fetches(target)?;
    for fetch in found.into_iter().filter(|fetch| fetch.is_dead) {
        let is_in_lake = acknowledged.contains(&fetch.claim_id);
        let is_usable = fetch.is_complete && fetch.fingerprint == fingerprint && kind != Kind::Table && !is_refresh;
        let adopted = store.lock().adopt_fetch(&fetch.target, &fetch.claim_id, run_id);
        let lease = match adopted {
            Ok(lease) => lease,
            // Another worker was faster: it is that one's now.
            Err(StateError::LeaseLost { .. }) => continue,
            Err(error) => return Err(error),
        };
        if !is_in_lake && is_usable && resumed.is_none() {
            let StagedFetch { row_count: rows, empty_result, .. } = fetch;
            warnings.push(format!("resumed {rows} staged rows of a run that did not come to its commit"));
            resumed = Some(Staged { lease, rows, empty_result, warnings: Vec::new() });
            continue;
        }
        if !is_in_lake && fetch.is_complete {
            let rows = fetch.row_count;
            warnings.push(format!("{rows} rows that an earlier run fetched and did not commit are fetched anew"));
        }
        store.lock().drop_fetch(&lease)?;
    }
    Ok((resumed, warnings))
}
