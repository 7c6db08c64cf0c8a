//! The rows of events, read from the lake.

use std::sync::Arc;

use engine::Value;
use feed::{FeedError, Image, ImageOf, read_images};
use model::Model;
use push::Row;
use state::Event;
use types::{Column, Kind, Target};

use crate::Session;

/// Reads rows of a target.
pub(crate) struct LakeImages<'a> {
    pub session: &'a Session,
    pub target: &'a Target,
    pub kind: Kind,
    /// The columns that the model masks. How a row was may be in clear, from before the tag: there they are NULL.
    pub masked: Vec<String>,
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
        // Most rows have the same columns as the one before that tells as much: how a row is, or how it was.
        let mut shapes: [Option<(&[Column], Shape)>; 2] = [None, None];
        let rows = wanted.iter().zip(images).map(|(of, image)| {
            let Image::Row(values) = image else { return None };
            let (columns, is_old) = (found.columns_of(of), of.change_type.is_old());
            let shape = &mut shapes[usize::from(is_old)];
            if shape.as_ref().is_none_or(|(own, _)| *own != columns) {
                let hidden = if is_old { &self.masked[..] } else { &[] };
                *shape = Some((columns, Shape::of(self.kind, columns, &found.columns, hidden)));
            }
            shape.as_ref().map(|(_, shape)| shape.row(values))
        });
        Ok(rows.collect())
    }
}

/// What is sent of the columns of a version.
struct Shape {
    names: Arc<[String]>,
    sent: Vec<Sent>,
}

/// What is sent of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sent {
    Value,
    /// NULL in its place.
    Null,
    Nothing,
}

impl Shape {
    fn of(kind: Kind, columns: &[Column], now: &[Column], hidden: &[String]) -> Self {
        let is_of = |columns: &[Column], name: &str| columns.iter().any(|column| column.name == name);
        // The table may have been one of the kind `tracked` before.
        let is_left = |name: &str| is_of(now, name) || is_sent(Kind::Tracked, name);
        let is_hidden = |name: &str| hidden.iter().any(|hidden| hidden.eq_ignore_ascii_case(name));
        let sent = |column: &Column| match column.name.as_str() {
            name if !is_sent(kind, name) || !is_left(name) => Sent::Nothing,
            name if is_hidden(name) => Sent::Null,
            _ => Sent::Value,
        };
        let sent: Vec<Sent> = columns.iter().map(sent).collect();
        let own = columns.iter().zip(&sent).filter(|(_, sent)| **sent != Sent::Nothing).map(|(column, _)| column);
        // A function that reads a masked column finds it in every row, also in one from before the column.
        let later = now.iter().filter(|column| is_hidden(&column.name) && !is_of(columns, &column.name));
        Self { names: own.chain(later).map(|column| column.name.clone()).collect(), sent }
    }

    fn row(&self, values: Vec<Value>) -> Row {
        let sent = values.into_iter().zip(&self.sent).filter_map(|(value, sent)| match sent {
            Sent::Value => Some(value),
            Sent::Null => Some(Value::Null),
            Sent::Nothing => None,
        });
        let values = sent.chain(std::iter::repeat(Value::Null)).take(self.names.len());
        Row { columns: Arc::clone(&self.names), values: values.collect() }
    }
}

/// The columns that a model masks.
pub(crate) fn masked(model: &Model) -> Vec<String> {
    model.masks().into_iter().map(|mask| mask.column).collect()
}

/// Whether a column is one of the model's SQL; what the kind adds is for its own use.
pub(crate) fn is_sent(kind: Kind, column: &str) -> bool {
    !kind.own_columns().iter().any(|own| own.eq_ignore_ascii_case(column))
}
