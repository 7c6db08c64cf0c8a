//! What delivery reads from the lake: changes in order (chapter 04 §4), and the rows of changes (§5).
#![allow(clippy::unwrap_used)]

mod events;
mod images;
mod lake;
mod net;
mod random;
