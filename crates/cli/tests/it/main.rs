//! Black-box tests: the built binary in throwaway projects. A file per command or promise.
#![allow(clippy::unwrap_used)]

mod append;
mod arguments;
mod auth;
mod bad_projects;
mod blueprint;
mod catalogs;
mod checks;
mod config;
mod crash;
mod deltas;
mod describe;
mod docs;
mod doctor;
mod edit;
mod every_command;
mod fetch;
mod hard_deltas;
mod history;
mod init;
mod interrupt;
mod json_documents;
mod kinds;
mod layout;
mod lineage;
mod lineage_command;
mod long_life;
mod maintenance;
mod masking;
mod new;
mod object_store;
mod observability;
mod parallel;
mod pins;
mod push;
mod push_docs;
mod queue;
mod run;
mod run_types;
mod sandbox;
mod schema;
mod shell;
mod sql;
mod state;
mod stats;
mod streams;
mod terminal;
mod together;
mod validate;
mod variables;
mod without_state;
mod workers;

use testkit::{Catalog, Project};

/// The binary under test.
const BINARY: &str = env!("CARGO_BIN_EXE_ondatrasql");

/// A project on a SQLite lake.
fn project() -> Project {
    Project::new(BINARY, Catalog::Sqlite)
}
