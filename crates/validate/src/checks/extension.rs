//! The value of `@extension` (chapter 01 §3.3).

use model::{Extension, Finding, Model, Written};
use types::Rule;

/// The extension that a directive names.
///
/// # Errors
/// The value is none.
pub fn extension(model: &Model, written: &Written<String>) -> Result<Extension, Finding> {
    Extension::parse(&written.value).map_err(|message| {
        let place = model.place(written.span.clone());
        Finding::new(Rule::InvalidExtension, place, message, "names are lower-case letters, digits and `_`")
    })
}
