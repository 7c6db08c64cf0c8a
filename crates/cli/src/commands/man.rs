//! `ondatrasql man [--dir <folder>]`: man pages, made from the definition of the command line.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use clap::Command;
use clap_mangen::Man;

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
    let written = fs::create_dir_all(folder).map_err(CliError::from).and_then(|()| write_all(&line, folder))?;
    ui.line(&format!("Wrote {written} pages into {}; read them with `man -l {0}/ondatrasql.1`", folder.display()));
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of a command and those of its commands; gives their number.
fn write_all(command: &Command, folder: &Path) -> Result<usize, CliError> {
    let man = Man::new(command.clone());
    fs::write(folder.join(man.get_filename()), page(command)?)?;
    command.get_subcommands().try_fold(1, |written, sub| Ok(written + write_all(sub, folder)?))
}

fn page(command: &Command) -> Result<String, CliError> {
    let mut page = Vec::new();
    Man::new(command.clone()).section("1").source("OndatraSQL").manual("OndatraSQL").render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
