//! Why changes or rows of a table cannot be read.

use engine::EngineError;
use types::{Code, Diagnose, Target};

/// An error of reading what changed in a table, or how a row was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FeedError {
    /// A snapshot that is needed does not exist any more.
    #[error("{target}: snapshot {snapshot} of the lake is gone, so what changed since is not known")]
    Lost {
        /// The table.
        target: Target,
        /// The snapshot.
        snapshot: i64,
    },
    /// There is no such table.
    #[error("{target}: the table is not there at snapshot {snapshot}")]
    NoTable {
        /// The table.
        target: Target,
        /// Where it was looked for.
        snapshot: i64,
    },
    /// The table of the changes is not there any more, though one of its name may be.
    #[error("{target}: the table was dropped while its changes waited for delivery")]
    Dropped {
        /// The table.
        target: Target,
    },
    /// The table has no such key column.
    #[error("{target}: the table has no key column `{column}`")]
    KeyMissing {
        /// The table.
        target: Target,
        /// The column.
        column: String,
    },
    /// A column hides the row ids of the lake.
    #[error("{target}: a column named `rowid` hides the row ids by which rows are delivered")]
    RowidColumn {
        /// The table.
        target: Target,
    },
    /// A row id that several rows have.
    #[error("{target}: several rows have the row id {rowid} at snapshot {snapshot}")]
    Ambiguous {
        /// The table.
        target: Target,
        /// The row id.
        rowid: i64,
        /// Where it was looked for.
        snapshot: i64,
    },
    /// How a row was before it changed or went cannot be read.
    #[error("{target}: row {rowid} cannot be read as it was before snapshot {snapshot}")]
    PreimageGone {
        /// The table.
        target: Target,
        /// The row id.
        rowid: i64,
        /// The snapshot that changed it.
        snapshot: i64,
    },
    /// A row that cannot be found any more under the id that its change has.
    #[error("{target}: row {rowid} of snapshot {snapshot} got another row id when data files were merged")]
    RowIdLost {
        /// The table.
        target: Target,
        /// The row id.
        rowid: i64,
        /// The snapshot of the change.
        snapshot: i64,
    },
    /// The engine refused a statement.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl Diagnose for FeedError {
    fn code(&self) -> Code {
        match self {
            Self::Lost { .. } | Self::PreimageGone { .. } | Self::RowIdLost { .. } => Code::FeedLost,
            Self::Engine(error) => error.code(),
            _ => Code::FeedTable,
        }
    }

    fn help(&self) -> String {
        match self {
            Self::Lost { target, .. } | Self::PreimageGone { target, .. } => format!(
                "another tool expired snapshots that were still needed; send later changes only with `ondatrasql queue reset {target} --from-now`, or the whole table again with `--resend`"
            ),
            Self::RowIdLost { target, .. } => format!(
                "changes were waiting while files were merged; send later changes only with `ondatrasql queue reset {target} --from-now`, or the whole table again with `--resend`"
            ),
            Self::NoTable { .. } => "run the model, which makes its table".into(),
            Self::Dropped { .. } => "run the model: what waits of the old table becomes dead letters then".into(),
            Self::KeyMissing { .. } => "name a column of the model's SELECT as the key".into(),
            Self::RowidColumn { .. } => "give the column another name in the model's SELECT".into(),
            Self::Ambiguous { target, .. } => format!(
                "a transaction of another tool inserted rows and updated them; write the table anew with `ondatrasql run {target} --full-refresh`"
            ),
            Self::Engine(error) => error.help(),
        }
    }
}
