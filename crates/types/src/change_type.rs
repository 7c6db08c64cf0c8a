//! What happened to a row, in the words of the lake's change feed.

/// A row's change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChangeType {
    /// It came.
    Insert,
    /// How it was before it changed.
    UpdatePreimage,
    /// How it is after it changed.
    UpdatePostimage,
    /// It went.
    Delete,
}

impl ChangeType {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Insert, Self::UpdatePreimage, Self::UpdatePostimage, Self::Delete];

    /// The word of the change feed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::UpdatePreimage => "update_preimage",
            Self::UpdatePostimage => "update_postimage",
            Self::Delete => "delete",
        }
    }

    /// Whether it tells how a row was, not how it is.
    pub fn is_old(self) -> bool {
        matches!(self, Self::UpdatePreimage | Self::Delete)
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|change| change.as_str() == word)
    }
}
