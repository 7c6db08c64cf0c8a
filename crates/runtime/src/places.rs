//! Where in a model file that is to be mended which an error of its output tells of.

use materialize::MaterializeError;
use model::Model;
use types::Place;

/// The directive that names the column, or the column itself; `offset` gives the byte of the SQL at which an output
/// column begins, where that is known.
pub(crate) fn output_place(
    model: &Model,
    error: &MaterializeError,
    offset: impl Fn(&str) -> Option<usize>,
) -> Option<Place> {
    match error {
        MaterializeError::KeyMissing { directive, key, .. } => model.directive_place(directive, key),
        MaterializeError::KeyNull { directive, keys, .. } => model.directive_place(directive, keys.first()?),
        MaterializeError::KeyRepeated { key, .. } => model.directive_place("@unique_key", key),
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
