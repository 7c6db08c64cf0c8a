//! The shipped checks, run by the engine.
#![allow(clippy::unwrap_used)]

mod cases;
mod hostile;
mod macros;
mod pages;
mod world;
