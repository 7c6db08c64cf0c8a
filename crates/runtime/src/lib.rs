//! Orders a run, commits each model, tells what happened as values and events.
//!
//! Boundary: prints nothing and reads no process environment; the command line hands in what it needs.
//! The only room that begins and commits transactions of the lake.

mod ahead;
mod arrivals;
mod cancellation;
mod catalog_fault;
mod checking;
mod conflict;
mod cursor;
mod decisions;
mod deltas;
mod empty_folders;
mod error;
mod event;
mod execute;
mod expire;
mod fetching;
mod functions;
mod git;
mod inspect;
mod known;
mod lake_settings;
mod leases;
mod lib_host;
mod lineage;
mod lock;
mod macros;
mod maintenance;
mod masking;
mod outside;
mod pins;
mod planning;
mod progress;
mod project_models;
mod pushing;
mod queue;
mod reading;
mod record;
mod records;
mod requirements;
mod run;
mod sandbox;
mod schedule;
mod session;
mod stand_in;
mod state_session;
mod statement_errors;
mod step;
mod task;
mod turns;
mod variables;
mod world;

pub use cancellation::Cancellation;
pub use checking::{CheckFinding, CheckOptions, CheckProblem, CheckedModel, FailingRows, StageReport, check};
pub use checks::{Stage, summary as check_summary};
pub use error::RunError;
pub use event::{ModelOutcome, Observer, PushForecast, RunSummary, Status};
pub use inspect::{Answer, answer};
pub use lib_host::client;
pub use lock::ProjectLock;
pub use maintenance::{ScriptObserver, ScriptOptions, StatementResult, run_script};
pub use project_models::{load_models, named_model, select_model};
pub use push::{BatchReport, Report as PushReport, SentBatch};
pub use queue::{
    DrainOptions, Drained, DrainedTarget, KnownTarget, Overview, PushPreview, QueueError, QueueOptions, Reset,
    ShownEvent, ShownQueue, drain, drop_all, drop_dead, find_target, overview, preview, reset, retry, retry_dead, show,
};
pub use records::{
    DescribedColumn, DescribedStep, Description, History, Lineage, LineageMode, LineageModel, ModelStats, Moment,
    RunRecord, Stats, describe, history, last_source_file, lineage, stats,
};
pub use run::{RunOptions, Wish, new_run_id, run};
pub use sandbox::{
    Affected, ChangedColumn, Comparison, ConfirmTermination, Impact, MissingCatalog, SandboxError, SandboxModel,
    SandboxOptions, SandboxSummary, Transitive, missing_catalog, sandbox, sandbox_leftovers,
};
pub use session::Session;
pub(crate) use state_session::StateSession;
pub use step::{RunStep, StepSink, StepTime};
