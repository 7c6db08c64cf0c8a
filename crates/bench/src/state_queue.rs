//! The queue of the state: feeding against the engine's own INSERT, and the time per event of feeding and of one
//! chunk's way through queues of different lengths (chapter 04 §12).

use std::path::Path;

use engine::Instance;
use state::{BackendKind, Claim, Outcome, OutcomeStatus, Queue, SqlStore};
use testkit::{Changes, StateFixture, engine_options};

use crate::measure::{Figure, time};

const EVENTS: i64 = 1_000_000;
/// Events of a claim, and of a batch.
const CHUNK: usize = 10_000;
const BATCH: usize = 1_000;
/// Pending events of a long queue, and of those that it is compared with.
const LONG: i64 = 1_000_000;
const SHORT: i64 = 100_000;
const TINY: i64 = 10_000;

pub fn feed_file(binary: &Path) -> Figure {
    feed(binary, BackendKind::File, "feed 1,000,000 changes / INSERT, DuckDB file")
}

pub fn feed_postgres(binary: &Path) -> Figure {
    feed(binary, BackendKind::Postgres, "feed 1,000,000 changes / INSERT, PostgreSQL")
}

pub fn feed_quack(binary: &Path) -> Figure {
    feed(binary, BackendKind::Quack, "feed 1,000,000 changes / INSERT, Quack server")
}

pub fn chunk_file(binary: &Path) -> Figure {
    chunk(binary, BackendKind::File, "claim, record, apply 10,000 of 1,000,000 / 100,000, file")
}

pub fn chunk_postgres(binary: &Path) -> Figure {
    chunk(binary, BackendKind::Postgres, "claim, record, apply … 1,000,000 / 100,000, PostgreSQL")
}

pub fn chunk_quack(binary: &Path) -> Figure {
    chunk(binary, BackendKind::Quack, "claim, record, apply … 1,000,000 / 100,000, Quack")
}

pub fn growth_file(binary: &Path) -> Figure {
    growth(binary, BackendKind::File, "feed, claim, record, apply 10,000 at 1,000,000 / 0, file")
}

pub fn growth_postgres(binary: &Path) -> Figure {
    growth(binary, BackendKind::Postgres, "feed, claim, record … at 1,000,000 / 0, PostgreSQL")
}

pub fn growth_quack(binary: &Path) -> Figure {
    growth(binary, BackendKind::Quack, "feed, claim, record … at 1,000,000 / 0, Quack")
}

fn feed(binary: &Path, kind: BackendKind, what: &'static str) -> Figure {
    let (ours, bare) = (fixture(binary, kind), fixture(binary, kind));
    let mut store = ours.open("bench");
    let floor = bare_session(&bare);
    let changes = Changes::of_rows(EVENTS);
    Figure::measure(
        what,
        2.0,
        |round| {
            store.run_sql("DELETE FROM sync_evt").unwrap();
            let target = format!("round.{round}");
            time(|| changes.feed(&mut store, &target, EVENTS).unwrap())
        },
        |round| {
            let insert = format!(
                "INSERT INTO state.indexed SELECT 'round.{round}', i, i * 7 % {EVENTS}, i, 'insert', i, 0, NULL, NULL, now() \
                 FROM range(1, {EVENTS} + 1) AS r(i)"
            );
            let clear = "DELETE FROM indexed";
            match kind {
                BackendKind::File => floor.connection.execute("DELETE FROM state.indexed").unwrap(),
                BackendKind::Postgres => {
                    floor.connection.execute(&format!("CALL postgres_execute('state', '{clear}')")).unwrap();
                }
                BackendKind::Quack => {
                    floor
                        .connection
                        .execute(&format!("FROM quack_query_by_name('state', 'USE state; {clear}')"))
                        .unwrap();
                }
            }
            time(|| floor.connection.execute(&insert).unwrap())
        },
    )
}

/// A session with the fixture's database, and in it a table like the queue's with its key.
fn bare_session(fixture: &StateFixture) -> Instance {
    let names = ["httpfs", "postgres_scanner", "quack"];
    let instance = engine_options(fixture.project.temp_root()).open(&names).unwrap();
    let table = "CREATE TABLE indexed (target VARCHAR NOT NULL, seq BIGINT NOT NULL, row_key BIGINT NOT NULL, \
                 rowid BIGINT NOT NULL, change_type VARCHAR NOT NULL, snapshot_id BIGINT NOT NULL, \
                 attempts INTEGER NOT NULL, not_before TIMESTAMPTZ, last_error VARCHAR, created_at TIMESTAMPTZ NOT NULL, \
                 PRIMARY KEY (target, seq))";
    let connection = &instance.connection;
    let attach = &fixture.config().file.expanded.text;
    match fixture.kind {
        BackendKind::File => {
            connection.execute(attach).unwrap();
            connection.execute(&table.replace("TABLE indexed", "TABLE state.indexed")).unwrap();
        }
        BackendKind::Postgres => {
            connection.execute(attach).unwrap();
            connection.execute(&format!("CALL postgres_execute('state', '{table}')")).unwrap();
        }
        BackendKind::Quack => {
            connection.execute(attach).unwrap();
            connection.execute(&format!("FROM quack_query_by_name('state', 'USE state; {table}')")).unwrap();
            // The client learns of the table when it attaches.
            connection.execute("DETACH state").unwrap();
            connection.execute(attach).unwrap();
            connection.execute("FROM quack_query_by_name('state', 'USE state')").unwrap();
        }
    }
    instance
}

/// One chunk from claim to release, from queues of different lengths.
fn chunk(binary: &Path, kind: BackendKind, what: &'static str) -> Figure {
    let fixtures = (fixture(binary, kind), fixture(binary, kind));
    let (mut long, mut short) = (fixtures.0.open("bench"), fixtures.1.open("bench"));
    let changes = Changes::of_rows(LONG);
    changes.feed(&mut long, "a.b", LONG).unwrap();
    changes.feed(&mut short, "a.b", SHORT).unwrap();
    Figure::measure(what, 1.2, |_| time(|| deliver(&mut long)), |_| time(|| deliver(&mut short)))
}

/// A chunk's whole life, fed to a queue that is long already and to one that holds nothing else.
fn growth(binary: &Path, kind: BackendKind, what: &'static str) -> Figure {
    let fixtures = (fixture(binary, kind), fixture(binary, kind));
    let (mut long, mut tiny) = (fixtures.0.open("bench"), fixtures.1.open("bench"));
    let changes = Changes::of_rows(LONG);
    changes.feed(&mut long, "a.b", LONG).unwrap();
    let life = |store: &mut SqlStore, before: i64, round: usize| {
        let last = before + TINY * (i64::try_from(round).unwrap() + 1);
        time(|| {
            changes.feed(store, "a.b", last).unwrap();
            deliver(store);
        })
    };
    Figure::measure(what, 1.2, |round| life(&mut long, LONG, round), |round| life(&mut tiny, 0, round))
}

fn deliver(store: &mut SqlStore) {
    let Claim { lease, events } = store.claim("a.b", "bench", CHUNK).unwrap().unwrap();
    assert_eq!(events.len(), CHUNK);
    for batch in events.chunks(BATCH) {
        let outcomes: Vec<Outcome> =
            batch.iter().map(|event| Outcome { seq: event.seq, status: OutcomeStatus::Ok, message: None }).collect();
        store.record(&lease, &outcomes).unwrap();
    }
    store.release(&lease).unwrap();
}

fn fixture(binary: &Path, kind: BackendKind) -> StateFixture {
    StateFixture::new(binary.to_str().unwrap(), kind)
}
