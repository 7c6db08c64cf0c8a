//! Rows as the function gets them (chapter 04 §6.2).

use lib_functions::HostValue;

use crate::change::Change;
use crate::values::Converter;

/// Rows made of changes.
pub(crate) struct SentRows {
    pub rows: Vec<HostValue>,
    /// The ids of their events.
    pub ids: Vec<String>,
    /// Values that are NaN or infinite, and `None` in the rows.
    not_finite: u64,
}

impl SentRows {
    /// What the user is told of the batch with this number.
    pub fn warning(&self, number: u64) -> Option<String> {
        let count = self.not_finite;
        (count > 0).then(|| format!("batch {number}: {count} value(s) are NaN or infinite and are sent as None"))
    }
}

/// Makes a row of each change: its columns, and three fields about the change.
pub(crate) fn sent_rows<'a>(changes: impl IntoIterator<Item = &'a Change>, target: &str, table_uuid: &str) -> SentRows {
    let mut converter = Converter::default();
    let mut ids = Vec::new();
    let row = |change: &Change| {
        let text = |text: &str| HostValue::Text(text.to_owned());
        let values = change.row.values.iter().map(|value| converter.value(value.clone()));
        let columns = change.row.columns.iter().map(|name| text(name)).zip(values);
        let id = change.id(target, table_uuid);
        ids.push(id.clone());
        let about = [
            ("__ondatra_rowid", HostValue::Int(change.event.rowid.into())),
            ("__ondatra_change_type", text(change.event.change_type.as_str())),
            ("__ondatra_event_id", HostValue::Text(id)),
        ];
        HostValue::Dict(columns.chain(about.map(|(name, value)| (text(name), value))).collect())
    };
    let rows = changes.into_iter().map(row).collect();
    SentRows { rows, ids, not_finite: converter.not_finite }
}
