//! What a model's file says now: its SQL, its checks, and the lib function that it fetches from.

use std::path::Path;

use engine::EngineParser;
use lib_functions::Registry;
use model::{Model, TreeError, Written};
use project::read_model_file;
use query::lib_calls;
use types::{Diagnose, Target};

use super::Description;
use crate::Session;

/// Adds what the file at `path`, relative to the project, says.
pub(super) fn read(session: &Session, root: &Path, path: &Path, target: &Target, description: &mut Description) {
    let model = match read_model_file(root, path, target.clone()) {
        Ok(Ok(model)) => model,
        Ok(Err(findings)) => {
            let why = findings.first().map(ToString::to_string).unwrap_or_default();
            description.blueprint_error = Some(why.clone());
            description.gather_warnings.push(why);
            return;
        }
        Err(error) => return description.gather_warnings.push(error.to_string()),
    };
    let texts = |written: &[Written<String>]| written.iter().map(|text| text.value.clone()).collect();
    description.definition = Some(model.sql().trim().to_owned()).filter(|sql| !sql.is_empty());
    description.constraints = texts(&model.constraints);
    description.audits = texts(&model.audits);
    description.warnings = texts(&model.warnings);
    if model.fetch {
        match blueprint(session, root, &model) {
            Ok((name, broken)) => {
                description.blueprint = Some(name);
                description.blueprint_error = broken;
            }
            Err(why) => description.blueprint_error = Some(why),
        }
    }
}

fn tree_error(error: TreeError) -> String {
    match error {
        TreeError::Syntax { message, .. } | TreeError::NotSerializable { message } => message,
    }
}

/// The lib function that a model calls, as the syntax tree has it, and what is wrong with its file.
fn blueprint(session: &Session, root: &Path, model: &Model) -> Result<(String, Option<String>), String> {
    let tree = EngineParser(&session.connection).complete_tree(model.sql()).map_err(tree_error)?;
    let registry = Registry::read(root, |_| false).map_err(|error| error.to_string())?;
    let is_lib = |name: &str| registry.get(name).is_some() || registry.broken(name).is_some();
    let Some(call) = lib_calls(&tree, is_lib).into_iter().next() else {
        return Err("its query calls no function of lib/".into());
    };
    match (registry.get(&call.name), registry.broken(&call.name)) {
        (Some(lib), _) => Ok((lib.name.clone(), None)),
        (None, Some(broken)) => Ok((broken.name.clone(), Some(format!("{} [{}]", broken.error, broken.error.code())))),
        (None, None) => Ok((call.name, None)),
    }
}
