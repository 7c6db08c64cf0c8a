//! What the change of one model means for those that read it: told by their last commits (chapter 05 §4.3).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use project::find_model_files;
use types::{CommitInfo, Target, Transformation};

use super::compare::Comparison;
use crate::planning::PlannedModel;
use crate::run::Ran;

/// The models that a change reaches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Impact {
    /// Those that read the model.
    pub affected: Vec<Affected>,
    /// Those that read them, and so on.
    pub transitive: Vec<Transitive>,
}

/// A model that reads the changed one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Affected {
    /// The model.
    pub target: String,
    /// Why it would run.
    pub reason: String,
    /// Its columns that are made of the changed model's.
    pub columns: Vec<String>,
    /// The columns that they are made of.
    pub sources: Vec<String>,
    /// What is done to them.
    pub transforms: Vec<&'static str>,
}

/// A model that reads the changed one through others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transitive {
    /// The model.
    pub target: String,
    /// The model through which it is reached.
    pub via: String,
}

/// What a change of the one model that ran means for others; the error tells why that is not known.
pub(super) fn impact(root: &Path, ran: &Ran, comparison: &Comparison) -> Result<Impact, String> {
    let Some(changed) = ran.planned.first().map(PlannedModel::target).filter(|_| comparison.is_changed()) else {
        return Ok(Impact::default());
    };
    let readers = Readers::read(root, ran)?;
    let direct = readers.of(&changed.key());
    let affected = direct.iter().map(|info| affected(info, changed, comparison)).collect();
    let mut seen: BTreeSet<String> = direct.iter().map(|info| info.model.to_lowercase()).collect();
    seen.insert(changed.key());
    let mut transitive = Vec::new();
    let mut next: Vec<String> = direct.iter().map(|info| info.model.clone()).collect();
    while !next.is_empty() {
        let mut further = Vec::new();
        for via in next {
            for info in readers.of(&via.to_lowercase()) {
                if seen.insert(info.model.to_lowercase()) {
                    transitive.push(Transitive { target: info.model.clone(), via: via.clone() });
                    further.push(info.model.clone());
                }
            }
        }
        next = further;
    }
    Ok(Impact { affected, transitive })
}

/// The last commits of the project's models.
struct Readers(BTreeMap<String, CommitInfo>);

impl Readers {
    fn read(root: &Path, ran: &Ran) -> Result<Self, String> {
        let files = find_model_files(root).map_err(|error| error.to_string())?;
        let targets: BTreeSet<String> =
            files.into_iter().filter_map(|source| source.target.ok()).map(|target| target.key()).collect();
        let of_models = ran.facts.commits.iter().filter(|(key, _)| targets.contains(*key));
        let read = of_models.map(|(key, row)| {
            let info: CommitInfo = serde_json::from_str(&row.commit_info)
                .map_err(|error| format!("the recorded commit of {} cannot be read: {error}", row.target))?;
            Ok((key.clone(), info))
        });
        read.collect::<Result<_, String>>().map(Self)
    }

    /// The models that depend on a target, by name.
    fn of(&self, key: &str) -> Vec<&CommitInfo> {
        let reads = |(own, info): &(&String, &CommitInfo)| {
            let depends = info.depends.as_ref().and_then(serde_json::Value::as_array);
            let mut names = depends.into_iter().flatten().filter_map(serde_json::Value::as_str);
            own.as_str() != key && names.any(|name| name.to_lowercase() == key)
        };
        self.0.iter().filter(reads).map(|(_, info)| info).collect()
    }
}

fn affected(info: &CommitInfo, changed: &Target, comparison: &Comparison) -> Affected {
    let key = changed.key();
    let (mut columns, mut sources, mut transforms) = (Vec::new(), Vec::new(), Vec::new());
    for lineage in &info.column_lineage {
        let own = lineage.sources.iter().filter(|source| source.table.to_lowercase() == key);
        for source in own {
            push_new(&mut columns, lineage.column.clone());
            push_new(&mut sources, source.column.clone());
            push_new(&mut transforms, word(source.transformation));
        }
    }
    let lost = comparison
        .removed_columns
        .iter()
        .map(|column| &column.name)
        .chain(comparison.changed_columns.iter().map(|column| &column.name));
    let lost: Vec<&str> = lost
        .filter(|name| sources.iter().any(|source: &String| source.eq_ignore_ascii_case(name)))
        .map(String::as_str)
        .collect();
    let reason = match &lost[..] {
        [] => format!("dep changed: {changed}"),
        lost => format!("dep changed: {changed}, with another {}", lost.join(", ")),
    };
    Affected { target: info.model.clone(), reason, columns, sources, transforms }
}

fn push_new<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

fn word(transformation: Transformation) -> &'static str {
    match transformation {
        Transformation::Identity => "IDENTITY",
        Transformation::Aggregation => "AGGREGATION",
        Transformation::Arithmetic => "ARITHMETIC",
        Transformation::Conditional => "CONDITIONAL",
        Transformation::Cast => "CAST",
        Transformation::Function => "FUNCTION",
    }
}
