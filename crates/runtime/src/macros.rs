//! Loads `config/macros/*.sql`: files may use each other in any order (chapter 01 §2.1).

use engine::Connection;
use model::{Token, tokens};
use project::ConfigFile;
use types::{Code, quote};

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

/// An error for a macro that names a database of its own: it would be stored in the lake.
fn check_names(lake: &str, file: &ConfigFile) -> Result<(), RunError> {
    let sql = &file.expanded.text;
    for range in file.statements() {
        let statement = &sql[range.clone()];
        let code: Vec<_> = tokens(statement).into_iter().filter(Token::is_code).collect();
        let text = |at: usize| code.get(at).map_or("", |token| &statement[token.span.clone()]);
        let keyword =
            (0..code.len().min(6)).find(|&at| ["macro", "function"].iter().any(|w| text(at).eq_ignore_ascii_case(w)));
        let Some(mut at) = keyword.map(|at| at + 1) else { continue };
        if text(at).eq_ignore_ascii_case("if") {
            at += 3;
        }
        let database = text(at).trim_matches('"');
        let names_lake = database.eq_ignore_ascii_case(lake) || database == "{" && text(at + 1) == "{";
        if names_lake {
            return Err(RunError::Refused {
                code: Code::ConfigSql,
                message: format!("load {}: macros live in the memory database, never in the lake", file.name),
                help: format!("write the macro's name without `{lake}.`"),
                place: Box::new(file.place(range.start + code[at].span.start)),
            });
        }
    }
    Ok(())
}

fn load_file(connection: &Connection, lake: &str, file: &ConfigFile) -> Result<(), RunError> {
    check_names(lake, file)?;
    connection.execute("BEGIN")?;
    match run_file(connection, file, |sql| with_catalog(sql, lake)) {
        Ok(()) => Ok(connection.execute("COMMIT")?),
        Err(error) => {
            connection.execute("ROLLBACK")?;
            Err(error)
        }
    }
}
