//! The columns of a table now, with what stood in each at an older snapshot.

use std::collections::BTreeSet;

use engine::{EngineError, Value};
use types::{Column, Target, literal, quote};

use crate::Window;

/// A column of the table as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Paired {
    pub column: Column,
    /// The older version's value of it, in the now type.
    pub then: String,
    /// Whether the older version has a column of the same name that is another one, of another type.
    pub retyped: bool,
}

/// A column as the lake's catalog lists it.
struct Listed {
    table: i64,
    id: i64,
    name: String,
    type_name: String,
    default: Option<String>,
    then: bool,
    now: bool,
}

impl Window<'_> {
    /// The columns now, paired with the older version's: by identity within one table, by name where the
    /// table was made anew or the column was.
    pub(crate) fn paired_columns(&self, table: &Target) -> Result<Vec<Paired>, EngineError> {
        let (then_id, now_id) = self.ids(table);
        let listed = self.listed(then_id, now_id)?;
        let described = self
            .connection
            .query(&format!("SELECT column_name, column_type FROM (DESCRIBE {})", table.qualified(self.lake)))?;
        let columns = described.into_values().filter_map(|row| match &row[..] {
            [Value::Text(name), Value::Text(type_name)] => {
                Some(Column { name: name.clone(), type_name: type_name.clone() })
            }
            _ => None,
        });
        Ok(columns.map(|column| pair(column, &listed, then_id, now_id)).collect())
    }

    fn listed(&self, then_id: Option<i64>, now_id: Option<i64>) -> Result<Vec<Listed>, EngineError> {
        let ids: BTreeSet<i64> = then_id.into_iter().chain(now_id).collect();
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        let alive = |at: i64| format!("begin_snapshot <= {at} AND (end_snapshot IS NULL OR end_snapshot > {at})");
        let sql = format!(
            "SELECT table_id, column_id, column_name, column_type, initial_default, {}, {} \
             FROM {}.ducklake_column WHERE table_id IN ({}) AND parent_column IS NULL",
            alive(self.since),
            alive(self.until),
            self.metadata,
            ids.join(", ")
        );
        let listed = self.connection.query(&sql)?.into_values().filter_map(|row| match &row[..] {
            [table, id, Value::Text(name), Value::Text(type_name), default, then, now] => Some(Listed {
                table: table.as_i64()?,
                id: id.as_i64()?,
                name: name.clone(),
                type_name: type_name.clone(),
                default: default.as_text().map(str::to_owned),
                then: then.as_bool()?,
                now: now.as_bool()?,
            }),
            _ => None,
        });
        Ok(listed.collect())
    }
}

fn pair(column: Column, listed: &[Listed], then_id: Option<i64>, now_id: Option<i64>) -> Paired {
    let same_name = |known: &&Listed| known.name.eq_ignore_ascii_case(&column.name);
    let now = listed.iter().find(|known| known.now && Some(known.table) == now_id && same_name(known));
    let olds = || listed.iter().filter(|known| known.then && Some(known.table) == then_id);
    let by_identity = now.filter(|_| then_id == now_id).and_then(|now| olds().find(|old| old.id == now.id));
    let namesake = olds().find(same_name);
    let is_other_type = |old: &&Listed| now.is_none_or(|now| now.type_name != old.type_name);
    let by_name = namesake.filter(|old| then_id != now_id || is_other_type(old));
    let default = now.and_then(|now| now.default.clone()).filter(|_| then_id == now_id);
    let type_name = &column.type_name;
    let then = match (by_identity.or(by_name), default) {
        (Some(old), _) => format!("TRY_CAST({} AS {type_name})", quote(&old.name)),
        (None, Some(default)) => format!("TRY_CAST({} AS {type_name})", literal(&default)),
        (None, None) => format!("NULL::{type_name}"),
    };
    let retyped = by_identity.is_none() && by_name.is_some();
    Paired { column, then, retyped }
}
