//! What the command line needs of every error to report it.

use crate::{Code, Place};

/// An error for the person who must act: what happened (`Display`), its stable code, where, what to do next.
pub trait Diagnose: std::error::Error {
    /// The stable code, explained in `docs/errors/`.
    fn code(&self) -> Code;

    /// What to do next.
    fn help(&self) -> String;

    /// The place in the user's file, where there is one.
    fn place(&self) -> Option<&Place> {
        None
    }
}
