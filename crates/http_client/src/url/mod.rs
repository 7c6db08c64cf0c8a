//! URLs: absolute ones taken apart and checked, joined, given parameters, resolved.
//!
//! The parts that a connection is made from are the parts that origins are compared by; there is no second reader that
//! could see another host.

mod origin;
mod params;
mod relative;
mod target;

pub(crate) use origin::split_port;
pub use origin::{Origin, Receiver};
pub(crate) use params::with_params;
pub use params::{form, join};
pub(crate) use relative::resolve;
pub(crate) use target::Target;
