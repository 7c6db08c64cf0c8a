//! How fast rows become carriers, and carriers values: `cargo test --release -p fetch --test it speed -- --ignored
//! --nocapture`.
#![allow(clippy::print_stderr, clippy::cast_precision_loss)]

use std::time::Instant;

use fetch::{Carriers, Column, Converter, find_bad_value, select_list};
use lib_functions::testing::with_rows;
use query::DeclaredType;

use crate::lab::{Lab, list_of, relation};

const ROWS: usize = 1_000_000;
const PAGE: usize = 10_000;
const TYPES: [&str; 10] = [
    "BIGINT",
    "VARCHAR",
    "DOUBLE",
    "DECIMAL(10,2)",
    "BOOLEAN",
    "TIMESTAMP",
    "DATE",
    "INTEGER",
    "VARCHAR",
    "TIMESTAMPTZ",
];

fn columns() -> Vec<Column> {
    let column = |(at, sql_type): (usize, &&str)| Column {
        source: format!("s{at}"),
        alias: format!("a{at}"),
        declared: DeclaredType::parse(sql_type),
        sql_type: (*sql_type).into(),
        is_try: false,
        is_masked: false,
    };
    TYPES.iter().enumerate().map(column).collect()
}

fn tell(what: &str, start: Instant) {
    let seconds = start.elapsed().as_secs_f64();
    eprintln!("{what}: {seconds:.2} s, {:.0} rows/s", ROWS as f64 / seconds);
}

#[test]
#[ignore = "measures"]
fn speed_of_a_million_rows_with_ten_columns() {
    let script = format!(
        "[{{'s0': i, 's1': 'name ' + str(i), 's2': i * 0.1, 's3': i / 100.0, 's4': i % 2 == 0, \
         's5': '2026-01-01T10:00:00+02:00', 's6': '2026-01-01', 's7': float(i), 's8': None, \
         's9': '2026-01-01T10:00:00Z'}} for i in range({PAGE})]"
    );
    let mut pages = Vec::new();
    with_rows(&script, |rows| {
        for is_json in [false, true] {
            let mut converter = Converter::new(columns());
            let mut out = Carriers::new();
            let start = Instant::now();
            let mut length = 0;
            for _ in 0..ROWS / PAGE {
                let mut page = Vec::new();
                for row in rows {
                    converter.row(*row, &mut out).unwrap();
                    if is_json {
                        let mut json = String::new();
                        out.write_json(&mut json);
                        page.push(json);
                    }
                    length += out.iter().flatten().map(str::len).sum::<usize>();
                }
                if is_json {
                    pages.push(page);
                }
            }
            assert!(length > ROWS * 10);
            tell(if is_json { "carriers, as JSON" } else { "carriers" }, start);
        }
    });
    let lab = Lab::open();
    let start = Instant::now();
    lab.connection.execute("CREATE TABLE carriers (page BIGINT, \"row\" BIGINT, c VARCHAR[])").unwrap();
    for (page, rows) in (1..).zip(&pages) {
        let listed = format!("SELECT {page}, row_number() OVER (), {} FROM {}", list_of("text"), relation(rows));
        lab.connection.execute(&format!("INSERT INTO carriers {listed}")).unwrap();
    }
    tell("loaded", start);
    let start = Instant::now();
    let list = select_list(&columns(), |at| format!("c[{}]", at + 1));
    lab.connection.execute(&format!("CREATE TABLE made AS SELECT {list} FROM carriers")).unwrap();
    tell("cast", start);
    let start = Instant::now();
    assert_eq!(find_bad_value(&lab.connection, "carriers", &columns()).unwrap(), None);
    tell("searched for bad values", start);
}
