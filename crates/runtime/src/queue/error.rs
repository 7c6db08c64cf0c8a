//! What stops a command of the queue.

use types::{Code, Diagnose};

/// An error about a target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueueError {
    /// Nothing is known of it.
    #[error("there is no target {name}: no model of this name pushes, and nothing is queued for it")]
    Unknown {
        /// As given.
        name: String,
        /// The closest target there is.
        suggestion: Option<String>,
    },
    /// It has a queue and no model.
    #[error("{target} has no model any more, so nothing can be delivered to it")]
    NoModel {
        /// The target.
        target: String,
    },
    /// Its model does not push.
    #[error("{target} is not pushed: its model has no @push")]
    NoPush {
        /// The model.
        target: String,
    },
    /// It was never run.
    #[error("{target} has no table yet")]
    NoTable {
        /// The target.
        target: String,
    },
}

impl Diagnose for QueueError {
    fn code(&self) -> Code {
        Code::PushTarget
    }

    fn help(&self) -> String {
        match self {
            Self::Unknown { suggestion: Some(other), .. } => format!("did you mean `{other}`?"),
            Self::Unknown { suggestion: None, .. } => "`ondatrasql queue` lists the targets".into(),
            Self::NoModel { target } => format!(
                "bring its model back, or look at what is queued with `ondatrasql queue show {target}` and remove it \
                 with `ondatrasql queue drop {target} --all`"
            ),
            Self::NoPush { target } => format!(
                "add @push to the model; `ondatrasql queue drop {target} --all` removes what is queued from \
                 before"
            ),
            Self::NoTable { target } => format!("`ondatrasql run {target}` makes it, and delivers its rows"),
        }
    }
}
