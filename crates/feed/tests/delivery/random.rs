//! Random histories with maintenance: what is told equals what a witness saw at each snapshot.

use std::collections::{BTreeMap, BTreeSet};

use feed::EventMethod;
use testkit::{Catalog, Random};
use types::ChangeType::{Delete, Insert, UpdatePostimage, UpdatePreimage};

use crate::lake::{Lake, Told};

/// The table at a snapshot: rows by row id.
type Version = BTreeMap<i64, String>;

/// 2 histories of each form in the suite, 80 with `ONDATRA_SOAK`.
#[test]
fn soak_changes_and_their_rows_are_what_happened() {
    let histories = if std::env::var_os("ONDATRA_SOAK").is_some() { 80 } else { 2 };
    let mut random = Random(0x00de_11fe);
    let mut methods = BTreeSet::new();
    for _ in 0..histories {
        for catalog in [Catalog::Sqlite, Catalog::Duckdb] {
            for inlined in [0, 10] {
                history(&mut random, catalog, inlined, &mut methods);
            }
        }
    }
    assert!(methods.is_superset(&BTreeSet::from(["Feed", "Versions"])), "both methods had their turn");
}

fn history(random: &mut Random, catalog: Catalog, inlined: usize, methods: &mut BTreeSet<&str>) {
    let lake = Lake::new(catalog, inlined);
    let first = lake.run("CREATE TABLE lake.s.t (id INTEGER, v VARCHAR, d DOUBLE)");
    let mut versions = BTreeMap::from([(first, Version::new())]);
    let mut log = Vec::new();
    let (maintained, mut merged) = (random.below(3) > 0, false);
    for _ in 0..12 {
        let statement = step(random, maintained, inlined > 0);
        let newest = lake.run(&statement);
        merged |= statement.contains("merge_adjacent");
        log.push(format!("{newest}: {statement}"));
        let version: Version = lake.rows().into_iter().collect();
        // Of several snapshots, all but the last are maintenance.
        let known = *versions.last_key_value().unwrap().0;
        versions.extend((known + 1..=newest).map(|snapshot| (snapshot, version.clone())));
    }
    let until = lake.newest();
    let versions = seen_again(&lake, &versions, merged, &log);
    let positions = (0..4).map(|_| first + i64::try_from(random.below(12)).unwrap()).filter(|&from| from < until);
    for from in std::iter::once(None).chain(positions.map(Some)) {
        let context = format!("{catalog:?}, inlined {inlined}, from {from:?}, first {first}: {log:#?}");
        let (method, told) = lake.raw(&["id"], from, until).unwrap();
        methods.insert(match method {
            EventMethod::Feed => "Feed",
            EventMethod::Unchanged => "Unchanged",
            _ => "Versions",
        });
        let context = format!("{method:?}, {context}");
        in_order(&told, &versions, &context);
        let real: BTreeSet<_> = told.iter().filter(|told| !is_idle(told, &versions)).map(facts).collect();
        assert_eq!(real, expected(&versions, from.unwrap_or(first)), "{context}");
        rows_are_right(&lake, &told, &versions, &context);
        net_is_right(&lake, from, &versions, &context);
    }
}

/// The versions as they are read now: the same rows, with the same ids unless files were merged.
fn seen_again(lake: &Lake, seen: &BTreeMap<i64, Version>, merged: bool, log: &[String]) -> BTreeMap<i64, Version> {
    let rows = |version: &Version| version.values().cloned().collect::<BTreeSet<_>>();
    let again = seen.iter().map(|(&snapshot, version)| {
        let now: Version = lake.rows_at(snapshot).into_iter().collect();
        assert_eq!((now.len(), rows(&now)), (version.len(), rows(version)), "{snapshot}: {log:#?}");
        assert!(merged || now == *version, "{snapshot}: {now:?} was {version:?}: {log:#?}");
        (snapshot, now)
    });
    again.collect()
}

fn facts(told: &Told) -> (i64, i64, types::ChangeType) {
    (told.snapshot, told.rowid, told.change_type)
}

/// The same row, written again.
fn is_idle(told: &Told, versions: &BTreeMap<i64, Version>) -> bool {
    matches!(told.change_type, UpdatePreimage | UpdatePostimage)
        && versions[&(told.snapshot - 1)].get(&told.rowid) == versions[&told.snapshot].get(&told.rowid)
}

fn expected(versions: &BTreeMap<i64, Version>, from: i64) -> BTreeSet<(i64, i64, types::ChangeType)> {
    let mut events = BTreeSet::new();
    for (&snapshot, now) in versions.range(from + 1..) {
        let then = &versions[&(snapshot - 1)];
        for &rowid in then.keys().chain(now.keys()) {
            match (then.get(&rowid), now.get(&rowid)) {
                (Some(_), None) => drop(events.insert((snapshot, rowid, Delete))),
                (None, Some(_)) => drop(events.insert((snapshot, rowid, Insert))),
                (old, new) if old != new => {
                    events.extend([(snapshot, rowid, UpdatePreimage), (snapshot, rowid, UpdatePostimage)]);
                }
                _ => (),
            }
        }
    }
    events
}

/// The row that a change shows, in the version that has it.
fn row<'a>(told: &Told, versions: &'a BTreeMap<i64, Version>) -> Option<&'a str> {
    let is_new = matches!(told.change_type, Insert | UpdatePostimage);
    versions[&(if is_new { told.snapshot } else { told.snapshot - 1 })].get(&told.rowid).map(String::as_str)
}

fn in_order(told: &[Told], versions: &BTreeMap<i64, Version>, context: &str) {
    let mut numbers = BTreeMap::new();
    for told in told {
        let row = row(told, versions).unwrap_or_else(|| panic!("{told:?} did not happen, {context}"));
        let key = row.split('|').next().unwrap();
        assert_eq!(*numbers.entry(key).or_insert(told.row_key), told.row_key, "{context}");
    }
    assert_eq!(numbers.values().collect::<BTreeSet<_>>().len(), numbers.len(), "{context}");
    for pair in told.windows(2) {
        assert!(pair[0].snapshot <= pair[1].snapshot, "{context}");
        let is_new = |told: &Told| matches!(told.change_type, Insert | UpdatePostimage);
        if pair[0].snapshot == pair[1].snapshot && pair[0].row_key == pair[1].row_key {
            assert!((is_new(&pair[0]), pair[0].rowid) < (is_new(&pair[1]), pair[1].rowid), "{context}");
        }
    }
}

fn rows_are_right(lake: &Lake, told: &[Told], versions: &BTreeMap<i64, Version>, context: &str) {
    let now = versions.last_key_value().unwrap().1;
    for (told, shown) in told.iter().zip(lake.shown(told)) {
        let expected = match told.change_type {
            Insert | UpdatePostimage => now.get(&told.rowid),
            Delete | UpdatePreimage => Some(&versions[&(told.snapshot - 1)][&told.rowid]),
        };
        assert_eq!(shown.as_ref(), expected, "{told:?}, {context}");
    }
}

/// What one multiset of rows has and the other lacks, by key, and how many pairs they make.
fn net_is_right(lake: &Lake, from: Option<i64>, versions: &BTreeMap<i64, Version>, context: &str) {
    let (until, now) = versions.last_key_value().unwrap();
    let none = Version::new();
    let then = from.map_or(&none, |from| &versions[&from]);
    let (gone, come) = (lacking(then, now), lacking(now, then));
    for keys in [&["id"][..], &[]] {
        let told = lake.net(keys, from, *until).unwrap();
        let mut found = (BTreeMap::new(), BTreeMap::new());
        let mut pairs: BTreeMap<i64, (usize, usize)> = BTreeMap::new();
        for told in &told {
            let is_new = matches!(told.change_type, Insert | UpdatePostimage);
            assert_eq!(told.snapshot, if is_new { *until } else { from.unwrap() + 1 }, "{context}");
            let row = if is_new { &now[&told.rowid] } else { &then[&told.rowid] };
            *if is_new { &mut found.1 } else { &mut found.0 }.entry(row.as_str()).or_insert(0) += 1;
            match told.change_type {
                UpdatePreimage => pairs.entry(told.row_key).or_default().0 += 1,
                UpdatePostimage => pairs.entry(told.row_key).or_default().1 += 1,
                _ => (),
            }
        }
        assert_eq!(found, (gone.clone(), come.clone()), "{keys:?}, {context}");
        let expected = if keys.is_empty() { 0 } else { paired(&gone, &come) };
        assert_eq!(pairs.values().map(|(old, _)| old).sum::<usize>(), expected, "{keys:?}, {context}");
        assert!(pairs.values().all(|(old, new)| old == new), "{context}");
        let ids: BTreeSet<_> = told.iter().map(|told| (told.rowid, told.change_type)).collect();
        assert_eq!(ids.len(), told.len(), "no row twice: {context}");
    }
}

fn lacking<'a>(rows: &'a Version, others: &Version) -> BTreeMap<&'a str, i32> {
    let mut counts = BTreeMap::new();
    for row in rows.values() {
        *counts.entry(row.as_str()).or_insert(0) += 1;
    }
    for row in others.values() {
        if let Some(count) = counts.get_mut(row.as_str()) {
            *count -= 1;
        }
    }
    counts.retain(|_, count| *count > 0);
    counts
}

fn paired(gone: &BTreeMap<&str, i32>, come: &BTreeMap<&str, i32>) -> usize {
    let by_key = |rows: &BTreeMap<&str, i32>| {
        let mut keys = BTreeMap::new();
        for (row, count) in rows {
            *keys.entry(row.split('|').next().unwrap().to_owned()).or_insert(0) += *count;
        }
        keys
    };
    let come = by_key(come);
    let pairs = by_key(gone).into_iter().map(|(key, count)| count.min(come.get(&key).copied().unwrap_or(0)));
    usize::try_from(pairs.sum::<i32>()).unwrap()
}

/// A transaction, or maintenance.
fn step(random: &mut Random, maintained: bool, inlined: bool) -> String {
    let n = random.below(7);
    let row = |n: usize| {
        format!("({}, nullif('v{}', 'v2'), {}.5)", if n == 6 { "NULL".into() } else { n.to_string() }, n % 4, n % 3)
    };
    match random.below(if maintained { 14 } else { 10 }) {
        0 => format!("INSERT INTO lake.s.t VALUES {}", row(n)),
        1 => format!("INSERT INTO lake.s.t VALUES {}, {}, {}", row(n), row(n), row(n + 1)),
        2 => format!("INSERT INTO lake.s.t SELECT i % 7, 'b', i FROM range({}) r(i)", 5 + n * 4),
        3 => format!("DELETE FROM lake.s.t WHERE id = {n}"),
        4 => format!("UPDATE lake.s.t SET v = 'u{}' WHERE id % 3 = {}", n % 3, n % 3),
        5 => format!("UPDATE lake.s.t SET id = {n} - id WHERE id <= {n}"),
        6 => format!(
            "CREATE OR REPLACE TEMP TABLE copied AS FROM lake.s.t; TRUNCATE lake.s.t; \
             INSERT INTO lake.s.t FROM copied WHERE id <> {n}"
        ),
        7 => format!(
            "MERGE INTO lake.s.t x USING (SELECT {n} AS id, 'm' AS v) y ON x.id = y.id \
             WHEN MATCHED THEN UPDATE SET v = y.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (y.id, y.v)"
        ),
        8 => format!("DELETE FROM lake.s.t WHERE id = {n}; INSERT INTO lake.s.t VALUES {}, {}", row(n), row(n)),
        10 if inlined => "CALL ducklake_flush_inlined_data('lake')".into(),
        11 => "CALL ducklake_merge_adjacent_files('lake')".into(),
        12 => "CALL ducklake_flush_inlined_data('lake'); \
               CALL ducklake_rewrite_data_files('lake', delete_threshold => 0.01)"
            .into(),
        _ => "CREATE OR REPLACE TABLE lake.s.other AS SELECT 1 AS i".into(),
    }
}
