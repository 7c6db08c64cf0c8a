//! What a model asks of its table, and where in its file that stands.

use model::Model;
use types::{Kind, Place};

use crate::{KindWrite, Layout, MaterializeError};

/// The key columns that the model's kind uses.
pub fn key_columns(model: &Model) -> Vec<String> {
    match model.kind {
        Kind::Table | Kind::Append => Vec::new(),
        Kind::Merge | Kind::Scd2 => model.unique_key.iter().map(|key| key.value.clone()).collect(),
        Kind::Tracked => model.group_key.clone(),
    }
}

/// The layout that the model asks for.
pub fn layout(model: &Model) -> Layout<'_> {
    Layout { partitioned_by: &model.partitioned_by, sorted_by: &model.sorted_by }
}

/// The kind with its keys; that they are there is checked when the model is read.
pub fn kind_write(model: &Model) -> KindWrite {
    let keys = key_columns(model);
    let key = || keys.first().cloned().unwrap_or_default();
    match model.kind {
        Kind::Table => KindWrite::Table,
        Kind::Append => KindWrite::Append,
        Kind::Merge => KindWrite::Merge { key: key() },
        Kind::Scd2 => KindWrite::Scd2 { key: key() },
        Kind::Tracked => KindWrite::Tracked { keys },
    }
}

/// The directive that names the column, or the column itself; `offset` gives the byte of the SQL at which an output
/// column begins, where that is known.
pub fn output_place(model: &Model, error: &MaterializeError, offset: impl Fn(&str) -> Option<usize>) -> Option<Place> {
    match error {
        MaterializeError::KeyMissing { directive, key, .. } => model.directive_place(directive, key),
        MaterializeError::KeyNull { directive, keys, .. } => model.directive_place(directive, keys.first()?),
        MaterializeError::KeyRepeated { key, .. } => model.directive_place("@unique_key", key),
        MaterializeError::MaskedColumn { column, .. }
        | MaterializeError::Mask { column, .. }
        | MaterializeError::MaskedType { column, .. } => model.directive_place("@column", column),
        MaterializeError::PartitionType { column, .. } => model.directive_place("@partitioned_by", column),
        MaterializeError::ReservedColumn { column }
        | MaterializeError::UnsupportedType { column, .. }
        | MaterializeError::Inexact { column, .. } => Some(model.sql_place(offset(column)?)),
        MaterializeError::Query(_)
        | MaterializeError::Write(_)
        | MaterializeError::RowsWouldBeDropped { .. }
        | MaterializeError::ValuesWouldBeDropped { .. }
        | MaterializeError::NeedsWhole => None,
    }
}
