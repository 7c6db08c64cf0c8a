//! What earlier runs left of a target's fetches (chapter 03 §3.4, the table of *Staging and commit*).

use std::collections::{BTreeMap, BTreeSet};

use fetch::Staged;
use state::{SharedStore, StagedFetch, StateError};
use types::Kind;

/// What dead workers left, by lower-case target, oldest first. Fetches of workers that live are left alone.
pub(crate) type Left = BTreeMap<String, Vec<StagedFetch>>;

/// Reads it, for all targets at once.
pub(crate) fn left_by_the_dead(store: &SharedStore) -> Result<Left, StateError> {
    let mut left = Left::new();
    for fetch in store.lock().all_fetches()?.into_iter().filter(|fetch| fetch.is_dead) {
        left.entry(fetch.target.to_lowercase()).or_default().push(fetch);
    }
    Ok(left)
}

/// Deletes what is left for targets that no model has any more; gives what to tell of it.
pub(crate) fn drop_orphans(
    store: &SharedStore,
    run_id: &str,
    left: &Left,
    known: &BTreeSet<String>,
) -> Result<Vec<String>, StateError> {
    let mut warnings = Vec::new();
    for fetch in left.iter().filter(|(target, _)| !known.contains(*target)).flat_map(|(_, fetches)| fetches) {
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

/// Deletes what is of no use any more of what is `left` of a target, and gives rows that were fetched already for this
/// very run: complete, not in the lake, and of the same fingerprint; none if a refresh was asked for.
pub(crate) fn settle(
    store: &SharedStore,
    left: Vec<StagedFetch>,
    kind: Kind,
    run_id: &str,
    fingerprint: &str,
    acknowledged: &BTreeSet<String>,
    is_refresh: bool,
) -> Result<(Option<Staged>, Vec<String>), StateError> {
    let mut warnings = Vec::new();
    let mut resumed = None;
    for fetch in left {
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
