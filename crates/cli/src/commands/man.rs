//! `ondatrasql man [--dir <folder>]`: man pages, made from the definition of the command line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Command;
use clap_mangen::Man;
use types::{Code, Diagnose};

use crate::args::{ManArgs, described};
use crate::error::CliError;
use crate::ui::Ui;

pub(crate) fn man(args: &ManArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    let mut line = described();
    line.build();
    let Some(folder) = &args.dir else {
        ui.result(&page(&line)?)?;
        return Ok(ExitCode::SUCCESS);
    };
    let written = fs::create_dir_all(folder).and_then(|()| write_all(&line, folder));
    let written = written.map_err(|cause| ManError { folder: folder.clone(), cause })?;
    ui.line(&format!("Wrote {written} pages into {}; read them with `man -l {0}/ondatrasql.1`", folder.display()));
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of a command and those of its commands; gives their number.
fn write_all(command: &Command, folder: &Path) -> std::io::Result<usize> {
    let man = Man::new(command.clone());
    fs::write(folder.join(man.get_filename()), page(command)?)?;
    command.get_subcommands().try_fold(1, |written, sub| Ok(written + write_all(sub, folder)?))
}

fn page(command: &Command) -> std::io::Result<String> {
    let mut page = Vec::new();
    Man::new(command.clone()).section("1").source("OndatraSQL").manual("OndatraSQL").render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// The pages cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("write man pages into {}: {cause}", folder.display())]
struct ManError {
    folder: PathBuf,
    cause: std::io::Error,
}

impl Diagnose for ManError {
    fn code(&self) -> Code {
        Code::ManPages
    }

    fn help(&self) -> String {
        "name a folder that you may write into, like --dir ~/.local/share/man/man1".into()
    }
}

impl From<ManError> for CliError {
    fn from(error: ManError) -> Self {
        Self::Failed(Box::new(error))
    }
}
