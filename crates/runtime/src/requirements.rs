//! What must hold before a model's transaction begins: the lake can hold it, there is no LIMIT, its
//! extensions are loaded.

use engine::LakeFacts;
use model::{Model, Repository};
use types::{Code, literal};

use crate::checking::ModelChecks;
use crate::planning::PlannedModel;
use crate::{RunError, Session};

/// An error if the model cannot run at all. It is asked also for a model that would be skipped: a check that never runs
/// must not look as if it passed.
pub(crate) fn check_runs(session: &Session, planned: &PlannedModel, facts: &LakeFacts) -> Result<(), RunError> {
    // Nothing is fetched that cannot be written.
    let audits = planned.model.fetch.then(|| ModelChecks::read(session, &planned.model).audits);
    if let Some(report) = audits.and_then(|audits| audits.malformed()) {
        return Err(RunError::Checks(Box::new(report)));
    }
    if !facts.views.contains_key(&planned.target().key()) {
        return Ok(());
    }
    Err(RunError::Refused {
        code: Code::ModelPath,
        message: format!("the lake holds a view {}, so there can be no table of that name", planned.target()),
        help: "drop the view with the tool that made it, or rename the model's file".into(),
        place: Box::new(planned.model.place(0..0)),
    })
}

/// An error if the model has a LIMIT or an OFFSET.
pub(crate) fn check_limit(planned: &PlannedModel) -> Result<(), RunError> {
    validate::check_limit(&planned.model, &planned.tree).map_or(Ok(()), |finding| Err(RunError::refused(&finding)))
}

/// Loads the extensions of `@extension`, installing what is missing.
pub(crate) fn load_extensions(session: &Session, model: &Model) -> Result<(), RunError> {
    for written in &model.extensions {
        let extension = validate::extension(model, written).map_err(|finding| RunError::refused(&finding))?;
        let from = match &extension.repository {
            None => String::new(),
            Some(Repository::Named(name)) => format!(" FROM {name}"),
            Some(Repository::Location(text)) => format!(" FROM {}", literal(text)),
        };
        let connection = &session.connection;
        let load = || connection.execute(&format!("LOAD {}", extension.name));
        let Err(loading) = load() else { continue };
        let install = format!("INSTALL {}{from}", extension.name);
        connection.execute(&install).and_then(|()| load()).map_err(|installing| {
            let (name, first) = (&extension.name, loading.cleaned());
            let message = format!("load extension {name}: {first}\n  install it: {}", installing.cleaned());
            RunError::Refused {
                code: Code::DirectiveValue,
                message,
                help: "put the extension's file into the extension folder, or connect to the internet once".into(),
                place: Box::new(model.place(written.span.clone())),
            }
        })?;
    }
    Ok(())
}
