//! Functions of `lib/`, written in Starlark: what they declare, and how they are called (chapter 03).
//!
//! Boundary: knows no engine, no lake and no state; prints nothing and reads no environment variable.

mod builtins;
pub mod host_value;
