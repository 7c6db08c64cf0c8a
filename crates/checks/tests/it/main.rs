//! The shipped checks, run by the engine.
#![allow(clippy::unwrap_used)]

mod cases;
mod hostile;
mod world;

mod macros;
