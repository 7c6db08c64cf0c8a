//! What this version parses and validates but cannot run yet. A model that asks for it fails before it
//! writes anything: half of what it asks for would be worse than nothing.

use model::Model;
use types::Code;

use crate::RunError;

/// An error if the model needs something that is not there yet.
pub(crate) fn check_supported(model: &Model) -> Result<(), RunError> {
    let masked = model.columns.iter().find(|doc| doc.mask().is_some());
    let Some(doc) = masked else { return Ok(()) };
    Err(RunError::Refused {
        code: Code::NotYet,
        message: format!("masking (column `{}`) cannot be run by this version yet", doc.name),
        help: "this version runs the five kinds with keys, cursors, layouts, checks, descriptions and extensions"
            .into(),
        place: Box::new(model.place(doc.span.clone())),
    })
}
