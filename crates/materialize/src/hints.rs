//! How a table's files are laid out: `@partitioned_by` and `@sorted_by` (chapter 02 §3.5).

use engine::{Connection, EngineError, Value};
use model::PartitionTerm;
use types::{Column, Target, literal, quote};

use crate::MaterializeError;
use crate::evolution::Evolution;
use crate::output::check_present;
use crate::result::ModelResult;

/// The layout that a model asks for.
#[derive(Debug, Clone, Copy)]
pub struct Layout<'a> {
    /// `@partitioned_by`.
    pub partitioned_by: &'a [PartitionTerm],
    /// `@sorted_by`.
    pub sorted_by: &'a [String],
}

/// The statements that bring a table to its layout.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    /// Once all columns are there, before any data: the engine refuses a layout after it.
    pub before: Vec<String>,
    /// After all data: an INSERT after `RESET PARTITIONED BY` in the same transaction kills the engine
    /// (measured).
    pub after: Vec<String>,
}

/// A table's layout as the lake's catalog holds it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Stored {
    /// Transform and column.
    partitions: Vec<(String, String)>,
    /// Expression, direction and order of NULLs.
    sorts: Vec<(String, String, String)>,
}

/// Where a layout is looked up and checked.
pub(crate) struct HintScope<'a> {
    pub connection: &'a Connection,
    pub metadata: &'a str,
    pub target: &'a Target,
    /// The table, qualified and quoted.
    pub table: &'a str,
    pub layout: Layout<'a>,
}

/// The columns of a layout must be in the output, with types that it can be made from.
pub(crate) fn check_layout(layout: &Layout<'_>, columns: &[Column]) -> Result<(), MaterializeError> {
    for term in layout.partitioned_by {
        let column = column_of(term);
        check_present(columns, "@partitioned_by", column)?;
        let PartitionTerm::Time(part, _) = term else { continue };
        let known = columns.iter().find(|known| known.name.eq_ignore_ascii_case(column));
        let is_time = |known: &&Column| {
            known.type_name.starts_with("TIMESTAMP") || (known.type_name == "DATE" && *part != "hour")
        };
        if let Some(known) = known.filter(|known| !is_time(known)) {
            return Err(MaterializeError::PartitionType {
                term: term.to_string(),
                column: column.to_owned(),
                type_name: known.type_name.clone(),
            });
        }
    }
    layout.sorted_by.iter().try_for_each(|column| check_present(columns, "@sorted_by", column))
}

impl HintScope<'_> {
    /// What differs from the layout of a table that is there, whose columns change by `evolution`.
    pub(crate) fn changes(&self, evolution: &Evolution, result: &ModelResult) -> Result<Hints, EngineError> {
        let stored = self.stored()?;
        let gone = evolution.vanishing();
        let is_gone = |name: &str| gone.iter().any(|gone| gone.eq_ignore_ascii_case(name));
        let mut hints = Hints::default();
        let same = same_partitions(self.layout.partitioned_by, &stored.partitions);
        let loses_one = stored.partitions.iter().any(|(_, column)| is_gone(column));
        if self.layout.partitioned_by.is_empty() {
            if !stored.partitions.is_empty() {
                // A column that the table is partitioned by cannot be dropped, and until the data is written
                // the table has to be partitioned by something: one bucket is nothing.
                let any = result.columns.first().map_or_else(String::new, |column| quote(&column.name));
                hints.before.push(self.alter(&format!("SET PARTITIONED BY (bucket(1, {any}))")));
                hints.after.push(self.alter("RESET PARTITIONED BY"));
            }
        } else if !same || loses_one {
            hints.before.extend(self.set_partitions());
        }
        let same = same_sorts(self.layout.sorted_by, &stored.sorts);
        let loses_one = stored.sorts.iter().any(|(name, ..)| is_gone(name.trim_matches('"')));
        if !same || loses_one {
            hints.before.push(match self.set_sorts() {
                Some(set) => set,
                None => self.alter("RESET SORTED BY"),
            });
        }
        Ok(hints)
    }

    /// The layout of a table that is being made.
    pub(crate) fn fresh(&self) -> Hints {
        Hints { before: self.set_partitions().into_iter().chain(self.set_sorts()).collect(), after: Vec::new() }
    }

    fn alter(&self, change: &str) -> String {
        format!("ALTER TABLE {} {change}", self.table)
    }

    fn set_partitions(&self) -> Option<String> {
        let terms: Vec<String> = self.layout.partitioned_by.iter().map(sql).collect();
        (!terms.is_empty()).then(|| self.alter(&format!("SET PARTITIONED BY ({})", terms.join(", "))))
    }

    fn set_sorts(&self) -> Option<String> {
        let columns: Vec<String> = self.layout.sorted_by.iter().map(|column| quote(column)).collect();
        (!columns.is_empty()).then(|| self.alter(&format!("SET SORTED BY ({})", columns.join(", "))))
    }

    fn stored(&self) -> Result<Stored, EngineError> {
        let (metadata, target) = (self.metadata, self.target);
        let table = format!(
            "WITH t AS (SELECT t.table_id FROM {metadata}.ducklake_table t JOIN {metadata}.ducklake_schema s USING (schema_id) \
             WHERE t.end_snapshot IS NULL AND s.end_snapshot IS NULL AND lower(table_name) = {} AND lower(schema_name) = {})",
            literal(&target.name.to_lowercase()),
            literal(&target.schema.to_lowercase())
        );
        let sql = format!(
            "{table} SELECT 'partition' AS what, p.partition_key_index AS nth, p.transform, c.column_name, NULL \
             FROM {metadata}.ducklake_partition_info i JOIN t USING (table_id) \
             JOIN {metadata}.ducklake_partition_column p ON p.partition_id = i.partition_id AND p.table_id = i.table_id \
             JOIN {metadata}.ducklake_column c ON c.table_id = i.table_id AND c.column_id = p.column_id AND c.end_snapshot IS NULL \
             WHERE i.end_snapshot IS NULL \
             UNION ALL SELECT 'sort', e.sort_key_index, e.expression, e.sort_direction, e.null_order \
             FROM {metadata}.ducklake_sort_info i JOIN t USING (table_id) \
             JOIN {metadata}.ducklake_sort_expression e ON e.sort_id = i.sort_id AND e.table_id = i.table_id \
             WHERE i.end_snapshot IS NULL ORDER BY what, nth"
        );
        let mut stored = Stored::default();
        for row in self.connection.query(&sql)?.into_values() {
            match &row[..] {
                [_, _, Value::Text(transform), Value::Text(column), Value::Null] => {
                    stored.partitions.push((transform.clone(), column.clone()));
                }
                [_, _, Value::Text(expression), Value::Text(direction), Value::Text(nulls)] => {
                    stored.sorts.push((expression.clone(), direction.clone(), nulls.clone()));
                }
                _ => {}
            }
        }
        Ok(stored)
    }
}

fn column_of(term: &PartitionTerm) -> &str {
    match term {
        PartitionTerm::Column(column) | PartitionTerm::Time(_, column) | PartitionTerm::Bucket(_, column) => column,
    }
}

fn sql(term: &PartitionTerm) -> String {
    let column = quote(column_of(term));
    match term {
        PartitionTerm::Column(_) => column,
        PartitionTerm::Time(part, _) => format!("{part}({column})"),
        PartitionTerm::Bucket(count, _) => format!("bucket({count}, {column})"),
    }
}

fn same_partitions(wanted: &[PartitionTerm], stored: &[(String, String)]) -> bool {
    let transform = |term: &PartitionTerm| match term {
        PartitionTerm::Column(_) => "identity".to_owned(),
        PartitionTerm::Time(part, _) => (*part).to_owned(),
        PartitionTerm::Bucket(count, _) => format!("bucket({count})"),
    };
    let same = |(term, (stored, column)): (&PartitionTerm, &(String, String))| {
        transform(term) == *stored && column_of(term).eq_ignore_ascii_case(column)
    };
    wanted.len() == stored.len() && wanted.iter().zip(stored).all(same)
}

fn same_sorts(wanted: &[String], stored: &[(String, String, String)]) -> bool {
    let same = |(wanted, (expression, direction, nulls)): (&String, &(String, String, String))| {
        let named = expression.eq_ignore_ascii_case(wanted) || expression.eq_ignore_ascii_case(&quote(wanted));
        named && direction == "ASC" && nulls == "NULLS_LAST"
    };
    wanted.len() == stored.len() && wanted.iter().zip(stored).all(same)
}
