//! How a model's result is written to its table.

use std::fmt;

/// The five kinds of chapter 02 §3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Kind {
    /// Replaced as a whole.
    #[default]
    Table,
    /// Only ever grows.
    Append,
    /// Upsert by one key.
    Merge,
    /// History of versions by key.
    Scd2,
    /// Groups replaced when their content changes.
    Tracked,
}

impl Kind {
    /// Every kind, in the order in which messages list them.
    pub const ALL: [Self; 5] = [Self::Table, Self::Append, Self::Merge, Self::Scd2, Self::Tracked];

    /// The word used in `@kind`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Append => "append",
            Self::Merge => "merge",
            Self::Scd2 => "scd2",
            Self::Tracked => "tracked",
        }
    }

    /// The kind that `word` names, exactly.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// Columns that the runtime adds to tables of this kind.
    pub fn own_columns(self) -> &'static [&'static str] {
        match self {
            Self::Scd2 => &["valid_from_snapshot", "valid_to_snapshot", "is_current"],
            Self::Tracked => &["_content_hash"],
            Self::Table | Self::Append | Self::Merge => &[],
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
