//! Functions of `lib/`, written in Starlark: what they declare, and how they are called (chapter 03).
//!
//! Boundary: knows no engine, no lake and no state; prints nothing and reads no environment variable.

mod adapt;
mod api;
mod auth;
mod builtins;
mod cell;
mod error;
mod fields;
mod host_value;
mod lib_file;
mod literal;
mod nesting;
mod parse;
mod program;
mod registry;
mod scanner;
mod signature;
mod signatures;
mod source;
mod status_check;
mod top_level;

pub use api::{Api, BatchMode, FetchApi, INJECTED, PushApi, RateLimit, Transport};
pub use auth::{Auth, AuthForm, KeyPlace, Secret};
pub use cell::{Cell, CellKind, Row};
pub use error::{LibError, LibErrorKind};
pub use host_value::{HostValue, HostValueError};
pub use lib_file::{Lib, Remark};
pub use registry::{BrokenLib, Registry};
pub use signature::{ParameterInfo, Signature};
pub use status_check::UncheckedStatus;
