//! What differs between a result's columns and its table's, and the statements that make them equal
//! (chapter 02 §5).

use types::{Column, Kind, RunType, quote};

/// Differences between the result and the table. Names compare without case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evolution {
    /// Columns to add.
    pub added: Vec<Column>,
    /// Columns to drop.
    pub dropped: Vec<Column>,
    /// Columns whose type changes: the old one with the new type's name.
    pub retyped: Vec<(Column, String)>,
    /// Columns that only change their name, or its case: old and new.
    pub renamed: Vec<(String, String)>,
}

/// The statements of an evolution, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Alterations {
    /// Renames and adds.
    pub reshape: Vec<String>,
    /// Carries the values of rows that stay to columns of another type; NULL where they cannot be cast.
    pub carry: Option<String>,
    /// Drops.
    pub drop: Vec<String>,
}

impl Evolution {
    /// Compares the table's columns with the result's as they will be stored. `renames` says which of the
    /// table's columns come under another name now, as far as both are free.
    pub fn between(table: &[Column], result: &[Column], renames: &[(String, String)]) -> Self {
        let mut evolution = Self::default();
        let has = |columns: &[Column], name: &str| columns.iter().any(|known| known.name.eq_ignore_ascii_case(name));
        let is_free = |(old, new): &&(String, String)| !has(result, old) && !has(table, new);
        let renames: Vec<&(String, String)> = renames.iter().filter(is_free).collect();
        let old_of = |new: &Column| {
            let pair = renames.iter().find(|(_, to)| to.eq_ignore_ascii_case(&new.name));
            let name = pair.map_or(&new.name, |(from, _)| from);
            table.iter().find(|old| old.name.eq_ignore_ascii_case(name))
        };
        for new in result {
            match old_of(new) {
                None => evolution.added.push(new.clone()),
                Some(old) => {
                    if old.name != new.name {
                        evolution.renamed.push((old.name.clone(), new.name.clone()));
                    }
                    if old.type_name != new.type_name {
                        let old = Column { name: new.name.clone(), type_name: old.type_name.clone() };
                        evolution.retyped.push((old, new.type_name.clone()));
                    }
                }
            }
        }
        let is_kept = |old: &&Column| result.iter().any(|new| old_of(new).is_some_and(|known| known.name == old.name));
        evolution.dropped = table.iter().filter(|old| !is_kept(old)).cloned().collect();
        evolution
    }

    /// Whether nothing differs.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// The same without columns of these names.
    pub(crate) fn without(mut self, names: &[&str]) -> Self {
        let own = |name: &str| names.iter().any(|own| own.eq_ignore_ascii_case(name));
        self.added.retain(|column| !own(&column.name));
        self.dropped.retain(|column| !own(&column.name));
        self.retyped.retain(|(column, _)| !own(&column.name));
        self.renamed.retain(|(_, name)| !own(name));
        self
    }

    /// The run type that such a change is reported as (chapter 02 §5.2); `None` where it stays as decided.
    pub fn reported_run_type(&self, kind: Kind) -> Option<RunType> {
        let destructive =
            !self.dropped.is_empty() || self.retyped.iter().any(|(old, new)| !promotable(&old.type_name, new));
        if destructive && kind == Kind::Table {
            return Some(RunType::Full);
        }
        (!self.is_none()).then_some(RunType::Incremental)
    }

    /// The columns of the table, by their old names, that will be dropped, be it only to come back with
    /// another type.
    pub(crate) fn vanishing(&self) -> Vec<&str> {
        let old_name = |name: &'_ str| self.renamed.iter().find(|(_, new)| new == name).map(|(old, _)| old.as_str());
        let retyped = self.retyped.iter().map(|(old, _)| old_name(&old.name).unwrap_or(&old.name));
        self.dropped.iter().map(|column| column.name.as_str()).chain(retyped).collect()
    }

    /// The statements that make the table's columns those of the result. Values are carried over where rows
    /// stay.
    ///
    /// A column of another type is renamed out of the way and added under its final name: a nested column
    /// that is added and then renamed leaves the lake's catalog unreadable (measured), and `SET DATA TYPE`
    /// after a read of the table may kill the engine (engine facts). Drops come last: a table cannot lose
    /// its only column.
    pub(crate) fn alterations(&self, table: &str) -> Alterations {
        let doomed = |name: &str| quote(&format!("__ondatra_old_{name}"));
        let alter = |change: String| format!("ALTER TABLE {table} {change}");
        let rename = |from: &str, to: &str| alter(format!("RENAME COLUMN {from} TO {to}"));
        let mut reshape = Vec::new();
        for (from, to) in &self.renamed {
            // Two steps, because the engine sees no difference between two spellings of one name.
            reshape.push(rename(&quote(from), &doomed(to)));
            reshape.push(rename(&doomed(to), &quote(to)));
        }
        reshape.extend(self.retyped.iter().map(|(old, _)| rename(&quote(&old.name), &doomed(&old.name))));
        let retyped = self.retyped.iter().map(|(old, new)| (&old.name, new));
        let added = self.added.iter().map(|column| (&column.name, &column.type_name)).chain(retyped);
        reshape.extend(added.map(|(name, type_name)| alter(format!("ADD COLUMN {} {type_name}", quote(name)))));
        let carried: Vec<String> = self
            .retyped
            .iter()
            .map(|(old, new)| format!("{} = TRY_CAST({} AS {new})", quote(&old.name), doomed(&old.name)))
            .collect();
        let carry = if carried.is_empty() { None } else { Some(format!("UPDATE {table} SET {}", carried.join(", "))) };
        let doomed = self.retyped.iter().map(|(old, _)| doomed(&old.name));
        let dropped = doomed.chain(self.dropped.iter().map(|column| quote(&column.name)));
        let drop = dropped.map(|name| alter(format!("DROP COLUMN {name}"))).collect();
        Alterations { reshape, carry, drop }
    }

    /// The warning that tells the user what changed.
    pub fn warning(&self) -> Option<String> {
        let list = |columns: &[String]| columns.join(", ");
        let added: Vec<String> = self.added.iter().map(|c| format!("{} ({})", c.name, c.type_name)).collect();
        let dropped: Vec<String> = self.dropped.iter().map(|c| c.name.clone()).collect();
        let mut parts: Vec<String> = self.renamed.iter().map(|(old, new)| format!("renamed {old} → {new}")).collect();
        if !added.is_empty() {
            parts.push(format!("+ {}", list(&added)));
        }
        if !dropped.is_empty() {
            parts.push(format!("- {}", list(&dropped)));
        }
        parts.extend(self.retyped.iter().map(|(old, new)| format!("{}: {} → {new}", old.name, old.type_name)));
        (!parts.is_empty()).then(|| format!("schema evolution: {}", parts.join("; ")))
    }
}

/// Whether every value of the old type has an equal one of the new (chapter 02 §5.1).
fn promotable(old: &str, new: &str) -> bool {
    // HUGEINT as the lake stores it comes last.
    const INTEGERS: [&str; 5] = ["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "DECIMAL(38,0)"];
    let rank = |name: &str| INTEGERS.iter().position(|integer| *integer == name);
    match (rank(old), rank(new), new) {
        (Some(from), Some(to), _) => from < to,
        (Some(from), None, "FLOAT") => from <= 2,
        (Some(from), None, "DOUBLE") => from <= 3,
        (None, None, "DOUBLE") => old == "FLOAT",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use types::{Column, Kind, RunType};

    use super::Evolution;

    fn columns(list: &[(&str, &str)]) -> Vec<Column> {
        list.iter().map(|&(name, type_name)| Column { name: name.into(), type_name: type_name.into() }).collect()
    }

    #[test]
    fn order_does_not_matter_and_case_is_a_rename() {
        let table = columns(&[("a", "INTEGER"), ("id", "BIGINT")]);
        assert!(Evolution::between(&table, &columns(&[("id", "BIGINT"), ("a", "INTEGER")]), &[]).is_none());
        let renamed = Evolution::between(&table, &columns(&[("ID", "BIGINT"), ("a", "INTEGER")]), &[]);
        assert_eq!(renamed.warning().as_deref(), Some("schema evolution: renamed id → ID"));
        assert_eq!(renamed.reported_run_type(Kind::Table), Some(RunType::Incremental));
    }

    #[test]
    fn adds_are_incremental_drops_and_narrowing_are_full() {
        let table = columns(&[("a", "INTEGER"), ("b", "VARCHAR")]);
        let change = |list: &[(&str, &str)]| Evolution::between(&table, &columns(list), &[]);
        assert_eq!(
            change(&[("a", "INTEGER"), ("b", "VARCHAR"), ("c", "DATE")]).reported_run_type(Kind::Table),
            Some(RunType::Incremental)
        );
        assert_eq!(
            change(&[("a", "BIGINT"), ("b", "VARCHAR")]).reported_run_type(Kind::Table),
            Some(RunType::Incremental)
        );
        assert_eq!(change(&[("a", "SMALLINT"), ("b", "VARCHAR")]).reported_run_type(Kind::Table), Some(RunType::Full));
        let all = change(&[("a", "DOUBLE"), ("c", "DATE")]);
        assert_eq!(all.reported_run_type(Kind::Table), Some(RunType::Full));
        assert_eq!(all.warning().as_deref(), Some("schema evolution: + c (DATE); - b; a: INTEGER → DOUBLE"));
        assert_eq!(all.reported_run_type(Kind::Merge), Some(RunType::Incremental));
        let alterations = all.alterations("t");
        assert_eq!(
            alterations.reshape,
            [
                "ALTER TABLE t RENAME COLUMN \"a\" TO \"__ondatra_old_a\"",
                "ALTER TABLE t ADD COLUMN \"c\" DATE",
                "ALTER TABLE t ADD COLUMN \"a\" DOUBLE",
            ]
        );
        let carry = "UPDATE t SET \"a\" = TRY_CAST(\"__ondatra_old_a\" AS DOUBLE)";
        assert_eq!(alterations.carry.as_deref(), Some(carry));
        assert_eq!(
            alterations.drop,
            ["ALTER TABLE t DROP COLUMN \"__ondatra_old_a\"", "ALTER TABLE t DROP COLUMN \"b\""]
        );
    }

    #[test]
    fn a_renamed_column_may_change_its_type_and_never_takes_a_name_in_use() {
        let table = columns(&[("a", "INTEGER"), ("b", "VARCHAR")]);
        let renames = [("a".to_owned(), "z".to_owned()), ("b".to_owned(), "a".to_owned())];
        let change = Evolution::between(&table, &columns(&[("z", "BIGINT"), ("b", "VARCHAR")]), &renames);
        assert_eq!(change.renamed, [("a".to_owned(), "z".to_owned())]);
        assert_eq!(change.warning().as_deref(), Some("schema evolution: renamed a → z; z: INTEGER → BIGINT"));
        assert_eq!(change.vanishing(), ["a"]);
        let crosswise = Evolution::between(&table, &columns(&[("b", "VARCHAR"), ("a", "INTEGER")]), &renames);
        assert!(crosswise.is_none());
    }
}
