//! What stops a run, or one model of it.

use engine::EngineError;
use feed::FeedError;
use fetch::FetchError;
use lib_functions::{LibError, LibErrorKind};
use materialize::MaterializeError;
use model::Finding;
use plan::{Cycle, DecisionError};
use project::ProjectError;
use push::Report;
use state::StateError;
use types::{Code, Diagnose, Place, Target};

use crate::catalog_fault::catalog_help;
use crate::checking::StageReport;
use crate::project_models::closest;
use crate::queue::QueueError;
use crate::sandbox::SandboxError;

/// An error of a run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The project's files.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// The engine, outside of the user's SQL.
    #[error("{}", .0.cleaned())]
    Engine(#[from] EngineError),
    /// A model file.
    #[error("load models: {0}")]
    Model(Box<Finding>),
    /// A statement of a configuration file.
    #[error("load {file}: {}", told(error))]
    Config {
        /// The file as messages name it.
        file: String,
        /// The engine's answer, redacted.
        error: EngineError,
        /// Where in the file.
        place: Box<Place>,
    },
    /// `catalog.sql` does not attach what it must.
    #[error("{message}")]
    Catalog {
        /// What is wrong.
        message: String,
        /// What to do.
        help: String,
    },
    /// A lib file, or a function of it.
    #[error(transparent)]
    Lib(#[from] LibError),
    /// A fetch.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The state.
    #[error(transparent)]
    State(#[from] StateError),
    /// The changes of a table cannot be read.
    #[error(transparent)]
    Feed(#[from] FeedError),
    /// Rows were not delivered.
    #[error("{}", .report.failure())]
    Push {
        /// Whose.
        target: Target,
        /// What was.
        report: Report,
    },
    /// `ONDATRA_CLAIM_CHUNK` is no number of events.
    #[error("ONDATRA_CLAIM_CHUNK is {text:?}, which is no number of events")]
    ClaimChunk {
        /// What it says.
        text: String,
    },
    /// A command of the queue cannot be about this target.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// There is no sandbox.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// Models depend on each other.
    #[error(transparent)]
    Cycle(#[from] Cycle),
    /// No such model.
    #[error("model not found: {name}")]
    ModelNotFound {
        /// As given.
        name: String,
        /// The closest target there is.
        suggestion: Option<String>,
    },
    /// Neither a file nor a commit of this model.
    #[error("model \"{name}\" not found")]
    NoSuchModel {
        /// As given.
        name: String,
        /// The closest target there is.
        suggestion: Option<String>,
    },
    /// A model has a file and no commit.
    #[error("{target} has not been run yet")]
    NotRunYet {
        /// The model.
        target: String,
    },
    /// Another process runs the project.
    #[error("another run of this project is active{}, waited {waited_s} s for it", holder.map_or_else(String::new, |pid| format!(" (process {pid})")))]
    Busy {
        /// The other process, where the system tells.
        holder: Option<u32>,
        /// Seconds waited.
        waited_s: u64,
    },
    /// A model has no such column.
    #[error("column \"{column}\" not found in {model} (available: {})", available.join(", "))]
    NoSuchColumn {
        /// As given.
        column: String,
        /// The model.
        model: String,
        /// The columns that it has.
        available: Vec<String>,
    },
    /// The run type could not be decided.
    #[error(transparent)]
    Decision(#[from] DecisionError),
    /// Constraints or audits of a model found something, or could not be run.
    #[error("{}", .0.message())]
    Checks(Box<StageReport>),
    /// A model's SQL was refused.
    #[error("{}", error.cleaned())]
    Statement {
        /// The engine's answer.
        error: MaterializeError,
        /// Where in the model file.
        place: Option<Box<Place>>,
    },
    /// Something of the model's header or SQL that only a run checks.
    #[error("{message}")]
    Refused {
        /// Its code.
        code: Code,
        /// What is wrong.
        message: String,
        /// What to do.
        help: String,
        /// Where in the model file.
        place: Box<Place>,
    },
    /// Other writers kept changing the lake.
    #[error("the lake is being changed by another writer, gave up after {attempts} attempts: {message}")]
    Conflict {
        /// Attempts made.
        attempts: u32,
        /// The engine's last answer.
        message: String,
    },
    /// Another process has committed the model since it was planned.
    #[error("{target} was committed by another process after this run had planned it")]
    CommittedElsewhere {
        /// The model.
        target: Target,
    },
    /// The run was interrupted.
    #[error("interrupted")]
    Interrupted,
}

impl RunError {
    /// Whether the engine can answer nothing more: the run ends.
    pub(crate) fn is_fatal(&self) -> bool {
        self.of_engine().is_some_and(EngineError::is_fatal)
    }

    /// Whether the engine's memory was too little for what went on.
    pub(crate) fn is_out_of_memory(&self) -> bool {
        self.of_engine().is_some_and(EngineError::is_out_of_memory)
    }

    /// Whether it tells only that the transaction had failed before.
    pub(crate) fn is_aborted(&self) -> bool {
        self.of_engine().is_some_and(EngineError::is_aborted)
    }

    fn of_engine(&self) -> Option<&EngineError> {
        match self {
            Self::Engine(error) | Self::Config { error, .. } => Some(error),
            Self::Statement { error: MaterializeError::Query(error) | MaterializeError::Write(error), .. } => {
                Some(error)
            }
            _ => None,
        }
    }
}

impl RunError {
    /// What a run shows below the model: a line for each finding of its constraints, or the error.
    pub fn texts(&self) -> Vec<String> {
        match self {
            Self::Checks(report) => report.texts(),
            error => vec![error.to_string()],
        }
    }

    /// Whether it was the user who ended it.
    pub fn is_interrupt(&self) -> bool {
        match self {
            Self::Interrupted | Self::Engine(EngineError::Interrupted) | Self::Sandbox(SandboxError::Interrupted) => {
                true
            }
            Self::Lib(error) | Self::Fetch(FetchError::Lib(error)) => error.kind == LibErrorKind::Stopped,
            Self::Statement { error: MaterializeError::Query(error) | MaterializeError::Write(error), .. } => {
                *error == EngineError::Interrupted
            }
            _ => false,
        }
    }
}

fn column_help(model: &str, column: &str, available: &[String]) -> String {
    match closest(column, available.iter().cloned()).filter(|_| !column.is_empty()) {
        Some(close) => format!("did you mean `{model}.{close}`?"),
        None => format!("name a column that the last run of {model} gave"),
    }
}

impl RunError {
    /// What was found in a model that is known by its place: the message stands alone.
    pub(crate) fn refused(finding: &Finding) -> Self {
        Self::Refused {
            code: finding.code(),
            message: finding.message().to_owned(),
            help: finding.help(),
            place: Box::new(finding.place.clone()),
        }
    }
}

impl From<Finding> for RunError {
    fn from(finding: Finding) -> Self {
        Self::Model(Box::new(finding))
    }
}

/// The engine's text with its class, unless that says nothing.
fn told(error: &EngineError) -> String {
    let text = error.to_string();
    text.strip_prefix("Invalid Error: ").map_or_else(|| text.clone(), str::to_owned)
}

impl Diagnose for RunError {
    fn code(&self) -> Code {
        match self {
            Self::Project(error) => error.code(),
            Self::Engine(error) => error.code(),
            Self::Model(finding) => finding.code(),
            Self::Config { .. } => Code::ConfigSql,
            Self::Catalog { .. } => Code::CatalogAttach,
            Self::Lib(error) => error.code(),
            Self::Fetch(error) => error.code(),
            Self::State(error) => error.code(),
            Self::Feed(error) => error.code(),
            Self::Push { .. } => Code::PushRows,
            Self::ClaimChunk { .. } => Code::PushChunk,
            Self::Queue(error) => error.code(),
            Self::Sandbox(error) => error.code(),
            Self::Cycle(cycle) => cycle.code(),
            Self::ModelNotFound { .. } | Self::NoSuchModel { .. } => Code::ModelNotFound,
            Self::NotRunYet { .. } => Code::NotRunYet,
            Self::NoSuchColumn { .. } => Code::ColumnNotFound,
            Self::Busy { .. } => Code::ProjectBusy,
            Self::Decision(_) => Code::RecordedCommit,
            Self::Checks(report) => report.code(),
            Self::Statement { error, .. } => error.code(),
            Self::Refused { code, .. } => *code,
            Self::Conflict { .. } | Self::CommittedElsewhere { .. } => Code::LakeConflict,
            Self::Interrupted => Code::Interrupted,
        }
    }

    fn help(&self) -> String {
        match self {
            Self::Project(error) => error.help(),
            Self::Engine(error) => error.help(),
            Self::Model(finding) => finding.help(),
            Self::Config { file, error, .. } if file == "catalog.sql" && catalog_help(error).is_some() => {
                catalog_help(error).unwrap_or_default().to_owned()
            }
            Self::Config { error, .. } if !error.is_statement_fault() => error.help(),
            Self::Config { error, place, .. } if place.file().starts_with("config/macros") && error.cleaned().contains("does not exist") => {
                "tables must exist when a macro is made; name those of the lake in three parts, {{catalog}}.schema.table".into()
            }
            Self::Config { place, .. } => format!("correct the statement in {}", place.file().display()),
            Self::Catalog { help, .. } | Self::Refused { help, .. } => help.clone(),
            Self::Lib(error) => error.help(),
            Self::Fetch(error) => error.help(),
            Self::State(error) => error.help(),
            Self::Feed(error) => error.help(),
            Self::Push { target, report } if report.rejected > 0 => {
                format!("`ondatrasql queue show {target} --dead` shows what was rejected, `queue retry {target} --dead` sends it again")
            }
            Self::Push { target, .. } => format!(
                "nothing is lost: the next run tries again what is due by then; if the function is at fault, correct it, then \
                 `ondatrasql queue retry {target}` and `ondatrasql queue drain`"
            ),
            Self::ClaimChunk { .. } => "write a whole number above 0, like 10000, or leave it out".into(),
            Self::Queue(error) => error.help(),
            Self::Sandbox(error) => error.help(),
            Self::Cycle(cycle) => cycle.help(),
            Self::ModelNotFound { suggestion: Some(other), .. }
            | Self::NoSuchModel { suggestion: Some(other), .. } => format!("did you mean `{other}`?"),
            Self::ModelNotFound { suggestion: None, .. } => {
                "name a target (schema.table) of models/, or the path of a .sql file".into()
            }
            Self::NoSuchModel { suggestion: None, .. } => {
                "name a model as schema.table; `ondatrasql stats` lists those that have run".into()
            }
            Self::NotRunYet { target } => format!("`ondatrasql run {target}` runs it"),
            Self::NoSuchColumn { model, column, available } => column_help(model, column, available),
            Self::Busy { .. } => "wait until it has ended, or wait longer with --state-wait 10m".into(),
            Self::Decision(_) => "another tool changed the lake's table main._ondatra_registry; delete the model's row there to build it again".into(),
            Self::Checks(report) => report.help(),
            Self::Statement { error, .. } => error.help(),
            Self::Conflict { .. } => "run again when the other writer has finished".into(),
            Self::CommittedElsewhere { .. } => "run again: nothing of this run was written for it".into(),
            Self::Interrupted => EngineError::Interrupted.help(),
        }
    }

    fn place(&self) -> Option<&Place> {
        match self {
            Self::Project(error) => error.place(),
            Self::Model(finding) => finding.place(),
            Self::Config { place, .. } | Self::Refused { place, .. } => Some(place),
            Self::Checks(report) => report.place(),
            Self::Statement { place, .. } => place.as_deref(),
            Self::Lib(error) => error.place(),
            Self::Fetch(error) => error.place(),
            Self::State(error) => error.place(),
            _ => None,
        }
    }
}
