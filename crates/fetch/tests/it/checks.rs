//! Finding what only the engine can tell to be bad, among the carriers of many rows.

use fetch::{Column, find_bad_value, select_list};
use query::DeclaredType;

use crate::lab::Lab;

fn columns(types: &[(&str, bool)]) -> Vec<Column> {
    let column = |(at, (sql_type, is_try)): (usize, &(&str, bool))| Column {
        source: format!("s{at}"),
        alias: format!("a{at}"),
        declared: DeclaredType::parse(sql_type),
        sql_type: (*sql_type).into(),
        is_try: *is_try,
        is_masked: false,
    };
    types.iter().enumerate().map(column).collect()
}

fn table(lab: &Lab, rows: &[(i64, i64, &str)]) {
    lab.connection.execute("CREATE TABLE carriers (page BIGINT, \"row\" BIGINT, c VARCHAR[])").unwrap();
    for (page, row, json) in rows {
        let list = format!("CAST(CAST({} AS JSON) AS VARCHAR[])", types::literal(json));
        lab.connection.execute(&format!("INSERT INTO carriers VALUES ({page}, {row}, {list})")).unwrap();
    }
}

#[test]
fn the_first_bad_value_is_found_by_page_row_and_column() {
    let lab = Lab::open();
    let columns = columns(&[("VARCHAR", false), ("UUID", true), ("DATE", false), ("DATE[]", false)]);
    table(
        &lab,
        &[
            (2, 1, r#"["abc", "x", "2026-02-30", null]"#),
            (1, 2, r#"["abc", "x", "2026-02-31", "[\"x\"]"]"#),
            (1, 1, r#"["abc", "x", "2026-02-28", null]"#),
        ],
    );
    let found = find_bad_value(&lab.connection, "carriers", &columns).unwrap().unwrap();
    assert_eq!((found.page, found.row), (1, 2));
    assert_eq!(
        found.bad.to_string(),
        "column \"a2\" (from \"s2\"): the value 2026-02-31 is not valid for DATE: the engine cannot cast it"
    );
    lab.connection.execute("UPDATE carriers SET c = [c[1], c[2], NULL, c[4]]").unwrap();
    let found = find_bad_value(&lab.connection, "carriers", &columns).unwrap().unwrap();
    assert_eq!((found.page, found.row, found.bad.column.as_str()), (1, 2, "a3"));
    assert_eq!(found.bad.value, r#"["x"]"#);
    lab.connection.execute("DELETE FROM carriers WHERE page = 1 AND \"row\" = 2").unwrap();
    assert_eq!(find_bad_value(&lab.connection, "carriers", &columns).unwrap(), None);
    let list = select_list(&columns, |at| format!("c[{}]", at + 1));
    assert_eq!(lab.connection.query(&format!("SELECT {list} FROM carriers")).unwrap().len(), 2);
}

#[test]
fn columns_with_try_cast_have_no_bad_values() {
    let lab = Lab::open();
    let columns = columns(&[("UUID", true)]);
    table(&lab, &[(1, 1, r#"["x"]"#)]);
    assert_eq!(find_bad_value(&lab.connection, "carriers", &columns).unwrap(), None);
    let list = select_list(&columns, |at| format!("c[{}]", at + 1));
    let value = lab.connection.query_value(&format!("SELECT {list} FROM carriers")).unwrap();
    assert_eq!(value, engine::Value::Null);
}

#[test]
fn many_rows_are_searched_at_once() {
    let lab = Lab::open();
    lab.connection
        .execute(
            "CREATE TABLE carriers AS SELECT i // 1000 AS page, i % 1000 AS \"row\", \
             [if(i = 77_777, '2026-02-30', '2026-02-28')] AS c FROM range(100_000) AS r(i)",
        )
        .unwrap();
    let found = find_bad_value(&lab.connection, "carriers", &columns(&[("DATE", false)])).unwrap().unwrap();
    assert_eq!((found.page, found.row, found.bad.value.as_str()), (77, 777, "2026-02-30"));
}
