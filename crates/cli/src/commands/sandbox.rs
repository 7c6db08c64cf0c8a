//! `ondatrasql sandbox`: checks what a sandbox needs; the sandbox itself is not in this version.

use std::process::ExitCode;

use project::{check_state_key, read_config};
use types::{Code, Diagnose};

use crate::error::CliError;
use crate::invocation::Invocation;
use crate::ui::Ui;

#[derive(Debug, thiserror::Error)]
#[error("`ondatrasql sandbox` is not in this version yet")]
struct NotYet;

impl Diagnose for NotYet {
    fn code(&self) -> Code {
        Code::NotYet
    }

    fn help(&self) -> String {
        "try changes in a copy of the project's folder whose config/catalog.sql attaches a lake of its own".into()
    }
}

pub(crate) fn sandbox(ui: &Ui) -> Result<ExitCode, CliError> {
    let invocation = Invocation::enter(ui)?;
    read_config(&invocation.root, &invocation.environment)?;
    check_state_key(&invocation.root, &invocation.environment)?;
    Err(CliError::Failed(Box::new(NotYet)))
}
