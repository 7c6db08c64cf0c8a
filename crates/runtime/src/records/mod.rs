//! What the lake tells of past runs: its commits, and the registry of last ones. A handful of queries, whatever the
//! number of models and snapshots. Nothing is written.

mod commits;
mod describe;
mod history;
mod last;
mod lineage;
mod models;
mod stats;

pub use commits::{Moment, RunRecord};
pub use describe::{DescribedColumn, DescribedStep, Description, describe};
pub use history::{History, history};
pub use last::last_source_file;
pub use lineage::{Lineage, LineageMode, LineageModel, lineage};
pub use stats::{ModelStats, Stats, stats};
