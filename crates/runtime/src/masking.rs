//! What a run does about masked columns beside its query (chapter 01 §4.6): rows that the table holds in clear, and files
//! that the engine spills to.

use checks::{FUNCTIONS, SHIPPED_IN};
use engine::{EngineError, recorded_commit, recorded_commit_at};
use feed::table_at;
use materialize::{MaterializeError, Rebuild, mask_present};
use model::{Mask, Model};
use plan::LastCommit;
use types::{Code, Kind, Target};

use crate::known::Known;
use crate::lineage::{lineage, renames};
use crate::planning::PlannedModel;
use crate::task::Task;
use crate::{RunError, Session};

impl Session {
    /// The masks of a model, each with the place of its function: a macro in the lake never stands in for one of the project,
    /// nor for what is shipped, nor for the engine's own.
    pub(crate) fn masks(&self, model: &Model) -> Vec<Mask> {
        let own = |name: &str| self.definitions.macro_schema(name);
        let shipped = |name: &str| FUNCTIONS.iter().any(|function| function.name == name).then_some(SHIPPED_IN);
        let place = |mut mask: Mask| {
            let name = mask.function.to_lowercase();
            mask.schema = Some(own(&name).or_else(|| shipped(&name)).unwrap_or("system.main"));
            mask
        };
        model.masks().into_iter().map(place).collect()
    }
}

/// Has the engine encrypt what it spills to disk, with a key that goes with the session, if any model masks columns: the
/// values pass through its memory in clear.
pub(crate) fn protect_spills<'a>(
    session: &Session,
    mut models: impl Iterator<Item = &'a Model>,
) -> Result<(), EngineError> {
    if models.any(|model| !model.masks().is_empty()) {
        session.connection.execute("SET temp_file_encryption = true")?;
    }
    Ok(())
}

/// Masks the rows that the table holds in clear, because the tag is newer than they are. Rows that are replaced as a whole
/// need none of it, unless they are read before (`keeps`).
pub(crate) fn mask_table(
    known: &Known<'_>,
    planned: &PlannedModel,
    task: &Task,
    masks: &[Mask],
    keeps: bool,
) -> Result<(), MaterializeError> {
    let is_replaced = match task.rebuild {
        Rebuild::Yes => true,
        // Its rows are compared with the new ones, and those that are missing are shown.
        Rebuild::IfLossless => false,
        Rebuild::No | Rebuild::Never => planned.model.kind == Kind::Table,
    };
    let has_table = known.facts.tables.contains_key(&planned.target().key());
    if masks.is_empty() || !has_table || (is_replaced && !keeps) {
        return Ok(());
    }
    let renamed = renames(task.last.as_ref(), &lineage(known, planned, &[]), &[]);
    let masks: Vec<Mask> = masks.iter().map(|mask| with_old_name(mask, &renamed)).collect();
    let connection = &known.session.connection;
    mask_present(connection, &planned.target().qualified(&known.session.lake), &in_clear(&masks, task.last.as_ref()))
}

/// The masks that the last commit did not apply: what the table holds under their columns is in clear.
pub(crate) fn in_clear(masks: &[Mask], last: Option<&LastCommit>) -> Vec<Mask> {
    let masked = last.map_or(&[][..], |last| &last.masks);
    let is_masked = |mask: &&Mask| masked.iter().any(|before| before.column.eq_ignore_ascii_case(&mask.column));
    masks.iter().filter(|mask| !is_masked(mask)).cloned().collect()
}

/// Whether a run of the model is the first to mask a column whose values other runs have kept: in rows of dead letters,
/// among rows that checks found.
pub(crate) fn masks_anew(model: &Model, last: Option<&LastCommit>) -> bool {
    last.is_some() && !in_clear(&model.masks(), last).is_empty()
}

/// The first column that a model's table holds in clear and the model masks, by the last commit.
pub(crate) fn first_in_clear(session: &Session, model: &Model) -> Result<Option<Mask>, RunError> {
    let (masks, Session { connection, lake, metadata, .. }) = (model.masks(), session);
    if masks.is_empty() || table_at(connection, lake, metadata, &model.target)?.is_none() {
        return Ok(None);
    }
    Ok(in_clear(&masks, last_commit(session, &model.target)?.as_ref()).into_iter().next())
}

/// The columns that the last commit of a target masked.
pub(crate) fn masked_last(session: &Session, target: &Target) -> Result<Vec<String>, RunError> {
    let masks = last_commit(session, target)?.map_or_else(Vec::new, |last| last.masks);
    Ok(masks.into_iter().map(|mask| mask.column).collect())
}

fn last_commit(session: &Session, target: &Target) -> Result<Option<LastCommit>, RunError> {
    let Session { connection, lake, metadata, .. } = session;
    read_commit(recorded_commit(connection, (lake, metadata), target)?, target)
}

fn read_commit(recorded: Option<String>, target: &Target) -> Result<Option<LastCommit>, RunError> {
    Ok(recorded.map(|json| LastCommit::read(&target.to_string(), &json)).transpose()?)
}

/// The first column that a model masks and that its table held in clear at a snapshot.
pub(crate) fn first_in_clear_at(session: &Session, model: &Model, snapshot: i64) -> Result<Option<Mask>, RunError> {
    let recorded = match recorded_commit_at(&session.connection, &session.lake, snapshot, &model.target) {
        // No model had been committed, so none had masked anything.
        Err(error) if error.is_statement_fault() => None,
        recorded => recorded?,
    };
    Ok(in_clear(&model.masks(), read_commit(recorded, &model.target)?.as_ref()).into_iter().next())
}

/// Refuses to send rows of a table that is still in clear. A row without the column would be no way out: to the other
/// side an empty value is one like any other, and what was delivered is not sent again.
pub(crate) fn refuse_clear(session: &Session, model: &Model) -> Result<(), RunError> {
    first_in_clear(session, model)?.map_or(Ok(()), |mask| Err(not_sent(model, &mask)))
}

/// Why nothing of a table is sent that holds this column in clear.
pub(crate) fn not_sent(model: &Model, mask: &Mask) -> RunError {
    let (target, column) = (&model.target, &mask.column);
    RunError::Refused {
        code: Code::PushClear,
        message: format!(
            "the table of {target} holds `{column}` in clear, which the model masks, so nothing of it is sent"
        ),
        help: format!(
            "what is queued stays there: `ondatrasql run {target}` masks the table, and then sends it; if that run \
             failed, mend what it says"
        ),
        place: Box::new(model.place(mask.span.clone())),
    }
}

fn with_old_name(mask: &Mask, renames: &[(String, String)]) -> Mask {
    let old = renames.iter().find(|(_, new)| new.eq_ignore_ascii_case(&mask.column));
    Mask { column: old.map_or(&mask.column, |(old, _)| old).clone(), ..mask.clone() }
}
