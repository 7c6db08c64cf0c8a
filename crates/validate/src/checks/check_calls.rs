//! `@constraint`, `@audit` and `@warning`: whether their values are calls (chapter 01 §4.2) of checks that can run. `run`
//! reads them with the same code when the model's turn comes.

use ::checks::{Call, Stage};
use model::{Finding, Model};
use types::Rule;

use crate::arguments::Arguments;
use crate::own_macros::OwnMacros;

/// The checks of a model, with what is wrong about directives that are none.
pub(crate) fn read_checks(model: &Model, own: &OwnMacros) -> (Vec<Call>, Vec<Finding>) {
    let stages =
        [(Stage::Constraint, &model.constraints), (Stage::Audit, &model.audits), (Stage::Warning, &model.warnings)];
    let written = stages.into_iter().flat_map(|(stage, all)| all.iter().map(move |written| (stage, written)));
    let (mut calls, mut findings) = (Vec::new(), Vec::new());
    for (stage, written) in written {
        match Call::read(stage, written, |name| own.schema(name)) {
            Ok(call) => calls.push(call),
            Err(error) => findings.push(Finding::new(
                Rule::InvalidCheck,
                model.place(written.span.clone()),
                error.told(stage),
                error.help(),
            )),
        }
    }
    (calls, findings)
}

/// Texts that are passed as something else than what is written.
pub(crate) fn changed_texts(model: &Model, call: &Call) -> Vec<Finding> {
    let finding = |(written, passed): &(String, String)| {
        let message = format!("`{written}` in `{}` is passed as `{passed}`", call.written.value);
        let help = format!("write it in quotes if that is not meant: '{written}'");
        Finding::new(Rule::ChangedText, model.place(call.written.span.clone()), message, help)
    };
    call.changed_texts.iter().map(finding).collect()
}

/// What keeps a check from ever running.
pub(crate) fn unusable(model: &Model, call: &Call, own: &OwnMacros, arguments: &Arguments) -> Option<Finding> {
    let finding = |message: String, help: String| {
        Finding::new(Rule::UnusableCheck, model.place(call.written.span.clone()), message, help)
    };
    if let Some(fault) = call.fault(own.known()) {
        return Some(finding(fault.message, fault.help));
    }
    let (argument, why) = arguments.fault(call)?;
    Some(finding(format!("`{argument}` in `{}` cannot be used: {why}", call.written.value), call.usage()))
}
