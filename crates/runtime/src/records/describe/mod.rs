//! All that is known of one model (chapter 05 §3.9): what its last commit told, what became of its table, and what its
//! file says now.

mod commit;
mod source;
mod table;

use std::path::Path;

use project::{committed_file, find_model_files, model_file};
use types::{Diagnose, Kind, Target};

use super::commits::{Moment, RunRecord, commits, moment_columns};
use super::history::history;
use super::last::last_commit;
use crate::project_models::closest;
use crate::{RunError, Session};
use commit::Told;

/// Runs that are told one by one.
const RECENT: u64 = 3;

/// What is known of a model. What is not known is empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Description {
    /// Its target, as the file or else the last commit spells it.
    pub target: String,
    /// Its kind; `table` when unknown.
    pub kind: String,
    /// Schema of the target.
    pub schema: String,
    /// Run type of the last commit.
    pub run_type: Option<String>,
    /// Its file, relative to the project; of a model whose file is gone, the one that it had.
    pub source_file: Option<String>,
    /// Whether that file is there.
    pub has_file: bool,
    /// The lib function that it fetches from.
    pub blueprint: Option<String>,
    /// Why that cannot be told, or the function not be used.
    pub blueprint_error: Option<String>,
    /// Runs in the history of the lake.
    pub total_runs: i64,
    /// Their duration in milliseconds, on average.
    pub avg_duration_ms: i64,
    /// Rows of their results, together.
    pub total_rows: i64,
    /// Bytes of the table's live data files; `None` without a table.
    pub table_bytes: Option<u64>,
    /// The newest run, and the oldest that the history has.
    pub last_run: Option<Moment>,
    /// See `last_run`.
    pub first_run: Option<Moment>,
    /// When the table was made, if that snapshot is still there.
    pub created: Option<Moment>,
    /// What the last run's query depended on.
    pub dependencies: Vec<String>,
    /// Models whose last run depended on this one.
    pub downstream: Vec<String>,
    /// Columns of the table, or else of the last result.
    pub columns: Vec<DescribedColumn>,
    /// The newest runs.
    pub recent_runs: Vec<RunRecord>,
    /// The SQL without directives.
    pub definition: Option<String>,
    /// The table's comment.
    pub description: Option<String>,
    /// Directive texts.
    pub constraints: Vec<String>,
    /// Directive texts.
    pub audits: Vec<String>,
    /// Directive texts.
    pub warnings: Vec<String>,
    /// Steps of the last run.
    pub steps: Vec<DescribedStep>,
    /// Version of the engine in the last run.
    pub duckdb_version: Option<String>,
    /// The project's commit in the last run.
    pub git_commit: Option<String>,
    /// What could not be told.
    pub gather_warnings: Vec<String>,
}

/// A column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DescribedColumn {
    /// Its name.
    pub name: String,
    /// Its type.
    pub type_name: String,
    /// Whether it may be NULL; unknown without a table.
    pub is_nullable: Option<bool>,
    /// `unique_key` or `group_key`, if the last run wrote by it.
    pub constraint: Option<String>,
    /// Its comment.
    pub description: Option<String>,
}

/// A step of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedStep {
    /// What was done.
    pub name: String,
    /// Duration in milliseconds.
    pub duration_ms: i64,
    /// How it ended.
    pub status: String,
}

/// Describes the model of this name, in any case.
///
/// # Errors
/// `NoSuchModel` if there is neither a file nor a commit, `NotRunYet` if there is no commit; the lake's history cannot be
/// read. What else cannot be told is in `gather_warnings`.
pub fn describe(session: &Session, root: &Path, name: &str) -> Result<Description, RunError> {
    let unknown = || RunError::NoSuchModel { name: name.to_owned(), suggestion: suggestion(root, name) };
    let (schema, table) = name.split_once('.').ok_or_else(unknown)?;
    let target = Target::new(schema, table);
    let info = last_commit(session, &target)?;
    let file = model_file(root, name);
    let Some(info) = info else {
        return Err(if file.is_some() { RunError::NotRunYet { target: target.to_string() } } else { unknown() });
    };
    let mut description = Description::default();
    let told = Told::read(&info, &mut description.gather_warnings);
    let file = file.or_else(|| committed_file(root, told.source_file.as_deref()?));
    told.fill(&mut description, &target);
    description.source_file = file.as_ref().map(|file| file.display().to_string()).or(description.source_file);
    note(&mut description, "read the history", |description| read_runs(session, &target, description));
    note(&mut description, "look for models that read it", |description| {
        commit::read_downstream(session, &target, description)
    });
    note(&mut description, "read the table", |description| table::read(session, &target, description));
    description.has_file = file.is_some();
    match file {
        Some(file) => source::read(session, root, &file, &target, &mut description),
        None => description.gather_warnings.push("its file is gone: neither SQL nor checks are known".into()),
    }
    Ok(description)
}

/// Adds to the description; an error is told in it.
fn note(description: &mut Description, what: &str, add: impl FnOnce(&mut Description) -> Result<(), RunError>) {
    if let Err(error) = add(description) {
        description.gather_warnings.push(format!("{what}: {error} [{}]", error.code()));
    }
}

fn suggestion(root: &Path, name: &str) -> Option<String> {
    // For the help alone: what cannot be read suggests nothing.
    let sources = find_model_files(root).unwrap_or_default();
    closest(name, sources.into_iter().filter_map(|source| Some(source.target.ok()?.to_string())))
}

fn read_runs(session: &Session, target: &Target, description: &mut Description) -> Result<(), RunError> {
    let recent = history(session, Some(&target.key()), RECENT)?;
    description.gather_warnings.extend(recent.warnings);
    description.recent_runs = recent.runs;
    let sql = format!(
        "SELECT count(*), round(coalesce(avg(TRY_CAST(duration_ms AS BIGINT)), 0))::BIGINT, \
         coalesce(sum(TRY_CAST(rows AS BIGINT)), 0), {}, {} FROM {} WHERE lower(model) = {}",
        moment_columns("max(moment)"),
        moment_columns("min(moment)"),
        commits(session),
        types::literal(&target.key())
    );
    for row in session.connection.query(&sql)?.into_values() {
        let [runs, average, rows, last, last_local, first, first_local] = &row[..] else { continue };
        description.total_runs = runs.as_i64().unwrap_or(0);
        description.avg_duration_ms = average.as_i64().unwrap_or(0);
        description.total_rows = rows.as_i64().unwrap_or(i64::MAX);
        description.last_run = Moment::read(last, last_local);
        description.first_run = Moment::read(first, first_local);
    }
    Ok(())
}

/// The kind to show where none is known.
fn unknown_kind() -> String {
    Kind::Table.to_string()
}
