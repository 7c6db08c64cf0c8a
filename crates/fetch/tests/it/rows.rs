//! Whole rows: which key a column takes, and which columns are never seen.

use fetch::{Carriers, Column, Converter};
use lib_functions::testing::with_rows;
use query::DeclaredType;

fn named(source: &str, is_try: bool) -> Column {
    let declared = DeclaredType::parse("INTEGER");
    Column {
        source: source.into(),
        alias: format!("{source}_out"),
        declared,
        sql_type: "INTEGER".into(),
        is_try,
        is_masked: false,
    }
}

/// The carriers of a row, or the message of the bad value.
type Converted = Result<Vec<Option<String>>, String>;

/// What each row becomes, and the columns that were never seen.
fn converted(columns: &[Column], script: &str) -> (Vec<Converted>, Vec<String>) {
    with_rows(script, |rows| {
        let mut converter = Converter::new(columns.to_vec());
        let mut out = Carriers::new();
        let mut carriers = |row| {
            converter.row(row, &mut out).map_err(|bad| bad.to_string())?;
            Ok(out.iter().map(|text| text.map(str::to_owned)).collect())
        };
        let found = rows.iter().map(|row| carriers(*row)).collect();
        (found, converter.columns_never_seen().map(|column| column.source.clone()).collect())
    })
}

#[test]
fn keys_match_exactly_else_the_only_one_in_any_case() {
    let columns = [named("id", false), named("Name", false), named("id", false)];
    let (found, _) = converted(
        &columns,
        "[{'id': 1, 'ID': 2, 'name': 3, 'extra': len}, {'ID': 4}, {'Id': 5, 'iD': 6}, {'NAME': None}]",
    );
    let row = |texts: [Option<&str>; 3]| Ok(texts.map(|text| text.map(str::to_owned)).to_vec());
    assert_eq!(found[0], row([Some("1"), Some("3"), Some("1")]));
    assert_eq!(found[1], row([Some("4"), None, Some("4")]));
    let error = found[2].as_ref().unwrap_err();
    assert!(error.contains("column \"id_out\" (from \"id\")"), "{error}");
    assert!(error.contains("\"Id\" and \"iD\" are both equal to \"id\" but for case"), "{error}");
    assert_eq!(found[3], row([None, None, None]));
    assert_eq!(converted(&[named("id", true)], "[{'Id': 5, 'iD': 6}]").0, [Ok(vec![None])]);
}

#[test]
fn a_column_is_seen_once_any_row_has_its_key() {
    // Trap 13.
    let columns = [named("a", false), named("b", false), named("c", false)];
    let (found, unseen) = converted(&columns, "[{'A': None}, {'x': 1, 'c': 2}]");
    assert_eq!(found[0], Ok(vec![None, None, None]));
    assert_eq!(unseen, ["b"]);
}

#[test]
fn a_bad_value_is_told_with_all_but_its_place() {
    let long = format!("[{{'a': 'x' * {}}}]", 1_000);
    let (found, _) = converted(&[named("a", false)], &long);
    let expected = format!(
        "column \"a_out\" (from \"a\"): the value {}… is not valid for INTEGER: it is no integer",
        "x".repeat(100)
    );
    assert_eq!(found, [Err(expected)]);
}

#[test]
fn traps_of_mixed_numbers() {
    let mut column = named("v", false);
    column.declared = DeclaredType::parse("DOUBLE");
    column.sql_type = "DOUBLE".into();
    // Trap 7.
    let (found, _) = converted(&[column], "[{'v': 1}, {'v': 2.5}]");
    assert_eq!(found, [Ok(vec![Some("1".to_owned())]), Ok(vec![Some("2.5".to_owned())])]);
}
