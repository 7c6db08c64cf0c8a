//! Loads `config/macros/*.sql`: files may use each other in any order (chapter 01 §2.1).

use engine::Connection;
use project::ConfigFile;
use types::quote;

use crate::RunError;
use crate::session::{run_file, with_catalog};

/// Loads every file; one that fails is tried again while any other still makes progress.
///
/// `memory` comes first on the search path, so that macros land there however they are written. Each file
/// is one transaction: a macro created on its own would begin one in the lake as well.
pub(crate) fn load_macros(connection: &Connection, lake: &str, files: &[ConfigFile]) -> Result<(), RunError> {
    connection.execute(&format!("SET search_path = 'memory.main,{}.main'", quote(lake)))?;
    let mut waiting: Vec<&ConfigFile> = files.iter().collect();
    loop {
        let mut failed = Vec::new();
        let mut first_error = None;
        for &file in &waiting {
            if let Err(error) = load_file(connection, lake, file) {
                failed.push(file);
                first_error.get_or_insert(error);
            }
        }
        let progress = failed.len() < waiting.len();
        match first_error {
            None => return Ok(()),
            Some(error) if !progress => return Err(error),
            Some(_) => waiting = failed,
        }
    }
}

fn load_file(connection: &Connection, lake: &str, file: &ConfigFile) -> Result<(), RunError> {
    connection.execute("BEGIN")?;
    match run_file(connection, file, |sql| with_catalog(sql, lake)) {
        Ok(()) => Ok(connection.execute("COMMIT")?),
        Err(error) => {
            connection.execute("ROLLBACK")?;
            Err(error)
        }
    }
}
