//! The one place with `unsafe`: a safe wrapper over the C API of DuckDB.
//!
//! Every handle has one owner that frees it; pointers from the engine never leave this module.
#![allow(unsafe_code)]

mod allocator;
mod append;
mod connection;
mod decode;
mod rows;

pub use connection::{Connection, Database, InterruptHandle};
pub use rows::Rows;
