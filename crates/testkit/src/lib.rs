//! Fixtures for tests: throwaway projects, and the binary run in a sealed environment.
//!
//! Boundary: a dev-dependency only, used from `tests/` folders; it knows the product from outside.
// A fixture that cannot be made is a failed test, so these functions panic.
#![allow(clippy::missing_panics_doc, clippy::unwrap_used)]

pub mod authorization_server;
mod changes;
pub mod http;
pub mod keys;
mod lake;
mod object_store;
mod output;
mod postgres;
mod project;
mod random;
mod states;

pub use authorization_server::{AuthorizationServer, browse};
pub use changes::Changes;
pub use lake::{Lake, open_lake};
pub use object_store::ObjectStore;
pub use output::{Output, normalize};
pub use postgres::{Postgres, free_port};
pub use project::{Catalog, Project, STATE_KEY};
pub use random::Random;
pub use states::{ALL_BACKENDS, StateFixture, StateServer, engine_options, state_config};
