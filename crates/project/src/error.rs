//! What can be wrong with a project's files.

use std::path::{Path, PathBuf};

use types::{Code, Diagnose, Place, Target};

use crate::init::STATE_KEY;

/// An error in a project's files.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// No project here or above.
    #[error("not in an ondatrasql project")]
    NotInProject,
    /// `init` in a project.
    #[error("config/ directory already exists in {}", .0.display())]
    AlreadyExists(PathBuf),
    /// `new` for a model that has a file.
    #[error("{} already exists", path.display())]
    ModelExists {
        /// The file, relative to the project.
        path: PathBuf,
        /// The model.
        target: Target,
    },
    /// A file that cannot be read or written.
    #[error("{action} {}: {cause}", path.display())]
    File {
        /// What was tried, like `read`.
        action: &'static str,
        /// The file, relative to the project where it is in it.
        path: PathBuf,
        /// The system's reason.
        cause: String,
    },
    /// A variable stands for a file that cannot be read.
    #[error("{variable} stands for the content of {}, which cannot be read: {cause}", path.display())]
    SecretFile {
        /// The variable.
        variable: String,
        /// The file, as the variable names it.
        path: PathBuf,
        /// The reason.
        cause: String,
    },
    /// `.env` cannot be used.
    #[error("load config: .env line {line}: {message}")]
    DotEnv {
        /// Line, from 1.
        line: usize,
        /// Why.
        message: String,
    },
    /// A required configuration file is missing.
    #[error("config/catalog.sql required")]
    CatalogRequired,
    /// The state's configuration is missing.
    #[error("open state: config/state.sql required")]
    StateRequired,
    /// A variable that is defined nowhere.
    #[error("load {file}: ${{{name}}} is not defined, neither in the environment nor in .env", file = place.file().strip_prefix("config").unwrap_or(place.file()).display())]
    UndefinedVariable {
        /// Its name.
        name: String,
        /// Where it is used.
        place: Box<Place>,
    },
    /// The key of the state file cannot be used.
    #[error("execute state.sql: {message}")]
    StateKey {
        /// Why; never the key itself.
        message: String,
        /// The key's place in `state.sql`.
        place: Box<Place>,
    },
}

impl ProjectError {
    pub(crate) fn file(action: &'static str, path: &Path, cause: &std::io::Error) -> Self {
        Self::File { action, path: path.to_owned(), cause: cause.to_string() }
    }
}

impl Diagnose for ProjectError {
    fn code(&self) -> Code {
        match self {
            Self::NotInProject => Code::NotInProject,
            Self::AlreadyExists(_) => Code::ProjectExists,
            Self::ModelExists { .. } => Code::ModelExists,
            Self::File { .. } | Self::SecretFile { .. } => Code::ProjectFile,
            Self::DotEnv { .. } => Code::DotEnv,
            Self::CatalogRequired => Code::CatalogRequired,
            Self::StateRequired => Code::StateRequired,
            Self::UndefinedVariable { .. } => Code::UndefinedVariable,
            Self::StateKey { .. } => Code::StateKey,
        }
    }

    fn help(&self) -> String {
        match self {
            Self::NotInProject => "change to the project's folder, or make one here with `ondatrasql init`".into(),
            Self::AlreadyExists(_) => "work with the project that is here, or run `init` in an empty folder".into(),
            Self::ModelExists { target, .. } => format!("`ondatrasql edit {target}` opens it"),
            Self::File { action: "create" | "write", .. } => {
                "check that its folder is there, that you may write into it, and that the disk has room".into()
            }
            Self::File { .. } => "check that the file is there, readable, writable and UTF-8 text".into(),
            Self::SecretFile { variable, .. } => format!(
                "put the file there, or correct the path behind `{variable}=file:`; it begins at the project's folder"
            ),
            Self::DotEnv { .. } => "write one `KEY=VALUE` a line".into(),
            Self::CatalogRequired => "it attaches the DuckLake catalog; `ondatrasql init` in an empty folder shows one".into(),
            Self::StateRequired => "it attaches the state; `ondatrasql init` in an empty folder shows one".into(),
            Self::UndefinedVariable { name, .. } if name == STATE_KEY => format!(
                "get .env from whoever set up the project; for a state of your own, add `{name}=` and what `openssl rand -base64 32` prints"
            ),
            Self::UndefinedVariable { name, .. } => format!("add `{name}=…` to .env, or export it"),
            Self::StateKey { .. } => "make one with `openssl rand -base64 32` and put it into .env as ONDATRA_STATE_KEY (a state file that exists opens with its old key only)".into(),
        }
    }

    fn place(&self) -> Option<&Place> {
        match self {
            Self::UndefinedVariable { place, .. } | Self::StateKey { place, .. } => Some(place),
            _ => None,
        }
    }
}
