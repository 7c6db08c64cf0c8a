//! What graphs look like, and what holds for any of them.

//mod formats;
mod large;
mod samples;
mod terminal;
