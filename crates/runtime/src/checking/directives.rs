//! A model's directives as calls, or why they are none.

use std::collections::BTreeSet;

use checks::{Call, Check, Stage};
use model::{ConfigDefinitions, Model, Written};

use crate::Session;
use crate::checking::{CheckProblem, StageReport};

/// The checks of a model.
pub(crate) struct ModelChecks {
    pub constraints: StageCalls,
    pub audits: StageCalls,
    pub warnings: StageCalls,
}

/// The checks of a stage.
pub(crate) struct StageCalls {
    pub stage: Stage,
    pub calls: Vec<Call>,
    /// The project's macros.
    pub own: BTreeSet<String>,
    /// Directives that are no calls.
    pub problems: Vec<CheckProblem>,
}

impl ModelChecks {
    /// Reads a model's directives.
    pub fn read(session: &Session, model: &Model) -> Self {
        let own = &session.definitions;
        Self {
            constraints: StageCalls::read(Stage::Constraint, &model.constraints, model, own),
            audits: StageCalls::read(Stage::Audit, &model.audits, model, own),
            warnings: StageCalls::read(Stage::Warning, &model.warnings, model, own),
        }
    }

    /// The shipped checks among them.
    pub fn shipped(&self) -> Vec<&'static Check> {
        let stages = [&self.constraints, &self.audits, &self.warnings];
        stages.into_iter().flat_map(|stage| &stage.calls).filter_map(|call| call.shipped).collect()
    }
}

impl StageCalls {
    fn read(stage: Stage, directives: &[Written<String>], model: &Model, own: &ConfigDefinitions) -> Self {
        let (mut calls, mut problems) = (Vec::new(), Vec::new());
        for written in directives {
            match Call::read(stage, written, |name| own.macro_schema(name)) {
                Ok(call) => calls.push(call),
                Err(error) => problems.push(CheckProblem {
                    check: written.value.clone(),
                    message: error.told(stage),
                    help: error.help().to_owned(),
                    place: model.place(written.span.clone()),
                }),
            }
        }
        Self { stage, calls, own: own.macros().clone(), problems }
    }

    /// The directives that are no calls, if there are any.
    pub fn malformed(&self) -> Option<StageReport> {
        let (stage, problems) = (self.stage, self.problems.clone());
        let checked = self.calls.len() + problems.len();
        (!problems.is_empty()).then_some(StageReport { stage, checked, findings: Vec::new(), problems })
    }

    /// Whether the model has none.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.problems.is_empty()
    }
}
