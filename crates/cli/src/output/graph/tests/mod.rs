//! What graphs look like, and what holds for any of them.

mod formats;
mod samples;
mod terminal;
mod wires;
