//! What names and types alone tell of an output, before there is a row of it (chapter 02 §3.2, §3.5).

use types::Column;

use crate::MaterializeError;
use crate::hints::{Layout, check_layout};
use crate::result::type_words;
use crate::write::KindWrite;

/// Types that the lake has no form for, wherever they stand.
const UNSUPPORTED: [&str; 5] = ["ENUM", "UNION", "BIT", "BIGNUM", "TIME_NS"];
/// Types that it has one for, but not inside of others.
const UNNESTED: [&str; 2] = ["INTERVAL", "VARIANT"];

/// An output that is to be written.
#[derive(Debug, Clone, Copy)]
pub struct Output<'a> {
    /// Its columns.
    pub columns: &'a [Column],
    /// How it is written.
    pub kind: &'a KindWrite,
    /// How its files are laid out.
    pub layout: Layout<'a>,
    /// `@incremental`.
    pub cursor: Option<&'a str>,
}

/// An error if no row of this output could be written.
pub fn check_output(output: &Output<'_>) -> Result<(), MaterializeError> {
    check_storable(output.columns)?;
    let own = output.kind.own_columns();
    let is_own = |column: &Column| own.iter().any(|name| column.name.eq_ignore_ascii_case(name));
    let columns: Vec<Column> = output.columns.iter().filter(|column| !is_own(column)).cloned().collect();
    check_named(&Output { columns: &columns, ..*output })
}

/// An error unless every column that a directive names is there.
pub(crate) fn check_named(output: &Output<'_>) -> Result<(), MaterializeError> {
    let (directive, keys) = output.kind.keys();
    keys.iter().try_for_each(|key| check_present(output.columns, directive, key))?;
    output.cursor.map_or(Ok(()), |cursor| check_present(output.columns, "@incremental", cursor))?;
    check_layout(&output.layout, output.columns)
}

/// An error if there is no column of this name.
pub(crate) fn check_present(columns: &[Column], directive: &'static str, name: &str) -> Result<(), MaterializeError> {
    if columns.iter().any(|column| column.name.eq_ignore_ascii_case(name)) {
        return Ok(());
    }
    Err(MaterializeError::KeyMissing {
        directive,
        key: name.to_owned(),
        available: columns.iter().map(|column| column.name.clone()).collect(),
    })
}

/// Refuses names that are the runtime's, and types that the lake cannot store or would store as something else.
pub(crate) fn check_storable(columns: &[Column]) -> Result<(), MaterializeError> {
    columns.iter().try_for_each(|column| {
        if column.name.to_ascii_lowercase().starts_with("__ondatra_") {
            return Err(MaterializeError::ReservedColumn { column: column.name.clone() });
        }
        if is_storable(&column.type_name) {
            return Ok(());
        }
        let Column { name, type_name } = column.clone();
        Err(MaterializeError::UnsupportedType { column: name, type_name })
    })
}

fn is_storable(type_name: &str) -> bool {
    let words = type_words(type_name);
    let has = |names: &[&str]| words.iter().any(|(text, is_type)| *is_type && names.contains(text));
    let is_nested = type_name.contains(['(', '[']);
    let not_nested = has(&UNNESTED) || type_name.contains("TIME WITH TIME ZONE");
    !(has(&UNSUPPORTED) || has_fixed_length(&words) || is_nested && not_nested)
}

/// `INTEGER[3]`, but not `INTEGER[]`.
fn has_fixed_length(words: &[(&str, bool)]) -> bool {
    words.windows(2).any(|pair| pair[0].0 == "[" && pair[1].0.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use model::PartitionTerm;
    use types::Column;

    use super::{Output, check_output, is_storable};
    use crate::{KindWrite, Layout, MaterializeError};

    const NO_LAYOUT: Layout<'_> = Layout { partitioned_by: &[], sorted_by: &[] };

    fn columns(columns: &[(&str, &str)]) -> Vec<Column> {
        let column = |(name, type_name): &(&str, &str)| Column { name: (*name).into(), type_name: (*type_name).into() };
        columns.iter().map(column).collect()
    }

    #[test]
    fn types_that_the_lake_has_no_form_for_are_known_by_their_name() {
        for storable in [
            "INTEGER[][]",
            "STRUCT(\"a[3]\" INTEGER, bit VARCHAR, \"ENUM\" DATE)",
            "INTERVAL",
            "VARIANT",
            "TIME WITH TIME ZONE",
            "DECIMAL(18,3)",
            "HUGEINT",
        ] {
            assert!(is_storable(storable), "{storable}");
        }
        for not in [
            "INTEGER[3]",
            "STRUCT(a INTEGER[2])",
            "ENUM('a', 'b')",
            "UNION(a INTEGER)[]",
            "STRUCT(b BIT)",
            "MAP(VARCHAR, TIME_NS)",
            "BIGNUM",
            "INTERVAL[]",
            "VARIANT[]",
            "STRUCT(v VARIANT)",
            "TIME WITH TIME ZONE[]",
        ] {
            assert!(!is_storable(not), "{not}");
        }
    }

    #[test]
    fn columns_that_directives_name_must_be_there() {
        let columns = columns(&[("Id", "BIGINT"), ("at", "DATE"), ("is_current", "BOOLEAN")]);
        let check = |kind: KindWrite, cursor, partitioned_by: &[PartitionTerm], sorted_by: &[String]| {
            let layout = Layout { partitioned_by, sorted_by };
            check_output(&Output { columns: &columns, kind: &kind, layout, cursor })
        };
        let missing = |found: Result<(), MaterializeError>| match found {
            Err(MaterializeError::KeyMissing { directive, key, available }) => (directive, key, available.len()),
            other => panic!("{other:?}"),
        };
        let key = |key: &str| key.to_owned();
        let by = |column: &str| [PartitionTerm::Bucket(4, column.into())];
        check(KindWrite::Merge { key: key("ID") }, Some("At"), &by("id"), &[key("AT")]).unwrap();
        let found = check(KindWrite::Tracked { keys: vec![key("id"), key("nr")] }, None, &[], &[]);
        assert_eq!(missing(found), ("@group_key", key("nr"), 3));
        assert_eq!(missing(check(KindWrite::Table, Some("x"), &[], &[])), ("@incremental", key("x"), 3));
        assert_eq!(missing(check(KindWrite::Table, None, &by("x"), &[])), ("@partitioned_by", key("x"), 3));
        assert_eq!(missing(check(KindWrite::Table, None, &[], &[key("x")])), ("@sorted_by", key("x"), 3));
        // What the runtime adds itself is no column of the output.
        let found = check(KindWrite::Scd2 { key: key("id") }, None, &[], &[key("is_current")]);
        assert_eq!(missing(found), ("@sorted_by", key("is_current"), 2));
        let found = check(KindWrite::Table, None, &[PartitionTerm::Time("hour", "at".into())], &[]);
        assert!(matches!(found, Err(MaterializeError::PartitionType { .. })), "{found:?}");
    }

    #[test]
    fn names_of_the_runtime_are_refused() {
        let columns = columns(&[("__Ondatra_x", "BIGINT")]);
        let output = Output { columns: &columns, kind: &KindWrite::Table, layout: NO_LAYOUT, cursor: None };
        assert!(matches!(check_output(&output), Err(MaterializeError::ReservedColumn { .. })));
    }
}
