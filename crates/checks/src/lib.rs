//! Checks of data: the one list of shipped checks, and the way from a directive to the SQL that runs it.
//!
//! Boundary: pure. SQL is built here, never run; which macros the project has of its own comes in from the
//! caller, and what becomes of findings is the runtime's.

mod argument;
mod blocks;
mod call;
mod check;
mod contained;
mod directive;
mod fault;
mod functions;
mod list;
mod needed;
mod pages;
mod stage;
mod template;

pub use argument::Argument;
pub use blocks::is_reserved;
pub use call::{Call, SHIPPED_IN, query};
pub use check::{Check, Param, ParamKind};
pub use directive::DispatchError;
pub use fault::{CallFault, unknown_help};
pub use functions::{FUNCTIONS, Function, create_functions, function_summary};
pub use list::{find, shipped, shipped_in};
pub use needed::{create_macros, named_in};
pub use pages::{page, page_name, summary};
pub use stage::Stage;
