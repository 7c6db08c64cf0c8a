//! What a run does with a model, and why.

use std::fmt;

/// What a run does with one model (chapter 02 §2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunType {
    /// Nothing it depends on changed.
    Skip,
    /// Built from the full query.
    Backfill,
    /// Built from what changed.
    Incremental,
    /// A `table` model built again.
    Full,
}

impl RunType {
    /// The word in output and commit metadata.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Backfill => "backfill",
            Self::Incremental => "incremental",
            Self::Full => "full",
        }
    }
}

impl fmt::Display for RunType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a run type was chosen; its text is part of the output contract (chapter 05 §2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// No commit of the model is known, or its table is gone.
    FirstRun,
    /// The definition's hash differs from the last commit's.
    SqlChanged,
    /// The normal case of every kind but `table`.
    IncrementalRun,
    /// A fetch model asks its API every time.
    FetchSource,
    /// The last commit does not say what it depended on.
    MissingDepends,
    /// What the last commit says of its dependencies cannot be read.
    InvalidDepends,
    /// The query reads nothing.
    NoDependencies,
    /// Whether this dependency changed cannot be known.
    UnverifiableDep(String),
    /// This dependency's rows or columns changed.
    DepChanged(String),
    /// Every dependency is as the last commit saw it.
    DepsUnchanged,
    /// The user asked for it.
    FullRefresh,
    /// Something of a kind that keeps rows could not be read as a delta, so the whole query ran: why.
    FullQuery(String),
    /// The delta was read, and what looks at several rows, named here, saw those of the delta alone.
    PerBatch(&'static str),
    /// The user asked to keep the rows that are there.
    Kept,
    /// The key has another type, so old and new keys cannot be compared.
    UniqueKeyTypeChanged,
    /// Nothing changed, but a sandbox shows what the model's directives say.
    SandboxValidation,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FirstRun => f.write_str("first run"),
            Self::SqlChanged => f.write_str("sql changed"),
            Self::IncrementalRun => f.write_str("incremental run"),
            Self::FetchSource => f.write_str("fetch source"),
            Self::MissingDepends => f.write_str("missing depends metadata"),
            Self::InvalidDepends => f.write_str("invalid depends metadata"),
            Self::NoDependencies => f.write_str("no dependencies"),
            Self::UnverifiableDep(name) => write!(f, "unverifiable dep: {name}"),
            Self::DepChanged(name) => write!(f, "dep changed: {name}"),
            Self::DepsUnchanged => f.write_str("deps unchanged"),
            Self::FullRefresh => f.write_str("full refresh"),
            Self::FullQuery(why) => write!(f, "incremental run, full query: {why}"),
            Self::PerBatch(what) => write!(f, "incremental run, {what} per batch"),
            Self::Kept => f.write_str("kept"),
            Self::UniqueKeyTypeChanged => f.write_str("unique_key type changed"),
            Self::SandboxValidation => f.write_str("sandbox: forced re-run for directive validation"),
        }
    }
}

/// A run type with its reason: a decision is never made without one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What to do.
    pub run_type: RunType,
    /// Why.
    pub reason: Reason,
}

impl Decision {
    /// Pairs a run type with its reason.
    pub fn new(run_type: RunType, reason: Reason) -> Self {
        Self { run_type, reason }
    }
}
