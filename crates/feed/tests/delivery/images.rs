//! The rows of changes.

use engine::Value;
use feed::{FeedError, Image};
use testkit::Catalog;
use types::ChangeType::{Delete, Insert, UpdatePostimage, UpdatePreimage};

use crate::lake::{Lake, Told, target};

fn told(snapshot: i64, change_type: types::ChangeType, rowid: i64) -> Told {
    Told { snapshot, rowid, change_type, row_key: 0 }
}

fn lake_of_three() -> (Lake, i64) {
    let lake = Lake::with("id INTEGER, v VARCHAR");
    let base = lake.run("INSERT INTO lake.s.t VALUES (1, 'a'), (2, 'b'), (3, 'c')");
    (lake, base)
}

#[test]
fn new_rows_are_as_they_are_now_and_old_ones_as_they_were() {
    let (lake, base) = lake_of_three();
    let changed = lake.run("UPDATE lake.s.t SET v = 'x' WHERE id = 1");
    lake.run("UPDATE lake.s.t SET v = 'y' WHERE id = 1");
    let deleted = lake.run("DELETE FROM lake.s.t WHERE id = 2");
    let wanted = [
        told(changed, UpdatePreimage, 0),
        told(changed, UpdatePostimage, 0),
        told(base, Insert, 2),
        told(base, Insert, 1),
        told(deleted, Delete, 1),
        told(base, Insert, 0),
        told(changed + 1, UpdatePreimage, 0),
    ];
    let text = |text: &str| Some(text.to_owned());
    let shown = [text("1|a"), text("1|y"), text("3|c"), None, text("2|b"), text("1|y"), text("1|x")];
    assert_eq!(lake.shown(&wanted), shown);
    assert_eq!(lake.images(&[]).unwrap().images, []);
}

#[test]
fn rows_of_a_table_before_this_one_are_gone_but_known_as_they_were() {
    let (lake, base) = lake_of_three();
    let deleted = lake.run("DELETE FROM lake.s.t WHERE id = 2");
    let anew = lake.run("CREATE OR REPLACE TABLE lake.s.t AS SELECT 7 AS other FROM range(5)");
    let dropped = Err(FeedError::Dropped { target: target() });
    assert_eq!(
        lake.images(&[told(base, Insert, 0), told(anew, Insert, 0)]),
        dropped,
        "a row of this one has the same id"
    );
    let wanted = [told(anew, Insert, 0), told(deleted, Delete, 1)];
    assert_eq!(lake.shown(&wanted), [Some("7".into()), Some("2|b".into())]);
    let images = lake.images(&wanted).unwrap();
    let names = |at: usize| -> Vec<&str> {
        images.columns_of(&wanted[at].image()).iter().map(|column| column.name.as_str()).collect()
    };
    assert_eq!((names(0), names(1)), (vec!["other"], vec!["id", "v"]), "an old row has the columns of its version");
    lake.run("DROP TABLE lake.s.t");
    assert_eq!(lake.images(&wanted), dropped);
    assert_eq!(lake.shown(&wanted[1..]), [Some("2|b".into())]);
}

#[test]
fn an_old_row_that_cannot_be_read_is_an_error() {
    let (lake, base) = lake_of_three();
    let deleted = lake.run("DELETE FROM lake.s.t WHERE id = 2");
    let gone = |rowid, snapshot| Err(FeedError::PreimageGone { target: target(), rowid, snapshot });
    assert_eq!(lake.images(&[told(deleted, Delete, 77)]), gone(77, deleted));
    assert_eq!(lake.images(&[told(1, Delete, 1)]), gone(1, 1), "a version without the table");
    lake.run(&format!("CALL ducklake_expire_snapshots('lake', versions => [{base}])"));
    assert_eq!(lake.images(&[told(deleted, Delete, 1)]), gone(1, deleted));
}

#[test]
fn a_row_id_that_two_rows_have_is_an_error() {
    let lake = Lake::with("id INTEGER, v VARCHAR");
    let mut newest = 0;
    for id in 0..2 {
        newest =
            lake.run(&format!("INSERT INTO lake.s.t VALUES ({id}, 'a'); UPDATE lake.s.t SET v = 'b' WHERE id = {id}"));
    }
    let rowid = lake.rows()[0].0;
    assert_eq!(lake.rows()[1].0, rowid, "the engine gives both the same");
    let error = lake.images(&[told(newest, Insert, rowid)]).unwrap_err();
    assert!(matches!(error, FeedError::Ambiguous { .. }), "{error}");
}

#[test]
fn a_row_whose_id_was_lost_by_a_merge_of_files_is_not_gone() {
    let (lake, base) = lake_of_three();
    let changed = lake.run("UPDATE lake.s.t SET v = 'x' WHERE id < 3");
    lake.run("INSERT INTO lake.s.t VALUES (4, 'd')");
    lake.run("DELETE FROM lake.s.t WHERE id = 3");
    let wanted = [told(changed, UpdatePostimage, 0), told(base, Insert, 2)];
    assert_eq!(lake.shown(&wanted), [Some("1|x".into()), None]);
    lake.run("CALL ducklake_merge_adjacent_files('lake')");
    assert!(lake.rows().iter().all(|(rowid, _)| *rowid != 0), "the engine has given row 0 another id");
    let lost = FeedError::RowIdLost { target: target(), rowid: 0, snapshot: changed };
    assert_eq!(lake.images(&wanted[..1]), Err(lost));
    assert_eq!(lake.shown(&wanted[1..]), [None], "this one was deleted");
}

#[test]
fn old_rows_are_right_though_the_lake_has_forgotten_their_range() {
    for type_name in ["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"] {
        let lake = Lake::with(&format!("id {type_name}, v VARCHAR"));
        let base = lake.run("INSERT INTO lake.s.t SELECT i, 'v' FROM range(1, 20) r(i)");
        let deleted = lake.run("DELETE FROM lake.s.t WHERE id < 5");
        lake.run("CALL ducklake_rewrite_data_files('lake', delete_threshold => 0.0)");
        let wanted: Vec<Told> = (0..4).step_by(2).map(|rowid| told(deleted, Delete, rowid)).collect();
        assert_eq!(lake.shown(&wanted), [Some("1|v".into()), Some("3|v".into())], "{type_name}");
        let last = lake.run("UPDATE lake.s.t SET v = 'w' WHERE id = 7");
        let (_, told) = lake.raw(&["id"], Some(base), last).unwrap();
        assert_eq!(Lake::short(&told, base), ["1-0", "1-1", "1-2", "1-3", "3<6", "3>6"], "{type_name}");
        assert_eq!(lake.net(&["id"], Some(base), last).unwrap().len(), 6, "{type_name}");
    }
}

#[test]
fn values_of_every_type_are_exact() {
    for catalog in [Catalog::Sqlite, Catalog::Duckdb] {
        let lake = Lake::new(catalog, 0);
        lake.run(
            "CREATE TABLE lake.s.t AS SELECT true AS b, (-128)::TINYINT AS i1, 9223372036854775807 AS i8, \
             18446744073709551615::UBIGINT AS u8, 1.5::FLOAT AS f, 'nan'::DOUBLE AS d, \
             12345678901234567890123456789012345.678::DECIMAL(38, 3) AS n, 'é🦆'::VARCHAR AS v, '{\"a\": 1}'::JSON AS j, \
             '\\x00\\xFF'::BLOB AS x, DATE '0001-01-01' AS day, TIMESTAMP '2026-01-02 03:04:05.000006' AS ts, \
             '2026-01-02 03:04:05+00'::TIMESTAMPTZ AS tz, TIME '23:59:59.999999' AS t, INTERVAL '1 month 2 days' AS iv, \
             'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::UUID AS id, [1, NULL] AS l, {'a': 1, 'b': 'x'} AS s, \
             MAP {'k': 1.5} AS m, NULL::INTEGER AS nothing, [{'a': [DATE '2026-01-01']}] AS deep",
        );
        let made = lake.newest();
        let now = lake.images(&[told(made, Insert, 0)]).unwrap();
        let types: Vec<&str> = now.columns.iter().map(|column| column.type_name.as_str()).collect();
        let plain = lake.connection.query("SELECT * FROM lake.s.t").unwrap().into_values().next().unwrap();
        let Image::Row(row) = &now.images[0] else { panic!("the row is there") };
        assert_eq!((types[2], types[6], types[8]), ("BIGINT", "DECIMAL(38,3)", "JSON"));
        assert_eq!((&row[2], &row[19]), (&Value::Int(i64::MAX.into()), &Value::Null));
        assert_eq!(row[6], Value::Decimal("12345678901234567890123456789012345.678".into()));
        assert_eq!(row[9], Value::Blob(vec![0, 255]));
        assert_eq!(format!("{row:?}"), format!("{plain:?}"), "as NaN equals nothing, by their texts");
        let deleted = lake.run("DELETE FROM lake.s.t");
        let then = lake.images(&[told(deleted, Delete, 0)]).unwrap();
        assert_eq!(format!("{:?}", then.images), format!("{:?}", now.images));
    }
}

#[test]
fn odd_names_of_columns_stay_as_they_are() {
    let lake = Lake::with(r#""a""b" INTEGER, "select" INTEGER, snapshot_id INTEGER, filename VARCHAR"#);
    let made = lake.run("INSERT INTO lake.s.t VALUES (1, 2, 3, 'f')");
    let images = lake.images(&[told(made, Insert, 0)]).unwrap();
    let names: Vec<&str> = images.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["a\"b", "select", "snapshot_id", "filename"]);
    assert_eq!(lake.shown(&[told(made, Insert, 0)]), [Some("1|2|3|f".into())]);
}

#[test]
fn rows_far_apart_come_with_the_others() {
    let lake = Lake::with("id BIGINT");
    let made = lake.run("INSERT INTO lake.s.t FROM range(1200000)");
    let wanted: Vec<Told> = (0..12).rev().map(|at| told(made, Insert, at * 100_001)).collect();
    let expected: Vec<_> = (0..12).rev().map(|at| Some((at * 100_001).to_string())).collect();
    assert_eq!(lake.shown(&wanted), expected);
}
