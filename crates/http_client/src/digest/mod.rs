//! Digest authentication (RFC 7616): MD5, SHA-256 and their `-sess` forms, `auth` and `auth-int`.
//!
//! Own code, because the crate that there is prefers `auth-int` and reads one challenge only.

mod answer;
mod challenge;

pub(crate) use answer::{Question, answer};
pub(crate) use challenge::{Challenge, find};
