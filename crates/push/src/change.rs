//! An event with the row that it is about.

use std::sync::Arc;

use engine::Value;
use sha2::{Digest, Sha256};
use state::Event;
use types::ChangeType;

/// A row of a table; without columns, one that is not known any more.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    /// The columns: those of the table's version that the row is one of.
    pub columns: Arc<[String]>,
    /// Their values.
    pub values: Vec<Value>,
}

/// An event with the row that it is about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Change {
    pub event: Event,
    pub row: Row,
}

impl Change {
    /// Whether it tells how a row was, not how it is.
    pub fn is_old(&self) -> bool {
        matches!(self.event.change_type, ChangeType::UpdatePreimage | ChangeType::Delete)
    }

    /// The change's name in the answer to its batch.
    pub fn key(&self) -> String {
        format!("{}:{}", self.event.rowid, self.event.change_type.as_str())
    }

    /// The id that the event keeps on every delivery. A table that was dropped and made again has others.
    pub fn id(&self, target: &str, table_uuid: &str) -> String {
        let Event { snapshot, rowid, change_type, .. } = &self.event;
        hash([target, table_uuid, &snapshot.to_string(), &rowid.to_string(), change_type.as_str()].into_iter())
    }
}

/// A short text that stands for some texts.
pub(crate) fn hash<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Change, Row};
    use engine::Value;
    use state::Event;
    use types::ChangeType;

    /// A change of row `rowid`, with that as its key.
    pub(crate) fn change(seq: i64, rowid: i64, change_type: ChangeType, snapshot: i64, value: i128) -> Change {
        let event = Event { seq, row_key: rowid, rowid, change_type, snapshot, attempts: 0, last_error: None };
        Change { event, row: Row { columns: ["a".to_owned()].into(), values: vec![Value::Int(value)] } }
    }

    #[test]
    fn an_event_keeps_its_id_and_shares_it_with_no_other() {
        let id = |change: &Change| change.id("sync.x", "uuid");
        let one = change(1, 5, ChangeType::Insert, 2, 0);
        assert_eq!(id(&one), id(&change(9, 5, ChangeType::Insert, 2, 7)));
        let others = [
            id(&change(1, 6, ChangeType::Insert, 2, 0)),
            id(&change(1, 5, ChangeType::Delete, 2, 0)),
            id(&change(1, 5, ChangeType::Insert, 3, 0)),
            one.id("sync.y", "uuid"),
            one.id("sync.x", "other"),
        ];
        assert!(others.iter().all(|other| *other != id(&one) && other.len() == 32));
    }
}
