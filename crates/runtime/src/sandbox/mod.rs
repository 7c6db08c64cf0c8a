//! A run against a fork of the lake, compared with production (chapter 05 §4). Production is not even opened: its catalog is
//! copied, its data files are read where they are, and what is compared is the fork before and after the run.

mod compare;
mod copy;
mod error;
mod folder;
mod fork;
mod impact;
mod localize;
mod multiset;
mod row_count;
mod server;
mod source;
mod try_out;

pub use compare::{ChangedColumn, Comparison};
pub use error::SandboxError;
pub use folder::sandbox_leftovers;
pub use impact::{Affected, Impact, Transitive};
pub(crate) use source::standing_in;
pub use source::{MissingCatalog, missing_catalog};
pub use try_out::{ConfirmTermination, SandboxModel, SandboxOptions, SandboxSummary, sandbox};
