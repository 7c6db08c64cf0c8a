//! What differs between a result's columns and its table's, and the statements that make them equal
//! (chapter 02 §5): for a table whose rows are all replaced, and for one whose rows stay.

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
    /// Columns that only change the case of their name: old and new.
    pub respelled: Vec<(String, String)>,
}

impl Evolution {
    /// Compares the table's columns with the result's as they will be stored.
    pub fn between(table: &[Column], result: &[Column]) -> Self {
        let mut evolution = Self::default();
        for new in result {
            match table.iter().find(|old| same_name(old, new)) {
                None => evolution.added.push(new.clone()),
                Some(old) => {
                    if old.name != new.name {
                        evolution.respelled.push((old.name.clone(), new.name.clone()));
                    }
                    if old.type_name != new.type_name {
                        let old = Column { name: new.name.clone(), type_name: old.type_name.clone() };
                        evolution.retyped.push((old, new.type_name.clone()));
                    }
                }
            }
        }
        evolution.dropped = table.iter().filter(|old| !result.iter().any(|new| same_name(old, new))).cloned().collect();
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
        self.respelled.retain(|(_, name)| !own(name));
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

    /// The statements for a table whose rows are replaced right after. Old columns are renamed out of the
    /// way first and dropped last: a table cannot lose its only column.
    pub fn statements(&self, table: &str) -> Vec<String> {
        let doomed = |name: &str| format!("__ondatra_old_{name}");
        let rename =
            |from: &str, to: &str| format!("ALTER TABLE {table} RENAME COLUMN {} TO {}", quote(from), quote(to));
        let add = |name: &str, type_name: &str| format!("ALTER TABLE {table} ADD COLUMN {} {type_name}", quote(name));
        let drop = |name: &str| format!("ALTER TABLE {table} DROP COLUMN {}", quote(name));
        let mut statements = Vec::new();
        // Two steps, because the engine sees no difference between two spellings of one name.
        for (from, to) in &self.respelled {
            statements.push(rename(from, &doomed(to)));
            statements.push(rename(&doomed(to), to));
        }
        statements.extend(self.retyped.iter().map(|(old, _)| rename(&old.name, &doomed(&old.name))));
        statements.extend(self.added.iter().map(|column| add(&column.name, &column.type_name)));
        statements.extend(self.retyped.iter().map(|(old, new)| add(&old.name, new)));
        statements.extend(self.retyped.iter().map(|(old, _)| drop(&doomed(&old.name))));
        statements.extend(self.dropped.iter().map(|column| drop(&column.name)));
        statements
    }

    /// The statements for a table whose rows stay: values are cast to their new type, and become NULL where
    /// they cannot be. The old column is renamed out of the way and the new one added under its final name:
    /// a nested column that is added and then renamed leaves the lake's catalog unreadable (measured), and
    /// `SET DATA TYPE` after a read of the table may kill the engine (engine facts).
    pub(crate) fn keeping_statements(&self, table: &str) -> Vec<String> {
        let doomed = |name: &str| quote(&format!("__ondatra_old_{name}"));
        let alter = |change: String| format!("ALTER TABLE {table} {change}");
        let mut statements = Vec::new();
        for (from, to) in &self.respelled {
            // Two steps, because the engine sees no difference between two spellings of one name.
            statements.push(alter(format!("RENAME COLUMN {} TO {}", quote(from), doomed(to))));
            statements.push(alter(format!("RENAME COLUMN {} TO {}", doomed(to), quote(to))));
        }
        for column in &self.added {
            statements.push(alter(format!("ADD COLUMN {} {}", quote(&column.name), column.type_name)));
        }
        for (old, new) in &self.retyped {
            let (name, old) = (quote(&old.name), doomed(&old.name));
            statements.push(alter(format!("RENAME COLUMN {name} TO {old}")));
            statements.push(alter(format!("ADD COLUMN {name} {new}")));
            statements.push(format!("UPDATE {table} SET {name} = TRY_CAST({old} AS {new})"));
            statements.push(alter(format!("DROP COLUMN {old}")));
        }
        statements.extend(self.dropped.iter().map(|column| alter(format!("DROP COLUMN {}", quote(&column.name)))));
        statements
    }

    /// The warning that tells the user what changed.
    pub fn warning(&self) -> Option<String> {
        let list = |columns: &[String]| columns.join(", ");
        let added: Vec<String> = self.added.iter().map(|c| format!("{} ({})", c.name, c.type_name)).collect();
        let dropped: Vec<String> = self.dropped.iter().map(|c| c.name.clone()).collect();
        let mut parts: Vec<String> = self.respelled.iter().map(|(old, new)| format!("renamed {old} → {new}")).collect();
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

fn same_name(a: &Column, b: &Column) -> bool {
    // DuckDB folds ASCII letters alone.
    a.name.eq_ignore_ascii_case(&b.name)
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
        assert!(Evolution::between(&table, &columns(&[("id", "BIGINT"), ("a", "INTEGER")])).is_none());
        let respelled = Evolution::between(&table, &columns(&[("ID", "BIGINT"), ("a", "INTEGER")]));
        assert_eq!(respelled.warning().as_deref(), Some("schema evolution: renamed id → ID"));
        assert_eq!(respelled.reported_run_type(Kind::Table), Some(RunType::Incremental));
    }

    #[test]
    fn adds_are_incremental_drops_and_narrowing_are_full() {
        let table = columns(&[("a", "INTEGER"), ("b", "VARCHAR")]);
        let change = |list: &[(&str, &str)]| Evolution::between(&table, &columns(list));
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
        assert_eq!(
            all.keeping_statements("t"),
            [
                "ALTER TABLE t ADD COLUMN \"c\" DATE",
                "ALTER TABLE t RENAME COLUMN \"a\" TO \"__ondatra_old_a\"",
                "ALTER TABLE t ADD COLUMN \"a\" DOUBLE",
                "UPDATE t SET \"a\" = TRY_CAST(\"__ondatra_old_a\" AS DOUBLE)",
                "ALTER TABLE t DROP COLUMN \"__ondatra_old_a\"",
                "ALTER TABLE t DROP COLUMN \"b\"",
            ]
        );
        assert_eq!(
            all.statements("t"),
            [
                "ALTER TABLE t RENAME COLUMN \"a\" TO \"__ondatra_old_a\"",
                "ALTER TABLE t ADD COLUMN \"c\" DATE",
                "ALTER TABLE t ADD COLUMN \"a\" DOUBLE",
                "ALTER TABLE t DROP COLUMN \"__ondatra_old_a\"",
                "ALTER TABLE t DROP COLUMN \"b\"",
            ]
        );
    }
}
