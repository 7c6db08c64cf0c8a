//! Models that fetch (chapter 03 §3.4): checked before anything runs, fetched side by side, committed in their turn.

mod acks;
mod arguments;
mod checks;
mod claims;
mod declared;
mod jobs;
mod loading;
mod lookup;
mod masks;
mod source;

pub(crate) use acks::acknowledge;
pub(crate) use checks::{FetchPlan, FetchPlans, check_models, read_registry};
pub(crate) use jobs::{Fetches, JobsContext, start_fetching};
pub(crate) use loading::{LoadedRows, Loading};
pub(crate) use lookup::LakeLookup;
pub(crate) use source::{fetch_source, kept_source};
