//! The rows of events, read from the lake.

use std::sync::Arc;

use feed::{FeedError, Image, ImageOf, read_images};
use push::Row;
use state::Event;
use types::{Column, Target};

use crate::Session;

/// Reads rows of a target.
pub(crate) struct LakeImages<'a> {
    pub session: &'a Session,
    pub target: &'a Target,
}

impl push::Images for LakeImages<'_> {
    type Error = FeedError;

    fn rows(&mut self, events: &[Event]) -> Result<Vec<Option<Row>>, FeedError> {
        let image =
            |event: &Event| ImageOf { rowid: event.rowid, change_type: event.change_type, snapshot: event.snapshot };
        let wanted: Vec<ImageOf> = events.iter().map(image).collect();
        let Session { connection, lake, metadata, .. } = self.session;
        let mut found = read_images(connection, lake, metadata, self.target, &wanted)?;
        let images = std::mem::take(&mut found.images);
        // Most rows have the same columns as the one before.
        let mut columns = names(&found.columns);
        let rows = wanted.iter().zip(images).map(|(of, image)| {
            let Image::Row(values) = image else { return None };
            let own = found.columns_of(of);
            if own.len() != columns.len() || own.iter().zip(&*columns).any(|(own, name)| own.name != *name) {
                columns = names(own);
            }
            Some(Row { columns: Arc::clone(&columns), values })
        });
        Ok(rows.collect())
    }
}

fn names(columns: &[Column]) -> Arc<[String]> {
    columns.iter().map(|column| column.name.clone()).collect()
}
