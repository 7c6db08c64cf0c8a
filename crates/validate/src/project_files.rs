//! The models of a project with what is wrong with their files. One that is broken is in the way of no other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::{Finding, Model};
use project::{ModelTree, ReadModel, duplicates, read_model_files};
use types::{Diagnose, Place, Rule, Severity, Target};

/// What is below `models/`.
#[derive(Default)]
pub(crate) struct ModelFiles {
    /// Every file that may be asked for.
    pub paths: Vec<PathBuf>,
    /// The targets of all files, also of those that are broken.
    pub targets: Vec<Target>,
    /// Files that parse.
    pub models: Vec<Model>,
    /// What is wrong with each path.
    pub findings: BTreeMap<PathBuf, Vec<Finding>>,
    /// What could not be looked into.
    pub skipped: Vec<Finding>,
}

impl ModelFiles {
    pub(crate) fn read(root: &Path) -> Self {
        let ModelTree { sources, skipped } = ModelTree::walk(root);
        let mut files = Self::default();
        for twin in duplicates(&sources) {
            files.find(twin.finding.place.file().to_owned(), twin.finding);
        }
        files.paths = sources.iter().map(|source| source.path.clone()).collect();
        files.targets = sources.iter().filter_map(|source| source.target.as_ref().ok().cloned()).collect();
        for (path, read) in read_model_files(root, &sources) {
            files.add(path, read);
        }
        for skip in skipped {
            let finding = unreadable(&skip.path, skip.rule, &skip.error);
            if skip.rule.severity() == Severity::Warn {
                files.skipped.push(finding);
            } else {
                files.paths.push(skip.path.clone());
                files.find(skip.path, finding);
            }
        }
        files
    }

    fn add(&mut self, path: PathBuf, read: ReadModel) {
        match read {
            Ok(Ok(model)) => self.models.push(model),
            Ok(Err(found)) => found.into_iter().for_each(|finding| self.find(path.clone(), finding)),
            Err(error) => {
                let finding = unreadable(&path, Rule::UnreadableModel, &error);
                self.find(path, finding);
            }
        }
    }

    fn find(&mut self, path: PathBuf, finding: Finding) {
        self.findings.entry(path).or_default().push(finding);
    }
}

fn unreadable(path: &Path, rule: Rule, error: &dyn Diagnose) -> Finding {
    Finding::new(rule, Place::new(path, "".into(), 0..0), error.to_string(), error.help())
}
