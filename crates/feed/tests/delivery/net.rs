//! The exact difference of two versions.

use std::fmt::Write;

use crate::lake::Lake;

/// Signs and images of the net difference after `from`, keyed by `id` or not.
fn net(lake: &Lake, keys: &[&str], from: Option<i64>) -> String {
    let told = lake.net(keys, from, lake.newest()).unwrap();
    let signs = Lake::short(&told, from.unwrap_or(lake.newest()));
    let mut text = String::new();
    for (sign, image) in signs.iter().zip(lake.shown(&told)) {
        let sign = sign.trim_end_matches(|digit: char| digit.is_ascii_digit());
        write!(text, "{sign}{} ", image.unwrap_or_else(|| "gone".into())).unwrap();
    }
    text.trim_end().to_owned()
}

fn lake_of_three() -> (Lake, i64) {
    let lake = Lake::with("id INTEGER, v VARCHAR");
    let base = lake.run("INSERT INTO lake.s.t VALUES (1, 'a'), (2, 'b'), (3, 'c')");
    (lake, base)
}

#[test]
fn a_rebuild_that_gives_the_same_rows_gives_nothing() {
    let (lake, base) = lake_of_three();
    lake.run("CREATE OR REPLACE TEMP TABLE c AS FROM lake.s.t; TRUNCATE lake.s.t; INSERT INTO lake.s.t FROM c");
    assert_eq!(net(&lake, &["id"], Some(base)), "");
    lake.run(
        "CREATE OR REPLACE TABLE lake.s.t AS SELECT * FROM (VALUES (3, 'c'), (1, 'a'), (2, 'B'), (4, 'd')) x(id, v)",
    );
    assert_eq!(net(&lake, &["id"], Some(base)), "1<2|b 2>2|B 2+4|d", "also where the table was made anew");
    assert_eq!(net(&lake, &[], Some(base)), "1-2|b 2+2|B 2+4|d");
}

#[test]
fn several_snapshots_are_folded() {
    let (lake, base) = lake_of_three();
    lake.run("UPDATE lake.s.t SET v = 'x' WHERE id = 1");
    lake.run("UPDATE lake.s.t SET v = 'y' WHERE id < 3; INSERT INTO lake.s.t VALUES (9, 'short')");
    lake.run("UPDATE lake.s.t SET v = 'b' WHERE id = 2; DELETE FROM lake.s.t WHERE id IN (3, 9)");
    assert_eq!(net(&lake, &["id"], Some(base)), "1<1|a 1-3|c 3>1|y");
}

#[test]
fn without_a_position_every_row_is_new() {
    let (lake, base) = lake_of_three();
    lake.run("DELETE FROM lake.s.t WHERE id = 2");
    assert_eq!(net(&lake, &["id"], None), "0+1|a 0+3|c");
    assert_eq!(net(&lake, &["id"], Some(base - 2)), "3+1|a 3+3|c", "nor had the lake the table at this one");
    let told = lake.net(&["id"], None, base).unwrap();
    assert_eq!(Lake::short(&told, base), ["0+0", "0+1", "0+2"]);
}

#[test]
fn equal_rows_are_counted() {
    let lake = Lake::with("id INTEGER, v VARCHAR");
    let base = lake.run("INSERT INTO lake.s.t VALUES (1, 'a'), (1, 'a'), (1, 'a'), (NULL, NULL)");
    lake.run("TRUNCATE lake.s.t; INSERT INTO lake.s.t VALUES (1, 'a'), (1, 'b'), (NULL, NULL), (NULL, NULL)");
    assert_eq!(net(&lake, &[], Some(base)), "1-1|a 1-1|a 1+1|b 1+NULL|NULL");
    assert_eq!(net(&lake, &["id"], Some(base)), "1<1|a 1-1|a 1>1|b 1+NULL|NULL", "one pair, and one row too many");
}

#[test]
fn values_are_compared_by_identity() {
    let lake = Lake::with("id INTEGER, d DOUBLE, i INTERVAL, l VARCHAR[]");
    let base = lake.run("INSERT INTO lake.s.t VALUES (1, 0.0, '1 month', ['a']), (2, 'nan', NULL, [NULL])");
    lake.run("TRUNCATE lake.s.t; INSERT INTO lake.s.t VALUES (1, '-0.0', '30 days', ['a']), (2, 'nan', NULL, [NULL])");
    let told = lake.net(&["id"], Some(base), lake.newest()).unwrap();
    assert_eq!(told.len(), 2, "NaN and NULL are what they were: {told:?}");
}

#[test]
fn columns_are_those_that_the_receiver_sees() {
    let (lake, base) = lake_of_three();
    lake.run("ALTER TABLE lake.s.t ADD COLUMN n INTEGER; ALTER TABLE lake.s.t ALTER id TYPE BIGINT");
    assert_eq!(net(&lake, &["id"], Some(base)), "", "a new column without values, a wider type");
    lake.run("UPDATE lake.s.t SET n = 5 WHERE id = 2");
    assert_eq!(net(&lake, &["id"], Some(base)), "1<2|b 2>2|b|5");
    let (lake, base) = lake_of_three();
    lake.run("UPDATE lake.s.t SET v = NULL WHERE id = 1; ALTER TABLE lake.s.t DROP COLUMN v");
    assert_eq!(net(&lake, &["id"], Some(base)).matches('<').count(), 3, "a dropped column had values");
    assert_eq!(net(&lake, &["id"], Some(base)).len(), "1<1|a 1<2|b 1<3|c 1>1 1>2 1>3".len());
    let (lake, base) = lake_of_three();
    lake.run("CREATE OR REPLACE TABLE lake.s.t AS SELECT '1' AS id, 'a' AS v");
    assert_eq!(net(&lake, &["id"], Some(base)), "1-1|a 1+1|a 1-2|b 1-3|c", "a text is no number");
}

#[test]
fn under_a_new_key_no_row_is_the_same() {
    let (lake, base) = lake_of_three();
    lake.run("CREATE OR REPLACE TABLE lake.s.t AS SELECT 1 AS id, 'a' AS v, 'k' AS k");
    assert_eq!(net(&lake, &["k"], Some(base)), "1-1|a 1-2|b 1-3|c 1+1|a|k");
}
