//! What a run does about masked columns beside its query (chapter 01 §4.6): rows that the table holds in clear, and files
//! that the engine spills to.

use checks::{FUNCTIONS, SHIPPED_IN};
use engine::EngineError;
use materialize::{MaterializeError, Rebuild, mask_present};
use model::{Mask, Model};
use plan::LastCommit;
use types::Kind;

use crate::Session;
use crate::known::Known;
use crate::lineage::{lineage, renames};
use crate::planning::PlannedModel;
use crate::task::Task;

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

fn with_old_name(mask: &Mask, renames: &[(String, String)]) -> Mask {
    let old = renames.iter().find(|(_, new)| new.eq_ignore_ascii_case(&mask.column));
    Mask { column: old.map_or(&mask.column, |(old, _)| old).clone(), ..mask.clone() }
}
