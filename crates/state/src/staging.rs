//! Rows fetched from an API, on their way into the lake (chapter 03, staging and commit).

use engine::Rows;

use crate::StateError;

/// The right to stage rows of one attempt: its id is the term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchLease {
    /// The term.
    pub claim_id: String,
    /// The target.
    pub target: String,
}

/// An attempt that is found in the state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StagedFetch {
    /// Its id.
    pub claim_id: String,
    /// The target, as it was written then.
    pub target: String,
    /// Whether all its rows are there.
    pub is_complete: bool,
    /// Whether its worker is gone.
    pub is_dead: bool,
    /// What its rows depend on.
    pub fingerprint: String,
    /// How many rows there are; 0 until it is complete.
    pub row_count: u64,
    /// What an empty fetch means, as the function said.
    pub empty_result: Option<String>,
}

/// Staged rows; a lease on them is renewed by the heartbeat, and by each batch.
pub trait Staging {
    /// Begins an attempt.
    fn begin_fetch(&mut self, target: &str, run_id: &str, fingerprint: &str) -> Result<FetchLease, StateError>;

    /// Adds a batch of rows, each a text (JSON), the first of which is number `first_seq` of the attempt.
    fn stage_rows(&mut self, fetch: &FetchLease, first_seq: u64, rows: &[String]) -> Result<(), StateError>;

    /// All rows are there. From here on they are used even if the process dies.
    fn complete_fetch(
        &mut self,
        fetch: &FetchLease,
        row_count: u64,
        empty_result: Option<&str>,
    ) -> Result<(), StateError>;

    /// A whole attempt at once: begins it, adds its rows and completes it. The write of `sync_fetch` makes it real.
    fn stage_whole(
        &mut self,
        target: &str,
        run_id: &str,
        fingerprint: &str,
        rows: &[String],
        empty_result: Option<&str>,
    ) -> Result<FetchLease, StateError>;

    /// Attempts for a target that are in the state, oldest first; whatever the case it was written in.
    fn fetches(&mut self, target: &str) -> Result<Vec<StagedFetch>, StateError>;

    /// Attempts for all targets, oldest first.
    fn all_fetches(&mut self) -> Result<Vec<StagedFetch>, StateError>;

    /// Makes a dead worker's attempt this worker's.
    fn adopt_fetch(&mut self, target: &str, claim_id: &str, run_id: &str) -> Result<FetchLease, StateError>;

    /// Up to `limit` rows of an attempt from number `first_seq` on, in order: one text column. Fewer only at the end.
    fn staged_rows(&mut self, fetch: &FetchLease, first_seq: u64, limit: u64) -> Result<Rows, StateError>;

    /// Deletes attempts of this worker with their rows, in one transaction: none, if one is another worker's by now.
    fn drop_fetches(&mut self, fetches: &[FetchLease]) -> Result<(), StateError>;

    /// Deletes an attempt of this worker with its rows.
    fn drop_fetch(&mut self, fetch: &FetchLease) -> Result<(), StateError> {
        self.drop_fetches(std::slice::from_ref(fetch))
    }
}
