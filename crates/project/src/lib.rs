//! A project's files: the root, `.env`, `${VAR}` expansion, configuration texts, model files, and `init`.
//!
//! Boundary: reads and writes files of the project and nothing else; no connection, and no look at the
//! process environment (variables are handed in).

mod config_files;
mod config_texts;
mod dotenv;
mod edit_target;
mod encoded;
mod error;
mod expansion;
mod file_reference;
mod init;
mod model_files;
mod new_model;
mod redaction;
mod root;
mod script;
mod secret_places;
mod state_key;
mod target_path;

pub use config_files::{ConfigFailure, ConfigFile, ConfigFiles, read_config, read_extensions};
pub use config_texts::ConfigTexts;
pub use dotenv::{DotEnv, Environment};
pub use edit_target::{EditTarget, committed_file, edit_words, model_file};
pub use error::ProjectError;
pub use expansion::Expanded;
pub use init::{CatalogKind, init};
pub use model_files::{
    Duplicate, ModelSource, ModelTree, Models, ReadModel, Skipped, duplicates, find_model_files, read_model_file,
    read_model_files,
};
pub use new_model::NewModel;
pub use redaction::{REDACTED, Redactor};
pub use root::find_root;
pub use script::{Script, script_names};
pub use state_key::{check_state_key, draw_state_key, read_state_file};
pub use target_path::target_of;
