//! What a person reads, and what a program reads: the table and the JSON of all figures.

mod json;
mod machine;
mod table;

pub use json::document;
pub use machine::Machine;
pub use table::{header, row};

/// Where the figures were measured, and with what.
pub struct Setting {
    pub machine: Machine,
    /// Name and version, of everything that took part.
    pub versions: Vec<(String, String)>,
}
