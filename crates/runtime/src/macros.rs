//! Loads `config/macros/*.sql`: files may use each other in any order (chapter 01 §2.1).

use engine::Connection;
use model::code_words;
use project::ConfigFile;
use types::{Code, Place, literal, quote};

use crate::RunError;
use crate::session::run_file;

/// Loads every file; one that fails is tried again while any other still makes progress.
///
/// `memory` comes first on the search path, so that macros land there. Each file is one transaction: a
/// macro created on its own would begin one in the lake as well.
pub(crate) fn load_macros(connection: &Connection, lake: &str, files: &[ConfigFile]) -> Result<(), RunError> {
    connection.execute(&format!("SET search_path = 'memory.main,{}.main'", quote(lake)))?;
    let mut waiting: Vec<ConfigFile> = files.iter().map(|file| file.with_catalog(lake)).collect();
    loop {
        let before = waiting.len();
        let mut failed = Vec::new();
        let mut first_error = None;
        for file in waiting {
            if let Err(error) = load_file(connection, lake, &file) {
                failed.push(file);
                first_error.get_or_insert(error);
            }
        }
        match first_error {
            None => return Ok(()),
            Some(error) if failed.len() == before => return Err(error),
            Some(_) => waiting = failed,
        }
    }
}

fn load_file(connection: &Connection, lake: &str, file: &ConfigFile) -> Result<(), RunError> {
    connection.execute("BEGIN")?;
    let loaded = run_file(connection, file).and_then(|()| check_not_in_lake(connection, lake, file));
    match loaded {
        Ok(()) => Ok(connection.execute("COMMIT")?),
        Err(error) => {
            connection.execute("ROLLBACK")?;
            Err(match error {
                // A file that also has macros of its own writes to two databases, which the engine refuses.
                RunError::Config { error, place, .. }
                    if error.cleaned().starts_with("Attempting to write to database") =>
                {
                    stored_in_lake(lake, file, *place)
                }
                other => other,
            })
        }
    }
}

/// An error if a macro was about to be stored in the lake, because its name says so.
fn check_not_in_lake(connection: &Connection, lake: &str, file: &ConfigFile) -> Result<(), RunError> {
    // Only a file that names the lake can do it, and asking the engine takes time.
    if !code_words(&file.expanded.text).contains(&lake.to_lowercase()) {
        return Ok(());
    }
    let sql = format!(
        "SELECT function_name FROM duckdb_functions() WHERE database_name = {} AND macro_definition IS NOT NULL",
        literal(lake)
    );
    let stored: Vec<String> =
        connection.query(&sql)?.into_values().filter_map(|mut row| row.swap_remove(0).into_text()).collect();
    // Macros that another tool keeps in the lake are none of this file's business.
    let names = code_words(&file.expanded.text);
    match stored.into_iter().find(|name| names.contains(&name.to_lowercase())) {
        None => Ok(()),
        Some(name) => {
            let at = file.expanded.text.to_lowercase().find(&name.to_lowercase()).unwrap_or(0);
            Err(stored_in_lake(lake, file, file.place(at)))
        }
    }
}

fn stored_in_lake(lake: &str, file: &ConfigFile, place: Place) -> RunError {
    RunError::Refused {
        code: Code::ConfigSql,
        message: format!("load {}: a macro would be stored in the lake, macros live in the memory database", file.name),
        help: format!("write the macro's name without `{lake}.`"),
        place: Box::new(place),
    }
}
