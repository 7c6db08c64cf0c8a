//! Draining the queue against the floor: the same rows read from the lake and handed to the same `push` in the same
//! batches, with no queue at all (chapter 04 §12).

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::Value;
use http_client::{Client, ClientOptions, Stop};
use lib_functions::{Direction, Host, HostOptions, HostValue, Limits, PushCall, Registry, with_lib};
use project::{Environment, Redactor};
use state::BackendKind;
use testkit::StateFixture;
use types::Kind;

use crate::measure::{Figure, time};
use crate::workspace::Project;

const INSTANT: &str = "
def push(rows):
    return {str(row[\"__ondatra_rowid\"]) + \":\" + row[\"__ondatra_change_type\"]: \"ok\" for row in rows}
";
const SLOW: &str = "
def push(rows):
    sleep(0.02)
    return {str(row[\"__ondatra_rowid\"]) + \":\" + row[\"__ondatra_change_type\"]: \"ok\" for row in rows}
";
const DOWN: &str = "
def push(rows):
    fail(\"away\")
";
const COLUMNS: [&str; 4] = ["id", "name", "amount", "k"];

/// A million events in batches of a thousand, as a quick service takes them: each call takes 20 ms.
pub fn many_file(binary: &Path) -> Figure {
    many(binary, BackendKind::File, "drain 1,000,000 events, batch 1,000 of 20 ms / no queue, file", 1.5)
}

pub fn many_postgres(binary: &Path) -> Figure {
    many(binary, BackendKind::Postgres, "drain 1,000,000 events, batch 1,000 … / no queue, PostgreSQL", 2.5)
}

pub fn many_quack(binary: &Path) -> Figure {
    many(binary, BackendKind::Quack, "drain 1,000,000 events, batch 1,000 … / no queue, Quack", 3.0)
}

fn many(binary: &Path, kind: BackendKind, what: &'static str, bar: f64) -> Figure {
    drain(binary, kind, what, bar, (1_000_000, 1_000, SLOW))
}

/// The same with a function that does nothing: what the queue itself costs. A batch is recorded durably before the
/// next one is sent, so there is no bar: one commit of one row takes longer than the function.
pub fn instant(binary: &Path) -> Figure {
    let what = "drain 1,000,000 events, batch 1,000 of 0 ms / no queue, file";
    drain(binary, BackendKind::File, what, None, (1_000_000, 1_000, INSTANT))
}

/// Single events, as a service without batches takes them.
pub fn single(binary: &Path) -> Figure {
    let what = "drain 1,000 events, batch 1 of 20 ms / no queue, file";
    drain(binary, BackendKind::File, what, 1.5, (1_000, 1, SLOW))
}

/// The time per event with a million and with a tenth of them pending, without that of an empty queue.
pub fn growth(binary: &Path) -> Figure {
    let of = |events| Backlog::of(binary, BackendKind::File, (events, 1_000, INSTANT));
    let net = |backlog: Backlog| {
        let time = backlog.drain(binary);
        time.saturating_sub(backlog.drain(binary))
    };
    Figure::measure_times(
        3,
        "drain 1,000 of 1,000,000 / of 100,000 pending events, file",
        1.2,
        |_| net(of(1_000_000)) / 10,
        |_| net(of(100_000)),
    )
}

/// Peak memory with a million and with a tenth of them pending, in MiB as if they were milliseconds.
pub fn memory(binary: &Path) -> Figure {
    let peak = |events| {
        let backlog = Backlog::of(binary, BackendKind::File, (events, 1_000, INSTANT));
        Duration::from_millis(backlog.project.watch_memory(binary, &["queue", "drain"]))
    };
    let what = "peak memory (MiB) of draining 1,000,000 / 100,000 events";
    Figure::measure_times(3, what, 1.2, |_| peak(1_000_000), |_| peak(100_000))
}

/// How many events there are, how many of them a batch, and the function.
type Load = (u64, usize, &'static str);

fn drain(binary: &Path, kind: BackendKind, what: &'static str, bar: impl Into<Option<f64>>, load: Load) -> Figure {
    let backlog = Backlog::of(binary, kind, load);
    Figure::measure_times(1, what, bar, |_| backlog.drain(binary), |_| backlog.floor(load.1))
}

/// A project whose rows are queued and not delivered.
struct Backlog {
    project: Project,
    /// Where the state is, with its server.
    state: StateFixture,
}

impl Backlog {
    fn of(binary: &Path, kind: BackendKind, (events, batch, functions): Load) -> Self {
        let state = StateFixture::new(binary.to_str().unwrap(), kind);
        let backlog = Self { project: Project::new(), state };
        if kind != BackendKind::File {
            for file in ["config/state.sql", ".env"] {
                let text = std::fs::read_to_string(backlog.state.project.root().join(file)).unwrap();
                backlog.project.write(file, &text);
            }
        }
        backlog.lib(batch, DOWN);
        backlog.project.write(
            "models/sync/t.sql",
            &format!(
                "-- @kind: append\n-- @push: sink\nSELECT i::BIGINT AS id, ('name ' || i)::VARCHAR AS name, \
                 (i % 1000)::DECIMAL(10,2) AS amount, (i % 7)::INTEGER AS k FROM range({events}) r(i)\n"
            ),
        );
        backlog.project.fails(binary, &["run"]);
        backlog.lib(batch, functions);
        backlog
    }

    fn lib(&self, batch: usize, functions: &str) {
        let api = format!("API = {{\"push\": {{\"batch_size\": {batch}, \"retry_backoff\": 0}}}}\n");
        self.project.write("lib/sink.star", &(api + functions));
    }

    fn drain(&self, binary: &Path) -> Duration {
        time(|| self.project.command(binary, &["queue", "drain"]))
    }

    /// Reads the rows and calls the function.
    fn floor(&self, batch: usize) -> Duration {
        let root = self.project.dir.path();
        let engine = self.project.bare_engine();
        let registry = Registry::read(root, |_| false).unwrap();
        let environment = Environment::load(root, []).unwrap();
        let host = Host::new(HostOptions {
            root: root.to_owned(),
            redactor: Redactor::new(root, &environment),
            environment,
            client: Client::new(ClientOptions::default()),
            stop: Stop::never(),
            output: Arc::new(|_| {}),
            lookup: None,
            tokens: None,
            limits: Limits::default(),
        });
        let lib = registry.get("sink").unwrap();
        time(|| {
            let rows = engine.query("SELECT rowid, id, name, amount, k FROM lake.sync.t").unwrap().into_values();
            let rows: Vec<Vec<Value>> = rows.collect();
            with_lib(lib, &host, Direction::Push, |running| {
                for (number, rows) in (1..).zip(rows.chunks(batch)) {
                    let sent: Vec<HostValue> = rows.iter().map(|row| sent(row)).collect();
                    let keys: Vec<String> =
                        rows.iter().map(|row| format!("{}:insert", row[0].as_i64().unwrap())).collect();
                    let call = PushCall {
                        rows: &sent,
                        keys: &keys,
                        batch_number: number,
                        kind: Kind::Append,
                        key_columns: &[],
                        columns: &HostValue::None,
                        arguments: &[],
                        idempotency_key: None,
                    };
                    running.push(&call).unwrap();
                }
            })
            .unwrap();
        })
    }
}

fn sent(row: &[Value]) -> HostValue {
    let text = |text: &str| HostValue::Text(text.to_owned());
    let value = |value: &Value| match value {
        Value::Int(value) => HostValue::Int((*value).into()),
        other => other.as_text().map_or(HostValue::None, text),
    };
    let columns = COLUMNS.iter().zip(&row[1..]).map(|(name, cell)| (text(name), value(cell)));
    let about = [
        (text("__ondatra_rowid"), value(&row[0])),
        (text("__ondatra_change_type"), text("insert")),
        (text("__ondatra_event_id"), text("0123456789abcdef0123456789abcdef")),
    ];
    HostValue::Dict(columns.chain(about).collect())
}
