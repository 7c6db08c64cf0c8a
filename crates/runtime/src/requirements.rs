//! What must hold before a model's transaction begins: no LIMIT, and its extensions loaded.

use model::{Extension, LimitWord, Repository, find_limit, find_limit_word};
use types::{Code, literal};

use crate::RunError;
use crate::execute::RunContext;
use crate::planning::PlannedModel;

/// An error if the model has a LIMIT or an OFFSET.
pub(crate) fn check_limit(planned: &PlannedModel) -> Result<(), RunError> {
    let found = match &planned.tree {
        Ok(tree) => find_limit(tree),
        Err(_) => find_limit_word(planned.model.sql()),
    };
    let Some((word, offset)) = found else { return Ok(()) };
    let word = if word == LimitWord::Limit { "LIMIT" } else { "OFFSET" };
    Err(RunError::Refused {
        code: Code::Limit,
        message: format!("{word} is not allowed in pipeline models"),
        help: "look at a few rows with `ondatrasql query TABLE --limit N`; to keep some rows, number them with \
               ROW_NUMBER() and filter"
            .into(),
        place: Box::new(planned.model.sql_place(offset.unwrap_or(0))),
    })
}

/// Loads the extensions of `@extension`, installing what is missing.
pub(crate) fn load_extensions(context: &RunContext<'_>, planned: &PlannedModel) -> Result<(), RunError> {
    for written in &planned.model.extensions {
        let refused = |message: String, help: &str| RunError::Refused {
            code: Code::DirectiveValue,
            message,
            help: help.into(),
            place: Box::new(planned.model.place(written.span.clone())),
        };
        let extension = Extension::parse(&written.value)
            .map_err(|message| refused(message, "names are lower-case letters, digits and `_`"))?;
        let from = match &extension.repository {
            None => String::new(),
            Some(Repository::Named(name)) => format!(" FROM {name}"),
            Some(Repository::Location(text)) => format!(" FROM {}", literal(text)),
        };
        let connection = &context.session.connection;
        context.functions.forget();
        let load = || connection.execute(&format!("LOAD {}", extension.name));
        let Err(loading) = load() else { continue };
        let install = format!("INSTALL {}{from}", extension.name);
        connection.execute(&install).and_then(|()| load()).map_err(|installing| {
            let (name, first) = (&extension.name, loading.cleaned());
            let message = format!("load extension {name}: {first}\n  install it: {}", installing.cleaned());
            refused(message, "put the extension's file into the extension folder, or connect to the internet once")
        })?;
    }
    Ok(())
}
