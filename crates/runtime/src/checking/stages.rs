//! The three stages of a run (chapter 01 §4.1): what each looks at, and what its findings do.

use checks::Stage;
use engine::EngineError;
use materialize::ModelResult;
use model::Model;
use project::ConfigFile;
use types::{Kind, RunType, is_identifier, literal, quote};

use crate::checking::directives::StageCalls;
use crate::checking::stage_run::{Checked, is_aborted};
use crate::checking::{CheckFinding, StageReport};
use crate::masking::first_in_clear_at;
use crate::session::run_file;
use crate::{RunError, Session};

/// Why the transaction cannot go on.
pub(crate) enum StageFailure {
    /// Checks failed, or could not be run.
    Failed(RunError),
    /// One of several checks ended the transaction. Once more, one by one, tells which.
    Aborted(EndedBy),
}

/// What ended a transaction.
#[derive(Clone)]
pub(crate) struct EndedBy {
    /// The stage of the check.
    pub stage: Stage,
    /// Its error.
    pub error: EngineError,
}

impl From<EngineError> for StageFailure {
    fn from(error: EngineError) -> Self {
        Self::Failed(error.into())
    }
}

/// Constraints, on the rows that are to be written.
pub(crate) fn constrain(
    session: &Session,
    model: &Model,
    stage: &StageCalls,
    (result, run_type): (&ModelResult, RunType),
    singly: bool,
) -> Result<(), StageFailure> {
    let is_delta = run_type == RunType::Incremental && matches!(model.kind, Kind::Append | Kind::Merge);
    let has_nothing_new = is_delta && result.rows == 0;
    let is_own = result.table.ends_with(&quote(&model.target.temp_name()));
    let table = if is_own { temp_text(model) } else { result.table.clone() };
    finish(&Checked { connection: &session.connection, model, table: &table }, stage, has_nothing_new, singly)
}

/// Constraints once more, after one of them ended the transaction: without one, so that each says what it has to say. The
/// result stays, for it is temporary. Only where nothing else was written; gives why the model fails.
pub(crate) fn constrain_alone(
    session: &Session,
    model: &Model,
    stage: &StageCalls,
    result: (&ModelResult, RunType),
    ended: &EndedBy,
) -> StageFailure {
    let done = session.connection.execute("COMMIT").map_err(StageFailure::from);
    match done.and_then(|()| constrain(session, model, stage, result, true)) {
        Err(failure) => failure,
        // The rows are others this time; the model has no transaction to go on with.
        Ok(()) => StageFailure::Failed(ended.error.clone().into()),
    }
}

/// Audits, on the table as the transaction has written it.
pub(crate) fn audit(session: &Session, model: &Model, stage: &StageCalls, singly: bool) -> Result<(), StageFailure> {
    if stage.is_empty() {
        return Ok(());
    }
    let table = table_text(session, model)?;
    finish(&Checked { connection: &session.connection, model, table: &table }, stage, false, singly)
}

fn finish(checked: &Checked<'_>, stage: &StageCalls, has_nothing_new: bool, singly: bool) -> Result<(), StageFailure> {
    let together = if singly { None } else { checked.together(stage, has_nothing_new)? };
    let report = match together.map_or_else(|| checked.one_by_one(stage, has_nothing_new), Ok) {
        Err(error) if is_aborted(&error) && !singly => {
            return Err(StageFailure::Aborted(EndedBy { stage: stage.stage, error }));
        }
        report => report?,
    };
    if report.is_clean() { Ok(()) } else { Err(StageFailure::Failed(RunError::Checks(Box::new(report)))) }
}

/// Warnings, on the committed table: texts and findings. Nothing here undoes the commit.
pub(crate) fn warn(
    session: &Session,
    model: &Model,
    stage: &StageCalls,
    local: Option<&ConfigFile>,
) -> (Vec<String>, Vec<CheckFinding>) {
    let mut texts = Vec::new();
    if stage.is_empty() {
        // They are refreshed for what is pushed, too, and a broken file is told of by every model.
        let set = set_variables(session, model, local, &mut texts);
        if let Err(error) = set.and_then(|()| session.connection.execute(NO_MODEL)) {
            texts.push(format!("load per-model variables: {}", error.cleaned()));
        }
        return (texts, Vec::new());
    }
    match in_context(session, (model, stage), local, &mut texts, |checked| run_through(checked, stage)) {
        Ok(report) => {
            texts.extend(report.texts());
            (texts, report.findings)
        }
        Err(error) => {
            texts.push(format!("warning check error: {error}"));
            (texts, Vec::new())
        }
    }
}

/// Runs a stage on a committed table: in one transaction, so that all see the same and the newest snapshot is looked for
/// once. If a check ends it, each runs in its own.
pub(crate) fn run_through(checked: &Checked<'_>, stage: &StageCalls) -> Result<StageReport, EngineError> {
    checked.connection.execute("BEGIN")?;
    let told = checked.together(stage, false);
    checked.connection.execute("ROLLBACK")?;
    match told? {
        Some(report) => Ok(report),
        None => checked.one_by_one(stage, false),
    }
}

/// With the variables and the search path of warnings, and without them afterwards.
pub(crate) fn in_context<T>(
    session: &Session,
    (model, stage): (&Model, &StageCalls),
    local: Option<&ConfigFile>,
    texts: &mut Vec<String>,
    work: impl FnOnce(&Checked<'_>) -> Result<T, EngineError>,
) -> Result<T, RunError> {
    set_variables(session, model, local, texts)?;
    texts.extend(hide_clear_past(session, model, stage)?);
    let connection = &session.connection;
    let lake = quote(&session.lake);
    let path = format!("{lake}.{},{lake}.main,memory.main", quote(&model.target.schema));
    let table = table_text(session, model)?;
    let done = connection
        .execute(&format!("SET search_path = {}", literal(&path)))
        .and_then(|()| work(&Checked { connection, model, table: &table }));
    connection.execute(&format!("SET search_path = {};\n{NO_MODEL}", literal(&format!("{lake}.main,memory.main"))))?;
    Ok(done?)
}

/// `current_model` is set only while it is of use.
const NO_MODEL: &str = "SET VARIABLE current_model = NULL::VARCHAR";

/// Sets the variables of a committed model: the snapshots, and those of `variables/local.sql`, whose errors become texts.
fn set_variables(
    session: &Session,
    model: &Model,
    local: Option<&ConfigFile>,
    texts: &mut Vec<String>,
) -> Result<(), EngineError> {
    let connection = &session.connection;
    let lake = quote(&session.lake);
    // One transaction, as each of its own would look for the newest snapshot again.
    let set = connection.execute(&format!(
        "BEGIN;\n\
         SET VARIABLE current_model = {};\n\
         SET VARIABLE curr_snapshot = (SELECT id::BIGINT FROM {lake}.current_snapshot());\n\
         SET VARIABLE prev_snapshot = greatest(getvariable('curr_snapshot') - 1, 0)::BIGINT;",
        literal(&model.target.to_string())
    ));
    if let Err(error) = set {
        // The first error tells.
        let _ = connection.execute("ROLLBACK");
        return Err(error);
    }
    if let Some(Err(error)) = local.map(|file| run_file(connection, file)) {
        let text = error.to_string();
        let text = text.strip_prefix("load variables/local.sql: ").unwrap_or(&text);
        texts.push(format!("load per-model variables: {text}"));
        return connection.execute("ROLLBACK");
    }
    connection.execute("COMMIT")
}

/// Findings show the values that they compare. Where the table held in clear at the previous commit what the model masks
/// now, there is no previous commit for them; gives what is said of it.
fn hide_clear_past(session: &Session, model: &Model, stage: &StageCalls) -> Result<Option<String>, RunError> {
    let compares = stage.calls.iter().any(|call| call.shipped.is_none_or(checks::Check::compares));
    if model.masks().is_empty() || !compares {
        return Ok(None);
    }
    let before = "SELECT TRY_CAST(getvariable('prev_model_snapshot')::VARCHAR AS BIGINT)";
    let before = session.connection.query_value(before)?.as_i64().filter(|snapshot| *snapshot > 0);
    let clear = before.map(|snapshot| first_in_clear_at(session, model, snapshot)).transpose()?.flatten();
    let Some(mask) = clear else { return Ok(None) };
    session.connection.execute("SET VARIABLE prev_model_snapshot = 0::BIGINT")?;
    let column = &mask.column;
    Ok(Some(format!("nothing is compared with the model's previous commit, which holds `{column}` in clear")))
}

/// Name of the temporary table of a run's result, quoted only where SQL asks for it. It begins with a word that is no
/// keyword.
pub(crate) fn temp_text(model: &Model) -> String {
    let name = model.target.temp_name();
    if is_identifier(&name) { name } else { quote(&name) }
}

/// `schema.table`, quoted only where SQL asks for it: macros may show it.
pub(crate) fn table_text(session: &Session, model: &Model) -> Result<String, EngineError> {
    let target = &model.target;
    let sql = format!(
        "SELECT list(keyword_name) FROM duckdb_keywords() WHERE keyword_category IN ('reserved', 'type_function') \
         AND keyword_name IN ({}, {})",
        literal(&target.schema.to_lowercase()),
        literal(&target.name.to_lowercase())
    );
    let keywords = match session.connection.query_value(&sql)? {
        engine::Value::List(words) => words.into_iter().filter_map(engine::Value::into_text).collect(),
        _ => Vec::new(),
    };
    let part = |name: &str| {
        let is_plain = is_identifier(name) && !keywords.contains(&name.to_lowercase());
        if is_plain { name.to_owned() } else { quote(name) }
    };
    Ok(format!("{}.{}", part(&target.schema), part(&target.name)))
}
