//! What is made of what, as the last commits tell (chapter 05 §3.12): all models, one with what it is made of, or the way
//! of one column.

mod commits;
mod select;

use std::collections::BTreeSet;
use std::path::Path;

use engine::LakeFacts;
use project::ModelTree;
use types::{ColumnLineage, Target, undotted};

use crate::project_models::closest;
use crate::{RunError, Session};
use select::{Models, ancestors, path};

/// The operand that asks for all models.
const OVERVIEW: &str = "overview";
/// Names with these endings are files, unless the lake has a table of that name.
const FILE_ENDINGS: [&str; 9] = ["csv", "tsv", "txt", "gz", "zst", "json", "jsonl", "ndjson", "parquet"];

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineageMode {
    /// All models.
    Overview,
    /// One model, with all that it is made of.
    Model,
    /// One column, with the columns that it is made of.
    Column,
}

/// What is made of what.
#[derive(Debug, Clone, PartialEq)]
pub struct Lineage {
    /// What was asked for.
    pub mode: LineageMode,
    /// The model; empty for all.
    pub model: String,
    /// The column, if one was asked for.
    pub column: Option<String>,
    /// The models that have committed, each after those that it is made of; of a column, only what is on its way.
    pub models: Vec<LineageModel>,
    /// Names of dependencies that are no tables of the lake: files, functions, tables of other databases.
    pub outside: BTreeSet<String>,
    /// What could not be read.
    pub warnings: Vec<String>,
}

/// What the last commit of a model tells of where it comes from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LineageModel {
    /// Its target.
    pub name: String,
    /// Its columns.
    pub columns: Vec<String>,
    /// What its query depends on: models, other tables of the lake, what lies outside.
    pub dependencies: Vec<String>,
    /// Where its columns come from.
    pub column_lineage: Vec<ColumnLineage>,
}

/// The lineage that `operand` asks for: `overview`, `<model>` or `<model>.<column>`, names in any case.
///
/// # Errors
/// `ModelNotFound` without a file of that model, `NotRunYet` without a commit, `NoSuchColumn`; the lake cannot be read. A
/// commit that says odd things of itself is a warning.
pub fn lineage(session: &Session, root: &Path, operand: &str) -> Result<Lineage, RunError> {
    let tree = ModelTree::walk(root);
    let mut warnings: Vec<String> = tree.skipped.iter().map(|skipped| skipped.error.to_string()).collect();
    let files: Vec<Target> = tree.sources.into_iter().filter_map(|source| source.target.ok()).collect();
    // What the project has no file of is told before the lake is asked.
    let question = if operand == OVERVIEW { None } else { Some(locate(&files, operand)?) };
    let facts = LakeFacts::read(&session.connection, &session.lake, &session.metadata)?;
    let models = commits::read(session, &facts, &mut warnings)?;
    let (mode, model, column, shown) = match question {
        None => (LineageMode::Overview, String::new(), None, ancestors(&models, files.iter().map(Target::key))),
        Some((target, column)) => {
            let Some(model) = models.get(&target.key()) else {
                return Err(RunError::NotRunYet { target: target.to_string() });
            };
            match column {
                None => (LineageMode::Model, model.name.clone(), None, ancestors(&models, [target.key()])),
                Some(column) => {
                    let column = find_column(model, column)?;
                    let shown = path(&models, &target.key(), &column);
                    (LineageMode::Column, model.name.clone(), Some(column), shown)
                }
            }
        }
    };
    let outside = outside(&shown, &models, &facts);
    Ok(Lineage { mode, model, column, models: shown, outside, warnings })
}

/// The model of the project that an operand names, and the column behind it. Names of models hold no points.
fn locate<'a>(files: &[Target], operand: &'a str) -> Result<(Target, Option<&'a str>), RunError> {
    let end = operand.match_indices('.').nth(1).map_or(operand.len(), |(at, _)| at);
    let (name, column) = (&operand[..end], operand.get(end + 1..));
    let exact = files.iter().find(|target| target.to_string() == name);
    let found = exact.or_else(|| files.iter().find(|target| target.key() == name.to_lowercase()));
    found.map(|target| (target.clone(), column)).ok_or_else(|| RunError::ModelNotFound {
        name: name.to_owned(),
        suggestion: closest(name, files.iter().map(ToString::to_string)),
    })
}

fn find_column(model: &LineageModel, name: &str) -> Result<String, RunError> {
    let exact = model.columns.iter().find(|column| *column == name);
    let found = exact.or_else(|| model.columns.iter().find(|column| column.to_lowercase() == name.to_lowercase()));
    found.cloned().ok_or_else(|| RunError::NoSuchColumn {
        column: name.to_owned(),
        model: model.name.clone(),
        available: model.columns.clone(),
    })
}

/// Those dependencies that are no tables of the lake.
fn outside(shown: &[LineageModel], models: &Models, facts: &LakeFacts) -> BTreeSet<String> {
    let is_known =
        |key: &str| models.contains_key(key) || facts.tables.contains_key(key) || facts.views.contains_key(key);
    let names = shown.iter().flat_map(|model| &model.dependencies);
    names.filter(|name| !is_known(&name.to_lowercase()) && is_outside(name)).cloned().collect()
}

fn is_outside(name: &str) -> bool {
    let has_ending = |table: &str| FILE_ENDINGS.iter().any(|ending| table.eq_ignore_ascii_case(ending));
    let quoted = name.contains('"');
    undotted(name).is_none_or(|(_, table)| !quoted && (name.contains(['/', '*', ':', '(']) || has_ending(&table)))
}

#[cfg(test)]
mod tests {
    use types::Target;

    use super::{LineageModel, RunError, find_column, is_outside, locate};

    #[test]
    fn an_operand_names_a_model_and_perhaps_a_column() {
        let files = [Target::new("mart", "Totals"), Target::new("mart", "totals_2")];
        let located = |operand| locate(&files, operand).map(|(target, column)| (target.to_string(), column));
        assert_eq!(located("MART.totals").unwrap(), ("mart.Totals".into(), None));
        assert_eq!(located("mart.totals.a.b c").unwrap(), ("mart.Totals".into(), Some("a.b c")));
        assert_eq!(located("mart.totals.").unwrap(), ("mart.Totals".into(), Some("")));
        for (operand, name, close) in [
            ("mart.total.x", "mart.total", Some("mart.Totals")),
            ("totals", "totals", Some("mart.Totals")),
            ("", "", None),
        ] {
            let error = located(operand).unwrap_err();
            let RunError::ModelNotFound { name: told, suggestion } = &error else { panic!("{error}") };
            assert_eq!((told.as_str(), suggestion.as_deref()), (name, close));
        }
    }

    #[test]
    fn a_column_is_found_in_any_case_and_the_exact_one_first() {
        let columns = ["ID", "id", "Größe"].map(str::to_owned).to_vec();
        let model = LineageModel { name: "a.b".into(), columns, ..LineageModel::default() };
        assert_eq!(find_column(&model, "id").unwrap(), "id");
        assert_eq!(
            find_column(&model, "GRÖSSE").unwrap_err().to_string(),
            "column \"GRÖSSE\" not found in a.b (available: ID, id, Größe)"
        );
        assert_eq!(find_column(&model, "GRÖßE").unwrap(), "Größe");
    }

    #[test]
    fn files_functions_and_tables_elsewhere_are_outside() {
        for name in ["read_csv()", "data/x.csv", "orders.CSV", "s3://b/x.parquet", "pg.public.t", "unparsed()", "a*.b"]
        {
            assert!(is_outside(name), "{name}");
        }
        for name in ["raw.orders", "main.\"orders.csv\"", "order.select"] {
            assert!(!is_outside(name), "{name}");
        }
    }
}
