//! Every change of each snapshot.

use feed::{EventMethod, FeedError};
use testkit::Catalog;
use types::Target;

use crate::lake::{Lake, Told, target};

fn lake_of_three() -> (Lake, i64) {
    let lake = Lake::with("id INTEGER, v VARCHAR");
    let base = lake.run("INSERT INTO lake.s.t VALUES (1, 'a'), (2, 'b'), (3, 'c')");
    (lake, base)
}

/// The changes after `from`, short, and how they were found.
fn raw(lake: &Lake, keys: &[&str], from: i64) -> (EventMethod, String) {
    let (method, told) = lake.raw(keys, Some(from), lake.newest()).unwrap();
    (method, Lake::short(&told, from).join(" "))
}

const REFILL: &str = "CREATE OR REPLACE TEMP TABLE c AS FROM lake.s.t; TRUNCATE lake.s.t; INSERT INTO lake.s.t FROM c";

#[test]
fn each_kind_of_write_has_its_changes_in_order() {
    let (lake, base) = lake_of_three();
    let told = |from: i64| {
        let (method, told) = raw(&lake, &["id"], from);
        assert_eq!(method, EventMethod::Feed);
        told
    };
    assert_eq!(told(base - 1), "1+0 1+1 1+2", "append");
    lake.run(
        "MERGE INTO lake.s.t x USING (VALUES (3, 'cc'), (4, 'd'), (1, 'aa')) y(id, v) ON x.id = y.id \
         WHEN MATCHED THEN UPDATE SET v = y.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (y.id, y.v)",
    );
    let merged = told(base);
    assert!(merged.starts_with("1<0 1>0 1<2 1>2 1+"), "pairs stay together, new rows come last: {merged}");
    lake.run(REFILL);
    let refilled = told(base + 1);
    assert_eq!(refilled.matches('-').count(), 4, "{refilled}");
    assert_eq!(refilled.matches('+').count(), 4, "{refilled}");
    lake.run("DELETE FROM lake.s.t WHERE id = 1; INSERT INTO lake.s.t VALUES (1, 'x'), (9, 'n'), (1, 'y')");
    let group: Vec<char> = told(base + 2).chars().filter(|sign| "+-<>".contains(*sign)).collect();
    assert_eq!(group, ['-', '+', '+', '+'], "a group is taken away before it comes again");
    assert!(told(base).contains(&merged), "several snapshots follow each other");
}

#[test]
fn without_keys_a_refill_takes_away_before_it_gives() {
    let (lake, base) = lake_of_three();
    lake.run(REFILL);
    let (_, told) = raw(&lake, &[], base);
    assert!(told.starts_with("1-0 1-1 1-2 1+"), "{told}");
    let (_, keyed) = raw(&lake, &["id"], base);
    assert!(keyed.starts_with("1-0 1+"), "with keys the rows of a key stay together: {keyed}");
}

#[test]
fn what_changed_at_once_in_a_group_comes_together() {
    let lake = Lake::with("g INTEGER, v INTEGER");
    let base = lake.run("INSERT INTO lake.s.t VALUES (1, 0), (2, 0), (1, 1), (2, 1)");
    for told in lake.groups("g", None) {
        assert_eq!(Lake::short(&told, base - 1).join(" "), "1+0 1+2 1+1 1+3");
    }
    lake.run("DELETE FROM lake.s.t WHERE g = 2; INSERT INTO lake.s.t VALUES (3, 0), (2, 0), (3, 1), (2, 2), (2, 3)");
    let [raw, net] = lake.groups("g", Some(base));
    let keys = |told: &[Told]| {
        let mut keys: Vec<i64> = told.iter().map(|told| told.row_key).collect();
        keys.dedup();
        keys.len()
    };
    assert_eq!((raw.len(), keys(&raw), keys(&net)), (7, 2, 2), "{raw:?} {net:?}");
}

#[test]
fn swapped_keys_are_taken_away_before_they_come_again() {
    let (lake, base) = lake_of_three();
    lake.run("UPDATE lake.s.t SET id = 3 - id WHERE id < 3");
    let (_, told) = lake.raw(&["id"], Some(base), base + 1).unwrap();
    assert_eq!(Lake::short(&told, 0).len(), 4);
    for pair in told.chunks(2) {
        assert_eq!(pair[0].row_key, pair[1].row_key);
        assert!(pair[0].change_type == types::ChangeType::UpdatePreimage, "{told:?}");
    }
}

#[test]
fn row_keys_are_those_of_the_key_and_survive_the_session() {
    let columns = "k TIMESTAMPTZ, d DOUBLE, v VARCHAR";
    let lake = Lake::with(columns);
    let first = lake.newest();
    lake.run(
        "INSERT INTO lake.s.t VALUES ('2026-01-01 00:00:00+00', 0.0, 'a'), ('2026-01-01 00:00:00+00', '-0.0', 'a'), \
         (NULL, 0.0, 'a'), (NULL, 0.0, 'b'), ('infinity', 1, NULL)",
    );
    let keys = || -> Vec<i64> {
        lake.raw(&["K", "d"], Some(first), lake.newest()).unwrap().1.iter().map(|told| told.row_key).collect()
    };
    let before = keys();
    assert_eq!(before[2], before[3], "NULL is a key like others");
    assert_ne!(before[0], before[1], "-0.0 is another value");
    lake.run("SET TimeZone = 'Asia/Tokyo'");
    assert_eq!(keys(), before);
}

#[test]
fn maintenance_is_no_change_and_what_lies_before_it_is_compared() {
    for (catalog, inlined) in [(Catalog::Sqlite, 100), (Catalog::Duckdb, 100), (Catalog::Sqlite, 0)] {
        let lake = Lake::new(catalog, inlined);
        lake.run("CREATE TABLE lake.s.t (id INTEGER, v VARCHAR)");
        let base = lake.run("INSERT INTO lake.s.t VALUES (1, 'a'), (2, 'b'), (3, 'c')");
        lake.run("UPDATE lake.s.t SET v = 'x' WHERE id = 1");
        lake.run("DELETE FROM lake.s.t WHERE id = 2");
        let expected = "1<0 1>0 2-1";
        assert_eq!(raw(&lake, &["id"], base), (EventMethod::Feed, expected.into()));
        for maintenance in [
            "CALL ducklake_flush_inlined_data('lake')",
            "CALL ducklake_merge_adjacent_files('lake')",
            "CALL ducklake_rewrite_data_files('lake', delete_threshold => 0.0)",
        ] {
            let from = lake.newest();
            lake.run(maintenance);
            assert_eq!(raw(&lake, &["id"], from), (EventMethod::Unchanged, String::new()), "{maintenance}");
            assert_eq!(raw(&lake, &["id"], base).1, expected, "{maintenance}");
        }
        assert_eq!(raw(&lake, &["id"], base).0, EventMethod::Versions);
        let from = lake.newest();
        lake.run("UPDATE lake.s.t SET v = 'y' WHERE id = 3");
        assert_eq!(raw(&lake, &["id"], from), (EventMethod::Feed, "1<2 1>2".into()), "maintenance is over");
    }
}

#[test]
fn what_is_deleted_from_merged_files_has_its_own_snapshot() {
    let lake = Lake::with("id INTEGER, v VARCHAR");
    lake.run("INSERT INTO lake.s.t SELECT i % 7, 'b' FROM range(21) r(i)");
    lake.run("DELETE FROM lake.s.t WHERE id = 6; INSERT INTO lake.s.t VALUES (NULL, 'n'), (NULL, 'm')");
    lake.run(
        "MERGE INTO lake.s.t x USING (SELECT 4 AS id, 'm' AS v) y ON x.id = y.id \
         WHEN MATCHED THEN UPDATE SET v = y.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (y.id, y.v)",
    );
    let merged = lake.run("CALL ducklake_merge_adjacent_files('lake')");
    lake.run("INSERT INTO lake.s.t VALUES (5, 'w')");
    assert_eq!(raw(&lake, &["id"], merged).0, EventMethod::Feed, "an append needs no comparison");
    let from = lake.newest();
    lake.run("UPDATE lake.s.t SET id = 6 - id WHERE id <= 6");
    let (method, told) = lake.raw(&["id"], Some(from), lake.newest()).unwrap();
    assert_eq!(method, EventMethod::Versions);
    assert!(!told.is_empty() && told.iter().all(|told| told.snapshot == from + 1), "{told:?}");
}

#[test]
fn columns_that_come_and_go_are_no_change_of_rows() {
    for maintained in [false, true] {
        let (lake, base) = lake_of_three();
        lake.run("ALTER TABLE lake.s.t ADD COLUMN n INTEGER DEFAULT 7");
        lake.run("ALTER TABLE lake.s.t RENAME COLUMN id TO key");
        lake.run("UPDATE lake.s.t SET n = 8 WHERE key = 2; ALTER TABLE lake.s.t ALTER n TYPE BIGINT");
        lake.run("ALTER TABLE lake.s.t DROP COLUMN v");
        if maintained {
            lake.run("CALL ducklake_rewrite_data_files('lake', delete_threshold => 0.0)");
        }
        let (method, told) = raw(&lake, &["key"], base);
        assert_eq!(method, if maintained { EventMethod::Versions } else { EventMethod::Feed });
        assert_eq!(told, "3<1 3>1", "{method:?}");
    }
}

#[test]
fn a_table_made_anew_begins_at_its_beginning() {
    let (lake, base) = lake_of_three();
    let old = lake.table().unwrap();
    assert_eq!((old.first_snapshot, old.newest_snapshot), (base - 1, base));
    lake.run("DELETE FROM lake.s.t WHERE id = 1");
    let anew = lake.run("CREATE OR REPLACE TABLE lake.s.t AS SELECT 1 AS id, 'a' AS v");
    let new = lake.table().unwrap();
    assert!(new.uuid != old.uuid && new.table_id != old.table_id);
    assert_eq!((new.first_snapshot, new.newest_snapshot), (anew, anew));
    assert_eq!(raw(&lake, &["id"], base).1, "2+0", "nothing of the table before it");
    lake.run("DROP TABLE lake.s.t");
    assert_eq!(lake.table(), None);
    assert!(matches!(lake.raw(&[], None, lake.newest()), Err(FeedError::NoTable { .. })));
}

#[test]
fn the_newest_snapshot_of_a_table_is_not_that_of_others() {
    let (lake, base) = lake_of_three();
    let newest = lake.run("CREATE TABLE lake.s.other AS SELECT 1 AS i");
    assert_eq!(lake.table().unwrap().newest_snapshot, base);
    assert_eq!(raw(&lake, &[], base), (EventMethod::Unchanged, String::new()));
    assert_eq!(lake.raw(&[], Some(newest), newest).unwrap().0, EventMethod::Unchanged);
    assert_eq!(lake.raw(&[], Some(newest + 5), newest).unwrap().0, EventMethod::Unchanged);
}

#[test]
fn a_position_that_was_expired_is_lost_and_a_gap_is_folded() {
    let (lake, base) = lake_of_three();
    lake.run("UPDATE lake.s.t SET v = 'x' WHERE id = 1");
    lake.run("UPDATE lake.s.t SET v = 'y' WHERE id = 1; DELETE FROM lake.s.t WHERE id = 2");
    let last = lake.run("INSERT INTO lake.s.t VALUES (4, 'd')");
    lake.run(&format!("CALL ducklake_expire_snapshots('lake', versions => [{}])", base + 1));
    let (method, told) = lake.raw(&["id"], Some(base), last).unwrap();
    assert_eq!(method, EventMethod::Versions);
    assert_eq!(Lake::short(&told, base)[..3], ["1<0", "1-1", "2>0"], "old rows are read before the gap");
    assert_eq!(lake.shown(&told)[..3], [Some("1|a".into()), Some("2|b".into()), Some("1|y".into())]);
    lake.run(&format!("CALL ducklake_expire_snapshots('lake', versions => [{base}])"));
    let gone = FeedError::Lost { target: target(), snapshot: base };
    assert_eq!(lake.raw(&["id"], Some(base), last), Err(gone.clone()));
    assert_eq!(lake.net(&["id"], Some(base), last), Err(gone));
    lake.run(&format!("CALL ducklake_expire_snapshots('lake', versions => [{}])", base - 1));
    let (_, told) = lake.raw(&["id"], None, last).unwrap();
    assert_eq!(Lake::short(&told, base)[..2], ["2+0", "2+2"], "the oldest version that is left is the beginning");
    assert_eq!(told.len(), 3);
}

#[test]
fn odd_names_work_and_a_column_named_rowid_is_refused() {
    let lake =
        Lake::with(r#"snapshot_id INTEGER, change_type VARCHAR, "is""new" INTEGER, "Row Key" VARCHAR, step INT"#);
    let first = lake.newest();
    lake.run("INSERT INTO lake.s.t VALUES (7, 'c', 1, 'k', 2), (8, 'd', NULL, 'l', 3)");
    lake.run("UPDATE lake.s.t SET step = 9 WHERE snapshot_id = 7");
    let (_, told) = raw(&lake, &["row key", "is\"new"], first);
    assert_eq!(told, "1+0 1+1 2<0 2>0");
    let missing = lake.raw(&["nope"], Some(first), first + 2).unwrap_err();
    assert_eq!(missing, FeedError::KeyMissing { target: Target::new("S", "T"), column: "nope".into() });
    let until = lake.run("ALTER TABLE lake.s.t ADD COLUMN ROWID INTEGER");
    assert_eq!(lake.raw(&[], Some(first), until), Err(FeedError::RowidColumn { target: target() }));
    let (_, told) = lake.raw(&[], Some(first), until - 1).unwrap();
    assert_eq!(lake.images(&told), Err(FeedError::RowidColumn { target: target() }));
}
