//! The project in numbers (chapter 05 §3.8): what ran, and what is left of models that are gone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use engine::{TARGET_REGISTRY, Value};
use project::{ModelTree, committed_file};
use types::{Diagnose, Kind, dotted, literal};

use super::commits::Moment;
use super::models::{Committed, Totals, read_history, read_registry};
use crate::{RunError, Session};

/// A project in numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stats {
    /// Snapshots of the lake, without the empty one that it begins with.
    pub snapshots: i64,
    /// Runs of models in the history of the lake.
    pub total_runs: i64,
    /// Rows of their results, together.
    pub total_rows: i64,
    /// Their duration in milliseconds, on average.
    pub avg_duration_ms: f64,
    /// The newest of them.
    pub last_run: Option<Moment>,
    /// The models, by name.
    pub models: Vec<ModelStats>,
    /// How many models there are of each kind: the most first, then by name.
    pub kinds: Vec<(String, usize)>,
    /// Where the lake keeps its metadata: `sqlite`, `duckdb`, `postgres`.
    pub catalog_type: Option<String>,
    /// Where its files are.
    pub data_path: Option<String>,
    /// Version of DuckLake.
    pub ducklake_version: Option<String>,
    /// Today in the session's time zone, `YYYY-MM-DD`.
    pub today: String,
    /// What could not be told.
    pub warnings: Vec<String>,
}

/// A model in numbers, as its last commit tells.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelStats {
    /// Its target.
    pub name: String,
    /// Its kind; `table` if the commit does not tell.
    pub kind: String,
    /// Run type of the last commit.
    pub run_type: Option<String>,
    /// Rows of its result.
    pub rows: i64,
    /// Its duration in milliseconds.
    pub duration_ms: i64,
    /// When it was.
    pub last_run: Option<Moment>,
    /// Whether the table is there and its model's file is gone.
    pub is_orphaned: bool,
}

/// The project at `root` in numbers. What cannot be read is a warning.
pub fn stats(session: &Session, root: &Path) -> Stats {
    let mut warnings = Vec::new();
    let mut models = BTreeMap::new();
    let totals: Totals = read_history(session, &mut models, &mut warnings).unwrap_or_else(|error| {
        warnings.push(failed("read the history", &error));
        Totals::default()
    });
    let tables = tables(session).unwrap_or_else(|error| {
        warnings.push(failed("read the lake's tables", &error));
        BTreeSet::new()
    });
    if tables.contains(&format!("main.{TARGET_REGISTRY}"))
        && let Err(error) = read_registry(session, &mut models, &mut warnings)
    {
        warnings.push(failed("read the registry", &error));
    }
    let files = Files::read(root, &mut warnings);
    let models: Vec<ModelStats> =
        models.iter().filter_map(|(key, committed)| model_stats(key, committed, &files, &tables)).collect();
    let mut stats = Stats {
        total_runs: totals.runs,
        total_rows: totals.rows,
        avg_duration_ms: totals.avg_duration_ms,
        last_run: totals.last_run.or_else(|| models.iter().filter_map(|model| model.last_run.clone()).max()),
        kinds: kinds(&models),
        models,
        warnings,
        ..Stats::default()
    };
    if let Err(error) = read_snapshots(session, &mut stats) {
        stats.warnings.push(failed("count the snapshots", &error));
    }
    if let Err(error) = read_settings(session, &mut stats) {
        stats.warnings.push(failed("read the lake's settings", &error));
    }
    stats
}

fn failed(what: &str, error: &RunError) -> String {
    format!("{what}: {error} [{}]", error.code())
}

/// Tables of the lake, as lower-case `schema.name`.
fn tables(session: &Session) -> Result<BTreeSet<String>, RunError> {
    let sql = format!(
        "SELECT s.schema_name, t.table_name FROM {metadata}.ducklake_table t JOIN {metadata}.ducklake_schema s \
         USING (schema_id) WHERE t.end_snapshot IS NULL AND s.end_snapshot IS NULL",
        metadata = session.metadata
    );
    let rows = session.connection.query(&sql)?.into_values();
    Ok(rows
        .filter_map(|row| match &row[..] {
            [Value::Text(schema), Value::Text(name)] => Some(dotted(schema, name).to_lowercase()),
            _ => None,
        })
        .collect())
}

/// `None` for a model of which neither file nor table is left.
fn model_stats(key: &str, committed: &Committed, files: &Files<'_>, tables: &BTreeSet<String>) -> Option<ModelStats> {
    let has_file = files.has(key, committed.source_file.as_deref());
    (has_file || tables.contains(key)).then(|| ModelStats {
        name: committed.model.clone(),
        kind: committed.kind.clone().unwrap_or_else(|| Kind::Table.to_string()),
        run_type: committed.run_type.clone(),
        rows: committed.rows,
        duration_ms: committed.duration_ms,
        last_run: committed.last_run.clone(),
        is_orphaned: !has_file,
    })
}

fn kinds(models: &[ModelStats]) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for model in models {
        *counts.entry(&model.kind).or_default() += 1;
    }
    let mut kinds: Vec<(String, usize)> = counts.into_iter().map(|(kind, count)| (kind.to_owned(), count)).collect();
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    kinds
}

/// The model files of a project, whatever is in them.
struct Files<'a> {
    root: &'a Path,
    targets: BTreeSet<String>,
    /// Folders and files that could not be looked into, relative to `models/`, in lower case.
    unknown: Vec<String>,
}

impl<'a> Files<'a> {
    fn read(root: &'a Path, warnings: &mut Vec<String>) -> Self {
        let tree = ModelTree::walk(root);
        warnings.extend(tree.skipped.iter().map(|skipped| skipped.error.to_string()));
        let below = |path: &Path| path.strip_prefix("models").unwrap_or(path).display().to_string().to_lowercase();
        Self {
            root,
            targets: tree.sources.iter().filter_map(|source| Some(source.target.as_ref().ok()?.key())).collect(),
            unknown: tree.skipped.iter().map(|skipped| below(&skipped.path)).collect(),
        }
    }

    /// Whether the model of this lower-case name has a file: below `models/`, or elsewhere as its last commit says. One
    /// that cannot be looked for counts.
    fn has(&self, key: &str, source_file: Option<&str>) -> bool {
        let elsewhere = source_file.filter(|path| !Path::new(path).starts_with("models"));
        let expected = format!("{}.sql", key.strip_prefix("main.").unwrap_or(key).replace("__", ".").replace('.', "/"));
        self.targets.contains(key)
            || elsewhere.is_some_and(|path| committed_file(self.root, path).is_some())
            || self.unknown.iter().any(|unknown| Path::new(&expected).starts_with(unknown))
    }
}

fn read_snapshots(session: &Session, stats: &mut Stats) -> Result<(), RunError> {
    let sql = format!(
        "SELECT count(*) FILTER (snapshot_id > 0), strftime(now(), '%Y-%m-%d') FROM {}.ducklake_snapshot",
        session.metadata
    );
    if let Some([count, today]) = session.connection.query(&sql)?.into_values().next().as_deref() {
        stats.snapshots = count.as_i64().unwrap_or(0);
        today.as_text().unwrap_or_default().clone_into(&mut stats.today);
    }
    Ok(())
}

fn read_settings(session: &Session, stats: &mut Stats) -> Result<(), RunError> {
    let sql =
        format!("SELECT catalog_type, data_path, extension_version FROM ducklake_settings({})", literal(&session.lake));
    if let Some(row) = session.connection.query(&sql)?.into_values().next() {
        let text = |at: usize| row.get(at).and_then(Value::as_text).filter(|text| !text.is_empty()).map(str::to_owned);
        (stats.catalog_type, stats.data_path, stats.ducklake_version) = (text(0), text(1), text(2));
        if session.missing_catalog().is_some() {
            stats.data_path = None;
        }
    }
    Ok(())
}
