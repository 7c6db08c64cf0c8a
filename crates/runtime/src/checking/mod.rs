//! Checks of data: constraints, audits and warnings (chapter 01 §4). What they are and how their SQL is made is known to
//! the room `checks`; here it is run, and what it finds becomes findings.

mod directives;
mod macros;
mod present;
mod report;
mod rows;
mod stage_run;
mod stages;
mod store;

pub(crate) use directives::ModelChecks;
pub use present::{CheckOptions, CheckedModel, check};
pub use report::{CheckFinding, CheckProblem, FailingRows, StageReport};
pub(crate) use stages::{EndedBy, StageFailure, audit, constrain, constrain_alone, warn};
pub(crate) use store::drop_failures;
