//! What this version parses and validates but cannot run yet. A model that asks for it fails before it
//! writes anything: half of what it asks for would be worse than nothing.

use model::{Model, Written};
use types::Code;

use crate::RunError;

/// An error if the model needs something that is not there yet.
pub(crate) fn check_supported(model: &Model) -> Result<(), RunError> {
    let masked = model.columns.iter().find(|doc| doc.mask().is_some());
    let first = |written: &[Written<String>]| written.first().map(|written| written.span.clone());
    let missing = [
        masked.map(|doc| (format!("masking (column `{}`)", doc.name), Some(doc.span.clone()))),
        first(&model.constraints).map(|span| ("@constraint".to_owned(), Some(span))),
        first(&model.audits).map(|span| ("@audit".to_owned(), Some(span))),
        first(&model.warnings).map(|span| ("@warning".to_owned(), Some(span))),
    ];
    let (missing, spans): (Vec<String>, Vec<_>) = missing.into_iter().flatten().unzip();
    let place = spans.into_iter().flatten().next().unwrap_or(0..0);
    if missing.is_empty() {
        return Ok(());
    }
    Err(RunError::Refused {
        code: Code::NotYet,
        message: format!("{} cannot be run by this version yet", missing.join(", ")),
        help: "this version runs the five kinds with keys, cursors, layouts, descriptions and extensions".into(),
        place: Box::new(model.place(place)),
    })
}
