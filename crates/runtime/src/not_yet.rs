//! What this version parses and validates but cannot run yet. A model that asks for it fails before it
//! writes anything: half of what it asks for would be worse than nothing.

use model::Model;
use types::{Code, Kind};

use crate::RunError;

/// An error if the model needs something that is not there yet.
pub(crate) fn check_supported(model: &Model) -> Result<(), RunError> {
    let masked = model.columns.iter().find(|doc| doc.mask().is_some());
    let missing = [
        (model.kind != Kind::Table).then(|| format!("kind `{}`", model.kind)),
        model.fetch.then(|| "@fetch".to_owned()),
        model.push.is_some().then(|| "@push".to_owned()),
        masked.map(|doc| format!("masking (column `{}`)", doc.name)),
        (!model.constraints.is_empty()).then(|| "@constraint".to_owned()),
        (!model.audits.is_empty()).then(|| "@audit".to_owned()),
        (!model.warnings.is_empty()).then(|| "@warning".to_owned()),
        model.incremental.is_some().then(|| "@incremental".to_owned()),
        (!model.partitioned_by.is_empty()).then(|| "@partitioned_by".to_owned()),
        (!model.sorted_by.is_empty()).then(|| "@sorted_by".to_owned()),
    ];
    let missing: Vec<String> = missing.into_iter().flatten().collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(RunError::Refused {
        code: Code::NotYet,
        message: format!("{} cannot be run by this version yet", missing.join(", ")),
        help: "this version runs models of kind `table` with descriptions and extensions".into(),
        place: Box::new(model.place(0..0)),
    })
}
