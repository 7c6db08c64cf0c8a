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
    Ok(unfilled(&String::from_utf8_lossy(&page)))
}

/// The page with its indented lines, examples and lists, kept as they are: elsewhere lines are filled, and blanks spread.
fn unfilled(page: &str) -> String {
    let mut lines = Vec::new();
    let mut is_filled = true;
    for line in page.lines() {
        if line.starts_with(' ') == is_filled {
            lines.push(if is_filled { ".nf" } else { ".fi" });
            is_filled = !is_filled;
        }
        lines.push(line);
    }
    if !is_filled {
        lines.push(".fi");
    }
    lines.join("\n") + "\n"
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

#[cfg(test)]
mod tests {
    use super::unfilled;

    #[test]
    fn indented_lines_are_not_filled() {
        for (page, expected) in [
            (".SH A\ntext\n", ".SH A\ntext\n"),
            ("Examples:\n  a b\n  c\n.SH B\nd\n", "Examples:\n.nf\n  a b\n  c\n.fi\n.SH B\nd\n"),
            ("a\n  b\nc\n  d\n", "a\n.nf\n  b\n.fi\nc\n.nf\n  d\n.fi\n"),
        ] {
            assert_eq!(unfilled(page), expected);
        }
    }
}
