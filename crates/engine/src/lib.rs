//! The only room that talks to DuckDB: connections, values, extensions, syntax trees, facts of the lake.
//!
//! Boundary: knows nothing of projects, models' meaning or runs; it reads no environment variable and
//! prints nothing. `unsafe` is allowed in `native` alone.

mod error;
mod extensions;
mod identity;
mod instance;
mod json;
mod lake;
mod memory;
mod native;
mod parser;
mod spill;
mod value;

pub use error::EngineError;
pub use extensions::{ExtensionSearch, Pins, needed_extensions};
pub use identity::identity;
pub use instance::{EngineOptions, Instance};
pub use lake::{
    CurrentTable, LakeFacts, LakeView, RegistryRow, TARGET_REGISTRY, recorded_commit, recorded_commit_at,
    registry_statements,
};
pub use memory::MemoryLimit;
pub use native::{Connection, Database, InterruptHandle, Rows};
pub use parser::EngineParser;
pub use spill::SpillFolder;
pub use value::Value;
