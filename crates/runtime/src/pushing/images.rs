//! The rows of events, read from the lake.

use engine::Value;
use feed::{EventRow, FeedError, Image, images};
use state::Event;
use types::Target;

use crate::Session;

/// Reads rows of a target.
pub(crate) struct LakeImages<'a> {
    pub session: &'a Session,
    pub target: &'a Target,
}

impl push::Images for LakeImages<'_> {
    type Error = FeedError;

    fn rows(&mut self, events: &[Event]) -> Result<Vec<Option<Vec<Value>>>, FeedError> {
        let rows = events.iter().map(|event| EventRow {
            rowid: event.rowid,
            change_type: event.change_type,
            snapshot: event.snapshot,
        });
        let rows: Vec<EventRow> = rows.collect();
        let found = images(&self.session.connection, &self.session.lake, &self.session.metadata, self.target, &rows)?;
        let row = |image| match image {
            Image::Row(values) => Some(values),
            Image::Gone => None,
        };
        Ok(found.images.into_iter().map(row).collect())
    }
}
