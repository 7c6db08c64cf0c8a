//! Keeps what a script does in one operation within bounds of memory and time. The language looks at its limits between
//! steps only, so a text is rewritten before it is executed: what can grow or recurse without end goes through
//! functions of ours, which look first (`rewrite.rs`). What can is listed in `docs/lib-functions.md`.

mod edits;
mod functions;
mod methods;
mod operators;
mod regions;
mod rewrite;
mod weight;

use starlark::environment::GlobalsBuilder;

pub(crate) use edits::Rewritten;
pub(crate) use rewrite::rewrite;
pub(crate) use weight::{Excess, check_bits, weigh};

use crate::source::FOREVER;

/// Most digits of an integer. Arithmetic, reading and writing take time by the square of their number.
pub(crate) const MAX_DIGITS: usize = 100_000;
/// Longest text of a value, as long as the longest response that is read.
pub const MAX_TEXT_BYTES: usize = 1 << 28;

/// The names that rewritten texts use. An author's file cannot.
pub(crate) const RESERVED: [&str; 12] = [
    "__while__",
    FOREVER,
    operators::MUL,
    operators::MOD,
    operators::SHL,
    operators::ADDEND,
    operators::BOUNDED,
    operators::PACED,
    operators::SHOWN,
    operators::SPREAD,
    methods::METHOD,
    methods::RECEIVER,
];

/// Adds the functions that rewritten texts call, and puts bounds on those of the language.
pub(crate) fn register(builder: &mut GlobalsBuilder) {
    operators::register(builder);
    methods::register(builder);
    functions::register(builder);
}
