//! `@constraint`, `@audit` and `@warning`: whether their values are calls (chapter 01 §4.2). `run` reads them with the same
//! code when the model's turn comes.

use ::checks::{Call, Stage};
use model::{Finding, Model};
use types::Rule;

/// The directives that are no calls; `own` knows where the project's macros are, by their lower-case names.
pub(crate) fn malformed_checks(model: &Model, own: impl Fn(&str) -> Option<&'static str>) -> Vec<Finding> {
    let stages =
        [(Stage::Constraint, &model.constraints), (Stage::Audit, &model.audits), (Stage::Warning, &model.warnings)];
    let written = stages.into_iter().flat_map(|(stage, all)| all.iter().map(move |written| (stage, written)));
    let finding = |(stage, written)| {
        let error = Call::read(stage, written, &own).err()?;
        Some(Finding::new(Rule::InvalidCheck, model.place(written.span.clone()), error.told(stage), error.help()))
    };
    written.filter_map(finding).collect()
}
