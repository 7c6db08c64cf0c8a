//! Words that every room shares: targets, kinds, run types and reasons, error codes, places in files.
//!
//! Boundary: no I/O, no clock, no SQL execution; nothing here knows a database, a terminal or a project.

mod change_type;
mod code;
mod commit;
mod diagnose;
mod duration;
mod ident;
mod kind;
mod place;
mod printable;
mod rule;
mod run_type;
mod target;

pub use change_type::ChangeType;
pub use code::Code;
pub use commit::{Column, ColumnLineage, ColumnMask, CommitInfo, LineageSource, Step, StepStatus, Transformation};
pub use diagnose::Diagnose;
pub use duration::parse_duration;
pub use ident::{dotted, fnv1a, hex, is_identifier, literal, quote, undotted};
pub use kind::Kind;
pub use place::Place;
pub use printable::printable;
pub use rule::{Rule, Severity};
pub use run_type::{Decision, Reason, RunType};
pub use target::Target;
