//! Functions of `lib/`, written in Starlark: what they declare, and how they are called (chapter 03).
//!
//! Boundary: knows no engine, no lake and no state; prints nothing and reads no environment variable.

mod access_tokens;
mod adapt;
mod aliases;
mod answers;
mod api;
mod auth;
mod authorization;
// Here and below: what the language's macros make of functions does not meet these lints.
#[allow(clippy::unnecessary_wraps)]
mod bounds;
mod builtins;
mod cell;
mod endpoints;
mod error;
mod explain;
mod fetching;
mod fields;
mod host;
mod host_value;
mod json_write;
mod lib_file;
mod literal;
mod nesting;
mod parse;
mod program;
mod provider_name;
mod push_answer;
mod pushing;
mod refusal;
mod registry;
mod running;
mod scanner;
mod signature;
mod signatures;
mod source;
mod status_check;
// What the language's macro makes of it.
#[allow(unsafe_code)]
mod surroundings;
#[doc(hidden)]
pub mod testing;
mod throttle;
mod top_level;
mod wording;

pub use access_tokens::{AccessTokens, TokenError};
pub use api::{Api, BatchMode, FetchApi, PushApi, RateLimit, Transport};
pub use auth::{Auth, AuthForm, KeyPlace, Secret};
pub use bounds::MAX_TEXT_BYTES;
pub use cell::{Cell, CellKind, Row};
pub use endpoints::Endpoint;
pub use error::{LibError, LibErrorKind};
pub use explain::CallError;
pub use fetching::{JobState, Page, PageError};
pub use host::{Host, HostOptions, Limits, Lookup};
pub use host_value::HostValue;
pub use json_write::{WriteOther, digits, push_json_string};
pub use lib_file::{Lib, Remark};
pub use provider_name::ProviderName;
pub use push_answer::{PollAnswer, PushAnswer, RowStatus, Statuses};
pub use pushing::PushCall;
pub use refusal::Refusal;
pub use registry::{BrokenLib, Registry, lib_files};
pub use running::{Direction, Running, with_lib};
pub use signature::{ParameterInfo, Signature};
pub use status_check::UncheckedStatus;
